//! Declares every option of the engine once: the UCI list, the command line's flags, their help and the defaults
//! all come from here. Names, flags, defaults and ranges are Lc0's wherever Lc0 has the option (docs/lc0.md, 5.1).

use super::algorithm::SearchAlgorithm;
use super::contempt::{self, ContemptMode, RescaleOptions};
use super::option_kind::{Kind, OptionError, OptionValue};
use super::score::ScoreType;
use super::strength::{FULL_SKILL, HIGHEST_ELO, LOWEST_ELO};
use super::words::{FpuStrategy, FpuStrategyAtRoot, TreeMemory};
use crate::search::{Cpuct, Fpu, MovesLeftParams, Noise, SearchParams, Temperature};
use std::borrow::Cow;
use std::collections::BTreeSet;
use zeitnot_backend::{BackendSettings, DeviceOptions};
use zeitnot_network::HistoryFill;
use zeitnot_network::Ratings;
use zeitnot_time::{DEFAULT_MANAGER, StopperParams};

/// One option as declared.
pub struct OptionSpec {
    /// UCI name.
    pub name: &'static str,
    /// Long flag on the command line, without dashes.
    pub flag: &'static str,
    /// Short flag, if it has one.
    pub short: Option<char>,
    /// The kind of the option's values.
    pub kind: Kind,
    /// One line of help.
    pub help: &'static str,
    /// Properties of the option that other files ask for.
    pub(super) facts: Facts,
    get: fn(&Options) -> String,
    set: fn(&mut Options, &str) -> bool,
    copy: fn(&mut Options, &Options),
}

/// Properties of an option, given in its declaration.
pub(super) struct Facts {
    /// Whether people set the option: then `uci` lists it. The others are listed only with `--show-hidden`, since GUIs
    /// make a dialog of all that is listed.
    pub listed: bool,
    /// Whether the option decides what a tree holds, not only how a search goes on in it.
    pub tree: bool,
    /// Whether the option still holds at a limited strength level: it does not change how well a search plays.
    pub level: bool,
    /// Whether the network is loaded anew when the option changes.
    pub network: bool,
}

impl Facts {
    const NONE: Facts = Facts { listed: false, tree: false, level: false, network: false };
}

impl OptionSpec {
    /// The option's value as text.
    pub fn value(&self, options: &Options) -> String {
        (self.get)(options)
    }
}

