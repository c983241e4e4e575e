//! A panic leaves a report, and its process goes on.
#![allow(clippy::unwrap_used, reason = "a test")]

use zeitnot::crash_report;

#[test]
fn a_panic_is_reported_with_what_came_before() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("reports");
    crash_report::install(Some(inner.clone()));
    crash_report::remember("setoption name CPuct value 2");
    crash_report::remember("position startpos moves e2e4");
    crash_report::remember("go wtime 1000 btime 2000");
    let worker = std::thread::Builder::new().name("worker 3".to_owned());
    let panicked = worker.spawn(|| panic!("for a test")).unwrap().join();
    assert!(panicked.is_err());
    let files: Vec<_> = std::fs::read_dir(&inner).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let text = std::fs::read_to_string(&files[0]).unwrap();
    for part in [
        env!("CARGO_PKG_VERSION"),
        "thread worker 3",
        "for a test",
        "tests/crash_report.rs",
        "options set:\nsetoption name CPuct value 2",
        "last lines read:\nposition startpos moves e2e4\ngo wtime 1000 btime 2000",
        "backtrace:",
    ] {
        assert!(text.contains(part), "no {part}: {text}");
    }
    // A folder that cannot be made does not keep a report from being written.
    crash_report::set_folder(Some(files[0].join("no folder")));
    assert!(std::thread::spawn(|| panic!("again")).join().is_err());
    let pid = format!("-{}-2.txt", std::process::id());
    let elsewhere = std::fs::read_dir(std::env::temp_dir()).unwrap().map(|entry| entry.unwrap().path());
    let elsewhere: Vec<_> = elsewhere.filter(|path| path.display().to_string().ends_with(&pid)).collect();
    assert_eq!(elsewhere.len(), 1, "{elsewhere:?}");
    std::fs::remove_file(&elsewhere[0]).unwrap();
}
