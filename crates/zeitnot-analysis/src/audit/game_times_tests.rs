//! Tests the times of games in the shapes that programs write.

use super::super::lost_on_time::unplayed_move;
use super::*;
use zeitnot_games::pgn_reader::read_games;

fn times(text: &str) -> GameTimes {
    game_times(&read_games(text.as_bytes()).unwrap()[0])
}

/// The clock before each move, -1 where it is not known, and the time used, in seconds.
fn numbers(times: &GameTimes) -> Vec<(f64, f64)> {
    times.moves.iter().map(|mv| (mv.clock_ms.map_or(-1.0, |ms| ms / 1e3), mv.used_ms / 1e3)).collect()
}

/// Clocks and times used, in seconds, of a game with these tags and moves, of which nothing is in doubt.
fn sound(tags: &str, moves: &str) -> Vec<(f64, f64)> {
    let times = times(&format!("{tags}\n\n{moves}\n"));
    assert!(times.doubts.is_empty(), "{tags} {moves}: {:?}", times.doubts);
    numbers(&times)
}

/// Plies, clocks and times in seconds of the moves in doubt, and how many moves are left.
fn doubts(tags: &str, moves: &str) -> (Vec<(usize, f64, f64)>, usize) {
    let times = times(&format!("{tags}\n\n{moves}\n"));
    let told = times.doubts.iter().map(|doubt| (doubt.ply, doubt.clock_ms / 1e3, doubt.used_ms / 1e3));
    (told.collect(), times.moves.len())
}

#[test]
fn runners_begin_with_the_increment() {
    // fastchess and cutechess without tl=.
    let moves = "1. e4 {+0.10/5 1.500s} e5 {-0.10/5 0.100s} 2. Nf3 {+0.10/5 1.200s} Nc6 {-0.10/5 0.100s} *";
    assert_eq!(sound("[TimeControl \"1+1\"]", moves), [(2.0, 1.5), (2.0, 0.1), (1.5, 1.2), (2.9, 0.1)]);
    let own = times(&format!("[TimeControl \"1+1\"]\n\n{moves}\n"));
    assert_eq!((own.start_ms, own.end_ms), ([Some(2_000.0); 2], [Some(1_300.0), Some(3_800.0)]));
    // With tl= as fastchess has it.
    let told = "1. e4 {+0.10/5 1.500s, tl=1.500s} e5 {-0.10/5 0.100s, tl=2.900s} 2. Nf3 {+0.10/5 1.200s, tl=1.300s} *";
    assert_eq!(sound("[TimeControl \"1+1\"]", told), [(2.0, 1.5), (2.0, 0.1), (1.5, 1.2)]);
    // cutechess rounds long times, and a clock that is worked out from them may be off.
    let long: String =
        (1..=40).map(|_| "1. Nf3 {0.1/9 12s} Nf6 {0.1/9 13s} 2. Ng1 {0.1/9 12s} Ng8 {0.1/9 13s} ").collect();
    assert!(sound("[TimeControl \"1030\"]", &format!("{long} *")).len() > 150);
    // CCRL and Arena write seconds without a unit, and no increment before the first move.
    assert_eq!(
        sound("[TimeControl \"10+1\"]", "1. e4 {0.10/5 2} e5 {0.10/5 3} 2. Nf3 {0.10/5 1} *"),
        [(10.0, 2.0), (10.0, 3.0), (9.0, 1.0)]
    );
    // Nobody lost on time: theirs did.
    assert_eq!(sound("[TimeControl \"1+1\"]", "1. e4 {0.10/5 1.9} e5 {0.10/5 0.1} *")[0], (2.0, 1.9));
}

#[test]
fn a_clock_that_contradicts_the_one_before_it_is_not_what_is_left() {
    let moves = "1. e4 {[%clk 0:00:50]} e5 {[%clk 0:00:55]} 2. Nf3 {[%clk 0:00:10]} Nc6 {[%clk 0:00:50]}";
    let own = times(&format!("[TimeControl \"60\"]\n\n{moves} 3. Bb5 {{[%clk 1:00:05]}} *\n"));
    assert_eq!((own.end_ms, own.doubts.len()), ([None, Some(50_000.0)], 1));
}