macro_rules! options {
    ($($field:ident: $type:ty = $default:expr, $name:expr, $flag:literal $($short:literal)?, $kind:expr, $help:literal [$($fact:ident)*];)*) => {
        /// The values of all options. Each field is an option of [`SPECS`].
        #[derive(Clone, Debug, PartialEq)]
        pub struct Options {
            $(#[doc = $help] pub $field: $type,)*
            /// Bytes that tree and cache may take together where `RamLimitMb` and `Hash` say nothing; `None`: no limit.
            /// Not an option but a fact about the machine, which the program that starts the engine finds out: a search
            /// that has to repeat itself on other machines leaves it `None`.
            pub automatic_memory: Option<usize>,
            /// Whether the opponent is a person at this machine: then a Maia may play without being named in
            /// `WeightsFile`, and may lose on time. Not an option but a fact.
            pub against_person: bool,
            /// The UCI names of the options that [`Options::set`] has set, even to their defaults. The engine
            /// does not choose what was set by hand: a `movetime` is shortened by a `MoveOverheadMs` of the user's.
            pub was_set: BTreeSet<&'static str>,
        }

        impl Default for Options {
            fn default() -> Self {
                Options { $($field: $default.into(),)* automatic_memory: None, against_person: false, was_set: BTreeSet::new() }
            }
        }

        /// All options, in the order they are listed to the user.
        pub static SPECS: &[OptionSpec] = &[$(OptionSpec {
            name: $name,
            flag: $flag,
            short: options!(@short $($short)?),
            kind: $kind,
            help: $help,
            facts: Facts { $($fact: true,)* ..Facts::NONE },
            get: |options| OptionValue::print(&options.$field),
            set: |options, text| match OptionValue::read(text, $kind) {
                Some(value) => { options.$field = value; true }
                None => false,
            },
            copy: |options, from| options.$field.clone_from(&from.$field),
        },)*];
    };
    (@short) => { None };
    (@short $short:literal) => { Some($short) };
}

const MOVE_OVERHEAD: &str = "MoveOverheadMs";
const LC0: SearchParams = SearchParams::LC0;
/// Bytes of a megabyte as Lc0's limit counts (docs/lc0.md, 2.4).
const MEGABYTE: usize = 1_000_000;
/// Bytes that a position takes in the cache (see [`zeitnot_backend::CachedBackend`]).
const CACHED_POSITION: usize = 220;
const FPU_VALUE: f32 = 0.330;
const CPUCT_RANGE: Kind = Kind::Float { min: 0.0, max: 100.0 };
const CPUCT_BASE_RANGE: Kind = Kind::Steps { min: 1.0, max: 1e9 };
const CPUCT_FACTOR_RANGE: Kind = Kind::Float { min: 0.0, max: 1000.0 };
const ONE: Kind = Kind::Float { min: 0.0, max: 1.0 };
/// Draw rates for which the logarithm of (1 + rate) / (1 - rate) is finite; Lc0 also takes 1, and divides by 0.
const ONE_EXCLUSIVE: Kind = Kind::Float { min: 0.0, max: 0.999 };
/// Draw rates whose spread can be a divisor: neither 0 nor infinite.
const DRAW_RATE: Kind = Kind::Float { min: 0.001, max: 0.999 };
const TEMPERATURE: Kind = Kind::Float { min: 0.0, max: 100.0 };
/// The range of ratings that Maia-3 takes as input.
const RATING: Kind = Kind::Spin { min: 0, max: Ratings::MOST as u64 };
/// The largest number that GUIs hold in a spin box.
const LARGEST_SEED: u64 = i32::MAX as u64;

options! {
    weights: String = "", "WeightsFile", "weights" 'w', Kind::File,
        "Network file (.pb.gz, .pb or .onnx); empty: the newest found in models/ or the user's data folder, Zeitnot's own and Maias left out, or else the one built in" [listed level network];
    backend: String = "auto", "Backend", "backend" 'b', Kind::Text,
        "Evaluator of positions: auto, native (the CPU), onnxruntime (the CPU), cuda, tensorrt, openvino, coreml, directml, webgpu, tensorrt-rtx, migraphx, uniform or random" [listed level network];
    backend_options: String = "", "BackendOptions", "backend-opts" 'o', Kind::Text,
        "How the backend uses its device, as key=value,... (gpu, devices, threads, batch, datatype and more: see docs/devices.md)" [listed level network];
    runtime: String = "", "OnnxRuntime", "onnxruntime", Kind::File,
        "The ONNX Runtime library to use; empty: the first one found (see zeitnot runtime status)" [network];
    algorithm: SearchAlgorithm = SearchAlgorithm::Classic, "SearchAlgorithm", "search-algorithm",
        Kind::of_words::<SearchAlgorithm>(),
        "classic: the tree search; policyhead: the move that the network likes best, or by Temperature; valuehead: the one it values most" [listed];
    strict: bool = false, "Strict", "strict", Kind::Check,
        "As a UCI engine, end with an error where the network or the backend that was named cannot be had, and play on with no other" [listed];
    threads: u64 = 0u64, "Threads", "threads" 't', Kind::Spin { min: 0, max: 128 },
        "Search threads, each with a batch of its own; 0: as many as suit the backend" [listed];
    minibatch_size: u64 = 0u64, "MinibatchSize", "minibatch-size", Kind::Spin { min: 0, max: 1024 },
        "Positions evaluated at once; 0: as many as suit the backend, on a CPU fewer while the tree is small" [listed];
    cache: u64 = BackendSettings::DEFAULT_CACHE_SIZE as u64, "NNCacheSize", "nncache", Kind::Spin { min: 0, max: 999_999_999 },
        "Evaluations kept in memory" [listed level];
    ram_limit: u64 = 0u64, "RamLimitMb", "ramlimit-mb", Kind::Spin { min: 0, max: 100_000_000 },
        "Megabytes that tree and cache may take together; at the limit the least visited nodes are forgotten. 0: in play half of the memory that is free at the start, else no limit. A sixteenth of all memory, 1 GB at most, stays free in any case" [listed level];
    hash: u64 = 0u64, "Hash", "hash", Kind::Spin { min: 0, max: 100_000_000 },
        "The same under the name that most engines have for it; the smaller of the two holds" [listed level];
    time_manager: String = DEFAULT_MANAGER, "TimeManager", "time-manager", Kind::Text,
        "How time is budgeted, as name(parameter=value,...)" [listed level];
    slowmover: f32 = 1.0, "Slowmover", "slowmover", Kind::Float { min: 0.0, max: 100.0 },
        "Other than 1: the time manager is legacy(slowmover=...), unless TimeManager names another one" [level];
    move_overhead: u64 = 200u64, MOVE_OVERHEAD, "move-overhead", Kind::Spin { min: 0, max: 100_000_000 },
        "Milliseconds lost between the engine and the clock, per move; a clock loses the measured lag on top, a movetime a tenth at most unless this is set" [level];
    time_manager_log: bool = false, "TimeManagerLog", "time-manager-log", Kind::Check,
        "Print every quantity behind a move's budget, not only what comes out, and after the move the time it took, the estimates, and the reason that it stopped" [listed];
    keep_time_stats: bool = false, "KeepTimeStats", "keep-time-stats", Kind::Check,
        "Keep the time manager's estimates when a position does not continue the game" [];
    ponder: bool = false, "Ponder", "ponder", Kind::Check,
        "Set by a GUI that lets the engine think on the opponent's time; go ponder is understood either way" [listed];
    syzygy_path: String = "", "SyzygyPath", "syzygy-paths" 's', Kind::Text,
        "Folders of Syzygy endgame tables, separated by ; (or : where paths have none)" [listed level];
    syzygy_fast_play: bool = false, "SyzygyFastPlay", "syzygy-fast-play", Kind::Check,
        "Win with tables the shortest way to the next capture or pawn move, not the network's" [level];
    own_book: bool = false, "OwnBook", "own-book", Kind::Check,
        "Play from the opening book that BookFile names" [listed];
    book_file: String = "", "BookFile", "book-file", Kind::File,
        "Opening book in Polyglot's format (.bin)" [listed];
    best_book_move: bool = false, "BestBookMove", "best-book-move", Kind::Check,
        "Play the book's best move; otherwise one drawn by the weights of all" [];
    book_depth: u64 = 100u64, "BookDepth", "book-depth", Kind::Spin { min: 1, max: 1000 },
        "Moves of a game for which the book is asked" [];
    multi_pv: u64 = 1u64, "MultiPV", "multipv", Kind::Spin { min: 1, max: 500 },
        "Lines of analysis" [listed level];
    score_type: ScoreType = ScoreType::WdlMu, "ScoreType", "score-type", Kind::of_words::<ScoreType>(),
        "Quantity from which the score in centipawns is computed" [listed];
    chess960: bool = false, "UCI_Chess960", "chess960", Kind::Check,
        "Write castling as king takes rook" [listed];
    show_wdl: bool = false, "UCI_ShowWDL", "show-wdl", Kind::Check,
        "Report win, draw and loss in permille" [listed];
    show_moves_left: bool = false, "UCI_ShowMovesLeft", "show-movesleft", Kind::Check,
        "Report the moves left by the network's moves-left head" [];
    show_eps: bool = false, "UCI_ShowEPS", "show-eps", Kind::Check,
        "Report evaluations a second, without answers of the cache and ends of the game" [];
    per_pv_counters: bool = false, "PerPVCounters", "per-pv-counters", Kind::Check,
        "Report the visits of each line of analysis instead of those of the whole tree" [];
    verbose_move_stats: bool = false, "VerboseMoveStats", "verbose-move-stats" 'v', Kind::Check,
        "Print statistics of every root move after a search" [listed level];
    log_live_stats: bool = false, "LogLiveStats", "log-live-stats", Kind::Check,
        "Print them with every report, too: with VerboseMoveStats to the GUI, else to the log file" [level];
    log_file: String = "", "LogFile", "logfile" 'l', Kind::File,
        "Append all input and output over UCI, and the statistics of the moves, to this file, or to `<stderr>`; empty: nowhere" [listed level];
    smart_pruning_factor: f32 = 1.33, "SmartPruningFactor", "smart-pruning-factor", Kind::Float { min: 0.0, max: 10.0 },
        "How readily moves that cannot become best any more are left alone; 0: never" [];
    smart_pruning_minimum_batches: u64 = 0u64, "SmartPruningMinimumBatches", "smart-pruning-minimum-batches",
        Kind::Spin { min: 0, max: 10_000 }, "Batches before smart pruning may stop a search" [];
    kld_gain_interval: u64 = 100u64, "KLDGainAverageInterval", "kldgain-average-interval",
        Kind::Spin { min: 1, max: 10_000_000 }, "Visits between two looks at how the distribution of visits changes" [];
    minimum_kld_gain: f32 = 0.0, "MinimumKLDGainPerNode", "minimum-kldgain-per-node", ONE,
        "Stop when a visit changes the distribution less than this; 0: never" [];
    nps_limit: f32 = LC0.nps_limit, "NodesPerSecondLimit", "nps-limit", Kind::Steps { min: 0.0, max: 1e6 },
        "Nodes a second not to be exceeded; 0: no limit" [];
    nodes_per_move: u64 = 0u64, "NodesPerMove", "nodes-per-move", Kind::Spin { min: 0, max: 1_000_000_000 },
        "Most nodes of a move that has a clock, as go nodes counts them; 0: no limit. 1 plays the network's own moves" [listed level];
    nodes_as_playouts: bool = false, "NodesAsPlayouts", "nodes-as-playouts", Kind::Check,
        "Let go nodes count the visits of this search alone" [level];
    cpuct: f32 = LC0.cpuct.init, "CPuct", "cpuct", CPUCT_RANGE, "Exploration" [listed];
    cpuct_base: f32 = LC0.cpuct.base, "CPuctBase", "cpuct-base", CPUCT_BASE_RANGE, "Visits over which exploration grows" [];
    cpuct_factor: f32 = LC0.cpuct.factor, "CPuctFactor", "cpuct-factor", CPUCT_FACTOR_RANGE, "How fast exploration grows" [];
    root_has_own_cpuct: bool = false, "RootHasOwnCpuctParams", "root-has-own-cpuct-params", Kind::Check,
        "Use the AtRoot values of exploration at the root" [];
    cpuct_at_root: f32 = LC0.cpuct.init, "CPuctAtRoot", "cpuct-at-root", CPUCT_RANGE, "Exploration at the root" [];
    cpuct_base_at_root: f32 = LC0.cpuct.base, "CPuctBaseAtRoot", "cpuct-base-at-root", CPUCT_BASE_RANGE,
        "Visits over which exploration at the root grows" [];
    cpuct_factor_at_root: f32 = LC0.cpuct.factor, "CPuctFactorAtRoot", "cpuct-factor-at-root", CPUCT_FACTOR_RANGE,
        "How fast exploration at the root grows" [];
    fpu_strategy: FpuStrategy = FpuStrategy::Reduction, "FpuStrategy", "fpu-strategy", Kind::of_words::<FpuStrategy>(),
        "How unvisited moves are valued: less than their parent, or absolutely" [];
    fpu_value: f32 = FPU_VALUE, "FpuValue", "fpu-value", Kind::Float { min: -100.0, max: 100.0 },
        "Reduction or value of unvisited moves" [listed];
    fpu_strategy_at_root: FpuStrategyAtRoot = FpuStrategyAtRoot::Same, "FpuStrategyAtRoot", "fpu-strategy-at-root",
        Kind::of_words::<FpuStrategyAtRoot>(), "FpuStrategy at the root" [];
    fpu_value_at_root: f32 = 1.0, "FpuValueAtRoot", "fpu-value-at-root", Kind::Float { min: -100.0, max: 100.0 },
        "FpuValue at the root" [];
    policy_temperature: f32 = LC0.policy_temperature, "PolicyTemperature", "policy-softmax-temp",
        Kind::Float { min: 0.1, max: 10.0 }, "Divides the policy's logits: more is flatter" [listed tree];
    draw_score: f32 = LC0.draw_score, "DrawScore", "draw-score", Kind::Float { min: -1.0, max: 1.0 },
        "Value of a draw for White" [];
    contempt_mode: ContemptMode = ContemptMode::Play, "ContemptMode", "contempt-mode", Kind::of_words::<ContemptMode>(),
        "Who is favoured: the side that plays, always White or Black (for analysis), or nobody" [listed tree];
    contempt: String = "", "Contempt", "contempt", Kind::Text,
        "Elo that the favoured side is better by, as [name=]value,...; a name is part of UCI_Opponent; empty: UCI_RatingAdv" [listed tree];
    contempt_max: f32 = 420.0, "ContemptMaxValue", "contempt-max-value", Kind::Steps { min: 0.0, max: 10_000.0 },
        "Largest contempt that is used, in Elo" [tree];
    wdl_calibration_elo: f32 = 0.0, "WDLCalibrationElo", "wdl-calibration-elo", Kind::Steps { min: 0.0, max: 10_000.0 },
        "Elo of the favoured side, from which sharpness and contempt are computed; 0: from the draw rates" [tree];
    wdl_contempt_attenuation: f32 = 1.0, "WDLContemptAttenuation", "wdl-contempt-attenuation",
        Kind::Float { min: -10.0, max: 10.0 }, "Factor of contempt: 1 for analysis, about half for matches" [tree];
    wdl_max_s: f32 = LC0.wdl_rescale.max_spread, "WDLMaxS", "wdl-max-s", Kind::Float { min: 0.0, max: 10.0 },
        "Largest spread of a network's win, draw and loss that contempt believes" [tree];
    wdl_eval_objectivity: f32 = LC0.wdl_rescale.objectivity, "WDLEvalObjectivity", "wdl-eval-objectivity", ONE,
        "Share of contempt that is taken back in the score shown" [];
    wdl_draw_rate_target: f32 = 0.0, "WDLDrawRateTarget", "wdl-draw-rate-target", ONE_EXCLUSIVE,
        "Draw rate of equal positions that win, draw and loss are sharpened to; 0: as the network says" [tree];
    wdl_draw_rate_reference: f32 = 0.5, "WDLDrawRateReference", "wdl-draw-rate-reference", DRAW_RATE,
        "Draw rate that the network gives to equal positions" [tree];
    wdl_book_exit_bias: f32 = 0.65, "WDLBookExitBias", "wdl-book-exit-bias", Kind::Float { min: -2.0, max: 2.0 },
        "Advantage of the first side after the opening, where 1 is an even chance to win" [tree];
    limit_strength: bool = false, "UCI_LimitStrength", "limit-strength", Kind::Check,
        "Play at the strength of UCI_Elo, by a number of nodes and a temperature, with the network built in or the nearest Maia" [listed];
    elo: u64 = 1500u64, "UCI_Elo", "uci-elo", Kind::Spin { min: LOWEST_ELO, max: HIGHEST_ELO },
        "Elo of a game under UCI_LimitStrength, as measured against other engines (docs/levels.md)" [listed];
    skill_level: u64 = FULL_SKILL, "Skill Level", "skill-level", Kind::Spin { min: 0, max: FULL_SKILL },
        "Strength in steps, from the lowest UCI_Elo to full strength (20); UCI_LimitStrength goes before it" [listed];
    opponent: String = "", "UCI_Opponent", "opponent", Kind::Text,
        "The opponent, as the GUI reports: title, rating, computer or human, name" [listed];
    rating_advantage: f32 = 0.0, "UCI_RatingAdv", "rating-advantage", Kind::Steps { min: -10_000.0, max: 10_000.0 },
        "Our rating advantage in Elo; used as contempt where Contempt is empty" [];
    temperature: f32 = LC0.temperature.initial, "Temperature", "temperature", TEMPERATURE,
        "How random the move is: 0 plays the best, 1 as often as it was visited" [listed];
    temp_decay_moves: u64 = u64::from(LC0.temperature.decay_moves), "TempDecayMoves", "tempdecay-moves",
        Kind::Spin { min: 0, max: 640 }, "Moves over which the temperature falls to 0; 0: it does not" [listed];
    temp_decay_delay: u64 = u64::from(LC0.temperature.decay_delay_moves), "TempDecayDelayMoves", "tempdecay-delay-moves",
        Kind::Spin { min: 0, max: 100 }, "Moves before it begins to fall" [];
    temp_cutoff_move: u64 = u64::from(LC0.temperature.cutoff_move), "TempCutoffMove", "temp-cutoff-move",
        Kind::Spin { min: 0, max: 1000 }, "Move from which TempEndgame holds; 0: never" [];
    temp_endgame: f32 = LC0.temperature.endgame, "TempEndgame", "temp-endgame", TEMPERATURE,
        "Temperature from TempCutoffMove on, and the least that it falls to" [];
    temp_value_cutoff: f32 = LC0.temperature.value_cutoff, "TempValueCutoff", "temp-value-cutoff",
        Kind::Steps { min: 0.0, max: 100.0 }, "Chance to win, in percent below that of the best move, from which a move is not played at random" [];
    temp_visit_offset: f32 = LC0.temperature.visit_offset, "TempVisitOffset", "temp-visit-offset",
        Kind::Float { min: -1000.0, max: 1000.0 }, "Added to the visits of every move when one is played at random" [];
    top_p: f32 = LC0.temperature.top_p, "TopP", "top-p", ONE,
        "Share of the chances, the likeliest moves first, within which a move is played at random; 1: all moves" [];
    self_elo: u64 = u64::from(Ratings::USUAL), "SelfElo", "self-elo", RATING,
        "Rating that a Maia-3 plays like" [tree];
    oppo_elo: u64 = u64::from(Ratings::USUAL), "OppoElo", "oppo-elo", RATING,
        "Rating of the opponent that a Maia-3 expects" [tree];
    noise_epsilon: f32 = LC0.noise.epsilon, "DirichletNoiseEpsilon", "noise-epsilon", ONE,
        "Share of noise in the priors of the root, drawn for every search" [];
    noise_alpha: f32 = LC0.noise.alpha, "DirichletNoiseAlpha", "noise-alpha", Kind::Float { min: 0.0, max: 1e7 },
        "How even the noise is: the less, the fewer moves get nearly all of it" [];
    random_seed: u64 = 0u64, "RandomSeed", "random-seed", Kind::Spin { min: 0, max: LARGEST_SEED },
        "Makes temperature and noise repeat from game to game; 0: another one each time" [level];
    history_fill: HistoryFill = HistoryFill::FenOnly, "HistoryFill", "history-fill", Kind::of_words::<HistoryFill>(),
        "Whether missing history is filled with the earliest position" [tree network];
    two_fold_draws: bool = LC0.two_fold_draws, "TwoFoldDraws", "two-fold-draws", Kind::Check,
        "Count a first repetition inside the search as a draw" [tree];
    sticky_endgames: bool = LC0.sticky_endgames, "StickyEndgames", "sticky-endgames", Kind::Check,
        "Let proven results travel up the tree" [tree];
    tree_memory: TreeMemory = TreeMemory::Forest, "TreeMemory", "tree-memory", Kind::of_words::<TreeMemory>(),
        "Trees to keep: those of all positions analysed without a clock, that below the game's moves, or none" [];
    tree_file: String = "", "TreeFile", "tree-file", Kind::File,
        "File that keeps the tree of an analysis: taken up when one begins, saved every few minutes and at the end" [];
    out_of_order_eval: bool = LC0.out_of_order_eval, "OutOfOrderEval", "out-of-order-eval", Kind::Check,
        "Count cache hits and ends of the game while a batch is still gathered" [];
    max_out_of_order: f32 = LC0.max_out_of_order_evals_factor, "MaxOutOfOrderEvalsFactor", "max-out-of-order-evals-factor",
        Kind::Float { min: 0.0, max: 100.0 }, "How many of those a batch may bring, in batch sizes" [];
    max_collision_events: u64 = LC0.max_collision_events, "MaxCollisionEvents", "max-collision-events",
        Kind::Spin { min: 1, max: 65_536 }, "Collisions a batch may suffer in a tree of any size (Lc0 reads it and does nothing with it)" [];
    max_collision_visits: u64 = LC0.max_collision_visits, "MaxCollisionVisits", "max-collision-visits",
        Kind::Spin { min: 1, max: 100_000_000 }, "Collisions a batch may suffer in a large tree" [];
    collision_scaling_start: u64 = LC0.max_collision_visits_scaling_start, "MaxCollisionVisitsScalingStart",
        "max-collision-visits-scaling-start", Kind::Spin { min: 1, max: 100_000 }, "Tree size up to which one is allowed" [];
    collision_scaling_end: u64 = LC0.max_collision_visits_scaling_end, "MaxCollisionVisitsScalingEnd",
        "max-collision-visits-scaling-end", Kind::Spin { min: 0, max: 100_000_000 }, "Tree size from which all are allowed" [];
    collision_scaling_power: f32 = LC0.max_collision_visits_scaling_power, "MaxCollisionVisitsScalingPower",
        "max-collision-visits-scaling-power", Kind::Float { min: 0.01, max: 100.0 }, "Power of the growth between them" [];
    moves_left_max_effect: f32 = LC0.moves_left.max_effect, "MovesLeftMaxEffect", "moves-left-max-effect", ONE,
        "Largest effect of moves left on the choice" [];
    moves_left_threshold: f32 = LC0.moves_left.threshold, "MovesLeftThreshold", "moves-left-threshold", ONE,
        "|Q| above which moves left count" [];
    moves_left_slope: f32 = LC0.moves_left.slope, "MovesLeftSlope", "moves-left-slope", ONE, "Effect a ply" [];
    moves_left_constant: f32 = LC0.moves_left.constant_factor, "MovesLeftConstantFactor", "moves-left-constant-factor",
        Kind::Float { min: -1.0, max: 1.0 }, "Constant factor of the effect" [];
    moves_left_scaled: f32 = LC0.moves_left.scaled_factor, "MovesLeftScaledFactor", "moves-left-scaled-factor",
        Kind::Float { min: -2.0, max: 2.0 }, "Factor of |Q|" [];
    moves_left_quadratic: f32 = LC0.moves_left.quadratic_factor, "MovesLeftQuadraticFactor", "moves-left-quadratic-factor",
        Kind::Float { min: -1.0, max: 1.0 }, "Factor of Q squared" [];
}

/// The name of `MoveOverheadMs` that bots and match runners look for.
const MOVE_OVERHEAD_OF_RUNNERS: &str = "Move Overhead";

impl OptionSpec {
    /// The names under which `uci` lists the option: none for one that few people set, unless `hidden` asks for all.
    pub fn listed_names(&self, hidden: bool) -> impl Iterator<Item = &'static str> {
        let runners = (self.name == MOVE_OVERHEAD).then_some(MOVE_OVERHEAD_OF_RUNNERS);
        let own = Some(self.name).filter(|_| hidden || self.facts.listed);
        runners.into_iter().chain(own)
    }
}

