//! Tests the installer against a stand-in for Python: a shell script that hands out prepared wheels as pip would.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt as _;

use super::wheel::tests::{hash, noise, write_wheel};
use super::*;

const MEMBER: &str = "onnxruntime/capi/libonnxruntime.so.test";

/// A cache folder, a wheel and a Python that hands it out.
struct Bench {
    home: tempfile::TempDir,
    installer: Installer,
    content: Vec<u8>,
}

impl Bench {
    /// `body` is the script's part for `pip download`, with `$dest`, `$wheel` and `$log` set.
    fn new(body: &str) -> Bench {
        Bench::of(&["onnxruntime"], body)
    }

    /// Bench for an installation of several packages, which all are the same wheel.
    fn of(packages: &[&'static str], body: &str) -> Bench {
        let home = tempfile::tempdir().unwrap();
        let content = noise(50_000);
        let wheel = home.path().join("served.whl");
        write_wheel(&wheel, &[MEMBER], &content);
        let bytes = fs::read(&wheel).unwrap();
        let script = home.path().join("python");
        let text = format!(
            "#!/bin/sh\nwheel='{}'\nlog='{}'\n[ \"$4\" = --version ] && exit 0\n\
             while [ $# -gt 0 ]; do [ \"$1\" = --dest ] && dest=$2; shift; done\necho call >> \"$log\"\n{body}\n",
            wheel.display(),
            home.path().join("log").display(),
        );
        fs::write(&script, text).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let sha256: &str = String::leak(hash(&bytes));
        let wheel = |package| Wheel { package, version: "1", tag: "test_tag", sha256, bytes: bytes.len() as u64 };
        let wheels = Vec::leak(packages.iter().copied().map(wheel).collect());
        let pin = Pin {
            variant: Variant::Cpu,
            platform: "test",
            library: "libonnxruntime.so.test",
            library_sha256: None,
            wheels,
        };
        let pythons = vec![vec![script.to_string_lossy().into_owned()]];
        let installer = Installer { root: home.path().join("cache"), pin, pythons };
        Bench { home, installer, content }
    }

    fn calls(&self) -> usize {
        fs::read_to_string(self.home.path().join("log")).map_or(0, |log| log.lines().count())
    }

    fn install(&self, force: bool) -> Result<PathBuf, InstallError> {
        self.installer.install(force, &mut |_| ())
    }

    fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.installer.folder())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

const SERVE: &str = "cp \"$wheel\" \"$dest/onnxruntime-1.31.1.whl\"";

#[test]
fn installs_once_and_again_only_by_force() {
    let bench = Bench::new(SERVE);
    let mut seen = Vec::new();
    let library = bench.installer.install(false, &mut |progress| seen.push(progress)).unwrap();
    assert_eq!(fs::read(&library).unwrap(), bench.content);
    assert_eq!(bench.files(), ["install.lock", "installed.json", "libonnxruntime.so.test"]);
    assert!(matches!(seen.first(), Some(Progress::Downloading { bytes: 0, .. })));
    assert_eq!(seen.last(), Some(&Progress::Unpacking { package: "onnxruntime" }));
    bench.install(false).unwrap();
    assert_eq!(bench.calls(), 1);
    bench.install(true).unwrap();
    assert_eq!(bench.calls(), 2);
}

#[test]
fn an_installation_of_before_there_were_lists_counts() {
    let mut bench = Bench::new(SERVE);
    let library = bench.install(false).unwrap();
    fs::remove_file(bench.installer.folder().join(MANIFEST)).unwrap();
    assert!(!bench.installer.is_installed(), "nothing says what the library should be");
    bench.installer.pin.library_sha256 = Some(String::leak(hash(&bench.content)));
    assert!(bench.installer.is_installed());
    assert_eq!(bench.install(false).unwrap(), library);
    assert_eq!(bench.calls(), 1);
    fs::write(&library, &bench.content[..1000]).unwrap();
    assert!(!bench.installer.is_installed(), "half a library");
}

#[test]
fn a_damaged_library_is_replaced() {
    let bench = Bench::new(SERVE);
    let library = bench.install(false).unwrap();
    fs::write(&library, &bench.content[..1000]).unwrap();
    assert!(!bench.installer.is_installed());
    bench.install(false).unwrap();
    assert_eq!(fs::read(&library).unwrap(), bench.content);
}

#[test]
fn a_finished_download_is_used_without_python() {
    let mut bench = Bench::new(SERVE);
    let served = bench.home.path().join("served.whl");
    fs::create_dir_all(bench.installer.folder()).unwrap();
    fs::copy(&served, bench.installer.wheel(&bench.installer.pin.wheels[0])).unwrap();
    bench.installer.pythons.clear();
    let library = bench.install(false).unwrap();
    assert_eq!(fs::read(library).unwrap(), bench.content);
}

#[test]
fn what_an_interruption_left_is_cleared_and_never_trusted() {
    let bench = Bench::new(SERVE);
    let folder = bench.installer.folder();
    fs::create_dir_all(folder.join("download.part/pip-unpack-x")).unwrap();
    fs::write(folder.join("download.part/pip-unpack-x/half.whl"), "half").unwrap();
    fs::write(folder.join("libonnxruntime.so.test.part"), "half").unwrap();
    let served = fs::read(bench.home.path().join("served.whl")).unwrap();
    fs::write(bench.installer.wheel(&bench.installer.pin.wheels[0]), &served[..served.len() / 2]).unwrap();
    let library = bench.install(false).unwrap();
    assert_eq!(fs::read(library).unwrap(), bench.content);
    assert_eq!(bench.files(), ["install.lock", "installed.json", "libonnxruntime.so.test"]);
}

#[test]
fn a_wheel_with_another_hash_is_refused() {
    let bench = Bench::new("echo other > \"$dest/onnxruntime-1.31.1.whl\"");
    let error = bench.install(false).unwrap_err();
    assert!(matches!(error, InstallError::HashMismatch { .. }), "{error}");
    assert!(!bench.installer.library().exists());
    assert!(!bench.installer.wheel(&bench.installer.pin.wheels[0]).exists());
}

#[test]
fn what_pip_says_reaches_the_user() {
    let bench = Bench::new("echo 'ERROR: no room on the disk' >&2; exit 1");
    assert!(bench.install(false).unwrap_err().to_string().ends_with("no room on the disk"));
    let silent = Bench::new("exit 0");
    assert!(silent.install(false).unwrap_err().to_string().contains("there is no wheel"));
}

#[test]
fn a_python_without_pip_is_named() {
    let bench = Bench::new(SERVE);
    let script = bench.home.path().join("bare-python");
    fs::write(&script, "#!/bin/sh\necho \"$0: No module named pip\" >&2\nexit 1\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let installer = Installer { pythons: vec![vec![script.to_string_lossy().into_owned()]], ..bench.installer };
    let error = installer.install(false, &mut |_| ()).unwrap_err();
    assert!(matches!(error, InstallError::NoPip(_)), "{error}");
}

/// Python puts the folder that it is started in before all others, and runs a `pip.py` that lies there.
#[test]
fn python_is_isolated_and_runs_in_a_folder_of_ours() {
    let bench = Bench::new(SERVE);
    let script = bench.home.path().join("python");
    let text = fs::read_to_string(&script).unwrap();
    let note = "#!/bin/sh\necho \"$1 $2 $3 $PWD\" >> \"$0.asked\"\n";
    fs::write(&script, text.replacen("#!/bin/sh\n", note, 1)).unwrap();
    bench.install(false).unwrap();
    let folder = bench.installer.folder().canonicalize().unwrap().join("download.part");
    let asked = fs::read_to_string(bench.home.path().join("python.asked")).unwrap();
    let expected = format!("-I -m pip {}", folder.display());
    assert_eq!(asked.lines().collect::<Vec<_>>(), [&expected, &expected], "the version and the download");
}

/// pip may be among the user's packages alone, which the isolated Python does not see.
#[test]
fn pip_may_be_the_users_own() {
    let bench = Bench::new(&format!("echo \"$isolation\" > \"$log.isolation\"\n{SERVE}"));
    let script = bench.home.path().join("python");
    let text = fs::read_to_string(&script).unwrap();
    let refuse = "#!/bin/sh\nisolation=$1\n[ $1 = -I ] && { echo \"$0: No module named pip\" >&2; exit 1; }\n";
    fs::write(&script, text.replacen("#!/bin/sh\n", refuse, 1)).unwrap();
    bench.install(false).unwrap();
    assert_eq!(fs::read_to_string(bench.home.path().join("log.isolation")).unwrap(), "-E\n");
}

#[test]
fn several_at_once_download_once() {
    let bench = Bench::new(&format!("sleep 0.3\n{SERVE}"));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| bench.install(false).unwrap());
        }
    });
    assert_eq!(bench.calls(), 1);
}

