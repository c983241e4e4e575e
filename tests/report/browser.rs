//! Opens a report in Chromium without a window and reads what it has become.

use crate::{inputs, report};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Notes whether the page asked for anything, and whether it is wider than the window.
pub const NOTES: &str = "<script>
document.body.dataset.resources = performance.getEntriesByType('resource').length;
document.body.dataset.wide = document.documentElement.scrollWidth > document.documentElement.clientWidth;
</script>";

/// The browser of this machine, named by `CHROMIUM` or found in the path.
pub fn browser() -> PathBuf {
    PathBuf::from(env!("ZEITNOT_BROWSER"))
}

/// A page as the browser has it after its scripts, and what its console said.
pub struct Opened {
    pub page: String,
    pub console: Vec<String>,
}

/// Opens a file in a window of this width. No host has an address: what needed one would fail, and be on the console.
pub fn open(browser: &Path, folder: &Path, file: &str, width: u32) -> Opened {
    let profile = folder.join("profile");
    let mut data = OsString::from("--user-data-dir=");
    data.push(&profile);
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage"])
        .args(["--enable-logging=stderr", "--v=0", "--virtual-time-budget=5000", "--dump-dom"])
        .arg("--host-resolver-rules=MAP * ~NOTFOUND")
        .arg(format!("--window-size={width},900"))
        .arg(data)
        .arg(format!("file://{}/{file}", folder.display()))
        .output()
        .unwrap();
    let console = String::from_utf8_lossy(&output.stderr);
    let console = console.lines().filter(|line| line.contains(":CONSOLE")).map(str::to_owned).collect();
    Opened { page: String::from_utf8_lossy(&output.stdout).into_owned(), console }
}

/// The value of the first attribute of that name.
pub fn attribute<'a>(page: &'a str, name: &str) -> Option<&'a str> {
    page.split(&format!(" {name}=\"")).nth(1)?.split('"').next()
}

#[test]
#[cfg_attr(not(browser), ignore = "needs chromium in the path, or named by CHROMIUM")]
fn a_browser_shows_the_page() {
    let browser = browser();
    let folder = inputs();
    let path = folder.path();
    let page = report(path, &["games.txt", "replay30", "comparison", "simulation.x", "match.pgn", "audit"]);

    // A broken script is seen, so that its absence below means something.
    fs::write(path.join("broken.html"), "<!doctype html><title>x</title><script>none()</script>").unwrap();
    let broken = open(&browser, path, "broken.html", 1000);
    assert!(broken.console.iter().any(|line| line.contains("none is not defined")), "{:?}", broken.console);

    let opened = open(&browser, path, "report.html#games-of-games-txt--clocks", 1000);
    assert!(opened.console.is_empty(), "{:?}", opened.console);
    // The tables are those of the file.
    let cells = |page: &str| page.matches("<td>").count();
    assert!(cells(&opened.page) == cells(&page) && cells(&page) > 100, "{}", cells(&page));

    // On a telephone. The policy would not let these notes run.
    let free = page.replace("http-equiv=\"Content-Security-Policy\"", "name=\"none\"");
    fs::write(path.join("notes.html"), free.replace("</body>", &format!("{NOTES}</body>"))).unwrap();
    let narrow = open(&browser, path, "notes.html", 400);
    assert!(narrow.console.is_empty(), "{:?}", narrow.console);
    assert_eq!(attribute(&narrow.page, "data-resources"), Some("0"), "nothing was asked for");
    assert_eq!(attribute(&narrow.page, "data-wide"), Some("false"), "nothing is wider than the window");

    // A script that came into the page does not run; without the policy it would.
    const FOREIGN: &str = "<script>document.title=\"pwned\"</script></body>";
    for (name, page, title) in [("foreign.html", &page, "Time report"), ("free.html", &free, "pwned")] {
        fs::write(path.join(name), page.replace("</body>", FOREIGN)).unwrap();
        let opened = open(&browser, path, name, 1000);
        assert!(opened.page.contains(&format!("<title>{title}</title>")), "{name}: {:?}", opened.console);
    }
    // An address that is no text in UTF-8.
    let opened = open(&browser, path, "report.html#%", 1000);
    assert!(opened.console.is_empty(), "{:?}", opened.console);
}