#[test]
fn a_clock_and_a_time_used_tell_the_clock_before() {
    // A match of this program, which begins with the increment.
    let move_text = "1. e4 {[%clk 0:00:01.700] [%emt 0:00:01.300]} e5 {[%clk 0:00:02] [%emt 0:00:01]}";
    let own = times(&format!("[TimeControl \"1+1\"]\n\n{move_text} *\n"));
    assert_eq!(numbers(&own), [(2.0, 1.3), (2.0, 1.0)]);
    assert_eq!((own.start_ms, own.end_ms), ([Some(2_000.0); 2], [Some(1_700.0), Some(2_000.0)]));
    // Behind an opening, and behind moves on the clock that nobody noted.
    let opened = times(
        "[TimeControl \"1+1\"]\n\n1. e4 e5 2. Nf3 {[%clk 0:00:02.5] [%emt 0:00:00.5]} Nc6 {[%clk 0:00:01.1] [%emt 0:00:01.2]} *\n",
    );
    assert_eq!((numbers(&opened)[0], opened.start_ms), ((2.0, 0.5), [Some(2_000.0), Some(1_300.0)]));
    let late = times("[TimeControl \"60\"]\n\n1. e4 e5 2. Nf3 {[%clk 0:00:20] [%emt 0:00:05]} *\n");
    assert_eq!((numbers(&late)[0], late.start_ms[0]), ((25.0, 5.0), Some(60_000.0)));
    // A clock that ran out says only that.
    let lost = times("[TimeControl \"10+1\"]\n\n1. e4 {[%clk 0:00:00] [%emt 0:00:12]} *\n");
    assert_eq!(numbers(&lost), [(10.0, 12.0)]);
}

#[test]
fn times_used_follow_from_clocks_and_the_increment() {
    let text = "1. e4 {[%clk 0:00:55]} e5 {[%clk 0:01:00]} 2. Nf3 {[%clk 0:00:57]} *";
    assert_eq!(sound("[TimeControl \"60+2\"]", text), [(60.0, 7.0), (60.0, 2.0), (55.0, 0.0)]);
    // Without a time control the first move of each side gives its clock only.
    assert_eq!(sound("", "1. e4 {[%clk 0:00:55]} e5 2. Nf3 {[%clk 0:00:50]} *"), [(55.0, 5.0)]);
    // chess.com, with tenths, and with the time used in tenths.
    let live = "1. e4 {[%clk 0:15:06.4][%timestamp 36]} 1... c6 {[%clk 0:15:05.1][%timestamp 49]} 2. d4 {[%clk 0:15:14][%timestamp 24]} *";
    assert_eq!(sound("[TimeControl \"900+10\"]", live), [(900.0, 3.6), (900.0, 4.9), (906.4, 2.4)]);
    let bare = "1. e4 {[%timestamp 13]} e5 {[%timestamp 7]} *";
    assert_eq!(sound("[TimeControl \"60\"]", bare), [(60.0, 1.3), (60.0, 0.7)]);
    // ICC, a decimal comma.
    assert_eq!(
        sound("[TimeControl \"300\"]", "1. e4 {0:04:57} b6 {0:04:55} 2. d4 {0:04:49} *"),
        [(300.0, 3.0), (300.0, 5.0), (297.0, 8.0)]
    );
    assert_eq!(
        sound("[TimeControl \"60\"]", "1. e4 {[%clk 0:00:59,5]} e5 {+0,31/12 1,23s} *"),
        [(60.0, 0.5), (60.0, 1.23)]
    );
    // Whole seconds and a fraction that is given: a clock that seems to go up by less than its step went nowhere.
    let rounded = "1. e4 {[%clk 0:00:58]} e5 {[%clk 0:00:58]} 2. Nf3 {[%clk 0:00:59]} *";
    assert_eq!(sound("[TimeControl \"60+0.5\"]", rounded)[2], (58.0, 0.0));
}

/// A clock that stands in the place of a move is not that of the move before.
#[test]
fn the_first_clock_of_a_move_is_its_own() {
    for slot in
        ["2. {[%clk 0:00:40]} Nf3", "{[%clk 0:00:40]} 2. Nf3", "?? {[%clk 0:00:40]} 2. Nf3", "() {tl=40s} 2. Nf3"]
    {
        let moves = format!("1. e4 {{[%clk 0:00:59]}} e5 {{[%clk 0:00:58]}} {slot} Nc6 {{[%clk 0:00:50]}} *");
        assert_eq!(sound("[TimeControl \"60\"]", &moves), [(60.0, 1.0), (60.0, 2.0), (58.0, 8.0)], "{slot}");
    }
    let twice = "1. e4 {[%clk 0:00:58] [%clk 0:00:55] [%emt 0:00:02] [%emt 0:00:09]} *";
    assert_eq!(sound("[TimeControl \"60\"]", twice), [(60.0, 2.0)]);
}

