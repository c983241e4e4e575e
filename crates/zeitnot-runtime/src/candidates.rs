//! Lists the places where ONNX Runtime is looked for, in this order: the option, `ORT_DYLIB_PATH`, beside the
//! executable, the user's cache folder, the system.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use serde::Serialize;

use super::cuda_version::CudaVersion;
use super::pins::Variant;

/// Reason to try a library file: a setting that names it, or a place that is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The engine's option or the command's flag.
    Option,
    /// The environment variable `ORT_DYLIB_PATH`.
    Environment,
    /// The folder of the executable, or `lib` in or beside it.
    BesideExecutable,
    /// The user's cache folder, where `zeitnot runtime install` puts the library.
    Cache,
    /// A library folder of the system.
    System,
}

impl Origin {
    /// Whether the user named the library: then it must load, and no other is tried in its place.
    pub(crate) fn is_explicit(self) -> bool {
        matches!(self, Origin::Option | Origin::Environment)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Origin::Option => "given as option",
            Origin::Environment => "named by ORT_DYLIB_PATH",
            Origin::BesideExecutable => "beside the executable",
            Origin::Cache => "in the user's cache",
            Origin::System => "on the system",
        })
    }
}

/// A library file to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// The reason why the file is tried.
    pub origin: Origin,
    /// The file; on Linux also a bare name, which is left to the system's loader.
    pub path: PathBuf,
}

/// The places to look in, as values, so that the order can be tested without touching the process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Locations {
    /// The option's path: the library, or a folder that holds it.
    pub option: Option<PathBuf>,
    /// Value of `ORT_DYLIB_PATH`: a file, or a folder that holds the library.
    pub environment: Option<PathBuf>,
    /// The executable's folder, and `lib` in it and beside it.
    pub beside: Vec<PathBuf>,
    /// Folders of the installed runtimes, best first.
    pub cache: Vec<PathBuf>,
    /// Library folders of the system.
    pub system: Vec<PathBuf>,
}

impl Locations {
    /// The places of this process; `option` is what the user gave as the runtime's path.
    pub(crate) fn of_this_process(option: Option<&Path>) -> Locations {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let executable = std::env::current_exe().ok();
        let folder = executable.as_deref().and_then(Path::parent);
        let beside = folder.map(|folder| {
            let parent = folder.parent().map(|parent| parent.join("lib"));
            [Some(folder.to_path_buf()), Some(folder.join("lib")), parent].into_iter().flatten().collect()
        });
        Locations {
            option: option.map(Path::to_path_buf),
            environment: variable("ORT_DYLIB_PATH").map(PathBuf::from),
            beside: beside.unwrap_or_default(),
            cache: installed_folders(),
            system: system_folders(variable(LIBRARY_PATH_VARIABLE)),
        }
    }

    /// The files to try, best first. A file that the user named is listed even if it is missing, and ends the list.
    pub(crate) fn candidates(&self) -> Vec<Candidate> {
        for (origin, given) in [(Origin::Option, &self.option), (Origin::Environment, &self.environment)] {
            if let Some(path) = given {
                let path =
                    if path.is_dir() { libraries_in(path).into_iter().next() } else { None }.unwrap_or(path.clone());
                return vec![Candidate { origin, path }];
            }
        }
        let folders = self.beside.iter().map(|folder| (Origin::BesideExecutable, folder));
        let folders = folders.chain(self.cache.iter().map(|folder| (Origin::Cache, folder)));
        let folders = folders.chain(self.system.iter().map(|folder| (Origin::System, folder)));
        let mut found: Vec<Candidate> = folders
            .flat_map(|(origin, folder)| libraries_in(folder).into_iter().map(move |path| Candidate { origin, path }))
            .collect();
        // The loader knows folders that are listed nowhere else (ld.so.conf).
        found.extend(BARE_NAMES.iter().map(|name| Candidate { origin: Origin::System, path: PathBuf::from(name) }));
        found
    }
}

/// The folder of this program in the user's cache; `None` when the user has no home folder.
pub fn user_cache() -> Option<PathBuf> {
    let strategy = etcetera::choose_base_strategy().ok()?;
    Some(strategy.cache_dir().join("zeitnot"))
}

/// The user's cache folder for runtimes; `None` when the user has no home folder.
pub(crate) fn cache_root() -> Option<PathBuf> {
    Some(user_cache()?.join("runtime"))
}

