//! Writes an analysed game as PGN: evaluations, glyphs, and comments with the better move where expected score was lost.
//! Tags, variations, comments and glyphs of the game stay.

use super::document::{AnalysedGame, AnalysedMove, ShownEvaluation};
use super::evaluation::START;
use super::judgement::Judgement;
use std::fmt::Write as _;
use zeitnot_games::pgn_reader::{PgnGame, result};

/// Longest line of PGN, in characters; a longer comment or variation gets a line to itself.
const LINE: usize = 80;
/// Least loss of expected score for which a move without a judgement gets a comment.
const COMMENTED: f64 = 0.1;
/// Beginning of the comment that holds the unreadable rest of a damaged game.
const NOT_READ: &str = "Not read: ";
/// The PGN glyphs that judge a move, `$1` to `$6`: `!`, `?`, `!!`, `??`, `!?` and `?!`.
const MARKS: std::ops::RangeInclusive<u32> = 1..=6;

/// Where the evaluations in the written game come from.
#[derive(Clone, Copy, PartialEq)]
enum Source {
    Search,
    Comments,
    /// No evaluations: the game is written as it is.
    Nothing,
}

/// The game as PGN with its analysis, and with `rest`, the text that the reader left out. `depths` are those of the
/// searches after each move; empty where the game's own comments give the evaluations, which then stay. A game of
/// another variant, or with a null move, stays unjudged, its rest in place; the rest of a damaged game becomes a
/// comment.
pub fn annotated_with_rest(game: &PgnGame, analysis: &AnalysedGame, depths: &[u32], rest: &str) -> String {
    let source = match depths.is_empty() {
        _ if game.is_foreign => Source::Nothing,
        true => Source::Comments,
        false => Source::Search,
    };
    let mut text = String::new();
    for (name, value) in &game.tags {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        let _ = writeln!(text, "[{name} \"{value}\"]");
    }
    if !game.tags.is_empty() {
        text.push('\n');
    }
    let mut tokens = Vec::new();
    add_behind(&mut tokens, game, 0, game.comments[0].clone(), &game.glyphs[0]);
    let mut is_numbered = true;
    for (index, mv) in analysis.moves.iter().enumerate() {
        match (mv.color == "white", is_numbered) {
            (true, _) => tokens.push(format!("{}.", mv.number)),
            (false, true) => tokens.push(format!("{}...", mv.number)),
            (false, false) => {}
        }
        tokens.push(mv.san.clone());
        let before = tokens.len();
        let (glyphs, comments) = notes(game, analysis, index, source, depths.get(index).copied());
        add_behind(&mut tokens, game, index + 1, comments, &glyphs);
        // After a comment or a variation PGN wants Black's number again.
        is_numbered = tokens.len() > before + glyphs.len();
    }
    let (rest, last) = (rest.trim(), game.game.current());
    match () {
        () if rest.is_empty() => {}
        () if game.is_foreign => {
            let points = if last.turn().is_white() { "." } else { "..." };
            let is_numbered = rest.starts_with(|c: char| c.is_ascii_digit());
            tokens.extend((!is_numbered).then(|| format!("{}{points}", last.fullmoves())));
            tokens.push(rest.to_owned());
        }
        () => tokens.push(format!("{{{NOT_READ}{}}}", rest.replace("[%", "[ %").replace('{', "(").replace('}', ")"))),
    }
    let tag = game.tag("Result");
    let known = result(tag).filter(|known| *known == tag);
    // Text of which no move is read may have the result at its end, but not in a comment.
    let plain = rest.lines().last().filter(|line| !line.rsplit('}').next().is_some_and(|end| end.contains(';')));
    let behind = plain.and_then(|line| line.split_ascii_whitespace().next_back()).and_then(result);
    if !game.is_foreign || game.result.or(behind).is_none() {
        tokens.push(game.result.or(behind).or(known).unwrap_or("*").to_owned());
    }
    let (mut width, mut is_line) = (0, false);
    for token in tokens {
        let length = token.chars().count();
        if width > 0 && (is_line || width + 1 + length > LINE) {
            text.push('\n');
            width = 0;
        }
        if width > 0 {
            text.push(' ');
            width += 1;
        }
        text.push_str(&token);
        width += length;
        // Behind a semicolon all of a line is a comment.
        is_line = token.lines().last().is_some_and(|line| line.contains(';'));
    }
    text.push_str("\n\n");
    text
}