#[test]
fn clocks_that_are_told_without_their_increment() {
    // Below the increment after the move: it cannot be in there.
    let moves = "1. e4 {[%clk 0:00:28]} e5 {[%clk 0:00:29]} 2. Nf3 {[%clk 0:00:12]} d6 {[%clk 0:00:37]} 3. d4 {[%clk 0:00:09]} *";
    assert_eq!(
        sound("[TimeControl \"30+10\"]", moves),
        [(30.0, 2.0), (30.0, 1.0), (38.0, 26.0), (39.0, 2.0), (22.0, 13.0)]
    );
    // The clock and the time of the first move show it.
    let both = "1. e4 {[%clk 0:00:28] [%emt 0:00:02]} e5 {[%clk 0:00:29] [%emt 0:00:01]} 2. Nf3 {[%clk 0:00:36] [%emt 0:00:02]} *";
    assert_eq!(sound("[TimeControl \"30+10\"]", both), [(30.0, 2.0), (30.0, 1.0), (38.0, 2.0)]);
}

#[test]
fn games_by_mail_have_the_whole_time_for_every_move() {
    let moves = "1. e4 {[%clk 23:59:48]} e5 {[%clk 20:00:00]} 2. Nf3 {[%clk 23:58:20]} *";
    let expected = [(86_400.0, 12.0), (86_400.0, 14_400.0), (86_400.0, 100.0)];
    for tag in ["1/86400", "1/86400:0", "1 day per move"] {
        assert_eq!(sound(&format!("[TimeControl \"{tag}\"]"), moves), expected, "{tag}");
    }
    let days = "1. e4 {[%clk 71:59:48]} e5 {[%clk 2:23:59:40]} *";
    assert_eq!(sound("[TimeControl \"1/259200\"]", days), [(259_200.0, 12.0), (259_200.0, 20.0)]);
    // A fortnight is longer than any control of a match.
    assert_eq!(sound("[TimeControl \"1/1209600\"]", "1. e4 {[%clk 335:59:50]} *"), [(1_209_600.0, 10.0)]);
    // A runner's time for a move, which tl= gives anew.
    let runner = "1. e4 {0.1/9 0.480s, tl=0.500s} e5 {0.1/9 0.300s, tl=0.500s} *";
    assert_eq!(sound("[TimeControl \"0.5/move\"]", runner), [(0.5, 0.48), (0.5, 0.3)]);
    // A runner adds up the time of one move, a person's clock does not.
    let sum = "1. e4 {0.1/9 4.000s, tl=16.000s} e5 {0.1/9 1.000s} 2. Nf3 {0.1/9 2.000s, tl=24.000s} *";
    assert_eq!(sound("[TimeControl \"1/10\"]", sum), [(10.0, 4.0), (10.0, 1.0), (16.0, 2.0)]);
    let anew = "1. e4 {[%clk 0:00:06]} e5 {[%clk 0:00:09]} 2. Nf3 {[%clk 0:00:08]} *";
    assert_eq!(sound("[TimeControl \"1/10\"]", anew), [(10.0, 4.0), (10.0, 1.0), (10.0, 2.0)]);
}

#[test]
fn first_moves_on_servers_are_not_on_the_clock() {
    let lichess = "[Site \"https://lichess.org/x\"]\n[TimeControl \"180+2\"]";
    let moves =
        "1. e4 { [%clk 0:03:00] } 1... e5 { [%clk 0:03:00] } 2. Nf3 { [%clk 0:02:58] } 2... Nc6 { [%clk 0:03:01] } *";
    for tags in [lichess, "[TimeControl \"180+2\"]"] {
        assert_eq!(sound(tags, moves), [(180.0, 4.0), (180.0, 1.0)], "{tags}");
    }
    // Without an increment, and where the game has a position of its own.
    let fen = "[FEN \"4k3/8/8/8/8/8/8/4K2R b - - 0 1\"]\n[TimeControl \"60+0\"]";
    let moves_of_fen = "1... Kd8 {[%clk 0:01:00]} 2. Kd2 {[%clk 0:01:00]} Kd7 {[%clk 0:00:57]} *";
    assert_eq!(sound(fen, moves_of_fen), [(60.0, 3.0)]);
    // A clock of nothing has three seconds, or the increment.
    let fics = "1. e4 {[%emt 0.0]} e5 {[%emt 0.0]} 2. Nf3 {[%emt 5.5]} Nc6 {[%emt 2.5]} *";
    for tag in
        ["[Site \"FICS, San Jose, California USA\"]", "[Event \"FICS rated blitz game\"]", "[FICSGamesDBGameNo \"1\"]"]
    {
        let tags = format!("{tag}\n[TimeControl \"120+12\"]");
        assert_eq!(sound(&tags, fics), [(120.0, 5.5), (120.0, 2.5)], "{tag}");
    }
    let nothing = "1. e4 { [%clk 0:00:03] } e5 { [%clk 0:00:03] } 2. Nf3 { [%clk 0:00:02] } *";
    assert_eq!(sound("[Site \"https://lichess.org/x\"]\n[TimeControl \"0+1\"]", nothing), [(3.0, 2.0)]);
    // Half the clock and no increment, for Black; and a clock that is too short to be halved.
    let berserk = "1. e4 { [%clk 0:03:00] } e5 { [%clk 0:01:30] } 2. Nf3 { [%clk 0:03:00] } Nc6 { [%clk 0:01:28] } *";
    assert_eq!(sound(lichess, berserk), [(180.0, 2.0), (90.0, 2.0)]);
    let short = "[Site \"https://lichess.org/x\"]\n[TimeControl \"60+3\"]\n[WhiteBerserk \"true\"]";
    let berserk = "1. e4 { [%clk 0:01:00] } e5 { [%clk 0:01:00] } 2. Nf3 { [%clk 0:00:58] } Nc6 { [%clk 0:01:02] } *";
    assert_eq!(sound(short, berserk), [(60.0, 2.0), (60.0, 1.0)]);
    // FICS gives the times used.
    let fics = "[Site \"FICS freechess.org\"]\n[TimeControl \"120+12\"]";
    let moves = "1. e4 {[%emt 0.000]} e5 {[%emt 0.000]} 2. Nf3 {[%emt 3.250]} Nc6 {[%emt 1.5]} 3. d4 {[%emt 1.0]} *";
    assert_eq!(sound(fics, moves), [(120.0, 3.25), (120.0, 1.5), (128.75, 1.0)]);
    // An engine that answers at once has its increment.
    let engine = "1. e4 {[%emt 0.000]} e5 {[%emt 0.000]} 2. Nf3 {[%emt 1]} *";
    assert_eq!(sound("[TimeControl \"10+1\"]", engine)[2], (11.0, 1.0));
}

