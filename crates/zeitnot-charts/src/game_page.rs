//! Writes the page that shows analysed games: a board, the moves, curves and words, from `templates/games/`.

use super::inline::{content_hash, json_in_script, lines};
use super::palette::page_css;

const PAGE: &str = include_str!("../templates/games/page.html");
const STYLE: &str = include_str!("../templates/games/page.css");
/// The script, joined from parts. While the page starts, a part may call only itself and the parts before it.
const SCRIPT: &str = concat!(
    include_str!("../templates/games/text.js"),
    include_str!("../templates/games/board.js"),
    include_str!("../templates/games/position.js"),
    include_str!("../templates/games/moves.js"),
    include_str!("../templates/games/curves.js"),
    include_str!("../templates/games/sides.js"),
    include_str!("../templates/games/list.js"),
    include_str!("../templates/games/page.js"),
);

/// The page of an analysis, whose JSON `zeitnot analyse --json` writes. It needs no other file and makes no request:
/// only its own style and script apply, known by their hashes, and no text of the analysis becomes markup.
pub fn game_page(json: &str) -> String {
    let style = lines(&[&page_css(), STYLE].concat());
    let script = lines(SCRIPT);
    // The analysis comes last: what it holds is not searched for places.
    lines(PAGE)
        .replace("{{style_hash}}", &content_hash(&style))
        .replace("{{script_hash}}", &content_hash(&script))
        .replace("{{style}}", &style)
        .replace("{{script}}", &script)
        .replace("{{data}}", &json_in_script(json))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_analysis_becomes_markup() {
        let quiet = game_page("{\"games\":[]}");
        let loud = game_page("{\"games\":[\"</script><script>alert(1)</script><!--\u{2028}\"]}");
        assert_eq!(loud.matches('<').count(), quiet.matches('<').count());
        assert_eq!(loud.lines().count(), quiet.lines().count());
    }

    #[test]
    fn every_place_is_filled_once_and_not_with_the_analysis() {
        let page = game_page("[\"{{style}}{{data}}\"]");
        assert_eq!(page.matches("{{").count(), 2);
        for element in ["<style>", "<script>", "<script type="] {
            assert_eq!(page.matches(element).count(), 1, "{element}");
        }
    }

    #[test]
    fn the_policy_knows_the_style_and_the_script() {
        let page = game_page("{}");
        for (element, directive) in [("style", "style-src"), ("script", "script-src")] {
            let (_, rest) = page.split_once(&format!("<{element}>")).unwrap();
            let (text, _) = rest.split_once(&format!("</{element}>")).unwrap();
            assert!(page.contains(&format!("{directive} 'sha256-{}'", content_hash(text))), "{element}");
        }
    }

    #[test]
    fn the_script_makes_no_markup_and_no_request() {
        for word in
            ["innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "fetch(", "XMLHttp", "import"]
        {
            assert!(!SCRIPT.contains(word), "{word}");
        }
        for word in ["http:", "src=", "href", "url(", "@import"] {
            assert!(!PAGE.contains(word) && !STYLE.contains(word), "{word}");
        }
    }
}