/// Whether `other` is this game with or without an analysis: it has no comment, variation, glyph or result that `game`
/// lacks. Text that was left out of either game is not compared.
pub fn is_annotation_of(other: &PgnGame, game: &PgnGame) -> bool {
    let own = |comments: Option<&Vec<String>>| -> Vec<String> {
        let is_rest = |comment: &str| game.problem.is_some() && comment.starts_with(NOT_READ);
        let of_others = |comment: &&String| !is_judgement(comment) && !is_rest(comment);
        let kept = comments.into_iter().flatten().filter(of_others);
        let plain = kept.map(|comment| without_commands(&comment.replace('}', ""), &["eval", "wdl"]));
        plain.filter(|comment| !comment.is_empty()).collect()
    };
    let is_known = |glyph: &u32, at: usize| {
        let is_judged = other.comments.get(at).into_iter().flatten().any(|comment| is_judgement(comment));
        let is_ours = is_judged && Judgement::ALL.iter().any(|judgement| judgement.nag() == *glyph);
        is_ours || game.glyphs.get(at).is_some_and(|glyphs| glyphs.contains(glyph))
    };
    let has_nothing_else = |at: usize| {
        own(other.comments.get(at)) == own(game.comments.get(at))
            && other.variations.get(at) == game.variations.get(at)
            && other.glyphs.get(at).into_iter().flatten().all(|glyph| is_known(glyph, at))
    };
    other.tags == game.tags
        && other.game.moves() == game.game.moves()
        && game.result.is_none_or(|result| other.result == Some(result))
        && (0..=game.game.moves().len()).all(has_nothing_else)
}

/// Adds the glyphs, comments and variations behind a move, or before the first one.
fn add_behind(tokens: &mut Vec<String>, game: &PgnGame, index: usize, comments: Vec<String>, glyphs: &[u32]) {
    tokens.extend(glyphs.iter().map(|glyph| format!("${glyph}")));
    // A comment that began behind a semicolon may have a brace in it.
    tokens.extend(comments.iter().map(|comment| format!("{{{}}}", comment.replace('}', ""))));
    tokens.extend(game.variations.get(index).into_iter().flatten().cloned());
}

/// The glyphs and comments to write behind a move: the game's, without those of an earlier analysis, and the new ones.
fn notes(
    game: &PgnGame,
    analysis: &AnalysedGame,
    index: usize,
    source: Source,
    depth: Option<u32>,
) -> (Vec<u32>, Vec<String>) {
    let mv = &analysis.moves[index];
    let mut glyphs = game.glyphs.get(index + 1).cloned().unwrap_or_default();
    let mut comments = game.comments_of(index).to_vec();
    if source == Source::Nothing {
        return (glyphs, comments);
    }
    if source == Source::Search {
        for comment in comments.extract_if(.., |comment| is_judgement(comment)) {
            glyphs.retain(|glyph| !is_glyph_of(&comment, *glyph));
        }
        comments.iter_mut().for_each(|comment| *comment = without_commands(comment, &["eval", "wdl"]));
        comments.retain(|comment| !comment.is_empty());
        add_evaluation(&mut comments, mv, depth.unwrap_or(0));
    }
    let is_judged = comments.iter().any(|comment| is_judgement(comment));
    if let Some(judgement) = mv.judgement
        && !glyphs.iter().any(|glyph| MARKS.contains(glyph))
    {
        glyphs.insert(0, judgement.nag());
    }
    if (mv.judgement.is_some() || mv.expected_loss.is_some_and(|loss| loss >= COMMENTED)) && !is_judged {
        let before = match index {
            0 => analysis.start.eval.or(Some(START.into())),
            index => analysis.moves[index - 1].eval,
        };
        comments.push(sentence(mv, before));
    }
    (glyphs, comments)
}

