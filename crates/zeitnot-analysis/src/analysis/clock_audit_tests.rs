//! Tests the audit of a clock.

use super::*;

fn times(ply: usize, clock_ms: f64, used_ms: f64) -> ClockedMove {
    ClockedMove {
        ply,
        color: Color::White,
        clock_ms: Some(clock_ms),
        used_ms,
        increment_ms: 0.0,
        moves_to_go: None,
        moves_left: 1,
        nodes: None,
        budget_ms: None,
        latency_ms: None,
        over_ms: None,
        is_overrun: false,
    }
}

fn quiet(times: &ClockedMove) -> TimedMove<'_> {
    TimedMove {
        times,
        number: 1 + times.ply as u32 / 2,
        phase: Phase::Middlegame,
        expected: Some(0.5),
        loss: Some(0.0),
        is_forced: false,
        is_early: Some(false),
        better: None,
    }
}

/// A blitz game of five minutes, at a rating of 1,500: 7.3 s are usual at move 19.
fn blitz() -> SideClock {
    SideClock::new("300", None, Some(1500))
}

fn verdict_of(used_ms: f64, change: impl Fn(&mut TimedMove<'_>)) -> Option<TimeVerdict> {
    let times = times(36, 200_000.0, used_ms);
    let mut mv = quiet(&times);
    change(&mut mv);
    audit(&[mv], &blitz()).0[0].verdict
}

#[test]
fn a_long_thought_buys_nothing_where_there_is_nothing_to_find() {
    use TimeVerdict::{BoughtNothing, WentWrong};
    assert_eq!(verdict_of(15_000.0, |mv| mv.is_early = Some(true)), Some(BoughtNothing));
    assert_eq!(verdict_of(15_000.0, |mv| mv.is_forced = true), Some(BoughtNothing));
    assert_eq!(verdict_of(15_000.0, |mv| mv.expected = Some(0.04)), Some(BoughtNothing));
    // The choice changed, or the time is usual.
    assert_eq!(verdict_of(15_000.0, |_| {}), None);
    assert_eq!(verdict_of(14_000.0, |mv| mv.is_early = Some(true)), None);
    // The move was wrong all the same.
    let missed = |mv: &mut TimedMove<'_>| (mv.is_early, mv.loss, mv.better) = (Some(true), Some(0.05), Some("Nf3"));
    assert_eq!(verdict_of(15_000.0, missed), Some(WentWrong));
    assert_eq!(verdict_of(15_000.0, |mv| mv.loss = Some(0.05)), None, "the search would play it, too");
    // From comments alone nothing is known of a small search.
    assert_eq!(verdict_of(15_000.0, |mv| mv.is_early = None), None);
}

#[test]
fn a_fast_move_needed_a_thought_where_it_lost_and_a_search_finds_better() {
    use TimeVerdict::NeededOne;
    let lost = |mv: &mut TimedMove<'_>| (mv.loss, mv.better) = (Some(0.2), Some("Nf3"));
    assert_eq!(verdict_of(2_000.0, lost), Some(NeededOne));
    assert_eq!(verdict_of(3_500.0, lost), None, "a usual time");
    assert_eq!(verdict_of(2_000.0, |mv| mv.loss = Some(0.2)), None, "the search would play it, too");
    assert_eq!(verdict_of(2_000.0, |mv| (mv.loss, mv.is_early) = (Some(0.2), None)), Some(NeededOne));
    let times = times(36, 29_000.0, 100.0);
    let mut mv = quiet(&times);
    lost(&mut mv);
    let (told, sums) = audit(&[mv], &blitz());
    assert_eq!((told[0].verdict, sums.troubled.moves, sums.troubled.loss), (None, 1, 0.2), "time trouble");
    assert!(told[0].words.ends_with("in time trouble."), "{}", told[0].words);
}

#[test]
fn sums_are_of_all_moves() {
    let all = [times(34, 250_000.0, 30_000.0), times(36, 220_000.0, 1_000.0), times(38, 219_000.0, 7_000.0)];
    let mut moves: Vec<TimedMove<'_>> = all.iter().map(quiet).collect();
    moves[0].is_early = Some(true);
    (moves[1].loss, moves[1].better) = (Some(0.25), Some("Nf3"));
    moves[2].phase = Phase::Endgame;
    let (told, sums) = audit(&moves, &blitz());
    let usual_ms = told[0].usual_ms.unwrap();
    assert!((7_000.0..7_400.0).contains(&usual_ms), "{usual_ms}");
    assert_eq!(sums.long_thoughts.count, 1);
    assert_eq!(sums.long_thoughts.ms, 30_000.0 - usual_ms);
    assert_eq!((sums.instant.count, sums.instant.cost, sums.used_ms), (1, 0.25, 38_000.0));
    assert_eq!(sums.phases_ms, [0.0, 31_000.0, 7_000.0]);
    assert_eq!(told[0].words, "30 s where 7.3 s are usual, and a short look finds the move of a long one.");
    assert!(told[1].words.ends_with("and it lost 25 % of the winning chances; Nf3 was better."), "{}", told[1].words);
}

#[test]
fn without_a_rating_or_on_another_clock_the_pace_is_the_players_own() {
    for clock in [SideClock::new("300", None, None), SideClock::new("40/5400:1800", None, Some(1500))] {
        assert_eq!(clock.curve, None);
        let all: Vec<ClockedMove> =
            [3e3, 5e3, 30e3, 4e3, 4e3].into_iter().enumerate().map(|(at, ms)| times(2 * at, 2e5, ms)).collect();
        let moves: Vec<TimedMove<'_>> = all.iter().map(quiet).collect();
        let (told, _) = audit(&moves, &clock);
        assert_eq!(told[2].usual_ms, Some(4_000.0));
        assert_eq!(audit(&moves[..4], &clock).0[2].usual_ms, None, "too few moves");
    }
    assert_eq!(SideClock::new("5400+30", None, Some(1500)).curve, None);
    assert!(SideClock::new("180+2", Some(90_000.0), Some(1500)).curve.is_some());
    assert_eq!(SideClock::new("180+2", None, Some(1500)).start_ms, Some(180_000.0));
    assert_eq!(SideClock::new("-", None, Some(1500)), SideClock::default());
}

#[test]
fn what_an_increment_gives_back_is_no_long_thought() {
    let clock = SideClock::new("900+10", None, Some(1500));
    // 12 seconds are left of fifteen minutes; 9.7 are used, and 10 come back.
    let [low, high] = [(12_000.0, 9_700.0), (800_000.0, 26_000.0)].map(|(left, used)| times(90, left, used));
    let mut moves = [quiet(&low), quiet(&high)];
    moves.iter_mut().for_each(|mv| mv.is_early = Some(true));
    let (told, _) = audit(&moves, &clock);
    assert_eq!(told[0].verdict, None);
    assert!(told[0].usual_ms.unwrap() > 1_000.0 && told[0].in_trouble && !told[1].in_trouble);
    assert_eq!(told[1].verdict, Some(TimeVerdict::BoughtNothing));
}

#[test]
fn nothing_is_said_of_less_than_the_clock_shows() {
    // A bullet game on whole seconds: 0 s used, about half a second is usual late in the game.
    let moves: Vec<ClockedMove> = (0..40).map(|index| times(2 * index, 20_000.0, 0.0)).collect();
    let timed: Vec<TimedMove<'_>> =
        moves.iter().map(|mv| TimedMove { loss: Some(0.3), better: Some("Nf3"), ..quiet(mv) }).collect();
    let clock = SideClock::new("60", None, Some(1500));
    let (fine, _) = audit(&timed, &clock);
    let (coarse, _) = audit(&timed, &SideClock { step_ms: 1_000.0, ..clock });
    let is_close = |told: &&SpentTime| told.usual_ms.is_some_and(|usual_ms| usual_ms <= 1_000.0);
    assert!(fine.iter().filter(is_close).any(|told| told.verdict.is_some()));
    assert!(coarse.iter().filter(is_close).all(|told| told.verdict.is_none() && !told.words.contains("usual")));
}
