//! Prints the results of `zeitnot benchmark` for people.

use super::{AUTO, Format, cards};
use crate::commands::output::say;
use zeitnot_base::printable::plain;
use zeitnot_engine::backend::{Attributes, LARGEST_BATCH};
use zeitnot_engine::runtime::vulkan;
use zeitnot_lab::measure::{BackendDevice, BenchmarkResult, GAIN, HostCost, Measured, SearchSaturation};

/// The machine, the backend and its device as lines of text.
pub fn facts(record: &BenchmarkResult) -> String {
    let BenchmarkResult { version, machine, backend, device, load_ms, .. } = record;
    let facts = format!(
        "machine: {machine}\nbackend: {backend}\ndevice: {device}\nversion: {version}\nloaded in {load_ms:.0} ms"
    );
    facts.lines().map(plain).collect::<Vec<_>>().join("\n")
}

/// Prints the conclusions from the measurements; nothing for JSON, whose record holds them.
pub fn conclusion(record: &BenchmarkResult, format: Format) {
    if format == Format::Json {
        return;
    }
    for BackendDevice { backend, device } in record.devices.iter().filter(|of| of.device != record.device) {
        format.note(&format!("device of {}: {}", plain(backend), plain(device)));
    }
    for BackendDevice { backend, .. } in record.devices.iter().filter(|of| of.device.contains(vulkan::SOFTWARE)) {
        format.note(&format!("{} ran on a {}: its figures say nothing of a card", plain(backend), vulkan::SOFTWARE));
    }
    for doubt in &record.unsteady {
        format.note(&format!("unsteady: {}", plain(doubt)));
    }
    for saturation in &record.saturation {
        format.note(&format!("saturation: {}", plain(&saturation_in_words(saturation))));
    }
    for larger in &record.larger_batches {
        format.note(&format!("larger batches: {}", plain(larger)));
    }
    for other in &record.unavailable {
        format.note(&format!("not available: {}: {}", plain(&other.backend), plain(&other.reason)));
    }
    say!("");
    format.note(&format!("recommended: {}", recommendation(record.best())));
}

/// The saturation of a backend in words.
fn saturation_in_words(found: &SearchSaturation) -> String {
    let SearchSaturation { backend, threads, saturation } = found;
    let threads = crate::commands::speed_picture::threads(*threads);
    let (batch, evals_per_s) = (saturation.batch, saturation.evals_per_s);
    match saturation.is_reached {
        true => format!(
            "{backend} at batch {batch} with {threads} ({evals_per_s:.0} evaluations/s; larger ones gain less than {:.0} %)",
            GAIN * 100.0
        ),
        false => format!("{backend}: none up to batch {batch} with {threads} ({evals_per_s:.0} evaluations/s)"),
    }
}

/// One measurement in full, as text; `asked` is the number of positions that were asked for.
pub fn in_words(measured: &Measured, asked: usize) -> String {
    let Measured { threads, batch, visits, evaluations, seconds, positions, .. } = measured;
    let fewer = match *positions < asked {
        true => format!(": batches take too long for {asked} (--seconds)"),
        false => String::new(),
    };
    let first = measured.first_evaluation_ms.map_or("not seen".to_owned(), |first| format!("after {first:.1} ms"));
    let latency = measured.batch_latency_ms;
    let host = measured.host.map_or(String::new(), |HostCost { query_us, transfer_us }| {
        let share = (query_us + transfer_us) * measured.evals_per_s / 1e4;
        format!(
            "\nhost: {query_us:.2} us for the query of a position, {transfer_us:.2} us to pack it and read its answer: \
             {share:.0} % of a core"
        )
    });
    let cards = match cards::in_row(measured.cards.as_deref()) {
        row if row.is_empty() => row,
        row => format!("\ncards: {}", row.trim_start_matches(" | ")),
    };
    format!(
        "threads {threads}, batch {batch}: {:.0} visits/s, {:.0} evaluations/s ({visits} visits, {evaluations} evaluations in \
         {seconds:.1} s)\npositions: {positions}{fewer}\n\
         cache hits: {:.1} % of what was asked for\ncollisions: {:.2} a visit\nbatches: {:.1} positions on average, {:.0} % full, {:.0} % of the time with the device{host}\n\
         batch latency: {:.2} ms median, {:.2} ms p95, {:.2} ms p99\nfirst evaluation: {first}{cards}",
        measured.visits_per_s,
        measured.evals_per_s,
        measured.cache_hit_share * 100.0,
        measured.collisions_per_visit,
        measured.mean_batch,
        measured.batch_fill * 100.0,
        measured.busy_share * 100.0,
        latency.p50,
        latency.p95,
        latency.p99
    )
}

/// The header of the table of measurements.
pub fn row_header() -> String {
    format!(
        "{:<19} {:>7} {:>6} {:>10} {:>10} {:>6} {:>6} {:>9} {:>9}",
        "backend", "threads", "batch", "visits/s", "evals/s", "cache", "fill", "ms p50", "ms p95"
    )
}