/// Puts the evaluation before the other commands of a move, or in a comment of its own.
fn add_evaluation(comments: &mut Vec<String>, mv: &AnalysedMove, depth: u32) {
    // A mate on the board needs none.
    let Some(eval) = mv.eval.filter(|eval| *eval != ShownEvaluation::Mate(0)) else { return };
    let depth = if depth > 0 { format!(",{depth}") } else { String::new() };
    let wdl = mv.wdl.map_or_else(String::new, |[win, draw, loss]| format!(" [%wdl {win},{draw},{loss}]"));
    let commands = format!("[%eval {}{depth}]{wdl}", shown(eval));
    match comments.iter_mut().find(|comment| comment.starts_with("[%")) {
        Some(comment) => comment.insert_str(0, &format!("{commands} ")),
        None => comments.insert(0, commands),
    }
}

/// The evaluation as it stands in a comment.
fn shown(eval: ShownEvaluation) -> String {
    match eval {
        ShownEvaluation::Cp(cp) => format!("{:.2}", f64::from(cp) / 100.0),
        ShownEvaluation::Mate(moves) => format!("#{moves}"),
    }
}

/// The sentence about a loss, in lichess' words, with the line of the better move.
fn sentence(mv: &AnalysedMove, before: Option<ShownEvaluation>) -> String {
    let mut text = String::new();
    if let (Some(before), Some(after)) = (before, mv.eval) {
        let _ = write!(text, "({} -> {}) ", shown(before), shown(after));
    }
    let loss = mv.expected_loss.map(|loss| format!("{loss:.2} points lost")).unwrap_or_default();
    match (mv.judgement, loss.is_empty()) {
        (Some(judgement), true) => text.push_str(judgement.word()),
        (Some(judgement), false) => {
            let _ = write!(text, "{}, {loss}", judgement.word());
        }
        (None, _) => text.push_str(&loss),
    }
    text.push('.');
    if let Some(best) = &mv.best {
        let _ = write!(text, " {} was best: {}.", best.san, best.line.join(" "));
    }
    text
}

/// Whether a comment is the sentence in which an analysis, ours or lichess', judges a move, and holds nothing else.
pub(super) fn is_judgement(comment: &str) -> bool {
    let Some((evals, sentence)) = comment.strip_prefix('(').and_then(|rest| rest.split_once(") ")) else {
        return false;
    };
    let begins = ["Inaccuracy", "Mistake", "Blunder", "Checkmate is now", "Lost forced checkmate"];
    let sentence = sentence.replace('\n', " ");
    let mut others = sentence.trim_end_matches('.').split(". ").skip(1);
    let is_of_best = |text: &str| text.contains(" was best") || text.contains("est move was ");
    others.next().is_none_or(is_of_best)
        && others.next().is_none()
        && (evals.contains("->") || evals.contains('\u{2192}'))
        && (begins.iter().any(|begin| sentence.starts_with(begin)) || sentence.contains(" points lost."))
}

/// Whether `glyph` belongs to this sentence of an analysis. A sentence about a mate names no judgement, so any of the
/// three glyphs may.
fn is_glyph_of(comment: &str, glyph: u32) -> bool {
    let told = Judgement::ALL.into_iter().find(|judgement| comment.contains(&format!(") {}", judgement.word())));
    Judgement::ALL.into_iter().any(|judgement| judgement.nag() == glyph && told.is_none_or(|told| told == judgement))
}

/// A comment without its `[%name ...]` commands of these names; with no names, without any command.
pub(super) fn without_commands(comment: &str, names: &[&str]) -> String {
    let mut parts = comment.split("[%");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_of = |name: &&str| {
            part.strip_prefix(*name).is_some_and(|rest| rest.starts_with(char::is_whitespace) || rest.starts_with(']'))
        };
        let is_named = names.is_empty() || names.iter().any(is_of);
        match part.split_once(']').filter(|_| is_named) {
            Some((_, behind)) => text.push_str(behind.trim_start()),
            None => {
                text.push_str("[%");
                text.push_str(part);
            }
        }
    }
    text.trim().to_owned()
}

#[cfg(test)]
#[path = "annotated_pgn_tests.rs"]
mod tests;
