use super::super::record::drawn_game;
use super::*;
use serde_json::json;

fn game(number: u64) -> GameRecord {
    GameRecord { opening: vec!["e4".into()], clocks_ms: [0.1, 12.345], ..drawn_game(number) }
}

#[test]
fn a_journal_cut_at_any_byte_goes_on_with_the_games_that_are_whole() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("match.jsonl");
    let settings = json!({ "tc": "1", "games": 4 });
    let mut journal = Journal::create(&path, settings.clone()).unwrap();
    for number in [2, 1, 3] {
        journal.add(game(number)).unwrap();
    }
    drop(journal);
    let error = Journal::<GameRecord>::create(&path, settings.clone()).err().unwrap().to_string();
    assert!(error.contains("--resume goes on with it"), "{error}");
    let bytes = std::fs::read(&path).unwrap();
    let ends: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] == b'\n').collect();
    for cut in 0..=bytes.len() {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        let mut journal = Journal::resume(&path, settings.clone(), &[]).unwrap();
        let whole = ends.iter().filter(|end| **end < cut).count().saturating_sub(1);
        let numbers: Vec<u64> = journal.games().keys().copied().collect();
        let mut expected = [2, 1, 3][..whole].to_vec();
        expected.sort_unstable();
        assert_eq!(numbers, expected, "cut at {cut}");
        journal.add(game(9)).unwrap();
        if cut == 0 {
            let in_use = Journal::<GameRecord>::resume(&path, settings.clone(), &[]).err().unwrap().to_string();
            assert!(in_use.starts_with("another match is writing"), "{in_use}");
        }
        drop(journal);
        let again = Journal::<GameRecord>::resume(&path, settings.clone(), &[]).unwrap();
        assert_eq!(again.games().len(), whole + 1, "cut at {cut}");
        assert_eq!(again.games()[&9], game(9));
    }
}

#[test]
fn a_finished_match_is_replaced_by_the_first_game_of_another_and_not_before() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("match.jsonl");
    let create = |tc: &str| Journal::<GameRecord>::create(&path, json!({ "tc": tc })).unwrap();
    let mut journal = create("1");
    assert!(!journal.has_other());
    journal.add(game(1)).unwrap();
    journal.end().unwrap();
    drop(journal);
    let finished = std::fs::read(&path).unwrap();
    let mut journal = create("2");
    journal.note("pgn_start", 7);
    assert!(journal.has_other() && journal.games().is_empty());
    drop(journal);
    assert_eq!(std::fs::read(&path).unwrap(), finished);
    let mut journal = create("3");
    journal.note("pgn_start", 8);
    journal.add(game(5)).unwrap();
    assert!(!journal.has_other());
    drop(journal);
    let journal = Journal::<GameRecord>::resume(&path, json!({ "tc": "3", "pgn_start": 8 }), &[]).unwrap();
    assert_eq!(journal.games().keys().collect::<Vec<_>>(), [&5]);
}

#[test]
fn another_match_and_other_files_are_refused_by_name() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("match.jsonl");
    drop(Journal::<GameRecord>::create(&path, json!({ "tc": "3" })).unwrap());
    // Without a game there is nothing that other settings could spoil.
    let mut begun = Journal::<GameRecord>::resume(&path, json!({ "tc": "1", "games": 4 }), &[]).unwrap();
    begun.add(game(1)).unwrap();
    drop(begun);
    let error = Journal::<GameRecord>::resume(&path, json!({ "tc": "2", "games": 4 }), &[]).err().unwrap().to_string();
    assert!(error.ends_with("holds a match with another tc: \"1\" there, \"2\" here"), "{error}");
    let error = Journal::<GameRecord>::resume(&path, json!({ "tc": "1" }), &[]).err().unwrap().to_string();
    assert!(error.ends_with("another games: 4 there, nothing here"), "{error}");
    let kept = Journal::<GameRecord>::resume(&path, json!({ "tc": "1", "games": 8 }), &["games"]).unwrap();
    assert_eq!(kept.settings()["games"], 4);
    drop(kept);
    std::fs::write(&path, "{\"tc\":\"1\"}\nx\n").unwrap();
    let error = Journal::<GameRecord>::resume(&path, json!({ "tc": "1" }), &[]).err().unwrap().to_string();
    assert!(error.contains("match.jsonl line 2: expected value"), "{error}");
    // Somebody's own file is neither replaced nor added to.
    for text in ["my notes\n", "my notes", "[1,2]\n"] {
        std::fs::write(&path, text).unwrap();
        assert!(
            Journal::<GameRecord>::create(&path, json!({})).is_err()
                && Journal::<GameRecord>::resume(&path, json!({}), &[]).is_err()
        );
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}
