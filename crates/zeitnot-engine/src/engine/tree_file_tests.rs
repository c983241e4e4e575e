use super::*;
use crate::engine::{EndReason, RuntimePolicy};
use std::fs;
use std::sync::Arc;
use zeitnot_base::announcer::Announcer;
use zeitnot_base::clock::VirtualClock;

fn engine(options: &[(&str, &str)]) -> Engine {
    let mut all = Options::default();
    for (name, value) in [("Backend", "random"), ("RamLimitMb", "500")].iter().chain(options) {
        all.set(name, value).unwrap();
    }
    let mut engine = Engine::new(all, Arc::new(VirtualClock::default()), RuntimePolicy::FindOnly);
    engine.prepare().unwrap();
    engine
}

fn search(engine: &mut Engine, moves: &str, nodes: u64) -> u64 {
    let mut game = Game::new();
    moves.split_whitespace().for_each(|mv| game.push_uci(mv).unwrap());
    engine.set_game(game);
    let go = GoParams { nodes: Some(nodes), ..GoParams::default() };
    let (end, _) = engine.run(&go, 0.0, None).unwrap();
    assert_ne!(end.reason, EndReason::Failed);
    end.report.nodes
}

#[test]
fn a_file_is_taken_up_with_its_game() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("analysis.tree");
    let mut first = engine(&[]);
    assert!(matches!(first.save_tree(&path), Err(TreeFileError::NothingKept)));
    search(&mut first, "e2e4 e7e5", 300);
    let known = search(&mut first, "e2e4", 400);
    let facts = first.save_tree(&path).unwrap();
    assert_eq!((u64::from(facts.visits), facts.moves.join(" ").as_str()), (known, "e2e4"));
    assert_eq!(tree_facts(&path, None).unwrap(), facts);
    let mut second = engine(&[]);
    assert_eq!(second.load_tree(&path).unwrap(), facts);
    assert_eq!(second.game().moves().len(), 1);
    assert_eq!(second.tree_visits(), known);
    assert!(search(&mut second, "e2e4 e7e5", 1) >= 250);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing lies beside it");
}

#[test]
fn files_are_merged() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two, out] = ["one", "two", "out"].map(|name| folder.path().join(name));
    for (path, moves) in [(&one, "e2e4"), (&two, "d2d4")] {
        let mut engine = engine(&[]);
        search(&mut engine, moves, 200);
        engine.save_tree(path).unwrap();
    }
    let facts = merge_trees(&one, &[two], &out, None).unwrap();
    assert_eq!(facts.moves.join(" "), "e2e4");
    assert_eq!(tree_facts(&out, None).unwrap(), facts);
    let mut engine = engine(&[]);
    engine.load_tree(&out).unwrap();
    assert!(search(&mut engine, "d2d4", 1) > 100);
    assert!(merge_trees(&one, &[folder.path().join("none")], &out, None).is_err());
    assert_eq!(tree_facts(&out, None).unwrap(), facts, "as it was");
}

#[test]
fn a_tree_of_other_options_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("analysis.tree");
    let mut first = engine(&[]);
    search(&mut first, "", 100);
    first.save_tree(&path).unwrap();
    let mut other = engine(&[("PolicyTemperature", "2")]);
    let known = search(&mut other, "d2d4", 50);
    let error = other.load_tree(&path).unwrap_err().to_string();
    assert!(error.ends_with("the tree was saved with PolicyTemperature=1.359, and here it is 2"), "{error}");
    assert_eq!((other.tree_visits(), other.game().moves().len()), (known, 1), "as it was");
}

#[test]
fn damaged_files_are_refused_in_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("analysis.tree");
    let mut engine = engine(&[]);
    search(&mut engine, "", 150);
    engine.save_tree(&path).unwrap();
    let bytes = fs::read(&path).unwrap();
    let whole = engine.state.tree.as_ref().unwrap().save().unwrap();
    for index in (0..bytes.len()).step_by(bytes.len() / 300 + 1) {
        for damage in
            [|bytes: &mut Vec<u8>, at: usize| bytes.truncate(at), |bytes: &mut Vec<u8>, at: usize| bytes[at] ^= 0x10]
        {
            let mut damaged = bytes.clone();
            damage(&mut damaged, index);
            fs::write(&path, &damaged).unwrap();
            match engine.load_tree(&path) {
                Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
                // Gzip has bits that mean nothing.
                Ok(_) => assert_eq!(engine.state.tree.as_ref().unwrap().save().unwrap(), whole, "{index}"),
            }
        }
    }
    let missing = engine.load_tree(&folder.path().join("none")).unwrap_err();
    assert!(matches!(missing, TreeFileError::File { .. }));
}

