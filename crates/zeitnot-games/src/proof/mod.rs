//! Declares the games that compare the default time manager with others at three scales, and judges their results by
//! bounds that were set before any of these games was played.
//!
//! | file | what |
//! |---|---|
//! | `page` | the page of a proof, in Markdown |

mod page;

pub use page::page;

use crate::comparison::results_of;
use crate::games::TimeControl;
use crate::games::record::GameRecord;
use crate::strength::Results;
use crate::strength::elo::EloDifference;
use serde::Deserialize;
use std::collections::HashSet;
use zeitnot_engine::digest::sha256;

/// The declaration of the proof's games, as JSON.
const CELLS: &str = include_str!("../../proof/cells.json");

/// The declaration of all games of a proof, in cells: a cell is many games of the time manager `first` against one
/// other, with one network, speed and time control.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// Seed of the order of openings and of the players.
    pub seed: u64,
    /// Start positions, as `--openings` names them.
    pub book: String,
    /// Instruction set of the networks: another one rounds differently, and plays other games.
    pub isa: String,
    /// The time manager that is compared with the others: the default one.
    pub first: String,
    /// Bounds that the results must reach.
    pub bounds: Bounds,
    /// The cells, in the order in which they are played.
    pub cells: Vec<ProofCell>,
}

/// Bounds of the results against `legacy`, in Elo.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// Bound for all games of a scale together: the lower end of the 95 % interval has to be above it.
    pub pooled_lower: f64,
    /// Bound for each cell: the estimate has to be at least this.
    pub cell: f64,
}

/// The games of one network against one manager, at one speed and time control.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProofCell {
    /// The scale of the games: approximate number of new nodes per move.
    pub scale: u64,
    /// The network, as `--weights` names it, for the backend `native`.
    pub network: String,
    /// Evaluations a second on the virtual clock.
    pub nps: f64,
    /// The time control, in the notation of `--tc`.
    pub tc: String,
    /// The other time manager.
    pub second: String,
    pub games: u64,
    /// Number of games of a quick proof; 0 leaves the cell out.
    pub quick: u64,
}

impl Proof {
    /// The declaration inside the program.
    pub fn built_in() -> Proof {
        Proof::read(CELLS).expect("a test reads it")
    }

    /// Reads a declaration.
    ///
    /// # Errors
    /// When the text is no JSON of a declaration, or a cell cannot be played or is there twice.
    pub fn read(json: &str) -> Result<Proof, String> {
        let proof: Proof = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let mut names = HashSet::new();
        for cell in &proof.cells {
            let name = cell.file_name();
            let tc = cell.check().map_err(|problem| format!("{name}: {problem}"))?.to_string();
            if !names.insert(ProofCell { tc, ..cell.clone() }.file_name()) {
                return Err(format!("{name}: another cell has the same games, or files of the same name"));
            }
        }
        Ok(proof)
    }
}

impl ProofCell {
    /// The time control of a cell that can be played.
    fn check(&self) -> Result<TimeControl, String> {
        let control = self.tc.parse::<TimeControl>().map_err(|error| error.to_string())?;
        let (games, quick) = (self.games, self.quick);
        if games == 0 || quick > games || (games | quick) % 2 == 1 {
            return Err(format!(
                "games {games}, quick {quick}: even numbers, the first above 0 and not below the second"
            ));
        }
        Ok(control)
    }

    /// The time control.
    ///
    /// # Panics
    /// Where it cannot be read, which [`Proof::read`] refuses.
    pub fn time_control(&self) -> TimeControl {
        self.tc.parse().expect("the declaration was read")
    }

    /// The name of the cell for files, without spaces and signs that a file system may not take.
    pub fn file_name(&self) -> String {
        let ProofCell { scale, network, nps, tc, second, .. } = self;
        format!("{scale}-{network}-{nps}-{tc}-{second}").replace(['/', '\\', ':', '"', '|', '<', '>', '*', '?'], "_")
    }
}

/// The games of a cell.
#[derive(Clone, Debug)]
pub struct PlayedCell {
    /// The declaration of the cell.
    pub cell: ProofCell,
    /// The games, in order.
    pub games: Vec<GameRecord>,
}

impl PlayedCell {
    /// The results of the first manager.
    pub fn results(&self) -> Results {
        results_of(&self.games)
    }
}

/// The SHA-256 of the records of all games, as journals have them: names, moves, times, budgets, evaluations, ends.
pub fn digest(cells: &[PlayedCell]) -> String {
    let mut text = String::new();
    for PlayedCell { cell, games } in cells {
        text.push_str(&cell.file_name());
        for game in games {
            text.push_str(&serde_json::to_string(game).expect("a record has no map whose keys are not text"));
        }
    }
    sha256(text.as_bytes()).expect("memory can be read")
}

/// The results of one scale against one manager.
#[derive(Clone, Debug)]
pub struct Pooled {
    /// Whether all declared games of its cells were played.
    pub is_complete: bool,
    /// The scale: approximate number of new nodes per move.
    pub scale: u64,
    /// The other manager.
    pub second: String,
    /// The results of the first manager in all of its cells.
    pub results: Results,
}

