//! Reads the event log of a game's time, as `zeitnot time explain script` does, a line of JSON each, and answers it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use zeitnot_games::verify_decisions;
use zeitnot_time::Timekeeper;
use zeitnot_time::event_log::{self, Answer, Line};

fuzz_target!(|data: &[u8]| {
    zeitnot_fuzz::count(data);
    let text = String::from_utf8_lossy(data);
    let mut time = Timekeeper::new("smooth").expect("it is a manager");
    for line in text.lines() {
        let line = match event_log::read(line) {
            Ok(line) => line,
            Err(_) => break,
        };
        let Line::Event(event) = line else { continue };
        assert_eq!(
            event_log::read(event_log::write(&event, None).trim_end()).expect("our own line"),
            Line::Event(event.clone())
        );
        match time.apply(&event) {
            Ok(Some(Answer::Plan(plan))) => {
                let numbers = [plan.budget_ms, plan.hard_limit_ms];
                assert!(numbers.iter().all(|number| number.is_finite() && *number >= 0.0), "{plan}");
            }
            Ok(answer) => _ = event_log::write(&event, answer.as_ref()),
            Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
        }
    }
    zeitnot_fuzz::with_file(".jsonl", data, |path| _ = verify_decisions(path));
});
