//! The rules of chess at their edges: which positions are the same, how castling is spelled, and boards that no game
//! reaches.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::collections::{HashMap, HashSet};
use zeitnot_engine::chess::{Game, Move, Outcome, divide, parse_uci, perft, to_uci};
use zeitnot_engine::splitmix::mix;

/// Draws numbers that are the same in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = mix(self.0);
        (self.0 % limit as u64) as usize
    }
}

/// A back rank of a king with rooks on both sides of it, two or three of them where there is room, and other pieces; by
/// files.
fn back_rank(draw: &mut Draw) -> [char; 8] {
    let king = 1 + draw.below(6);
    std::array::from_fn(|file| if file == king { 'K' } else { ['R', 'R', 'R', '1', '1', 'B', 'N'][draw.below(7)] })
}

/// The ways to give castling rights on a rank, in the letters of a Shredder-FEN: one rook, or none, on each side of the
/// king.
fn rights(rank: [char; 8]) -> Vec<String> {
    let king = rank.iter().position(|piece| *piece == 'K').unwrap();
    let letter = |file: usize| char::from(b'A' + file as u8).to_string();
    let rooks = |from: usize, to: usize| {
        let rooks = (from..to).filter(|file| rank[*file] == 'R').map(letter);
        [String::new()].into_iter().chain(rooks).collect::<Vec<_>>()
    };
    let short = rooks(king, 8);
    rooks(0, king).iter().flat_map(|long| short.iter().map(move |short| format!("{short}{long}"))).collect()
}

/// A board of Chess960 with each way to castle for either side, as FENs.
fn boards_by_rights(draw: &mut Draw) -> Vec<String> {
    let (white, black) = (back_rank(draw), back_rank(draw));
    let row = |rank: [char; 8]| rank.iter().collect::<String>();
    let pawns = |draw: &mut Draw, pawn: char| -> String {
        (0..8).map(|_| if draw.below(3) == 0 { '1' } else { pawn }).collect()
    };
    let board =
        format!("{}/{}/8/8/8/8/{}/{}", row(black).to_lowercase(), pawns(draw, 'p'), pawns(draw, 'P'), row(white));
    let (white, black) = (rights(white), rights(black));
    let both = white.iter().flat_map(|white| black.iter().map(move |black| format!("{white}{}", black.to_lowercase())));
    both.map(|rights| format!("{board} w {} - 0 1", if rights.is_empty() { "-" } else { &rights })).collect()
}

/// FIDE 9.2.3, as shakmaty compares positions: by pieces, side to move, castling rooks and legal en passant captures.
#[test]
fn positions_have_one_key_when_they_are_the_same_and_only_then() {
    let mut draw = Draw(960);
    let mut known: HashMap<u64, shakmaty::Chess> = HashMap::new();
    let (mut pairs, mut rooks_alone) = (0, 0);
    for _ in 0..60 {
        let fens = boards_by_rights(&mut draw);
        let mut games: Vec<Game> = fens.iter().filter_map(|fen| Game::from_fen(fen, true).ok()).collect();
        for _ in 0..24 {
            for (index, game) in games.iter().enumerate() {
                let (chess, key) = (game.current().chess(), game.current().key());
                assert_eq!(known.entry(key).or_insert_with(|| chess.clone()), chess, "{}", game.fen());
                for other in &games[..index] {
                    let same = other.current().chess() == chess;
                    assert_eq!(other.current().key() == key, same, "{} {}", game.fen(), other.fen());
                    pairs += 1;
                    let count = |game: &Game| game.fen().split(' ').nth(2).unwrap().len();
                    rooks_alone += u32::from(!same && count(game) == count(other));
                }
            }
            // All games that can go on by the same move: so what has become the same meets.
            let moves = games[0].current().legal_moves();
            let Some(mv) = moves.get(draw.below(moves.len().max(1))).copied() else { break };
            for game in &mut games {
                if game.current().legal_moves().contains(&mv) {
                    game.push(mv);
                }
            }
        }
    }
    assert!(pairs > 100_000 && rooks_alone > 10_000, "{pairs} {rooks_alone}");
}

