//! What `zeitnot benchmark` prints for people and spreadsheets.

use zeitnot::lab::Measured;

/// One setting in full; so many positions were asked for.
pub fn in_words(measured: &Measured, asked: usize) -> String {
    let Measured { threads, batch, visits, evaluations, seconds, positions, .. } = measured;
    let fewer = match *positions < asked {
        true => format!(": batches take too long for {asked} (--seconds)"),
        false => String::new(),
    };
    let first = measured.first_evaluation_ms.map_or("not seen".to_owned(), |first| format!("after {first:.1} ms"));
    let latency = measured.batch_latency_ms;
    format!(
        "threads {threads}, batch {batch}: {:.0} visits/s, {:.0} evaluations/s ({visits} visits, {evaluations} evaluations in \
         {seconds:.1} s)\npositions: {positions}{fewer}\n\
         cache hits: {:.1} % of what was asked for\ncollisions: {:.2} a visit\nbatches: {:.1} positions on average, {:.0} % full\n\
         batch latency: {:.2} ms median, {:.2} ms p95, {:.2} ms p99\nfirst evaluation: {first}",
        measured.visits_per_s,
        measured.evals_per_s,
        measured.cache_hit_share * 100.0,
        measured.collisions_per_visit,
        measured.mean_batch,
        measured.batch_fill * 100.0,
        latency.p50,
        latency.p95,
        latency.p99
    )
}

/// The head of the table of settings.
pub fn row_header() -> String {
    format!(
        "{:<14} {:>7} {:>6} {:>10} {:>10} {:>6} {:>6} {:>9} {:>9}",
        "backend", "threads", "batch", "visits/s", "evals/s", "cache", "fill", "ms p50", "ms p95"
    )
}

/// One setting as a row of it.
pub fn as_row(measured: &Measured) -> String {
    let Measured { backend, threads, batch, visits_per_s, evals_per_s, .. } = measured;
    let (cache, fill) = (measured.cache_hit_share * 100.0, measured.batch_fill * 100.0);
    let (p50, p95) = (measured.batch_latency_ms.p50, measured.batch_latency_ms.p95);
    format!(
        "{backend:<14} {threads:>7} {batch:>6} {visits_per_s:>10.0} {evals_per_s:>10.0} {cache:>5.1}% {fill:>5.0}% {p50:>9.2} {p95:>9.2}"
    )
}

/// The settings to use, as options and as flags.
pub fn recommendation(best: &Measured) -> String {
    let Measured { backend, threads, batch, visits_per_s, .. } = best;
    format!(
        "Threads {threads}, MinibatchSize {batch}, Backend {backend} ({visits_per_s:.0} visits/s)\n             \
         --threads={threads} --minibatch-size={batch} --backend={backend}"
    )
}

/// The columns of `--csv`; the first row is the engine as its options have it.
pub const COLUMNS: [&str; 15] = [
    "backend",
    "threads",
    "batch",
    "visits_per_s",
    "evals_per_s",
    "cache_hit_share",
    "mean_batch",
    "batch_fill",
    "batch_latency_p50_ms",
    "batch_latency_p95_ms",
    "batch_latency_p99_ms",
    "first_evaluation_ms",
    "seconds",
    "positions",
    "collisions_per_visit",
];

/// The values of [`COLUMNS`].
pub fn as_csv(measured: &Measured) -> String {
    let latency = measured.batch_latency_ms;
    let numbers = [
        Some(measured.threads as f64),
        Some(measured.batch as f64),
        Some(measured.visits_per_s),
        Some(measured.evals_per_s),
        Some(measured.cache_hit_share),
        Some(measured.mean_batch),
        Some(measured.batch_fill),
        Some(latency.p50),
        Some(latency.p95),
        Some(latency.p99),
        measured.first_evaluation_ms,
        Some(measured.seconds),
        Some(measured.positions as f64),
        Some(measured.collisions_per_visit),
    ];
    let cells = numbers.iter().map(|number| number.map_or(String::new(), |number| number.to_string()));
    std::iter::once(measured.backend.clone()).chain(cells).collect::<Vec<_>>().join(",")
}