#[test]
fn periods_are_added_at_once_later_or_behind_the_book() {
    let control = "[TimeControl \"2/10:20\"]";
    let at_once = "1. e4 {[%clk 0:00:09]} e5 2. d4 {[%clk 0:00:28]} d5 3. c4 {[%clk 0:00:26]} *";
    let later = "1. e4 {[%clk 0:00:09]} e5 2. d4 {[%clk 0:00:08]} d5 3. c4 {[%clk 0:00:26]} *";
    let latest =
        "1. e4 {[%clk 0:00:09]} e5 2. d4 {[%clk 0:00:08]} d5 3. c4 {[%clk 0:00:06]} Nf6 4. Nf3 {[%clk 0:00:21]} *";
    for (moves, expected) in [
        (at_once, vec![(10.0, 1.0), (9.0, 1.0), (28.0, 2.0)]),
        (later, vec![(10.0, 1.0), (9.0, 1.0), (28.0, 2.0)]),
        (latest, vec![(10.0, 1.0), (9.0, 1.0), (28.0, 2.0), (26.0, 5.0)]),
    ] {
        assert_eq!(sound(control, moves), expected, "{moves}");
    }
    let both = "1. e4 {[%clk 0:00:09] [%emt 0:00:01]} e5 2. d4 {[%clk 0:00:08] [%emt 0:00:01]} d5 3. c4 {[%clk 0:00:17] [%emt 0:00:01]} *";
    assert_eq!(sound("[TimeControl \"2/10\"]", both), [(10.0, 1.0), (9.0, 1.0), (18.0, 1.0)]);
    // cutechess counts the moves of the book, fastchess does not.
    let text = "1. e4 {book} e5 2. Nf3 {+0.1/3 50s} Nc6 3. Bb5 {+0.1/3 40s} *";
    let counted = times(&format!("[TimeControl \"2/60\"]\n\n{text}\n"));
    assert_eq!(numbers(&counted), [(60.0, 50.0), (70.0, 40.0)]);
    assert_eq!(counted.moves[0].moves_to_go, Some(1));
    let text = "1. e4 {book} e5 {book} 2. Nf3 {0/3 5s, tl=55s} Nc6 {0/3 5s, tl=55s} 3. Bb5 {0/3 4s, tl=111s} a6 {0/3 4s, tl=111s} *";
    let uncounted = times(&format!("[TimeControl \"2/60\"]\n\n{text}\n"));
    assert_eq!(numbers(&uncounted), [(60.0, 5.0), (60.0, 5.0), (55.0, 4.0), (55.0, 4.0)]);
    assert_eq!(uncounted.moves[0].moves_to_go, Some(2));
}