/// A capture of another king's rook, or a king's move, takes the right away, and the positions are the same from then
/// on.
#[test]
fn castling_rights_by_other_rooks_are_the_same_once_they_are_gone() {
    let game = |rights: &str| Game::from_fen(&format!("2rkr3/2p1p3/8/8/8/8/8/RRK5 w {rights} - 0 1"), true).unwrap();
    let (mut inner, mut outer) = (game("B"), game("A"));
    assert_ne!(inner.current().key(), outer.current().key());
    assert!(inner.push_uci("c1b1").is_ok() && outer.push_uci("c1b1").is_err());
    inner = game("B");
    for mv in ["c1d1", "d8d7"] {
        inner.push_uci(mv).unwrap();
        outer.push_uci(mv).unwrap();
        assert_eq!(inner.current().key(), outer.current().key());
    }
}

/// Plays `moves`, of which none ends the game but perhaps the last.
fn played(fen: &str, moves: &[&str]) -> Game {
    let mut game = Game::from_fen(fen, false).unwrap();
    for mv in moves {
        assert_eq!(game.outcome(), None, "{fen}");
        game.push_uci(mv).unwrap();
    }
    game
}

/// Each first move lets a pawn stand ready to capture en passant; then the position comes twice more.
#[test]
fn an_en_passant_capture_that_is_illegal_hides_no_repetition() {
    for (fen, first, cycle, is_legal) in [
        // A pin on the file, of either side.
        ("4r2k/3p4/8/4P3/8/8/8/4K3 b - - 0 1", "d7d5", ["e1e2", "h8g8", "e2e1", "g8h8"], false),
        ("4k3/8/8/8/4p3/8/3P4/4R2K w - - 0 1", "d2d4", ["e8e7", "h1g1", "e7e8", "g1h1"], false),
        // On the diagonal, which the capture leaves or keeps to.
        ("b6k/4p3/8/3P4/8/5K2/8/8 b - - 0 1", "e7e5", ["f3g2", "h8g8", "g2f3", "g8h8"], false),
        ("b6k/2p5/8/3P4/8/5K2/8/8 b - - 0 1", "c7c5", ["f3g2", "h8g8", "g2f3", "g8h8"], true),
        // Both pawns leave the rank of the king.
        ("8/8/8/8/k2p3R/8/4P3/4K3 w - - 0 1", "e2e4", ["a4b4", "e1e2", "b4a4", "e2e1"], false),
        // The pawn uncovers a check, which the capture does not answer.
        ("1b5k/2p5/8/3P4/5K2/8/8/8 b - - 0 1", "c7c5", ["f4f3", "b8a7", "f3f4", "a7b8"], false),
        // One of two pawns is pinned.
        ("3r3k/2p5/8/1P1P4/8/8/8/3K4 b - - 0 1", "c7c5", ["d1d2", "h8g8", "d2d1", "g8h8"], true),
        ("7k/3p4/8/4P3/8/8/8/4K3 b - - 0 1", "d7d5", ["e1e2", "h8g8", "e2e1", "g8h8"], true),
    ] {
        let game = played(fen, &[&[first][..], &cycle, &cycle].concat());
        let first = &game.positions()[1];
        assert!(first.en_passant().is_some(), "{fen}");
        assert_eq!(first.legal_moves().iter().any(|mv| mv.is_en_passant()), is_legal, "{fen}");
        assert_eq!(game.outcome(), (!is_legal).then_some(Outcome::Repetition), "{fen}");
        assert_eq!(game.current().repetitions(), if is_legal { 1 } else { 2 }, "{fen}");
    }
    // The square of a FEN, and one that no pawn stands beside.
    for square in ["d6", "-"] {
        let fen = format!("4r2k/8/8/3pP3/8/8/8/4K3 w - {square} 0 1");
        let cycle = ["e1e2", "h8g8", "e2e1", "g8h8"];
        assert_eq!(played(&fen, &[cycle, cycle].concat()).outcome(), Some(Outcome::Repetition), "{square}");
    }
}