/// The folders of the installed runtimes, best first. The driver is asked which CUDA it runs only where both are
/// installed: that takes a good part of a second.
fn installed_folders() -> Vec<PathBuf> {
    let has = |version: CudaVersion| installed_folder(version.variant()).is_some_and(|folder| folder.is_dir());
    let has_both = has(CudaVersion::Twelve) && has(CudaVersion::Thirteen);
    let cuda = if has_both { CudaVersion::for_this_machine() } else { CudaVersion::Thirteen };
    search_order(cuda).into_iter().filter_map(installed_folder).collect()
}

/// The variants in the order in which they are tried on a machine that suits `cuda`.
fn search_order(cuda: CudaVersion) -> [Variant; Variant::ALL.len()] {
    let mut order = Variant::ALL;
    // The sort is stable: variants without CUDA keep their order, and the processor's stays first.
    order.sort_by_key(|variant| match variant.cuda() {
        _ if *variant == Variant::Cpu => 0,
        Some(other) if other == cuda => 1,
        Some(_) => 2,
        None => 3,
    });
    order
}

/// Folder of a pinned runtime once it is installed; `None` where the platform has no package or the user no home.
pub(crate) fn installed_folder(variant: Variant) -> Option<PathBuf> {
    Some(cache_root()?.join(variant.pin()?.folder()))
}

#[cfg(target_os = "windows")]
const LIBRARY_PATH_VARIABLE: &str = "PATH";
#[cfg(target_os = "macos")]
const LIBRARY_PATH_VARIABLE: &str = "DYLD_LIBRARY_PATH";
#[cfg(not(any(target_os = "windows", target_os = "macos")))]
const LIBRARY_PATH_VARIABLE: &str = "LD_LIBRARY_PATH";

/// The names to ask the system's loader for: none on Windows and macOS, whose loaders also search the working folder.
const BARE_NAMES: &[&str] = if cfg!(any(target_os = "windows", target_os = "macos")) {
    &[]
} else {
    &["libonnxruntime.so.1", "libonnxruntime.so"]
};

fn system_folders(search_path: Option<OsString>) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        search_path.map(|value| std::env::split_paths(&value).collect()).unwrap_or_default();
    let known: &[&str] = if cfg!(target_os = "macos") {
        &["/opt/homebrew/lib", "/usr/local/lib"]
    } else if cfg!(target_os = "linux") {
        &["/usr/local/lib", "/usr/local/lib64", "/usr/lib64", "/usr/lib"]
    } else {
        &[]
    };
    folders.extend(known.iter().map(PathBuf::from));
    if cfg!(target_os = "linux") {
        folders.push(PathBuf::from(format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH)));
    }
    if cfg!(target_os = "windows") {
        folders.extend(std::env::var_os("SystemRoot").map(|windows| PathBuf::from(windows).join("System32")));
    }
    folders.retain(|folder| folder.is_absolute());
    folders
}

/// The ONNX Runtime libraries of a folder, newest version first, without the provider libraries beside them.
fn libraries_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<(Version, PathBuf)> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| Some((version_in_name(entry.file_name().to_str()?)?, entry.path())))
        .filter(|(_, path)| path.is_file())
        .collect();
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    found.into_iter().map(|(_, path)| path).collect()
}

/// The version in a file name. A name without a version (a link to the current one) is greater than all others.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Version {
    Numbers(Vec<u32>),
    Unversioned,
}

