//! Makes a report of a file: PGN, JSON of the laboratory's commands, or Lc0's log.
#![no_main]

use libfuzzer_sys::fuzz_target;
use zeitnot_lab::report::{Report, ReportRules, page};

fuzz_target!(|data: &[u8]| {
    zeitnot_fuzz::count(data);
    let rules = ReportRules { managers: vec!["simple".to_owned()], overhead_ms: 100.0 };
    let mut report = Report::default();
    if let Err(error) = report.add("input", &mut std::io::Cursor::new(data), &rules) {
        assert!(!error.to_string().contains('\n'), "{error}");
        return;
    }
    let page = page(&report.sections()).expect("the template holds");
    // A name may hold the word itself, or in JSON's escapes.
    let told = data.windows(2).any(|pair| pair == b"Na" || pair == b"aN" || pair == b"\\u");
    assert!(told || !page.contains("NaN"), "{page}");
});
