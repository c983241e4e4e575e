//! Opens a report in Chromium without a window and reads what it has become.

use crate::{inputs, report};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names of the program on several systems.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Presses keys as a reader would, and notes what became of the game and whether the page asked for anything.
const KEYS: &str = "<script>
const game = document.querySelector('.game');
const seen = [];
const note = () => seen.push(game.dataset.ply + ' ' + game.querySelector('.move').textContent);
const press = (target, key) => { target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true })); note(); };
note();
for (const key of ['ArrowLeft', 'ArrowLeft', 'ArrowRight', 'Home', 'ArrowLeft', 'End', 'ArrowRight']) press(game, key);
game.querySelector('[data-to=back]').click();
note();
const slider = game.querySelector('input');
press(slider, 'Home');
slider.value = 1;
slider.dispatchEvent(new Event('input'));
note();
document.body.dataset.seen = seen.join('|');
document.body.dataset.resources = performance.getEntriesByType('resource').length;
document.body.dataset.wide = document.documentElement.scrollWidth > document.documentElement.clientWidth;
</script>";

/// The browser of this machine, named by `CHROMIUM` or found in the path.
fn browser() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").filter(|path| !path.is_empty()).map(PathBuf::from);
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let all = || std::env::split_paths(&folders).flat_map(|folder| NAMES.map(|name| folder.join(name)));
    named.or_else(|| all().find(|path| path.is_file()))
}

/// A page as the browser has it after its scripts, and what its console said.
struct Opened {
    page: String,
    console: Vec<String>,
}

/// Opens a file in a window of this width. No host has an address: what needed one would fail, and be on the console.
fn open(browser: &Path, folder: &Path, file: &str, width: u32) -> Opened {
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
fn attribute<'a>(page: &'a str, name: &str) -> Option<&'a str> {
    page.split(&format!(" {name}=\"")).nth(1)?.split('"').next()
}

#[test]
fn a_browser_shows_the_page_and_steps_through_the_game() {
    let Some(browser) = browser() else {
        eprintln!("skipped: no chromium in the path, and none named by CHROMIUM");
        return;
    };
    let folder = inputs();
    let path = folder.path();
    let page = report(path, &["games.txt", "replay30", "comparison", "simulation.x", "match.pgn", "audit", "lc0.log"]);

    // A broken script is seen, so that its absence below means something.
    fs::write(path.join("broken.html"), "<!doctype html><title>x</title><script>none()</script>").unwrap();
    let broken = open(&browser, path, "broken.html", 1000);
    assert!(broken.console.iter().any(|line| line.contains("none is not defined")), "{:?}", broken.console);

    // The ply that the address names.
    let opened = open(&browser, path, "report.html#games-of-games-txt--board=2", 1000);
    assert!(opened.console.is_empty(), "{:?}", opened.console);
    assert_eq!(attribute(&opened.page, "data-ply"), Some("2"));
    assert!(opened.page.contains("<strong class=\"move\">1... e5</strong>"), "the move of the ply");
    assert!(opened.page.contains("used 3 s of a budget of 2 s. Clocks: White 0:09.0, Black 0:08.0"));
    // The pawn stands on e5, and on e7 no more: squares 28 and 12 from a8.
    let squares = opened.page.split("<span class=\"").filter(|square| square.contains("\" aria-hidden=\"true\""));
    let squares: Vec<&str> = squares.collect();
    assert_eq!(squares.len(), 64);
    assert!(squares[28].starts_with("dark black moved\"") && squares[12].starts_with("dark moved\""), "{squares:?}");
    // The tables are those of the file.
    let cells = |page: &str| page.matches("<td>").count();
    assert!(cells(&opened.page) == cells(&page) && cells(&page) > 100, "{}", cells(&page));

    // Keys, buttons and the slider; on a telephone.
    // The policy would not let these keys run.
    let free = page.replace("http-equiv=\"Content-Security-Policy\"", "name=\"none\"");
    fs::write(path.join("keys.html"), free.replace("</body>", &format!("{KEYS}</body>"))).unwrap();
    let pressed = open(&browser, path, "keys.html", 400);
    assert!(pressed.console.is_empty(), "{:?}", pressed.console);
    let start = "0 Start position";
    let seen: Vec<&str> = attribute(&pressed.page, "data-seen").unwrap().split('|').collect();
    assert_eq!(
        seen,
        [
            "5 3. Bb5",
            "4 2... Nc6",
            "3 2. Nf3",
            "4 2... Nc6",
            start,
            start,
            "5 3. Bb5",
            "5 3. Bb5",
            "4 2... Nc6",
            // The slider has keys of its own.
            "4 2... Nc6",
            "1 1. e4",
        ]
    );
    assert_eq!(attribute(&pressed.page, "data-resources"), Some("0"), "nothing was asked for");
    assert_eq!(attribute(&pressed.page, "data-wide"), Some("false"), "nothing is wider than the window");

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
