//! Checks which network is found, and which are passed over.

use std::fs::File;
use std::time::Duration;

use super::*;
use crate::Conversion;
use crate::testing::{random_network, with_renamed_ends};

fn write(folder: &Path, name: &str, content: &[u8], age_s: u64) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 - age_s);
    File::options().append(true).open(&path).unwrap().set_modified(time).unwrap();
    path
}

#[test]
fn a_named_file_is_taken_as_it_is() {
    let location = find(Some(Path::new("no/such/file"))).unwrap();
    assert_eq!(location, Location::File("no/such/file".into()));
    assert!(
        location.load(&OnnxInterface::default()).is_err() && location.size().is_err() && location.sha256().is_err()
    );
}

#[test]
fn a_mere_name_is_looked_for_in_the_folders() {
    let [first, second] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let file = write(second.path(), "no-such-name-here.pb.gz", b"", 0);
    let folders = [&first, &second].map(|folder| folder.path().to_owned());
    assert_eq!(named(Path::new("no-such-name-here"), &folders), Some(file.clone()));
    assert_eq!(named(Path::new("no-such-name-here.pb.gz"), &folders), Some(file));
    assert_eq!(named(Path::new("another-name"), &folders), None);
    assert_eq!(named(Path::new("./no-such-name-here"), &folders), None, "that is a path");
    assert_eq!(named(Path::new("Cargo.toml"), &[PathBuf::from("src")]), None, "that is a file here");
}

#[test]
fn a_well_known_network_is_told_from_another_name() {
    let name = |path: &str| in_catalogue(Path::new(path)).map(|entry| entry.name);
    assert_eq!((name("t1-256"), name("maia-1900.pb.gz")), (Some("T1-256"), Some("maia-1900")));
    assert_eq!((name("./T1-256"), name("T1-257")), (None, None));
}

#[test]
fn the_newest_network_of_the_first_folder_that_has_one() {
    let [empty, first, second] = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let network = random_network(1, 1, 4);
    write(empty.path(), "notes.txt", b"no network", 0);
    write(first.path(), "renamed.bin", &network, 20);
    let newest = write(first.path(), "b.pb.gz", &network, 10);
    write(first.path(), "c.pb.gz", &network, 10);
    write(first.path(), "newer.pb.gz", b"\x1f\x8bnot really", 5);
    fs::create_dir(first.path().join("folder.pb.gz")).unwrap();
    write(second.path(), "d.pb.gz", &network, 0);
    let folders = [&empty, &first, &second].map(|folder| folder.path().to_owned());
    assert_eq!(unnamed(&folders).next(), Some(newest));
}

/// A wrong wish is no reason to play something else; a file that is of no use is.
#[test]
fn the_first_network_that_could_play_is_the_one_that_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let folders = [folder.path().to_owned()];
    let network = random_network(1, 1, 4);
    let model = Network::from_bytes(&network, "x").unwrap().onnx(&Conversion::default()).unwrap().bytes;
    let with = |policy: &str| {
        let interface = OnnxInterface { policy: Some(policy.to_owned()), ..OnnxInterface::default() };
        let mut passed_over = Vec::new();
        let result = load_unnamed(&folders, &interface, false, |error| passed_over.push(error.to_string()));
        (result.map(|(location, _)| location).map_err(|error| error.to_string()), passed_over)
    };
    let wrong = |name: &str, policy: &str, part: &str| {
        let (result, passed_over) = with(policy);
        let line = result.unwrap_err();
        assert!(line.contains(name) && line.contains(part) && passed_over.is_empty(), "{line}; {passed_over:?}");
    };
    wrong(built_in::MAIN.name, "/output/policy", "Lc0's own format");
    write(folder.path(), "oldest.pb.gz", &network, 30);
    let older = write(folder.path(), "older.onnx", &model, 20);
    wrong("older.onnx", "p", "its outputs are /output/policy");
    let (result, passed_over) = with("/output/policy");
    assert_eq!((result, passed_over.len()), (Ok(Location::File(older.clone())), 0));
    // Neither of these could play with any interface.
    write(folder.path(), "cut.pb.gz", &network[..network.len() / 2], 10);
    let foreign = with_renamed_ends(&model, |name| format!("no chess{name}"));
    write(folder.path(), "foreign.onnx", &foreign, 10);
    let (result, passed_over) = with("/output/policy");
    assert_eq!(result, Ok(Location::File(older)));
    assert!(passed_over[0].contains("cut.pb.gz") && passed_over[1].contains("foreign.onnx"), "{passed_over:?}");
    write(folder.path(), "newest.pb.gz", &network, 0);
    wrong("newest.pb.gz", "/output/policy", "Lc0's own format");
}

#[test]
fn networks_are_known_by_content_not_by_name() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "fake.pb.gz", b"hello", 0);
    let real = write(folder.path(), "weights", &random_network(1, 1, 4), 10);
    assert_eq!(networks(folder.path()).next(), Some(real));
}

#[test]
fn our_own_networks_are_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let folders = [folder.path().to_owned()];
    for name in OWN {
        for ending in ENDINGS {
            write(folder.path(), &format!("{name}{ending}"), &random_network(1, 1, 4), 0);
        }
    }
    assert_eq!(unnamed(&folders).next(), None);
    let another = write(folder.path(), "zeitnot-smaller.pb.gz", &random_network(1, 1, 4), 20);
    assert_eq!(unnamed(&folders).next(), Some(another));
    let own = write(folder.path(), "own.pb.gz", &random_network(1, 1, 4), 10);
    assert_eq!(unnamed(&folders).next(), Some(own));
}

#[test]
fn the_networks_inside_the_program_have_their_names() {
    for (own, other) in [(&built_in::MAIN, "<built in>"), (&built_in::TINY, "Zeitnot-Tiny")] {
        let location = Location::BuiltIn(own);
        for name in [own.name, own.file, other] {
            assert_eq!(find(Some(Path::new(name))).unwrap(), location, "{name}");
        }
        // A path with a folder is no name; the tests run in the crate's folder.
        let file = Path::new("networks").join(own.file);
        assert_eq!(find(Some(&file)).unwrap(), Location::File(file.clone()));
        let network = location.load(&OnnxInterface::default()).unwrap();
        assert_eq!((network.name(), location.path()), (own.name, None));
        assert!(network.description().moves_left);
        assert_eq!(location.size().unwrap(), own.bytes.len() as u64);
        assert_eq!(location.sha256().unwrap(), Location::File(file).sha256().unwrap());
        assert!(location.to_string().contains("built in"));
    }
}

#[test]
fn a_network_in_the_working_folder_does_not_play_unasked() {
    let folders = folders();
    assert_eq!(folders[0], Path::new("./models"));
    assert!(!folders.iter().any(|folder| folder == Path::new(".")));
}

#[test]
fn an_executable_finds_the_models_of_its_package() {
    let found = |path: &str| around(Path::new(path)).collect::<Vec<_>>();
    assert_eq!(found("/opt/zeitnot/zeitnot"), [Path::new("/opt/zeitnot/models")]);
    for (path, beside) in [
        ("/src/zeitnot/target/release/zeitnot", "/src/zeitnot/target/release/models"),
        ("/src/zeitnot/target/x86_64/debug/deps/test", "/src/zeitnot/target/x86_64/debug/deps/models"),
    ] {
        assert_eq!(found(path), [Path::new(beside), Path::new("/src/zeitnot/models")]);
    }
}
