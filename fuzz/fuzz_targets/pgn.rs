//! Reads games in PGN, with the clocks in their comments.
#![no_main]

use libfuzzer_sys::fuzz_target;
use zeitnot::lab::audit::{game_times, move_times, player_clocks};
use zeitnot::lab::read_games;

fuzz_target!(|data: &[u8]| {
    zeitnot_fuzz::count(data);
    let Ok(games) = read_games(data) else { return assert!(data.contains(&0) || data[0] >= 0xfe, "no UTF-16") };
    let times: Vec<_> = games.iter().map(game_times).collect();
    for (game, number) in games.iter().zip(1..) {
        assert_eq!(game.number, number);
        let plies = game.game.moves().len();
        assert!(game.problem.is_some() || game.comments.len() == plies + 1, "{game:?}");
        (0..plies).for_each(|ply| _ = move_times(game.comments_of(ply)));
    }
    let clocks = player_clocks(times.iter().map(|times| (["white", "black"], times)));
    assert!(clocks.iter().all(|clock| !clock.mean_ms.is_nan()), "{clocks:?}");
});