/// One measurement as a row of the table. `loaded` is the name of the backend that runs, also where `auto` chose it.
pub fn as_row(measured: &Measured, loaded: &str) -> String {
    let Measured { backend, threads, batch, visits_per_s, evals_per_s, .. } = measured;
    let (cache, fill) = (measured.cache_hit_share * 100.0, measured.batch_fill * 100.0);
    let (p50, p95) = (measured.batch_latency_ms.p50, measured.batch_latency_ms.p95);
    let backend = match loaded.split(',').next() {
        Some(name) if backend == AUTO => format!("{AUTO} ({})", plain(name.trim_start_matches("onnxruntime "))),
        _ => plain(backend),
    };
    format!(
        "{backend:<19} {threads:>7} {batch:>6} {visits_per_s:>10.0} {evals_per_s:>10.0} {cache:>5.1}% {fill:>5.0}% {p50:>9.2} {p95:>9.2}{}",
        cards::in_row(measured.cards.as_deref())
    )
}

/// The settings to use, as options and as flags.
pub fn recommendation(best: &Measured) -> String {
    let Measured { backend, threads, batch, minibatch_size, visits_per_s, .. } = best;
    let backend = plain(backend);
    let own = if *minibatch_size == 0 { format!(" (up to {batch}, less in small trees)") } else { String::new() };
    format!(
        "Threads {threads}, MinibatchSize {minibatch_size}{own}, Backend {backend} ({visits_per_s:.0} visits/s)\n             \
         --threads={threads} --minibatch-size={minibatch_size} --backend={backend}"
    )
}

/// A setting in a few words.
pub fn setting(of: &Measured) -> String {
    let Measured { backend, threads, batch, visits_per_s, evals_per_s, .. } = of;
    let threads = crate::commands::speed_picture::threads(*threads);
    format!("{backend}, {threads}, batch {batch} ({visits_per_s:.0} visits/s, {evals_per_s:.0} evaluations/s)")
}

/// Advice for letting the backend run batches of `larger` positions.
pub fn larger_batches(attributes: &Attributes, larger: usize) -> String {
    let Attributes { name, maximum_batch, .. } = attributes;
    format!(
        "{name} runs at most {maximum_batch} positions at once; --backend-opts=batch={larger} lets it run more (up to \
         {LARGEST_BATCH}), which benchmark then tries"
    )
}

/// Ratio of two speeds with the same settings and positions that only other work of the machine can explain.
const UNSTEADY: f64 = 1.25;

/// A note if the setting measured first had another speed when measured again among the others; else `None`.
pub fn doubt(first: &Measured, others: &[Measured]) -> Option<String> {
    let setting = |of: &Measured| (of.backend.clone(), of.threads, of.batch, of.positions);
    let again = others.iter().find(|other| setting(other) == setting(first))?;
    let (once, twice) = (first.visits_per_s, again.visits_per_s);
    (once.max(twice) > UNSTEADY * once.min(twice)).then(|| {
        format!(
            "{}, threads {}, batch {} made {once:.0} visits/s first and {twice:.0} later; is the machine busy? What is \
             recommended is no more certain than that",
            first.backend, first.threads, first.batch
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(batch: usize, visits_per_s: f64) -> Measured {
        Measured { backend: "native".to_owned(), threads: 2, batch, visits_per_s, ..Measured::default() }
    }

    #[test]
    fn saturation_is_told_or_that_it_was_not_seen() {
        let found = |is_reached| SearchSaturation {
            backend: "x".to_owned(),
            threads: 2,
            saturation: zeitnot_lab::measure::Saturation { batch: 256, evals_per_s: 900.0, is_reached },
        };
        assert!(saturation_in_words(&found(true)).starts_with("x at batch 256 with 2 threads (900 evaluations/s; "));
        assert_eq!(saturation_in_words(&found(false)), "x: none up to batch 256 with 2 threads (900 evaluations/s)");
    }

    #[test]
    fn a_row_says_what_auto_is() {
        let row = |backend: &str, loaded: &str| {
            as_row(&Measured { backend: backend.to_owned(), ..measured(8, 1.0) }, loaded).trim_end().to_owned()
        };
        assert!(row("auto", "native, zeitnot-small").starts_with("auto (native)  "));
        assert!(row("auto", "onnxruntime webgpu, t1").starts_with("auto (webgpu)  "));
        assert!(row("cuda", "native, zeitnot-small").starts_with("cuda  "));
    }

    #[test]
    fn one_setting_at_two_speeds_is_doubted() {
        let doubt = |others: &[Measured]| doubt(&measured(8, 1000.0), others);
        assert_eq!((doubt(&[]), doubt(&[measured(4, 100.0)]), doubt(&[measured(8, 810.0)])), (None, None, None));
        assert_eq!(doubt(&[Measured { positions: 2, ..measured(8, 100.0) }]), None, "on other positions");
        for other in [500.0, 2000.0] {
            let said = doubt(&[measured(4, 1000.0), measured(8, other)]).unwrap();
            assert!(
                said.contains("threads 2, batch 8 made 1000 visits/s first and ") && said.contains(&format!("{other}"))
            );
        }
    }
}
