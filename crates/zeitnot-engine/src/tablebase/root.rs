//! Chooses the moves of a position in the tables that are worth searching: those that keep its result within the
//! fifty-move rule.

use super::Tablebase;
use shakmaty_syzygy::{Dtz, MaybeRounded, Wdl};
use zeitnot_chess::{Game, Move, Position};

/// Rank of a move that wins with plies to spare under the fifty-move rule (Lc0's and Stockfish's scale, docs/lc0.md,
/// 3.4). Ranks of wins begin at 900.
const WON: i32 = 1000;
/// Rank, by WDL alone, of a move that would win without the fifty-move rule.
const CURSED: i32 = 899;

/// Most plies without capture or pawn move that do not draw yet.
const LAST_SAFE_PLY: i32 = 99;
/// Plies without capture or pawn move after which the game is drawn.
const DRAWN_PLY: i32 = 100;

/// The moves that keep the result of a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootMoves {
    /// The moves, in the order of the move generator.
    pub moves: Vec<Move>,
    /// Whether the moves were ranked by their distance to the next capture or pawn move (DTZ), so that any play among
    /// them gets there. Ranked by WDL alone, a search has to find its way.
    pub by_dtz: bool,
    /// Positions that were looked up.
    pub probes: u64,
}

impl Tablebase {
    /// The moves worth searching at the end of `game`; `None` without a move, and when a table for one of them is
    /// missing. With `fast` (`SyzygyFastPlay`), the only wins kept are the shortest to the next capture or pawn move.
    ///
    /// A win with plies to spare is as good as any other, so that the choice is the network's, until a position has
    /// repeated: from then on, as long as nothing is captured and no pawn moves, only the shortest way counts.
    pub fn rank_root(&self, game: &Game, fast: bool) -> Option<RootMoves> {
        let position = game.current();
        let moves = position.legal_moves();
        if moves.is_empty() || !self.covers(position) {
            return None;
        }
        let hurry = fast || has_repeated(game);
        let mut after = game.clone();
        let mut rank_all = |rank: &dyn Fn(&Position, Move) -> Option<i32>| -> Option<Vec<i32>> {
            let mut rank_one = |mv: Move| {
                after.push(mv);
                let rank = rank(after.current(), mv);
                after.truncate(game.moves().len());
                rank
            };
            moves.iter().map(|mv| rank_one(*mv)).collect()
        };
        let played = position.rule50() as i32;
        let by_dtz = rank_all(&|after, _| Some(dtz_rank(self.dtz_of_move(after)?, played, hurry)));
        let (ranks, by_dtz) = match by_dtz {
            Some(ranks) => (ranks, true),
            None => (rank_all(&|after, _| Some(wdl_rank(self.wdl_of_move(after)?)))?, false),
        };
        let best = ranks.iter().max()?;
        let keep = moves.iter().zip(&ranks).filter(|(_, rank)| *rank == best).map(|(mv, _)| *mv).collect();
        Some(RootMoves { moves: keep, by_dtz, probes: moves.len() as u64 })
    }

    /// Plies to the next capture or pawn move for the player who has moved to `after`, that move included; negative
    /// when the other side wins. `None` when no table has the position.
    fn dtz_of_move(&self, after: &Position) -> Option<MaybeRounded<Dtz>> {
        if after.legal_moves().is_empty() {
            return Some(MaybeRounded::Precise(Dtz(i32::from(after.is_check()))));
        }
        if is_drawn(after) {
            return Some(MaybeRounded::Precise(Dtz(0)));
        }
        if after.rule50() == 0 {
            let wdl = self.probe(|tables| tables.probe_wdl_after_zeroing(after.chess()))?;
            return Some(MaybeRounded::Precise(Dtz::before_zeroing(-wdl)));
        }
        let dtz = self.probe(|tables| tables.probe_dtz(after.chess()))?;
        Some(dtz.map(|dtz| (-dtz).add_plies(1)))
    }