/// The move that a side did not make any more, behind the last one of a period.
#[test]
fn a_move_that_was_not_played_has_the_next_periods_control() {
    let unplayed = |tags: &str, moves: &str| {
        let text = format!("{tags}\n\n{moves}\n");
        let game = &read_games(text.as_bytes()).unwrap()[0];
        let mv = unplayed_move(game, &game_times(game)).unwrap();
        (mv.clock_ms.unwrap() / 1e3, mv.increment_ms / 1e3, mv.moves_to_go)
    };
    let two = "1. e4 {[%clk 0:00:09]} e5 {[%clk 0:00:09]} 2. d4 {[%clk 0:00:18]} d5 {[%clk 0:00:18]} 3. c4 {[%clk 0:00:17]} 1-0";
    let lost = "[Termination \"time forfeit\"]\n[Result \"1-0\"]\n";
    assert_eq!(unplayed(&format!("{lost}[TimeControl \"2/10\"]"), two), (18.0, 0.0, Some(2)));
    let last = "1. e4 {[%clk 0:00:09]} e5 {[%clk 0:00:09]} 2. d4 {[%clk 0:00:18]} d5 {[%clk 0:00:38]} 3. c4 {[%clk 0:00:17]} 1-0";
    assert_eq!(unplayed(&format!("{lost}[TimeControl \"2/10:30+5\"]"), last), (38.0, 5.0, None));
}

/// Twenty moves whose times were rounded up.
#[test]
fn rounding_is_no_overrun() {
    let moves: String = (1..=20)
        .map(|number| {
            let [white, black] = if number % 2 == 1 { ["Nf3", "Nf6"] } else { ["Ng1", "Ng8"] };
            format!("{number}. {white} {{0.1/5 0.052s}} {black} {{0.1/5 0.052s}} ")
        })
        .collect();
    let times = times(&format!("[TimeControl \"1.039\"]\n\n{moves}*\n"));
    assert_eq!((times.moves.len(), times.moves.iter().filter(|mv| mv.is_overrun).count()), (40, 0));
    assert!(times.doubts.is_empty());
}

#[test]
fn a_move_may_overrun_a_time_of_its_own() {
    let moves = "1. e4 {[%emt 0:00:00.029]} e5 {[%emt 0:00:00.034]} 2. Nf3 {[%emt 0:00:00.030]} *";
    let times = times(&format!("[TimeControl \"0.03/move\"]\n\n{moves}\n"));
    assert_eq!(times.moves.iter().map(|mv| mv.is_overrun).collect::<Vec<_>>(), [false, true, false]);
}

#[test]
fn time_controls_that_people_spell() {
    let clk = "1. e4 {[%clk 0:05:02]} e5 {[%clk 0:05:01]} *";
    for tag in ["5:00+3", "300+3", "5+3", "5|3", "5 min + 3 sec", "5'+3\""] {
        assert_eq!(sound(&format!("[TimeControl \"{tag}\"]"), clk), [(300.0, 1.0), (300.0, 2.0)], "{tag}");
    }
    let told = times(&format!("[TimeControl \"5+3\"]\n\n{clk}\n"));
    assert_eq!(told.remarks, [Remark::Minutes("5+3".to_owned())]);
    // A long game of many increments.
    let long: String = (0..60)
        .map(|_| "1. Nf3 {[%clk 1:30:20]} Nf6 {[%clk 1:30:20]} 2. Ng1 {[%clk 1:30:20]} Ng8 {[%clk 1:30:20]} ")
        .collect();
    assert_eq!(
        sound("[TimeControl \"90+30\"]", &format!("{long} *"))[..3],
        [(5_400.0, 10.0), (5_400.0, 10.0), (5_420.0, 30.0)]
    );
    // Minutes, by the times used alone; seconds where a runner wrote them, and where they are enough.
    let emt = "1. e4 {[%emt 0:02:30]} e5 {[%emt 0:01:10]} *";
    assert_eq!(sound("[TimeControl \"60\"]", emt), [(3_600.0, 150.0), (3_600.0, 70.0)]);
    assert_eq!(sound("[TimeControl \"60\"]", "1. e4 {[%emt 0:00:30]} e5 {[%emt 0:00:10]} *")[0], (60.0, 30.0));
    let unread = times(&format!("[TimeControl \"*180\"]\n\n{clk} \n"));
    assert_eq!((unread.moves.len(), unread.remarks), (0, vec![Remark::Control("*180".to_owned())]));
    // Two ways to read it, between which the clocks decide.
    let long = "1. e4 {[%clk 1:30:20]} e5 {[%clk 1:30:29]} *";
    assert_eq!(sound("[TimeControl \"40/90:30\"]", long), [(5_430.0, 10.0), (5_430.0, 1.0)]);
}

