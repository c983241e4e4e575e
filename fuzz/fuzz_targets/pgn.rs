//! Reads games in PGN, with the clocks in their comments.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;
use zeitnot_analysis::audit::{PlayerClocks, Remarks, game_times, lost_on_time, move_times};
use zeitnot_games::read_games;

fuzz_target!(|data: &[u8]| {
    zeitnot_fuzz::count(data);
    let Ok(games) = read_games(data) else { return assert!(data.contains(&0) || data[0] >= 0xfe, "no UTF-16") };
    let (mut clocks, mut remarks) = (PlayerClocks::default(), Remarks::default());
    for (game, number) in games.iter().zip(1..) {
        assert_eq!(game.number, number);
        let plies = game.game.moves().len();
        assert!(game.problem.is_some() || game.comments.len() == plies + 1, "{game:?}");
        (0..plies).for_each(|ply| _ = move_times(game.comments_of(ply)));
        let times = game_times(game);
        let is_time = |ms: f64| ms >= 0.0 && ms.is_finite();
        assert!(times.moves.iter().all(|mv| is_time(mv.used_ms) && mv.clock_ms.is_none_or(is_time)), "{times:?}");
        let lost = lost_on_time(game, &times, Path::new("g.pgn"));
        assert!(lost.is_none_or(|lost| lost.clock_ms.is_none_or(is_time)), "{times:?}");
        clocks.add([Some("white"), Some("black")], &times, &[]);
        remarks.add(game, &times);
    }
    let managers: &[&str] = &[];
    assert!(clocks.clocks(managers).all(|clock| !clock.mean_ms.is_nan()), "{clocks:?}");
    assert!(remarks.lines().all(|line| !line.contains('\n')));
});