/// Every king and rooks on an empty rank: those of Chess960, and of standard chess.
#[test]
fn each_move_has_a_spelling_of_its_own() {
    let mut castlings = 0;
    for (king, long, short) in
        (1..7).flat_map(|king| (0..king).flat_map(move |long| (king + 1..8).map(move |short| (king, long, short))))
    {
        let mut rank = ['1'; 8];
        (rank[long], rank[king], rank[short]) = ('R', 'K', 'R');
        let rank: String = rank.iter().collect();
        let letters = [long, short].map(|file| char::from(b'a' + file as u8));
        for (turn, fen) in
            [("w", format!("4k3/8/8/8/8/8/8/{rank}")), ("b", format!("{}/8/8/8/8/8/8/4K3", rank.to_lowercase()))]
        {
            for right in [letters.iter().collect::<String>(), letters[0].to_string(), letters[1].to_string()] {
                let right = if turn == "w" { right.to_uppercase() } else { right };
                for chess960 in [false, true] {
                    let game = Game::from_fen(&format!("{fen} {turn} {right} - 0 1"), chess960).unwrap();
                    let mut spellings = HashSet::new();
                    for mv in game.current().legal_moves() {
                        for spelled in [to_uci(mv, false), to_uci(mv, true)] {
                            assert_eq!(parse_uci(game.current().chess(), &spelled), Ok(mv), "{} {spelled}", game.fen());
                        }
                        assert!(spellings.insert(to_uci(mv, chess960)), "{} {mv}", game.fen());
                        // King takes rook, but where standard chess castles.
                        if let Move::Castle { rook, .. } = mv {
                            castlings += 1;
                            let is_standard = king == 4 && matches!(rook.file() as usize, 0 | 7);
                            assert_eq!(to_uci(mv, false) != to_uci(mv, true), is_standard, "{} {mv}", game.fen());
                        }
                    }
                    assert_eq!(divide(game.current().chess(), 1, chess960).len(), spellings.len());
                }
            }
        }
    }
    assert!(castlings > 500, "{castlings}");
}

/// The king's step to the c- or g-file is the king's own move where it has one.
#[test]
fn castling_and_the_kings_step_are_two_moves() {
    for (fen, castling, step, after_castling, after_step) in [
        ("4k3/8/8/8/8/8/8/5K1R w H - 0 1", "f1h1", "f1g1", "5RK1 b - ", "6KR b - "),
        ("4k3/8/8/8/8/8/8/RK6 w A - 0 1", "b1a1", "b1c1", "2KR4 b - ", "R1K5 b - "),
        ("4k3/8/8/8/8/8/8/R2K4 w A - 0 1", "d1a1", "d1c1", "2KR4 b - ", "R1K5 b - "),
        ("5k1r/8/8/8/8/8/8/4K3 b h - 0 1", "f8h8", "f8g8", "5rk1/", "6kr/"),
        // Two squares are no step: either spelling castles.
        ("4k3/8/8/8/8/8/8/4K2R w H - 0 1", "e1h1", "e1g1", "5RK1 b - ", "5RK1 b - "),
        ("4k3/8/8/8/8/8/8/2K4R w H - 0 1", "c1h1", "c1g1", "5RK1 b - ", "5RK1 b - "),
        // The rook stands where the king goes.
        ("4k3/8/8/8/8/8/8/5KR1 w G - 0 1", "f1g1", "f1g1", "5RK1 b - ", "5RK1 b - "),
    ] {
        for (mv, after) in [(castling, after_castling), (step, after_step)] {
            let mut game = Game::from_fen(fen, false).unwrap();
            game.push_uci(mv).unwrap();
            assert!(game.fen().contains(after), "{fen} {mv}: {}", game.fen());
        }
    }
}

/// Boards with more moves than a game can have.
#[test]
fn boards_full_of_queens_have_all_their_moves() {
    for (fen, moves) in [
        ("kBQQQQQQ/BR5Q/Q6Q/Q6Q/Q6Q/Q6Q/Q6Q/KQQQQQQQ w - - 0 1", 270),
        ("kQQQQQQQ/Q6Q/Q6Q/Q6K/Q6Q/Q6Q/Q6Q/QQQQQQQQ w - - 0 1", 277),
        ("qqqqqqqq/q6q/q6q/q6q/q6k/q6q/q6q/Kqqqqqqq b - - 0 1", 277),
        ("KQQQQQQQ/Q6Q/Q6Q/Q6k/Q6Q/Q6Q/Q6Q/QQQQQQQQ w - - 0 1", 277),
        ("QQQQQQQQ/Q6Q/Q6Q/1Q5Q/1Q5Q/1Q2Q1QQ/3Q2pp/QQQ1KQbk w - - 0 1", 248),
    ] {
        let game = Game::from_fen(fen, false).unwrap();
        assert_eq!(game.current().legal_moves().len(), moves, "{fen}");
        assert_eq!(perft(game.current().chess(), 1), moves as u64);
        // And after the replies, where there are any.
        perft(game.current().chess(), 3);
    }
}