#[test]
fn clocks_with_hours_and_minutes() {
    let moves = "1. e4 {[%clk 1:29]} e5 {[%clk 1:30]} 2. Nf3 {[%clk 1:25]} Nc6 {[%clk 1:20]} *";
    let told = times(&format!("[TimeControl \"5400+30\"]\n\n{moves}\n"));
    assert_eq!(numbers(&told), [(5_400.0, 90.0), (5_400.0, 30.0), (5_340.0, 270.0), (5_400.0, 630.0)]);
    assert_eq!((told.remarks, told.doubts.len()), (vec![Remark::Hours], 0));
    // Minutes and seconds of a blitz game, and of the last minutes of a longer one.
    assert_eq!(sound("[TimeControl \"90\"]", "1. e4 {[%clk 1:29]} e5 {[%clk 1:20]} *"), [(90.0, 1.0), (90.0, 10.0)]);
    assert_eq!(
        sound("[TimeControl \"5400\"]", "1. e4 e5 2. Nf3 {[%clk 12:29]} d6 3. d4 {[%clk 12:00]} *"),
        [(749.0, 29.0)]
    );
}

#[test]
fn times_without_a_clock() {
    // c-chess-cli writes neither a clock nor the time control.
    let told = times("1. e4 {19/4 220ms} e5 {M5/38 36165ms} 2. Nf3 {-M4/9 5ms} *\n");
    assert_eq!(numbers(&told), [(-1.0, 0.22), (-1.0, 36.165), (-1.0, 0.005)]);
    assert_eq!(told.remarks, [Remark::NoClock]);
    assert_eq!(sound("[TimeControl \"10+0.1\"]", "1. e4 {19/4 220ms} *"), [(10.1, 0.22)]);
}

#[test]
fn what_cannot_be_is_left_out_and_told() {
    // lichess: an opponent gave 15 seconds.
    let given = "1. e4 {[%clk 0:00:50]} e5 2. Nf3 {[%clk 0:01:05]} d6 3. d4 {[%clk 0:01:00]} *";
    assert_eq!(doubts("[TimeControl \"60\"]", given), (vec![(2, 50.0, -15.0)], 2));
    // A longer game than its tag says.
    let long = "1. e4 {[%clk 0:09:00]} e5 {[%clk 0:08:00]} 2. Nf3 {[%clk 0:08:40]} *";
    assert_eq!(doubts("[TimeControl \"400\"]", long), (vec![(0, 400.0, -140.0), (1, 400.0, -80.0)], 1));
    // Times that the clock cannot have had; a runner forgives a little, and goes on from 0.
    let over = "1. e4 {+0.1/5 6.000s} e5 2. Nf3 {+0.1/5 5.000s} d6 3. d4 {+0.1/5 2.500s} *";
    assert_eq!(doubts("[TimeControl \"10\"]", over), (vec![(2, 4.0, 5.0), (4, 0.0, 2.5)], 1));
    // Both are given: that is an overrun that its runner forgave.
    let told = "1. e4 {0/5 9.500s, tl=0.500s} e5 2. Nf3 {0/5 0.600s, tl=0.000s} *";
    let forgiven = times(&format!("[TimeControl \"10\"]\n\n{told}\n"));
    assert_eq!((numbers(&forgiven)[1], forgiven.doubts.len()), ((0.5, 0.6), 1));
    assert!(!forgiven.doubts[0].is_left_out);
    // The late move of a lost game is what it is.
    let lost = "1. e4 {0/5 9.500s, tl=0.500s} e5 2. Nf3 {0/5 0.600s, tl=-0.100s, White loses on time} 0-1";
    let lost = times(&format!("[TimeControl \"10\"]\n[Result \"0-1\"]\n\n{lost}\n"));
    assert_eq!((numbers(&lost)[1], lost.doubts.len(), lost.end_ms[0]), ((0.5, 0.6), 0, Some(0.0)));
    // A late move that a clock at 0 shows used what was there, and more that nobody knows; its clock says nothing of
    // increments.
    let lost = "1. e4 {[%clk 0:00:08]} e5 {[%clk 0:00:09]} 2. Nf3 {[%clk 0:00:00]} 0-1";
    let tags = "[TimeControl \"10+1\"]\n[Result \"0-1\"]\n[Termination \"time forfeit\"]";
    assert_eq!(sound(tags, lost), [(10.0, 3.0), (10.0, 2.0), (8.0, 8.0)]);
}

