//! Compares two points of a tuning in pairs of games.

use super::{Judge, file_name};
use crate::commands::flags::{match_flags, time_flags};
use crate::commands::output::notes;
use crate::commands::warnings::Warnings;
use anyhow::Context as _;
use clap::ArgMatches;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use zeitnot_engine::announcer::Announcer;
use zeitnot_engine::splitmix::mix;
use zeitnot_lab::setup::{self, Contestant, MatchClock, MatchSetup};
use zeitnot_lab::tune::{Judgement, Measured, Parameter, Probe, Targets};
use zeitnot_lab::{GameRecord, Journal, JournalError, MatchPlan, Rules, TimeControl, run_match};

/// The journal of the games of the iteration under way; each iteration begins it anew.
const JOURNAL: &str = "games.jsonl";

/// A network, and the options that the parameters are set on.
struct Network {
    player: Contestant,
    targets: Targets,
}

/// A time control and its clock, on which two points play.
struct Control {
    tc: TimeControl,
    clock: MatchClock,
}

/// Compares two points in pairs of games.
pub struct GameJudge<'a> {
    networks: Vec<Network>,
    controls: Vec<Control>,
    /// Rules, start positions and concurrency; the rules have the first of the time controls.
    setup: MatchSetup,
    iterations: u64,
    /// Pairs of games of an iteration.
    pairs: u64,
    /// Games of the result against the start, for each network at each time control.
    check: u64,
    journal: PathBuf,
    interrupted: &'a AtomicBool,
}

impl<'a> GameJudge<'a> {
    /// Loads the networks.
    pub fn new(
        matches: &ArgMatches,
        parameters: &[Parameter],
        out: &Path,
        interrupted: &'a AtomicBool,
    ) -> anyhow::Result<GameJudge<'a>> {
        let number =
            |name: &str| matches.get_one::<u64>(name).copied().with_context(|| format!("--{name} has a default"));
        let tcs = time_flags::controls_with_speeds(matches)?;
        let mut players = players(matches)?;
        for player in &players {
            // Wrong parameters are named before anything is loaded.
            Targets::new(player.options().context("the player is this engine")?, parameters)?;
        }
        let clocks = (0..tcs.len()).map(|at| match_flags::clock(matches, at)).collect::<anyhow::Result<Vec<_>>>()?;
        let chess960 = players[0].options().is_some_and(|options| options.chess960);
        let mut setup = match_flags::setup(matches, &clocks[0], Default::default(), chess960)?;
        setup.rules = setup.rules_at(tcs[0]);
        let (pairs, check) = (number("pairs")?, number("check")?.next_multiple_of(2));
        for player in &players {
            // Both points of an iteration are this player with other values.
            setup.check_repetition(&clocks[0], check.max(2 * pairs), [player, player], &notes())?;
        }
        match_flags::load(&mut players, setup.concurrency, &clocks[0])?;
        let networks = players.into_iter().map(|player| {
            let options = player.options().context("the player is this engine")?;
            Ok(Network { targets: Targets::new(options, parameters)?, player })
        });
        Ok(GameJudge {
            networks: networks.collect::<anyhow::Result<_>>()?,
            controls: tcs.into_iter().zip(clocks).map(|(tc, clock)| Control { tc, clock }).collect(),
            setup,
            iterations: number("iterations")?,
            pairs,
            check,
            journal: out.join(JOURNAL),
            interrupted,
        })
    }

    /// Number of pairs of a network and a time control, which the iterations take in turn.
    fn cells(&self) -> usize {
        self.networks.len() * self.controls.len()
    }

    /// The journal of the iteration under way. The games of an iteration that is in the course already are dropped.
    fn journal(&self, probe: &Probe) -> anyhow::Result<Journal> {
        let settings = json!({ "iteration": probe.iteration, "plus": probe.plus, "minus": probe.minus });
        match Journal::resume(&self.journal, settings.clone(), &[]) {
            Err(JournalError::OtherSettings { .. }) => {
                std::fs::remove_file(&self.journal)
                    .with_context(|| format!("cannot remove {}", self.journal.display()))?;
                Ok(Journal::<GameRecord>::resume(&self.journal, settings, &[])?)
            }
            journal => Ok(journal?),
        }
    }
}