#[test]
fn pip_is_asked_for_the_pinned_wheel_whatever_it_runs_on() {
    let arguments =
        pip_arguments(&super::super::pins::PINS[0].wheels[0], Path::new("folder"), Path::new("requirements.txt"));
    for pair in [["--platform", "manylinux_2_28_x86_64"], ["--abi", "cp311"], ["--python-version", "3.11"]] {
        assert!(arguments.windows(2).any(|two| two == pair), "{pair:?}");
    }
    assert!(arguments.iter().any(|argument| argument == "--require-hashes"));
}

#[test]
fn an_interrupted_installation_of_several_packages_goes_on() {
    // The second download fails the first time.
    let body = format!("[ $(wc -l < \"$log\") = 2 ] && {{ echo 'ERROR: the cable is out' >&2; exit 1; }}\n{SERVE}");
    let bench = Bench::of(&["first", "second", "third"], &body);
    let error = bench.install(false).unwrap_err();
    assert!(error.to_string().contains("the cable is out"), "{error}");
    assert!(!bench.installer.is_installed() && !bench.installer.library().exists());
    let mut seen = Vec::new();
    bench.installer.install(false, &mut |progress| seen.push(progress)).unwrap();
    assert!(bench.installer.is_installed());
    assert_eq!(bench.calls(), 4, "the first package is not fetched again");
    let total = bench.installer.pin.bytes();
    let first = Progress::Downloading { package: "second", bytes: total / 3, total };
    // A process that another test starts meanwhile can hold the lock for a moment.
    assert_eq!(seen.iter().find(|progress| **progress != Progress::Waiting), Some(&first));
    let unpacked: Vec<&str> = seen
        .iter()
        .filter_map(|progress| match progress {
            Progress::Unpacking { package } => Some(*package),
            _ => None,
        })
        .collect();
    assert_eq!(unpacked, ["third", "second", "first"], "the library that is looked for comes last");
}

#[test]
fn a_package_without_its_library_is_named() {
    let mut bench = Bench::new(SERVE);
    bench.installer.pin.library = "libother.so";
    let error = bench.install(false).unwrap_err();
    assert!(matches!(error, InstallError::NoLibrary { .. }) && error.to_string().contains("libother.so"), "{error}");
}
