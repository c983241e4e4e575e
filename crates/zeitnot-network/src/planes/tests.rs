use super::*;

fn game(fen: Option<&str>, moves: &str) -> Game {
    let mut game = fen.map_or_else(Game::new, |fen| Game::from_fen(fen, false).unwrap());
    for mv in moves.split_whitespace() {
        game.push_uci(mv).unwrap();
    }
    game
}

fn classical(game: &Game, fill: HistoryFill) -> Planes {
    let (planes, transform) = encode(game, InputFormat::Classical, fill);
    assert_eq!(transform, Transform::NONE);
    planes
}

/// The squares of a mask.
fn squares(mask: u64) -> Vec<String> {
    Bitboard(mask).into_iter().map(|square| square.to_string()).collect()
}

#[test]
fn planes_of_the_start_position() {
    let planes = classical(&Game::new(), HistoryFill::FenOnly);
    assert_eq!(planes.masks[0], 0xff00);
    assert_eq!(squares(planes.masks[4]), ["d1"]);
    assert_eq!(squares(planes.masks[11]), ["e8"]);
    assert!(planes.masks[12..104].iter().all(|&mask| mask == 0));
    assert_eq!(planes.masks[104..], [ALL, ALL, ALL, ALL, 0, 0, 0, ALL]);
    // It is repeated only when the fill asks for it.
    assert_eq!(classical(&Game::new(), HistoryFill::No), planes);
    let filled = classical(&Game::new(), HistoryFill::Always);
    for slot in 1..8 {
        assert_eq!(filled.masks[slot * 13..][..13], planes.masks[..13]);
    }
}

#[test]
fn boards_are_seen_from_the_mover() {
    let planes = classical(&game(None, "e2e4"), HistoryFill::FenOnly);
    // Black to move sees its own pawns on its second rank, White's pawn from e4 on e5.
    assert_eq!(planes.masks[0], 0xff00);
    assert_eq!(squares(planes.masks[6]), ["e5", "a7", "b7", "c7", "d7", "f7", "g7", "h7"]);
    assert_eq!(squares(planes.masks[4]), ["d1"]);
    // The older board too: all White's pawns at home.
    assert_eq!(planes.masks[13 + 6], 0x00ff_0000_0000_0000);
    assert_eq!(planes.masks[108], ALL);
}

#[test]
fn castling_rights_and_counter() {
    let fen = "r3k2r/8/8/8/8/8/8/R3K2R b Kq - 7 30";
    let planes = classical(&game(Some(fen), ""), HistoryFill::FenOnly);
    // Ours on the queen's side, ours on the king's, theirs on the queen's, theirs on the king's.
    assert_eq!(planes.masks[104..109], [ALL, 0, 0, ALL, ALL]);
    assert_eq!((planes.masks[109], planes.values[109]), (ALL, 7.0));
    let (planes, _) = encode(&game(Some(fen), ""), InputFormat::WithCastlingPlane, HistoryFill::FenOnly);
    assert_eq!([squares(planes.masks[104]), squares(planes.masks[105])], [["a1"], ["h8"]]);
    let (planes, _) = encode(&game(Some(fen), ""), InputFormat::CanonicalHectopliesArmageddon, HistoryFill::No);
    assert_eq!((planes.masks[108], planes.values[109], planes.masks[110]), (0, 0.07, ALL));
}

#[test]
fn repetitions_are_marked() {
    let shuffle = "g1f3 g8f6 f3g1 f6g8";
    let planes = classical(&game(None, shuffle), HistoryFill::FenOnly);
    assert_eq!(planes.masks[12], ALL);
    assert!((1..8).all(|slot| planes.masks[slot * 13 + 12] == 0));
    // V2 shows the current board and earlier repetitions only.
    let (planes, _) = encode(&game(None, &[shuffle, shuffle].join(" ")), InputFormat::CanonicalV2, HistoryFill::Always);
    let boards = (0..8).filter(|slot| planes.masks[slot * 13 + 5] != 0).count();
    assert_eq!(boards, 5);
    assert!((0..5).all(|slot| planes.masks[slot * 13 + 12] == ALL));
}

#[test]
fn the_double_push_before_an_en_passant_is_history() {
    let fen = "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3";
    for (fill, boards) in [(HistoryFill::No, 2), (HistoryFill::FenOnly, 8), (HistoryFill::Always, 8)] {
        let planes = classical(&game(Some(fen), ""), fill);
        assert_eq!((0..8).filter(|slot| planes.masks[slot * 13 + 5] != 0).count(), boards);
        let their_pawns = |slot: usize| squares(planes.masks[slot * 13 + 6]);
        assert!(their_pawns(0).contains(&"f5".to_owned()) && !their_pawns(0).contains(&"f7".to_owned()));
        for slot in 1..boards {
            assert!(their_pawns(slot).contains(&"f7".to_owned()) && !their_pawns(slot).contains(&"f5".to_owned()));
            assert_eq!(planes.masks[slot * 13], planes.masks[0]);
        }
    }
    // Without an en passant nothing is known of the past.
    let planes = classical(&game(Some("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"), ""), HistoryFill::No);
    assert!(planes.masks[13..104].iter().all(|&mask| mask == 0));
    // Canonical formats show the file instead.
    let (planes, _) = encode(&game(Some(fen), ""), InputFormat::Canonical, HistoryFill::Always);
    assert_eq!(squares(planes.masks[108]), ["f8"]);
}

#[test]
fn canonical_history_ends_at_irreversible_changes() {
    let boards = |moves: &str| {
        let (planes, _) = encode(&game(None, moves), InputFormat::Canonical, HistoryFill::FenOnly);
        (0..8).filter(|slot| planes.masks[slot * 13 + 5] != 0).count()
    };
    assert_eq!(boards("g1f3 g8f6"), 3);
    assert_eq!(boards("g1f3 g8f6 e2e3"), 1);
    assert_eq!(boards("g1f3 g8f6 e2e3 b8c6"), 2);
    // The rook gives up a right.
    assert_eq!(boards("g1f3 g8f6 h1g1"), 1);
}

#[test]
fn canonical_boards_are_turned() {
    let fen = "3r4/4k3/8/1K6/8/8/8/8 w - - 0 1";
    let (planes, transform) = encode(&game(Some(fen), ""), InputFormat::Canonical, HistoryFill::FenOnly);
    assert_eq!(transform.bits(), 7);
    assert_eq!(squares(planes.masks[5]), ["e2"]);
    assert_eq!(canonical_transform(game(Some(fen), "").current(), InputFormat::Canonical), transform);
    assert_eq!(canonical_transform(game(Some(fen), "").current(), InputFormat::Classical), Transform::NONE);
}

#[test]
fn planes_written_in_full() {
    let planes = classical(&game(Some("r3k2r/8/8/8/8/8/8/R3K2R b Kq - 7 30"), "e8e7"), HistoryFill::Always);
    let mut dense = vec![f32::NAN; PLANES * SQUARES];
    planes.write_dense(&mut dense);
    for plane in 0..PLANES {
        for square in 0..SQUARES {
            let wanted = if planes.masks[plane] >> square & 1 == 1 { planes.values[plane] } else { 0.0 };
            assert_eq!(dense[plane * SQUARES + square], wanted);
        }
    }
}