    fn wdl_of_move(&self, after: &Position) -> Option<Wdl> {
        if after.legal_moves().is_empty() {
            return Some(if after.is_check() { Wdl::Win } else { Wdl::Draw });
        }
        if is_drawn(after) {
            return Some(Wdl::Draw);
        }
        let wdl = self.probe(|tables| tables.probe_wdl_after_zeroing(after.chess()))?;
        Some(-wdl)
    }
}

/// Whether the game ends in a draw here although there are moves.
fn is_drawn(position: &Position) -> bool {
    position.rule50() as i32 >= DRAWN_PLY || position.repetitions() >= 2
}

/// Whether a position of the game has repeated since its last capture or pawn move.
fn has_repeated(game: &Game) -> bool {
    let phase = game.current().rule50() as usize + 1;
    game.positions().iter().rev().take(phase).any(|position| position.repetitions() > 0)
}

/// The rank of a move by its DTZ (see `Tablebase::dtz_of_move`), `played` plies after the last capture or pawn move.
/// `hurry`: shorter wins rank higher even where the fifty-move rule leaves time.
fn dtz_rank(dtz: MaybeRounded<Dtz>, played: i32, hurry: bool) -> i32 {
    // A rounded distance may be one more: a win must do with that, and a loser may hope for it.
    let longest = match dtz {
        MaybeRounded::Rounded(Dtz(plies)) => plies.abs() + 1,
        MaybeRounded::Precise(Dtz(plies)) => plies.abs(),
    };
    match dtz.ignore_rounding().0 {
        0 => 0,
        plies if plies > 0 && !hurry && longest + played <= LAST_SAFE_PLY => WON,
        plies if plies > 0 => WON - (plies + played),
        // Lost for certain, however well the loser plays; else the longer the better.
        _ if 2 * longest + played < DRAWN_PLY => -WON,
        plies => -WON + (-plies + played),
    }
}

fn wdl_rank(wdl: Wdl) -> i32 {
    match wdl {
        Wdl::Loss => -WON,
        Wdl::BlessedLoss => -CURSED,
        Wdl::Draw => 0,
        Wdl::CursedWin => CURSED,
        Wdl::Win => WON,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(plies: i32, played: i32) -> i32 {
        dtz_rank(MaybeRounded::Precise(Dtz(plies)), played, false)
    }

    fn rounded(plies: i32, played: i32) -> i32 {
        dtz_rank(MaybeRounded::Rounded(Dtz(plies)), played, false)
    }

    /// Stockfish's and Lc0's scale (docs/lc0.md, 3.4).
    #[test]
    fn wins_with_plies_to_spare_are_alike_and_others_go_by_distance() {
        assert_eq!((exact(1, 0), exact(99, 0), exact(19, 80)), (WON, WON, WON));
        assert_eq!((exact(100, 0), exact(20, 80), exact(2, 98)), (900, 900, 900), "won with the last ply");
        assert_eq!(rounded(99, 0), 901, "it may be a ply more, which would be the last");
        assert!(exact(101, 0) < CURSED + 1 && exact(101, 0) > exact(0, 0), "drawn, but the opponent has to know it");
        assert_eq!(dtz_rank(MaybeRounded::Precise(Dtz(7)), 3, true), WON - 10);
    }

    #[test]
    fn losses_are_alike_until_the_fifty_move_rule_comes_near() {
        assert_eq!((exact(-1, 0), exact(-49, 0), exact(-10, 79)), (-WON, -WON, -WON));
        assert_eq!(exact(-50, 0), -950);
        assert_eq!(rounded(-49, 0), -951, "perhaps a ply longer");
        assert!(exact(-60, 0) > exact(-55, 0) && exact(-120, 0) > exact(-60, 0) && exact(-120, 0) < 0);
    }

    #[test]
    fn without_distances_the_results_decide() {
        let ranks = [Wdl::Loss, Wdl::BlessedLoss, Wdl::Draw, Wdl::CursedWin, Wdl::Win].map(wdl_rank);
        assert!(ranks.is_sorted() && ranks[2] == 0);
    }
}
