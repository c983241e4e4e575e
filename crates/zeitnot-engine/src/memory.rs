//! Asks for the machine's memory: the share that tree and cache may take by default, and whether there is more. Has
//! threads share the allocator's arenas.
//!
//! The share is taken once, at the start, and engines that run at once each take half of what is free then: two in a
//! container of 300 MB would take 300 MB together. So the account of what is free is asked for again each time that a
//! tree or a cache has grown by 2 MiB, and a part of the memory is left to everything else.

use memmap2::MmapMut;
use std::sync::OnceLock;
use sysinfo::{MemoryRefreshKind, RefreshKind, System};

/// Memory that is left to everything else when tree and cache stop growing, in bytes: batches and reports take some
/// megabytes, and so does what the allocator keeps for each thread.
const HEADROOM: u64 = 64 << 20;

/// The divisor of all the memory of a machine or a container: the quotient is left, where it is more than the headroom.
const LEFT_OF_ALL: u64 = 16;

/// No more than this is left of a large memory.
const MOST_LEFT: u64 = 1 << 30;

/// Bytes by which a pool of a tree or a cache may grow between two looks at the account: ten engines do not take the
/// headroom between their looks.
pub(crate) const GROWTH: usize = 2 << 20;

/// The divisor of the free memory: the quotient is for tree and cache. Networks, their runtimes and other programs need
/// some, too.
const SHARE: u64 = 2;

/// Lets all threads share one of glibc's arenas, two where there are more than eight cores, and so on;
/// `MALLOC_ARENA_MAX` is a user's own number. By default threads get arenas of their own, each of which keeps what was
/// freed in it. When every search had new threads, an analysis of 157 positions came to 213 MB where tree and cache
/// were allowed 100, and to 132 with shared arenas (`tests/games/analysis.py`).
pub fn share_arenas() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if std::env::var_os("MALLOC_ARENA_MAX").is_none() {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let arenas = i32::try_from(cores.div_ceil(8)).unwrap_or(1);
        // SAFETY: it sets a number of the allocator, under the allocator's own lock.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, arenas) };
    }
}

/// Whether the system has memory for more of the tree or the cache: the headroom is asked for and given back at once,
/// which takes some microseconds. Most systems promise memory that they do not have, so that `with_account` asks for
/// their account of what is free, too. That takes 0.3 ms on Linux.
pub(crate) fn has_headroom(with_account: bool) -> bool {
    MmapMut::map_anon(HEADROOM as usize).is_ok() && (!with_account || Free::now().is_enough())
}

/// Bytes that the trees and caches of this process may take by default: half of what is free when this is first asked
/// for, and the same ever after. `None` where the system does not say.
pub fn automatic_limit() -> Option<usize> {
    static LIMIT: OnceLock<Option<usize>> = OnceLock::new();
    *LIMIT.get_or_init(|| Free::now().share())
}

/// The memory of a machine or a container, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Account {
    all: u64,
    free: u64,
}

/// Memory that is free by each of the accounts that the system keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Free {
    /// Account of the machine, without swapping.
    machine: Option<Account>,
    /// Account of the process's control group (Linux): a container's, say. Cached files do not count as used.
    group: Option<Account>,
    /// Addresses that the process may still use (`ulimit -v`), in bytes.
    addresses: Option<u64>,
}

impl Free {
    fn now() -> Free {
        let memory = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
        let Ok(system) = System::new_with_specifics(memory) else { return Free::default() };
        let machine = Account { all: system.total_memory(), free: system.available_memory() };
        // 0 is the answer of a system that is not known.
        Free { machine: Some(machine).filter(|account| account.free > 0), ..limits(system) }
    }

    /// The bytes for tree and cache, by the strictest account.
    fn share(&self) -> Option<usize> {
        let free = [self.machine, self.group].map(|account| Some(account?.free));
        let least = free.into_iter().chain([self.addresses]).flatten().min()?;
        Some(usize::try_from(least / SHARE).unwrap_or(usize::MAX))
    }

    /// Whether every account has more than is to be left of it.
    fn is_enough(&self) -> bool {
        let leaves = |account: Account| account.free > HEADROOM.max((account.all / LEFT_OF_ALL).min(MOST_LEFT));
        let memory = [self.machine, self.group].into_iter().flatten().all(leaves);
        memory && self.addresses.is_none_or(|free| free > HEADROOM)
    }
}

/// The free memory within the limits of this process.
#[cfg(target_os = "linux")]
fn limits(mut system: System) -> Free {
    use rustix::process::{Resource, getrlimit};
    use sysinfo::{CGroupLimits, ProcessRefreshKind, ProcessesToUpdate};
    let Ok(pid) = sysinfo::get_current_pid() else { return Free::default() };
    let memory = ProcessRefreshKind::nothing().with_memory().without_tasks();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), false, memory);
    let process = system.process(pid);
    let group = process.and_then(|process| process.cgroup_limits()).or_else(|| system.cgroup_limits());
    let used = process.map_or(0, |process| process.virtual_memory());
    let account =
        |group: CGroupLimits| Account { all: group.total_memory, free: group.total_memory.saturating_sub(group.rss) };
    Free {
        machine: None,
        group: group.map(account),
        addresses: getrlimit(Resource::As).current.map(|limit| limit.saturating_sub(used)),
    }
}

/// No system but Linux has such limits that it keeps to.
#[cfg(not(target_os = "linux"))]
fn limits(_: System) -> Free {
    Free::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_least_is_taken() {
        let account = |free| Some(Account { all: 10_000, free });
        let free = Free { machine: account(8_000), group: None, addresses: None };
        assert_eq!(free.share(), Some(4_000));
        assert_eq!(Free { group: account(3_000), ..free }.share(), Some(1_500));
        assert_eq!(Free { group: account(9_000), addresses: Some(1_000), ..free }.share(), Some(500));
        assert_eq!(Free::default().share(), None);
    }

    #[test]
    fn a_part_is_left_of_every_account() {
        let megabytes = |all: u64, free: u64| Some(Account { all: all << 20, free: free << 20 });
        let free = Free { machine: megabytes(24_000, 20_000), group: None, addresses: None };
        assert!(free.is_enough() && Free::default().is_enough());
        // A sixteenth of a large memory, and at most 1 GB; 64 MB of a small one.
        assert!(Free { machine: megabytes(8_000, 501), ..free }.is_enough());
        assert!(!Free { machine: megabytes(8_000, 500), ..free }.is_enough());
        assert!(Free { machine: megabytes(256_000, 1_025), ..free }.is_enough());
        assert!(!Free { machine: megabytes(256_000, 1_024), ..free }.is_enough());
        assert!(Free { group: megabytes(300, 65), ..free }.is_enough());
        assert!(!Free { group: megabytes(300, 64), ..free }.is_enough());
        assert!(Free { addresses: Some(65 << 20), ..free }.is_enough());
        assert!(!Free { addresses: Some(64 << 20), ..free }.is_enough());
    }

    #[test]
    fn this_machine_says_what_is_free() {
        let free = Free::now();
        assert!(free.machine.is_some_and(|account| account.free > 1 << 20 && account.all >= account.free), "{free:?}");
        assert!(automatic_limit().is_some_and(|bytes| bytes > 1 << 20));
        assert_eq!(automatic_limit(), automatic_limit());
        assert!(has_headroom(true));
    }
}
