//! Tests that the clocks of random games come back from the comments of many programs.

use super::*;
use zeitnot_games::pgn_reader::read_games;

/// A clock that a program keeps, and how it writes it.
struct Program {
    tags: &'static str,
    /// The increment and the first clock, in milliseconds.
    increment_ms: u64,
    start_ms: u64,
    /// The first move of a side is on no clock.
    begins_free: bool,
    comment: fn(used_ms: u64, clock_ms: u64, increment_ms: u64) -> String,
    /// How far times and clocks may be off by rounding, in milliseconds.
    off_ms: f64,
}

fn hms(ms: u64, digits: usize) -> String {
    let seconds = ms as f64 / 1e3;
    let whole = (seconds / 60.0).floor();
    format!(
        "{}:{:02}:{:0width$.digits$}",
        (whole / 60.0).floor(),
        whole % 60.0,
        seconds - 60.0 * whole,
        width = if digits > 0 { digits + 3 } else { 2 }
    )
}

#[test]
fn clocks_of_random_games_come_back() {
    let programs = [
        Program {
            tags: "[TimeControl \"8+0.08\"]",
            increment_ms: 80,
            start_ms: 8_080,
            begins_free: false,
            comment: |used, clock, _| {
                format!(
                    "-0.31/12 {}.{:03}s, tl={}.{:03}s, latency=0.001s",
                    used / 1000,
                    used % 1000,
                    clock / 1000,
                    clock % 1000
                )
            },
            off_ms: 0.0,
        },
        Program {
            tags: "[TimeControl \"8+0.08\"]",
            increment_ms: 80,
            start_ms: 8_080,
            begins_free: false,
            comment: |used, _, _| format!("+M5/12 {}.{:03}s", used / 1000, used % 1000),
            off_ms: 0.0,
        },
        Program {
            tags: "[TimeControl \"8+0.08\"]",
            increment_ms: 80,
            start_ms: 8_080,
            begins_free: false,
            comment: |used, clock, _| format!("[%clk {}] [%emt {}]", hms(clock, 3), hms(used, 3)),
            off_ms: 0.0,
        },
        Program {
            tags: "[TimeControl \"600+5\"]",
            increment_ms: 5_000,
            start_ms: 600_000,
            begins_free: false,
            comment: |used, clock, _| format!("d=1, mt={used}, tl={clock}, "),
            off_ms: 0.0,
        },
        Program {
            tags: "[TimeControl \"600+5\"]\n[Site \"Chess.com\"]",
            increment_ms: 5_000,
            start_ms: 600_000,
            begins_free: false,
            comment: |_, clock, _| format!("[%clk {}]", hms(clock / 100 * 100, 1)),
            off_ms: 100.0,
        },
        Program {
            tags: "[TimeControl \"180+2\"]\n[Site \"https://lichess.org/x\"]",
            increment_ms: 2_000,
            start_ms: 180_000,
            begins_free: true,
            comment: |_, clock, _| format!("[%clk {}]", hms((clock + 500) / 1000 * 1000, 0)),
            off_ms: 1_000.0,
        },
        // Without the increment, which the first move shows.
        Program {
            tags: "[TimeControl \"60+10\"]",
            increment_ms: 10_000,
            start_ms: 60_000,
            begins_free: false,
            comment: |used, clock, increment| format!("[%clk {}] [%emt {}]", hms(clock - increment, 3), hms(used, 3)),
            off_ms: 0.0,
        },
    ];
    let mut random = zeitnot_engine::splitmix::SplitMix64(44);
    for program in programs {
        for round in 0..20 {
            let (mut clocks, mut expected) = ([program.start_ms; 2], Vec::new());
            let mut text = format!("{}\n\n", program.tags);
            for ply in 0..2 + random.below(160) {
                let clock_ms = &mut clocks[ply % 2];
                let before_ms = *clock_ms;
                let share = random.choice(&[3, 10, 40]);
                let used_ms = 20 + random.below(before_ms as usize / share) as u64;
                let is_free = program.begins_free && ply < 2;
                let used_ms = used_ms.min(before_ms - 10);
                if !is_free {
                    *clock_ms = before_ms - used_ms + program.increment_ms;
                    expected.push((ply, before_ms as f64, used_ms as f64));
                }
                let comment = (program.comment)(used_ms, *clock_ms, program.increment_ms);
                let mv = ["Nf3", "Nf6", "Ng1", "Ng8"][ply % 4];
                text += &format!(
                    "{} {mv} {{{comment}}} ",
                    if ply % 2 == 0 { format!("{}.", ply / 2 + 1) } else { String::new() }
                );
            }
            let told = game_times(&read_games(format!("{text} *\n").as_bytes()).unwrap()[0]);
            assert!(told.doubts.is_empty() && told.remarks.is_empty(), "{round} {text}: {told:?}");
            assert_eq!(told.moves.len(), expected.len(), "{round} {text}");
            for (mv, (ply, clock_ms, used_ms)) in told.moves.iter().zip(expected) {
                let is_near = |told: f64, true_ms: f64| (told - true_ms).abs() <= program.off_ms;
                let fits = mv.ply == ply && is_near(mv.clock_ms.unwrap(), clock_ms) && is_near(mv.used_ms, used_ms);
                assert!(fits, "{round} {mv:?}: {ply} {clock_ms} {used_ms} {text}");
            }
        }
    }
}
