//! Asks for the machine's memory: the share that tree and cache may take by default, and whether they may grow. Has
//! threads share the allocator's arenas.
//!
//! The share is fixed once, at the start, at half of the memory that is free then; two engines that start at once in a
//! container of 300 MB would take 300 MB together. So the free memory is read again each time that a tree or a cache
//! has grown by 2 MiB, and a part of it is left to everything else.

use memmap2::MmapMut;
use std::sync::OnceLock;
use sysinfo::{MemoryRefreshKind, RefreshKind, System};

/// Least memory that tree and cache leave free, in bytes: batches and reports take some megabytes, and so does what the
/// allocator keeps for each thread.
const HEADROOM: u64 = 64 << 20;

/// Divisor of all memory of a machine or container: the quotient is left free where it is more than the headroom.
const LEFT_OF_ALL: u64 = 16;

/// Most memory that tree and cache leave free on a large machine, in bytes.
const MOST_LEFT: u64 = 1 << 30;

/// Bytes by which a pool of a tree or a cache may grow before the free memory is read again: even ten engines do not
/// use up the headroom in between.
pub const GROWTH: usize = 2 << 20;

/// Divisor of the free memory: tree and cache may take the quotient. The rest is for networks, their runtimes and other
/// programs.
const SHARE: u64 = 2;

/// Limits glibc's allocator to one arena for every eight cores, shared by all threads, unless the user has set
/// `MALLOC_ARENA_MAX`. By default each thread gets an arena of its own, which keeps the memory freed in it. When every
/// search had new threads, an analysis of 157 positions came to 213 MB where tree and cache were allowed 100, and to
/// 132 with shared arenas (`tests/games/analysis.py`).
pub fn share_arenas() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if std::env::var_os("MALLOC_ARENA_MAX").is_none() {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let arenas = i32::try_from(cores.div_ceil(8)).unwrap_or(1);
        // SAFETY: it sets a number of the allocator, under the allocator's own lock.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, arenas) };
    }
}

/// Whether tree or cache may grow: the headroom can be mapped (it is given back at once, which takes some
/// microseconds). Most systems promise memory that they do not have; `with_account` therefore checks the free memory
/// that they report as well. That takes 0.3 ms on Linux.
pub fn has_headroom(with_account: bool) -> bool {
    MmapMut::map_anon(HEADROOM as usize).is_ok() && (!with_account || Free::now().is_enough())
}

/// Bytes that the trees and caches of this process may take by default: half of the memory that is free at the first
/// call, and the same at every later call. `None` where the system does not report its memory.
pub fn automatic_limit() -> Option<usize> {
    static LIMIT: OnceLock<Option<usize>> = OnceLock::new();
    *LIMIT.get_or_init(|| Free::now().share())
}

/// All and free memory of a machine or a container, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Account {
    all: u64,
    free: u64,
}

/// Free memory by each limit that the system may know; `None` for one that it does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Free {
    /// Memory of the machine, without swap space.
    machine: Option<Account>,
    /// Memory of the process's control group (Linux), such as a container's. Cached files do not count as used.
    group: Option<Account>,
    /// Address space that the process may still take (`ulimit -v`), in bytes.
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

    /// The bytes for tree and cache, by the strictest limit; `None` where none is known.
    fn share(&self) -> Option<usize> {
        let free = [self.machine, self.group].map(|account| Some(account?.free));
        let least = free.into_iter().chain([self.addresses]).flatten().min()?;
        Some(usize::try_from(least / SHARE).unwrap_or(usize::MAX))
    }

    /// Whether by every known limit more memory is free than tree and cache have to leave.
    fn is_enough(&self) -> bool {
        let leaves = |account: Account| account.free > HEADROOM.max((account.all / LEFT_OF_ALL).min(MOST_LEFT));
        let memory = [self.machine, self.group].into_iter().flatten().all(leaves);
        memory && self.addresses.is_none_or(|free| free > HEADROOM)
    }
}

/// Free memory by the limits of this process: its control group and its address space.
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

/// No limits of the process: only Linux enforces such limits.
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