/// The version in the name of an ONNX Runtime library of this platform (`libonnxruntime.so.1.31.1`,
/// `libonnxruntime.1.31.1.dylib`, `onnxruntime.dll`), `None` for any other file.
fn version_in_name(name: &str) -> Option<Version> {
    let middle = if cfg!(target_os = "windows") {
        name.strip_prefix("onnxruntime")?.strip_suffix(".dll")?
    } else if cfg!(target_os = "macos") {
        name.strip_prefix("libonnxruntime")?.strip_suffix(".dylib")?
    } else {
        name.strip_prefix("libonnxruntime.so")?
    };
    if middle.is_empty() {
        return Some(Version::Unversioned);
    }
    let numbers = middle.strip_prefix('.')?.split('.').map(|part| part.parse().ok()).collect::<Option<Vec<u32>>>()?;
    Some(Version::Numbers(numbers))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A library's file name on this platform, with a version where the platform writes one.
    fn library(version: &str) -> String {
        if cfg!(target_os = "windows") {
            "onnxruntime.dll".to_owned()
        } else if cfg!(target_os = "macos") {
            format!("libonnxruntime{version}.dylib")
        } else {
            format!("libonnxruntime.so{version}")
        }
    }

    fn folder_with(root: &Path, name: &str, files: &[String]) -> PathBuf {
        let folder = root.join(name);
        fs::create_dir_all(&folder).unwrap();
        for file in files {
            fs::write(folder.join(file), b"").unwrap();
        }
        folder
    }

    #[test]
    fn order_is_beside_cache_system() {
        let root = tempfile::tempdir().unwrap();
        let name = library(".1.31.1");
        let locations = Locations {
            beside: vec![folder_with(root.path(), "beside", std::slice::from_ref(&name))],
            cache: vec![folder_with(root.path(), "cache", std::slice::from_ref(&name))],
            system: vec![folder_with(root.path(), "system", std::slice::from_ref(&name))],
            ..Locations::default()
        };
        let candidates = locations.candidates();
        let origins: Vec<Origin> = candidates.iter().map(|candidate| candidate.origin).collect();
        assert_eq!(origins[..3], [Origin::BesideExecutable, Origin::Cache, Origin::System]);
        assert_eq!(candidates[1].path, root.path().join("cache").join(&name));
        // What remains are bare names for the loader.
        assert!(candidates[3..].iter().all(|candidate| candidate.path.parent() == Some(Path::new(""))));
    }

    #[test]
    fn what_the_user_names_stands_alone_even_when_missing() {
        let root = tempfile::tempdir().unwrap();
        let mut locations = Locations {
            option: Some(root.path().join("given")),
            environment: Some(root.path().join("variable")),
            cache: vec![folder_with(root.path(), "cache", &[library("")])],
            ..Locations::default()
        };
        let only = |origin, name: &str| vec![Candidate { origin, path: root.path().join(name) }];
        assert_eq!(locations.candidates(), only(Origin::Option, "given"));
        locations.option = None;
        assert_eq!(locations.candidates(), only(Origin::Environment, "variable"));
    }

    #[test]
    fn a_folder_may_be_named_instead_of_the_file() {
        let root = tempfile::tempdir().unwrap();
        let folder = folder_with(root.path(), "given", &[library(".1.31.1"), "readme.txt".to_owned()]);
        let locations = Locations { option: Some(folder.clone()), ..Locations::default() };
        assert_eq!(locations.candidates()[0].path, folder.join(library(".1.31.1")));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn newest_version_first_and_provider_libraries_are_not_meant() {
        let root = tempfile::tempdir().unwrap();
        let names = ["libonnxruntime.so.1.9.0", "libonnxruntime.so.1.31.1", "libonnxruntime_providers_shared.so"];
        let folder = folder_with(root.path(), "lib", &names.map(str::to_owned));
        let found: Vec<_> =
            libraries_in(&folder).into_iter().map(|path| path.file_name().unwrap().to_owned()).collect();
        assert_eq!(found, ["libonnxruntime.so.1.31.1", "libonnxruntime.so.1.9.0"]);
        assert_eq!(version_in_name("libonnxruntime.so"), Some(Version::Unversioned));
        assert_eq!(version_in_name("libonnxruntime.so.1.31.1.part"), None);
    }

    #[test]
    fn of_two_runtimes_for_cards_the_one_for_the_machine_comes_first() {
        use Variant::{Cpu, DirectMl, Gpu, GpuCuda12, MiGraphX, OpenVino, TensorRtRtx, WebGpu};
        let others = [OpenVino, DirectMl, WebGpu, TensorRtRtx, MiGraphX];
        assert_eq!(search_order(CudaVersion::Thirteen), *[&[Cpu, Gpu, GpuCuda12][..], &others].concat());
        assert_eq!(search_order(CudaVersion::Twelve), *[&[Cpu, GpuCuda12, Gpu][..], &others].concat());
    }

    #[test]
    fn relative_entries_of_the_search_path_are_not_searched() {
        let folders = system_folders(Some(OsString::from("relative")));
        assert!(folders.iter().all(|folder| folder.is_absolute()));
    }
}