#[test]
fn the_tree_file_outlives_the_engine_and_a_new_game() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("days.tree");
    let with_file = [("TreeFile", path.to_str().unwrap())];
    let mut first = engine(&with_file);
    let known = search(&mut first, "c2c4", 300);
    first.save_tree_file();
    drop(first);
    let mut second = engine(&with_file);
    second.new_game();
    assert!(search(&mut second, "c2c4", 1) >= known);
    second.new_game();
    assert!(search(&mut second, "c2c4", 1) >= known);
    // Another kind of evaluations starts another tree, and the file keeps the one before.
    second.set_option("ContemptMode", "white_side_analysis").unwrap();
    second.set_option("Contempt", "50").unwrap();
    search(&mut second, "d2d4", 100);
    second.save_tree_file();
    drop(second);
    let facts = tree_facts(&path, None).unwrap();
    assert_eq!((facts.visits, facts.options["Contempt"].as_str()), (0, ""), "{facts:?}");
    let mut as_before = engine(&with_file);
    assert!(search(&mut as_before, "c2c4", 1) >= known);
    drop(as_before);
    // A file that cannot be taken up is not written over.
    fs::write(&path, "not a tree").unwrap();
    let mut third = engine(&with_file);
    search(&mut third, "c2c4", 100);
    third.save_tree_file();
    assert_eq!(fs::read_to_string(&path).unwrap(), "not a tree");
}

/// An engine, and the lines that it announces.
fn telling(options: &[(&str, &str)]) -> (Engine, Arc<Mutex<Vec<String>>>) {
    let (mut engine, told) = (engine(options), Arc::<Mutex<Vec<String>>>::default());
    let lines = Arc::clone(&told);
    engine.announce_to(Announcer::new(move |line| lines.lock().push(line.to_string())));
    (engine, told)
}

#[test]
fn one_engine_writes_a_file_at_a_time_and_none_over_what_it_has_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("days.tree");
    let with_file = [("TreeFile", path.to_str().unwrap())];
    let (mut first, said) = telling(&with_file);
    let known = search(&mut first, "c2c4", 300);
    let (mut second, heard) = telling(&with_file);
    search(&mut second, "d2d4", 100);
    assert!(heard.lock().iter().any(|line| line.contains("in use by another program")), "{:?}", heard.lock());
    assert!(matches!(second.save_tree(&path), Err(TreeFileError::InUse(_))));
    second.save_tree_file();
    drop(second);
    assert!(!path.exists(), "the first one has saved nothing yet");
    first.save_tree_file();
    let facts = tree_facts(&path, None).unwrap();
    assert_eq!(u64::from(facts.visits), known);
    // A file of the same name from elsewhere.
    fs::write(&path, "another tree").unwrap();
    search(&mut first, "c2c4", known + 100);
    first.save_tree_file();
    assert!(said.lock().iter().any(|line| line.contains("changed since it was read")), "{:?}", said.lock());
    assert_eq!(fs::read_to_string(&path).unwrap(), "another tree");
    // One that was deleted is written anew.
    fs::remove_file(&path).unwrap();
    first.save_tree_file();
    assert_eq!(u64::from(tree_facts(&path, None).unwrap().visits), known + 100);
    drop(first);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing lies beside it");
}

#[test]
fn a_tree_of_other_heads_is_refused() {
    let heads = |options: &str| decisive(&Options { backend_options: options.to_owned(), ..Options::default() });
    assert_ne!(heads("value_head=q"), heads(""));
    assert_ne!(heads("policy_head=optimistic"), heads(""));
    assert_eq!(heads("threads=2"), heads(""));
}

#[test]
fn a_place_for_no_file_is_told_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display();
    for (file, part) in [(format!("{path}/none/x.tree"), "os error 2"), (path.to_string(), "it is a folder")] {
        let (mut engine, told) = telling(&[]);
        engine.set_option("TreeFile", &file).unwrap();
        engine.prepare().unwrap();
        assert!(told.lock().iter().any(|line| line.contains(part) && line.contains(&file)), "{:?}", told.lock());
    }
}