/// The results of each scale against each manager, in the order of the cells. `proof` declares which cells there should
/// be.
pub(crate) fn pooled(proof: &Proof, cells: &[PlayedCell]) -> Vec<Pooled> {
    let mut all: Vec<Pooled> = Vec::new();
    for played in cells {
        let (scale, second) = (played.cell.scale, &played.cell.second);
        let found = all.iter().position(|pooled| pooled.scale == scale && pooled.second == *second);
        let at = found.unwrap_or_else(|| {
            let mut declared = proof.cells.iter().filter(|cell| cell.scale == scale && cell.second == *second);
            let is_complete =
                declared.all(|cell| cells.iter().any(|played| played.cell == *cell && played.is_complete()));
            all.push(Pooled { is_complete, scale, second: second.clone(), results: Results::default() });
            all.len() - 1
        });
        all[at].results += &played.results();
    }
    all
}

/// Verdict on results: whether they hold a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The bound is held.
    Held,
    /// The bound is not held.
    Missed,
    /// The results give no estimate.
    Unknown,
    /// Games of the declaration are missing.
    Incomplete,
}

impl Pooled {
    /// Judges whether the lower end of the 95 % interval of the Elo difference is above `bound`.
    pub fn is_above(&self, bound: f64) -> Verdict {
        if !self.is_complete {
            return Verdict::Incomplete;
        }
        let estimate = EloDifference::new(&self.results).logistic;
        verdict(estimate.elo.zip(estimate.margin).map(|(elo, margin)| elo - margin > bound))
    }
}

impl PlayedCell {
    /// Whether all declared games were played.
    pub fn is_complete(&self) -> bool {
        self.games.len() as u64 == self.cell.games
    }

    /// Judges whether the estimated Elo difference is at least `bound`.
    pub fn reaches(&self, bound: f64) -> Verdict {
        if !self.is_complete() {
            return Verdict::Incomplete;
        }
        verdict(EloDifference::new(&self.results()).logistic.elo.map(|elo| elo >= bound))
    }
}

fn verdict(holds: Option<bool>) -> Verdict {
    match holds {
        Some(true) => Verdict::Held,
        Some(false) => Verdict::Missed,
        None => Verdict::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::record::drawn_game;

    #[test]
    fn the_declaration_can_be_read() {
        let proof = Proof::built_in();
        assert!(proof.cells.iter().all(|cell| cell.time_control().base_ms > 0.0 && cell.nps > 0.0), "{proof:?}");
        for scale in [150, 1_500, 15_000] {
            let against_legacy = |cell: &&ProofCell| cell.scale == scale && cell.second == "legacy";
            let games: u64 = proof.cells.iter().filter(against_legacy).map(|cell| cell.games).sum();
            assert!(games >= 900, "{scale}: {games}");
            assert!(proof.cells.iter().filter(against_legacy).any(|cell| cell.quick > 0), "{scale}");
        }
    }

    /// The only cell of a declaration, played.
    fn played(wins: usize, draws: usize) -> PlayedCell {
        let cell = ProofCell { games: (wins + draws) as u64, ..Proof::built_in().cells[0].clone() };
        // The first player is White in games with odd numbers.
        let won = |at: usize| GameRecord { white_won: Some(at.is_multiple_of(2)), ..drawn_game(at as u64 + 1) };
        let games = (0..wins).map(won).chain((wins..wins + draws).map(|at| drawn_game(at as u64 + 1)));
        PlayedCell { cell, games: games.collect() }
    }

    #[test]
    fn bounds_are_held_or_missed() {
        let (even, ahead) = (played(0, 20), played(10, 20));
        assert_eq!(even.reaches(-10.0), Verdict::Held);
        assert_eq!(even.reaches(10.0), Verdict::Missed);
        assert_eq!(played(0, 0).reaches(0.0), Verdict::Unknown);
        let of = |cells: &[PlayedCell]| {
            let declared =
                Proof { cells: cells.iter().map(|played| played.cell.clone()).collect(), ..Proof::built_in() };
            pooled(&declared, cells).remove(0)
        };
        assert_eq!(of(&[even]).is_above(0.0), Verdict::Unknown, "draws alone have no error");
        assert_eq!(of(&[played(2, 20)]).is_above(0.0), Verdict::Missed);
        let both = of(&[ahead.clone(), ahead.clone()]);
        assert_eq!((both.results.games(), both.is_above(0.0)), (60, Verdict::Held));
        // With games missing there is no verdict.
        let part = PlayedCell { games: ahead.games[..28].to_vec(), ..ahead.clone() };
        assert_eq!((part.reaches(0.0), of(&[part]).is_above(0.0)), (Verdict::Incomplete, Verdict::Incomplete));
        assert_eq!(pooled(&Proof::built_in(), &[ahead])[0].is_above(0.0), Verdict::Incomplete, "a cell of many");
    }

    #[test]
    fn the_digest_sees_every_game() {
        let one = played(2, 4);
        let of = |played: &PlayedCell| digest(std::slice::from_ref(played));
        assert_eq!(of(&one), of(&one.clone()));
        assert_ne!(of(&one), of(&played(2, 5)));
        let mut other_end = one.clone();
        other_end.games[1].white_won = None;
        assert_ne!(of(&one), of(&other_end));
    }
}
