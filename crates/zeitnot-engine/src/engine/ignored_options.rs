//! Lists the options of Lc0 that are accepted and ignored, each with the reason: the settings of a GUI or a match
//! runner work, and a line to their user names what has no effect.

/// An option of Lc0 that has no effect here.
#[derive(Clone, Copy, Debug)]
pub struct IgnoredOption {
    /// UCI name.
    pub name: &'static str,
    /// Long flag on the command line, without dashes; `None` where the flag does something here.
    pub flag: Option<&'static str>,
    /// Whether the flag is a switch and needs no value.
    pub is_switch: bool,
    /// Why the option has no effect.
    pub why: &'static str,
}

const fn number(name: &'static str, flag: &'static str, why: &'static str) -> IgnoredOption {
    IgnoredOption { name, flag: Some(flag), is_switch: false, why }
}

const fn switch(name: &'static str, flag: &'static str, why: &'static str) -> IgnoredOption {
    IgnoredOption { is_switch: true, ..number(name, flag, why) }
}

const TASKS: &str = "gathering is not split up further: Threads says how many gather";
const SPINNING: &str = "a thread without work looks out for it for a third of a millisecond and then sleeps";
const ONE_OWNER: &str = "one thread at a time has the tree and gathers for all";
const IDLING: &str = "a batch goes out when it is full or nothing more is to be gathered";

/// All ignored options, in the order of their names.
pub static IGNORED: &[IgnoredOption] = &[
    number(
        "CacheHistoryLength",
        "cache-history-length",
        "the cache goes by the position, its repetitions and the fifty-move counter; Lc0's classic search ignores it, too",
    ),
    IgnoredOption {
        name: "ConfigFile",
        flag: None,
        is_switch: false,
        why: "a file of options is read at the start only: zeitnot --config FILE",
    },
    number(
        "GarbageCollectionDelay",
        "garbage-collection-delay",
        "what a move leaves of the tree is taken apart when its memory is needed",
    ),
    number("IdlingMinimumWork", "idling-minimum-work", IDLING),
    number("MaxConcurrentSearchers", "max-concurrent-searchers", ONE_OWNER),
    number(
        "MaxPrefetch",
        "max-prefetch",
        "the network is asked for nothing but visits: small batches are sent as they are",
    ),
    number("MinimumPerTaskProcessing", "minimum-per-task-processing", TASKS),
    number("MinimumPickingWork", "minimum-picking-work", TASKS),
    number("MinimumProcessingWork", "minimum-processing-work", TASKS),
    number("MinimumRemainingPickingWork", "minimum-remaining-picking-work", TASKS),
    switch("SearchSpinBackoff", "search-spin-backoff", SPINNING),
    number("SolidTreeThreshold", "solid-tree-threshold", "the children of a node lie together from the beginning"),
    switch("StrictTiming", "strict-uci-timing", "the clock of a move always starts with go"),
    number("TaskWorkers", "task-workers", TASKS),
    number("ThreadIdlingThreshold", "thread-idling-threshold", IDLING),
];

/// The ignored option with this UCI name, in upper or lower case.
pub fn find(name: &str) -> Option<&'static IgnoredOption> {
    IGNORED.iter().find(|option| option.name.eq_ignore_ascii_case(name))
}

/// The ignored option with this flag.
pub fn find_flag(flag: &str) -> Option<&'static IgnoredOption> {
    IGNORED.iter().find(|option| option.flag == Some(flag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_found_whatever_their_case() {
        assert_eq!(find("maxprefetch").map(|option| option.flag), Some(Some("max-prefetch")));
        assert!(find("MaxPrefetc").is_none() && find_flag("MaxPrefetch").is_none());
        assert_eq!(find_flag("task-workers").map(|option| option.name), Some("TaskWorkers"));
    }
}
