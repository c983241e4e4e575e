//! Checks the processor, the clock and the cache folder.

use super::Check;
use std::thread;
use std::time::Duration;
use zeitnot_engine::clock::{Clock as _, MonotonicClock};
use zeitnot_engine::engine::Options;
use zeitnot_engine::runtime;

/// Length of one of the short sleeps that test how late the timer is.
const NAP: Duration = Duration::from_millis(1);
/// Number of the sleeps that test the timer.
const NAPS: usize = 100;
/// Lateness of a sleep, in milliseconds, from which on there is a warning if one in a hundred is so late: the engine
/// decides by the timer when to move.
const LATE_MS: f64 = 10.0;
/// Step of a clock, in milliseconds, above which a warning is given: fast games have moves of a few milliseconds.
const COARSE_MS: f64 = 1.0;
/// Readings of the clock that are taken to find its smallest step.
const READINGS: usize = 100_000;

pub(super) fn checks(options: &Options, look: &mut dyn FnMut(Check)) {
    look(processor());
    look(threads(options.threads));
    look(clock());
    look(cache_folder());
}

#[cfg(target_arch = "x86_64")]
fn features() -> Vec<&'static str> {
    let known = [
        ("avx2", is_x86_feature_detected!("avx2")),
        ("fma", is_x86_feature_detected!("fma")),
        ("avx512", is_x86_feature_detected!("avx512f")),
        ("avx512 vnni", is_x86_feature_detected!("avx512vnni")),
        ("avx512 bf16", is_x86_feature_detected!("avx512bf16")),
    ];
    known.into_iter().filter_map(|(name, is_there)| is_there.then_some(name)).collect()
}

#[cfg(target_arch = "aarch64")]
fn features() -> Vec<&'static str> {
    use std::arch::is_aarch64_feature_detected;

    let known = [
        ("neon", is_aarch64_feature_detected!("neon")),
        ("dotprod", is_aarch64_feature_detected!("dotprod")),
        ("i8mm", is_aarch64_feature_detected!("i8mm")),
    ];
    known.into_iter().filter_map(|(name, is_there)| is_there.then_some(name)).collect()
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn features() -> Vec<&'static str> {
    Vec::new()
}

fn processor() -> Check {
    let features = features();
    let finding = format!("{} {}", std::env::consts::ARCH, features.join(", "));
    if cfg!(target_arch = "x86_64") && !features.contains(&"avx2") {
        return Check::warning("processor", finding, "without AVX2 networks are slow on it: use a graphics card");
    }
    Check::ok("processor", finding.trim())
}

fn threads(asked: u64) -> Check {
    let available = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let finding = match asked {
        0 => format!("{available} available to this process; as many are used as suit the backend"),
        asked => format!("{available} available to this process, {asked} asked for"),
    };
    if asked > available as u64 {
        return Check::warning(
            "threads",
            finding,
            "more threads than there are processors only get in each other's way",
        );
    }
    Check::ok("threads", finding)
}

fn clock() -> Check {
    let clock = MonotonicClock::new();
    let mut step_ms = f64::INFINITY;
    let mut last = clock.now_ms();
    for _ in 0..READINGS {
        let now = clock.now_ms();
        if now > last {
            step_ms = step_ms.min(now - last);
        }
        last = now;
    }
    let mut late: Vec<f64> = (0..NAPS)
        .map(|_| {
            let start = clock.now_ms();
            thread::sleep(NAP);
            (clock.now_ms() - start - NAP.as_secs_f64() * 1e3).max(0.0)
        })
        .collect();
    late.sort_by(f64::total_cmp);
    let (median, most) = (late[NAPS / 2], late[NAPS - 1]);
    let finding = format!(
        "steps of {:.3} us; a timer is {median:.2} ms late in the middle and {most:.2} ms at worst",
        step_ms * 1e3
    );
    if step_ms > COARSE_MS {
        return Check::warning("clock", finding, "the clock is too coarse for fast games");
    }
    if most > LATE_MS {
        return Check::warning("clock", finding, "other programs take the processor: a larger MoveOverheadMs is safer");
    }
    Check::ok("clock", finding)
}

fn cache_folder() -> Check {
    const NAME: &str = "cache folder";
    const ADVICE: &str =
        "without it nothing can be installed or compiled ahead: set XDG_CACHE_HOME to a folder of yours";
    let Some(folder) = runtime::user_cache() else {
        return Check::warning(NAME, "the home folder of this user is not known", ADVICE);
    };
    let probe = folder.join(format!("doctor-{}", std::process::id()));
    let write = || {
        std::fs::create_dir_all(&folder)?;
        std::fs::write(&probe, "")?;
        std::fs::remove_file(&probe)
    };
    match write() {
        Ok(()) => Check::ok(NAME, format!("{} can be written", folder.display())),
        Err(error) => Check::warning(NAME, format!("{} cannot be written: {error}", folder.display()), ADVICE),
    }
}