#[test]
fn times_that_are_not_those_of_the_clocks_give_way() {
    // Minutes and seconds with a point.
    let moves =
        "1. e4 {[%emt 0.15] [%clk 00:00:45]} e5 {[%emt 0.10] [%clk 00:00:50]} 2. Nf3 {[%emt 0.20] [%clk 00:00:25]} *";
    let told = times(&format!("[TimeControl \"60\"]\n\n{moves}\n"));
    assert_eq!(numbers(&told), [(60.0, 15.0), (60.0, 10.0), (45.0, 20.0)]);
    assert_eq!((told.remarks, told.doubts.len()), (vec![Remark::Times], 0));
    // Whole seconds beside a clock are only rounded.
    let moves = "1. e4 {[%emt 0:00:15] [%clk 0:00:45.4]} e5 {[%emt 0:00:10] [%clk 0:00:50.3]} *";
    assert_eq!(sound("[TimeControl \"60\"]", moves), [(60.4, 15.0), (60.3, 10.0)]);
}

#[test]
fn clocks_of_daily_games_that_are_no_time_left_are_left_out() {
    let game = |clocks: [&str; 4]| {
        let moves: Vec<String> = ["1. e4", "e5", "2. d4", "d5"]
            .iter()
            .zip(clocks)
            .map(|(mv, clock)| format!("{mv} {{[%clk {clock}]}}"))
            .collect();
        times(&format!("[TimeControl \"1/432000\"]\n\n{} *\n", moves.join(" ")))
    };
    for clocks in [
        ["0:00:00", "0:55:36", "0:10:00", "0:00:01"],
        ["0:20:00", "0:55:36", "0:10:00", "0:00:01"],
        ["130:00:00", "119:00:00", "119:00:00", "119:00:00"],
        ["119:00:00", "118:00:00", "0:00:00", "110:00:00"],
        ["0:01:10", "0:55:36", "70:20:00", "0:10:00"],
        ["0:01:10", "119:55:36", "1:20:00", "0:10:00"],
    ] {
        let times = game(clocks);
        assert_eq!((times.moves.len(), &times.remarks[..]), (0, &[Remark::NotLeft][..]), "{clocks:?}");
        assert_eq!(times.speeds, [Some(GameSpeed::Daily); 2]);
    }
    let times = game(["119:00:00", "10:00:00", "100:00:00", "90:00:00"]);
    assert_eq!((times.moves.len(), times.moves[0].used_ms, times.remarks.len()), (4, 3_600e3, 0));
}

#[test]
fn an_increment_that_nothing_names_is_inferred() {
    // 3+2: White thinks 1, 0 and 5 s, Black 4, 2 and 0.
    let clocks = "1. e4 {[%clk 0:03:00]} e5 {[%clk 0:03:00]} 2. d4 {[%clk 0:03:01]} d5 {[%clk 0:02:58]} 3. c4 {[%clk 0:03:03]} c5 \
        {[%clk 0:02:58]} 4. Nf3 {[%clk 0:03:00]} Nf6 {[%clk 0:03:00]} *\n";
    let untagged = times(clocks);
    let used: Vec<f64> = untagged.moves.iter().map(|mv| mv.used_ms / 1e3).collect();
    assert_eq!(used, [1.0, 4.0, 0.0, 2.0, 5.0, 0.0]);
    assert_eq!(untagged.remarks, [Remark::Increment(2_000)]);
    assert_eq!((untagged.moves[0].increment_ms, untagged.next_increment_ms), (2_000.0, [2_000.0; 2]));
    assert_eq!(untagged.speeds, [Some(GameSpeed::Blitz); 2]);
    // The tag without its increment; with it, nothing is inferred.
    assert!(times(&format!("[TimeControl \"180\"]\n\n{clocks}")).remarks.contains(&Remark::Increment(2_000)));
    assert!(times(&format!("[TimeControl \"180+2\"]\n\n{clocks}")).remarks.is_empty());
    // The time of another period, and a clock that never rises, show none; nor does an hourglass.
    let none = "1. e4 {[%clk 0:03:00]} e5 {[%clk 0:03:00]} 2. d4 {[%clk 0:33:00]} d5 {[%clk 0:02:58]} *\n";
    assert!(!times(none).remarks.iter().any(|remark| matches!(remark, Remark::Increment(_))));
    assert!(!times(&format!("[TimeControl \"*180\"]\n\n{clocks}")).remarks.contains(&Remark::Increment(2_000)));
}

/// The increment inferred from the clocks of both sides in turn, in milliseconds.
fn inferred(tags: &str, clocks: &[&str]) -> Option<u64> {
    let words = ["Nf3", "Nf6", "Ng1", "Ng8"].into_iter().cycle();
    let moves: String = words.zip(clocks).map(|(mv, clock)| format!("{mv} {{[%clk {clock}]}} ")).collect();
    times(&format!("{tags}\n\n{moves}*\n")).remarks.iter().find_map(|remark| match remark {
        Remark::Increment(ms) => Some(*ms),
        _ => None,
    })
}