impl Judge for GameJudge<'_> {
    fn comparisons(&self) -> u64 {
        if self.check > 0 { self.cells() as u64 } else { 0 }
    }

    fn targets(&self) -> &Targets {
        &self.networks[0].targets
    }

    fn settings(&self, matches: &ArgMatches) -> anyhow::Result<Value> {
        let identity = |network: &Network| Ok((network.player.name.clone(), network.player.identity()?));
        let players: Map<String, Value> = self.networks.iter().map(identity).collect::<anyhow::Result<_>>()?;
        Ok(json!({
            "players": players,
            "pairs": self.pairs,
            "check": self.check,
            "match": match_flags::settings(matches, &[])?,
        }))
    }

    fn judge(&self, probe: &Probe) -> anyhow::Result<Option<Judgement>> {
        let at = probe.turn(self.cells());
        let network = &self.networks[at % self.networks.len()];
        let control = &self.controls[at / self.networks.len()];
        let is_comparison = probe.iteration > self.iterations;
        let games = if is_comparison { self.check } else { 2 * self.pairs };
        let options = |values: &[f64]| network.targets.options(values);
        let [plus, minus] =
            [options(&probe.plus)?, options(&probe.minus)?].map(|point| network.player.with_options(point));
        // Openings go on where the iteration before ended.
        let first_pair = self.pairs.wrapping_mul(probe.iteration.saturating_sub(1));
        let opening = |pair: u64| self.setup.starts.get(first_pair.wrapping_add(pair));
        let seed = mix(self.setup.rules.seed ^ mix(probe.iteration));
        let rules = Rules { seed, ..self.setup.rules_at(control.tc) };
        let plan = MatchPlan { rules, ..self.setup.plan(games, &opening) };
        let warnings = Warnings::default();
        let make = |thread: usize| {
            // Every iteration would announce the same again.
            let announcer = if probe.iteration > 1 { Announcer::default() } else { warnings.of_players(thread, None) };
            let player = |point: &Contestant| point.player(&control.clock, &announcer, None);
            Ok([player(&plus)?, player(&minus)?])
        };
        let mut journal = self.journal(probe)?;
        let end = run_match(&plan, &make, &mut journal, self.interrupted, &mut |_| {})
            .with_context(|| format!("iteration {}: the same command goes on with it", probe.iteration))?;
        if self.interrupted.load(Ordering::SeqCst) && end.results.games() < games {
            return Ok(None);
        }
        let refused = |player: usize| {
            // A draw because the other had a bare king is no excuse.
            match (end.forfeits[player], end.drawn_forfeits[player]) {
                (0, 0) => None,
                (0, drawn) => Some(format!("ran out of time in {drawn} draws of {games} games")),
                (lost, _) => Some(format!("lost {lost} of {games} games on time")),
            }
        };
        let name = if self.networks.len() > 1 {
            format!("{} {}", network.player.name, control.tc)
        } else {
            control.tc.to_string()
        };
        Ok(Some(Judgement {
            cell: name,
            points: end.results.wins as f64 - end.results.losses as f64,
            most: games as f64,
            refused: [refused(0), refused(1)],
            measured: Measured::Games(end.results),
        }))
    }
}

/// This engine with each of the networks.
fn players(matches: &ArgMatches) -> anyhow::Result<Vec<Contestant>> {
    let networks: Vec<&String> = matches.get_many("network").unwrap_or_default().collect();
    if networks.is_empty() {
        return Ok(vec![match_flags::own_player(matches, "tune", std::iter::empty(), "Zeitnot")?]);
    }
    let player = |network: &&String| {
        let setting = format!("WeightsFile={network}");
        let mut player = match_flags::own_player(matches, "--network", std::iter::once(setting.as_str()), network)?;
        player.name = file_name(Path::new(network));
        Ok(player)
    };
    let players: Vec<Contestant> = networks.iter().map(player).collect::<anyhow::Result<_>>()?;
    setup::check(&players)?;
    Ok(players)
}