/// The end of the range that replaces an out-of-range `value` of `UCI_Elo` or `Skill Level`. `None` for other options,
/// for values in range, and for texts that are no number.
pub(super) fn nearest_level(name: &str, value: &str) -> Option<u64> {
    let spec = find(name).filter(|spec| ["UCI_Elo", "Skill Level"].contains(&spec.name))?;
    let Kind::Spin { min, max } = spec.kind else { return None };
    let value: i128 = value.parse().ok()?;
    let nearest = value.clamp(min.into(), max.into());
    (nearest != value).then_some(nearest as u64)
}

/// The declaration of the option with this UCI name, in upper or lower case.
pub fn find(name: &str) -> Option<&'static OptionSpec> {
    let name = if name.eq_ignore_ascii_case(MOVE_OVERHEAD_OF_RUNNERS) { MOVE_OVERHEAD } else { name };
    SPECS.iter().find(|spec| spec.name.eq_ignore_ascii_case(name))
}

impl Options {
    /// Sets an option by its UCI name.
    ///
    /// # Errors
    /// [`OptionError`], and nothing is changed.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), OptionError> {
        let spec = find(name).ok_or_else(|| OptionError::Unknown(name.to_owned()))?;
        if (spec.set)(self, value) {
            self.was_set.insert(spec.name);
            return Ok(());
        }
        let (name, value, expected) = (spec.name.to_owned(), value.to_owned(), spec.kind.to_string());
        Err(OptionError::Value { name, value, expected })
    }

    /// A copy with the options whose declared facts satisfy `has`, and all others at their defaults.
    pub(super) fn only(&self, has: impl Fn(&Facts) -> bool) -> Options {
        let mut kept = Options::default();
        SPECS.iter().filter(|spec| has(&spec.facts)).for_each(|spec| (spec.copy)(&mut kept, self));
        kept
    }

    /// Checks that every option has a valid value: fields can be set without [`Options::set`].
    ///
    /// # Errors
    /// [`OptionError::Value`] for the first option without one.
    pub(crate) fn check(&self) -> Result<(), OptionError> {
        let mut scratch = Options::default();
        SPECS.iter().try_for_each(|spec| scratch.set(spec.name, &spec.value(self)))
    }

    /// Bytes that tree and cache may take together; `None`: no limit.
    pub(crate) fn memory_limit(&self) -> Option<usize> {
        self.memory_asked_for().or(self.automatic_memory)
    }

    /// The smaller of the limits that options set, in bytes; `None` where none is set.
    fn memory_asked_for(&self) -> Option<usize> {
        let megabytes = [self.ram_limit, self.hash].into_iter().filter(|megabytes| *megabytes > 0).min()?;
        Some(megabytes as usize * MEGABYTE)
    }

    /// A line for the user on the memory limit where it is automatic, not set by an option.
    pub(crate) fn memory_note(&self) -> Option<String> {
        let limit = self.automatic_memory.filter(|_| self.memory_asked_for().is_none())?;
        let megabytes = limit / MEGABYTE;
        let cache = match self.cache_positions() {
            positions if positions < self.cache => format!(", the cache {positions} positions"),
            _ => String::new(),
        };
        Some(format!("tree and cache may take {megabytes} MB, a share of the free memory{cache} (option RamLimitMb)"))
    }

    /// A line for the user where `Threads` is too few for the devices that `BackendOptions` names: each device is
    /// served by threads of its own.
    pub(crate) fn devices_note(&self) -> Option<String> {
        let device_options: DeviceOptions = self.backend_options.parse().ok()?;
        let (threads, devices) = (self.threads, device_options.devices.len() as u64);
        (threads > 0 && threads < devices).then(|| {
            let idle = devices - threads;
            format!(
                "Threads {threads} leaves {idle} of the {devices} devices idle: each needs a thread of its own, and Threads 0 \
                 takes as many as suit them"
            )
        })
    }

    /// Evaluations that the cache may hold: with a limit on the memory, no more than fill half of it.
    pub(crate) fn cache_positions(&self) -> u64 {
        let half = self.memory_limit().map(|bytes| (bytes / 2 / CACHED_POSITION) as u64);
        half.map_or(self.cache, |half| self.cache.min(half))
    }

    /// The specification of the time manager that plays: `TimeManager`, or `legacy` with `Slowmover` where that is set
    /// and `TimeManager` has its default.
    pub fn time_manager_spec(&self) -> Cow<'_, str> {
        match self.slowmover {
            slowmover if slowmover != 1.0 && self.time_manager == Options::default().time_manager => {
                Cow::Owned(format!("legacy(slowmover={slowmover:?})"))
            }
            _ => Cow::Borrowed(&self.time_manager),
        }
    }

    /// The effect of a `Slowmover` other than 1, in a line for the user.
    pub(crate) fn slowmover_note(&self) -> Option<String> {
        let spec = self.time_manager_spec();
        let why = match spec {
            Cow::Owned(_) => "as option Slowmover asks",
            Cow::Borrowed(_) => "option Slowmover has no effect beside this TimeManager",
        };
        (self.slowmover != 1.0).then(|| format!("playing with {spec}: {why}"))
    }

    /// The options that contempt and the rescaling of values are computed from.
    pub(super) fn rescale_options(&self) -> RescaleOptions<'_> {
        RescaleOptions {
            contempt: &self.contempt,
            opponent: &self.opponent,
            rating_advantage: self.rating_advantage,
            contempt_max: self.contempt_max,
            wdl_draw_rate_reference: self.wdl_draw_rate_reference,
            wdl_draw_rate_target: self.wdl_draw_rate_target,
            wdl_book_exit_bias: self.wdl_book_exit_bias,
            wdl_calibration_elo: self.wdl_calibration_elo,
            wdl_contempt_attenuation: self.wdl_contempt_attenuation,
            wdl_max_s: self.wdl_max_s,
            wdl_eval_objectivity: self.wdl_eval_objectivity,
        }
    }

    /// The parameters of the search, except for the side that contempt favours, which depends on the move.
    pub(crate) fn search_params(&self) -> SearchParams {
        let cpuct = Cpuct { init: self.cpuct, base: self.cpuct_base, factor: self.cpuct_factor };
        let cpuct_at_root =
            Cpuct { init: self.cpuct_at_root, base: self.cpuct_base_at_root, factor: self.cpuct_factor_at_root };
        SearchParams {
            memory_limit: self.memory_limit(),
            minibatch_size: self.minibatch_size as usize,
            nps_limit: self.nps_limit,
            cpuct,
            cpuct_at_root: if self.root_has_own_cpuct { cpuct_at_root } else { cpuct },
            fpu: match self.fpu_strategy {
                FpuStrategy::Reduction => Fpu::Reduction(self.fpu_value),
                FpuStrategy::Absolute => Fpu::Absolute(self.fpu_value),
            },
            fpu_at_root: match self.fpu_strategy_at_root {
                FpuStrategyAtRoot::Same => None,
                FpuStrategyAtRoot::Reduction => Some(Fpu::Reduction(self.fpu_value_at_root)),
                FpuStrategyAtRoot::Absolute => Some(Fpu::Absolute(self.fpu_value_at_root)),
            },
            policy_temperature: self.policy_temperature,
            draw_score: self.draw_score,
            wdl_rescale: contempt::rescale(&self.rescale_options()),
            noise: Noise { epsilon: self.noise_epsilon, alpha: self.noise_alpha },
            temperature: Temperature {
                initial: self.temperature,
                decay_moves: self.temp_decay_moves as u32,
                decay_delay_moves: self.temp_decay_delay as u32,
                cutoff_move: self.temp_cutoff_move as u32,
                endgame: self.temp_endgame,
                value_cutoff: self.temp_value_cutoff,
                visit_offset: self.temp_visit_offset,
                top_p: self.top_p,
            },
            overlooks: None,
            ratings: None,
            moves_left: MovesLeftParams {
                max_effect: self.moves_left_max_effect,
                slope: self.moves_left_slope,
                threshold: self.moves_left_threshold,
                constant_factor: self.moves_left_constant,
                scaled_factor: self.moves_left_scaled,
                quadratic_factor: self.moves_left_quadratic,
            },
            sticky_endgames: self.sticky_endgames,
            two_fold_draws: self.two_fold_draws,
            out_of_order_eval: self.out_of_order_eval,
            max_out_of_order_evals_factor: self.max_out_of_order,
            max_collision_events: self.max_collision_events as u32,
            max_collision_visits: self.max_collision_visits as u32,
            max_collision_visits_scaling_start: self.collision_scaling_start as u32,
            max_collision_visits_scaling_end: self.collision_scaling_end as u32,
            max_collision_visits_scaling_power: self.collision_scaling_power,
        }
    }

    /// The options that differ from their defaults, and their values.
    pub fn changed(&self) -> impl Iterator<Item = (&'static str, String)> + '_ {
        let usual = Options::default();
        let changed = SPECS.iter().filter(move |spec| spec.value(self) != spec.value(&usual));
        changed.map(|spec| (spec.name, spec.value(self)))
    }

    /// The parameters of the stoppers.
    pub fn stopper_params(&self) -> StopperParams {
        StopperParams {
            smart_pruning_factor: f64::from(self.smart_pruning_factor),
            smart_pruning_minimum_batches: self.smart_pruning_minimum_batches,
            kld_gain_interval: self.kld_gain_interval,
            minimum_kld_gain: f64::from(self.minimum_kld_gain),
            overhead_ms: self.move_overhead as f64,
            overhead_is_set: self.was_set.contains(MOVE_OVERHEAD),
            nodes_per_second_limit: f64::from(self.nps_limit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ignored_options;
    use super::*;

    #[test]
    fn defaults_are_lc0s() {
        assert_eq!(Options::default().search_params(), SearchParams::LC0);
    }

    #[test]
    fn every_default_is_a_value_of_its_own_kind() {
        let defaults = Options::default();
        for spec in SPECS {
            let mut options = Options::default();
            options.set(spec.name, &spec.value(&defaults)).unwrap();
            assert_eq!(Options { was_set: BTreeSet::new(), ..options }, defaults, "{}", spec.name);
        }
    }

    #[test]
    fn names_and_flags_are_unique() {
        for (index, spec) in SPECS.iter().enumerate() {
            for other in &SPECS[..index] {
                assert!(!spec.name.eq_ignore_ascii_case(other.name) && spec.flag != other.flag, "{}", spec.name);
                assert!(spec.short.is_none() || spec.short != other.short, "{}", spec.name);
            }
            assert!(
                ignored_options::find(spec.name).is_none() && ignored_options::find_flag(spec.flag).is_none(),
                "{}",
                spec.name
            );
        }
    }

    #[test]
    fn the_smaller_of_the_memory_limits_holds() {
        let mut options = Options::default();
        assert_eq!((options.memory_limit(), options.cache_positions()), (None, options.cache));
        options.set("Hash", "512").unwrap();
        assert_eq!(options.memory_limit(), Some(512_000_000));
        options.set("RamLimitMb", "100").unwrap();
        assert_eq!((options.search_params().memory_limit, options.cache_positions()), (Some(100_000_000), 227_272));
    }

    #[test]
    fn the_automatic_limit_holds_where_no_option_says_another() {
        let mut options = Options { automatic_memory: Some(8_000_000_000), ..Options::default() };
        let default = Options::default().cache;
        assert_eq!((options.memory_limit(), options.cache_positions()), (Some(8_000_000_000), default));
        assert_eq!(
            options.memory_note().unwrap(),
            "tree and cache may take 8000 MB, a share of the free memory (option RamLimitMb)"
        );
        options.set("RamLimitMb", "16000").unwrap();
        assert_eq!((options.memory_limit(), options.memory_note()), (Some(16_000_000_000), None));
        options.set("RamLimitMb", "0").unwrap();
        assert_eq!(options.memory_limit(), Some(8_000_000_000));
        // A small machine has a smaller cache.
        options.automatic_memory = Some(100_000_000);
        assert_eq!(options.cache_positions(), 227_272);
        assert!(
            options.memory_note().unwrap().contains("100 MB, a share of the free memory, the cache 227272 positions")
        );
        assert_eq!(Options::default().memory_note(), None);
    }

    #[test]
    fn slowmover_and_time_manager_may_come_in_any_order() {
        let mut options = Options::default();
        for (name, value, plays, note) in [
            ("Slowmover", "2", "legacy(slowmover=2.0)", "playing with legacy(slowmover=2.0): as option Slowmover asks"),
            (
                "TimeManager",
                "simple",
                "simple",
                "playing with simple: option Slowmover has no effect beside this TimeManager",
            ),
            ("Slowmover", "1", "simple", ""),
            (
                "Slowmover",
                "0.5",
                "simple",
                "playing with simple: option Slowmover has no effect beside this TimeManager",
            ),
            (
                "TimeManager",
                DEFAULT_MANAGER,
                "legacy(slowmover=0.5)",
                "playing with legacy(slowmover=0.5): as option Slowmover asks",
            ),
        ] {
            options.set(name, value).unwrap();
            let said = options.slowmover_note().unwrap_or_default();
            assert_eq!((options.time_manager_spec().as_ref(), said.as_str()), (plays, note), "{name} {value}");
        }
    }

    #[test]
    fn fewer_threads_than_devices_are_told() {
        let note = |devices: &str, threads: u64| {
            let options = Options { backend_options: devices.to_owned(), threads, ..Options::default() };
            options.devices_note().unwrap_or_default()
        };
        assert!(note("devices=0,1,2", 2).starts_with("Threads 2 leaves 1 of the 3 devices idle"));
        assert!(note("devices=0,1", 1).starts_with("Threads 1 leaves 1 of the 2 devices idle"));
        for (devices, threads) in [("devices=0,1", 2), ("devices=0,1", 0), ("gpu=1", 1), ("", 1), ("devices=x", 1)] {
            assert_eq!(note(devices, threads), "", "{devices} {threads}");
        }
    }

    #[test]
    fn an_overhead_that_was_set_is_told_from_the_default() {
        let mut options = Options::default();
        for name in ["MultiPV", "Slowmover"] {
            options.set(name, "1").unwrap();
        }
        assert!(options.set("MoveOverheadMs", "x").is_err());
        assert!(!options.stopper_params().overhead_is_set, "nobody has set it");
        for (name, value) in [("MoveOverheadMs", "200"), ("Move Overhead", "200"), ("moveoverheadms", "0")] {
            let mut options = options.clone();
            options.set(name, value).unwrap();
            options.set("MultiPV", "2").unwrap();
            assert!(options.stopper_params().overhead_is_set, "{name} {value}");
        }
    }

    #[test]
    fn values_outside_their_range_are_found() {
        assert_eq!(Options::default().check(), Ok(()));
        let error = Options { threads: 129, ..Options::default() }.check().unwrap_err();
        assert_eq!(error.to_string(), "option Threads: \"129\" is not a whole number from 0 to 128");
        let error = Options { smart_pruning_factor: f32::NAN, ..Options::default() }.check().unwrap_err();
        assert_eq!(error.to_string(), "option SmartPruningFactor: \"NaN\" is not a number from 0 to 10");
    }

    #[test]
    fn setting_by_name() {
        let mut options = Options::default();
        options.set("smartpruningfactor", "0").unwrap();
        options.set("Move Overhead", "30").unwrap();
        options.set("FpuStrategyAtRoot", "absolute").unwrap();
        assert_eq!((options.smart_pruning_factor, options.move_overhead), (0.0, 30));
        assert_eq!(options.search_params().fpu_at_root, Some(Fpu::Absolute(1.0)));
        assert_eq!(options.set("Nonsense", "1"), Err(OptionError::Unknown("Nonsense".into())));
        let error = options.set("Threads", "129").unwrap_err().to_string();
        assert_eq!(error, "option Threads: \"129\" is not a whole number from 0 to 128");
        assert_eq!(options.threads, 0);
    }
}