#[test]
fn gifts_and_penalties_are_no_increment() {
    // The opponent gave White 15 s three times.
    let gifts = [
        "0:03:00", "0:03:00", "0:02:55", "0:02:54", "0:03:04", "0:02:48", "0:03:13", "0:02:42", "0:03:22", "0:02:36",
        "0:03:17", "0:02:30",
    ];
    for tag in ["180+0", "180", "3|0", "3 min + 0 sec", "G/3;inc0", "180+0.0", "3:00+0", "3'0\""] {
        assert_eq!(inferred(&format!("[TimeControl \"{tag}\"]"), &gifts), None, "{tag}");
    }
    assert_eq!(inferred("", &gifts), None);
    // Three moves are left out, with a line; the others have their own times.
    let words = ["Nf3", "Nf6", "Ng1", "Ng8"].into_iter().cycle();
    let moves: String = words.zip(gifts).map(|(mv, clock)| format!("{mv} {{[%clk {clock}]}} ")).collect();
    let told = times(&format!("[Site \"https://lichess.org/x\"]\n[TimeControl \"180+0\"]\n\n{moves}*\n"));
    assert_eq!((told.doubts.len(), told.speeds), (3, [Some(GameSpeed::Blitz); 2]));
    assert!(told.moves.iter().all(|mv| [5_000.0, 6_000.0].contains(&mv.used_ms)), "{:?}", numbers(&told));
    // An arbiter's penalty of 2 minutes, without an increment and beside one.
    assert_eq!(inferred("", &["1:00:00", "1:00:00", "0:59:35", "0:59:30", "1:01:10", "0:59:00", "1:00:45"]), None);
    let beside =
        ["1:00:00", "1:00:00", "1:00:05", "1:00:06", "1:00:09", "1:00:14", "1:02:05", "1:00:10", "1:02:10", "1:00:18"];
    assert_eq!(inferred("", &beside), Some(8_000));
    // Rises of all sizes show none for sure.
    let any = ["1:00:00", "1:00:00", "1:00:28", "1:00:12", "1:00:33", "0:59:00", "1:00:35"];
    assert_eq!(inferred("", &any), None);
    // A tag with a zero says that there is none even where both clocks rise.
    assert_eq!(inferred("[TimeControl \"3600+0\"]", &beside), None);
    assert_eq!(inferred("[TimeControl \"1:00:00\"]", &beside), Some(8_000));
}

#[test]
fn increments_are_inferred_in_the_unit_of_the_clocks() {
    let tenths =
        ["0:01:00.0", "0:01:00.0", "0:01:00.5", "0:01:00.3", "0:01:01.1", "0:01:00.8", "0:01:00.9", "0:01:00.2"];
    assert_eq!(inferred("[TimeControl \"60\"]", &tenths), Some(600));
    assert_eq!((inferred("", &tenths), inferred("[TimeControl \"0+0\"]", &tenths)), (Some(600), Some(600)));
    let used = sound(
        "[TimeControl \"60\"]",
        "1. e4 {[%clk 0:00:59.9]} e5 {[%clk 0:01:00.0]} 2. d4 {[%clk 0:01:00.5]} d5 \
         {[%clk 0:01:00.5]} 3. c4 {[%clk 0:01:01]} *",
    );
    assert_eq!(used[2], (59.9, 0.0));
    // Minutes and seconds.
    let minutes = ["3:00", "3:00", "3:01", "2:58", "3:03", "2:58", "3:00", "3:00"];
    assert_eq!((inferred("", &minutes), inferred("[TimeControl \"180\"]", &minutes)), (Some(2_000), Some(2_000)));
    // Hours and minutes show none.
    let hours = ["1:29", "1:29", "1:30", "1:30", "1:31", "1:30", "1:30", "1:31"];
    assert_eq!(inferred("[TimeControl \"5400\"]", &hours), None);
}

#[test]
fn speeds_are_those_of_servers() {
    for (tag, speed) in [
        ("60", GameSpeed::Bullet),
        ("120+1", GameSpeed::Bullet),
        ("180", GameSpeed::Blitz),
        ("300+5", GameSpeed::Rapid),
        ("600", GameSpeed::Rapid),
        ("900+15", GameSpeed::Classical),
        ("40/7200:3600", GameSpeed::Classical),
        ("10/600", GameSpeed::Classical),
        ("1/86400", GameSpeed::Daily),
        ("G/5", GameSpeed::Blitz),
    ] {
        assert_eq!(times(&format!("[TimeControl \"{tag}\"]\n\n1. e4 *\n")).speeds, [Some(speed); 2], "{tag}");
    }
    assert_eq!(times("1. e4 *\n").speeds, [None; 2]);
}
