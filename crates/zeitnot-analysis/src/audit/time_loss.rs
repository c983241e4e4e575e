//! Finds out from tags and closing comments which side ran out of time.

use zeitnot_engine::chess::Color;
use zeitnot_games::pgn_reader::PgnGame;

/// A side that ran out of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeLoss {
    /// The side whose time ran out.
    pub color: Color,
    /// Whether the game is drawn, as the other side could not mate.
    pub is_drawn: bool,
    /// Lateness of the last move, in milliseconds, where the runner gives it.
    pub over_ms: Option<f64>,
}

/// The meaning of a sentence about the clocks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Said {
    /// A side ran out of time; `None` where the sentence does not name it.
    Loses(Option<Color>),
    /// A side won on time; `None` where the sentence does not name it.
    Wins(Option<Color>),
}

impl Said {
    /// The side that ran out of time; `None` where the sentence names none.
    fn loser(self) -> Option<Color> {
        match self {
            Said::Loses(side) => side,
            Said::Wins(side) => side.map(|side| !side),
        }
    }
}

/// The tags that say how a game ended.
const ENDS: [&str; 3] = ["Termination", "TerminationDetails", "ICCResult"];

/// The side that ran out of time, by the tags and the last comments of match runners, servers and this program:
/// `time forfeit`, `White loses on time`, `White forfeits on time`, `Black won on time`, `NAME won on time`,
/// `White ran out of time and Black has no material to mate`. Where they name no side, it is the side that lost by the
/// result, or the side to move. `None` where nobody ran out of time.
pub(crate) fn time_loss(game: &PgnGame) -> Option<TimeLoss> {
    let plies = game.game.moves().len();
    // The end of a game without moves stands behind its tags.
    let last = plies
        .checked_sub(1)
        .map_or_else(|| game.comments.first().map_or(&[][..], Vec::as_slice), |ply| game.comments_of(ply));
    let texts = ENDS.iter().map(|tag| game.tag(tag)).chain(last.iter().map(String::as_str));
    let texts: Vec<String> = texts.map(without_commands).collect();
    let result = Some(game.tag("Result")).filter(|result| !result.is_empty()).or(game.result).unwrap_or_default();
    let winner = match result {
        "1-0" => Some(Color::White),
        "0-1" => Some(Color::Black),
        _ => None,
    };
    let parts = || texts.iter().flat_map(|text| parts(text));
    // A sentence that names a side says more than a tag that does not.
    let named = parts().filter_map(|part| said(game, part, winner)).max_by_key(|said| said.loser().is_some())?;
    let color = match named {
        Said::Loses(Some(color)) => color,
        Said::Wins(Some(color)) => !color,
        Said::Loses(None) | Said::Wins(None) => match winner {
            Some(winner) => !winner,
            // It is not known who was to move at the end of a damaged game.
            None if game.problem.is_some() => return None,
            None => game.game.current().turn(),
        },
    };
    let over_ms = parts().find_map(overrun_ms);
    Some(TimeLoss { color, is_drawn: result == "1/2-1/2", over_ms })
}

/// The lateness that fastchess and this program write: `348ms overrun`, where a line may end between the words.
fn overrun_ms(part: &str) -> Option<f64> {
    part.strip_suffix("overrun")?.trim_end().strip_suffix("ms")?.trim_end().parse().ok()
}

/// A comment without the commands in it, such as `[%clk 0:01:00]`.
fn without_commands(comment: &str) -> String {
    let mut parts = comment.split("[%");
    let text = parts.next().unwrap_or_default().to_owned();
    parts.fold(text, |text, part| text + " " + part.split_once(']').map_or("", |(_, behind)| behind))
}

/// The text and its parts, each of which may be a sentence: names of players may contain punctuation.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let outer = text.split(['(', ')', '{', '}']).map(|part| part.trim().trim_end_matches('.'));
    let inner = text.split(['(', ')', '{', '}', ',', ';', ':', '.', '\n']).map(str::trim);
    let whole = text.trim().trim_end_matches('.');
    std::iter::once(whole).chain(outer).chain(inner).filter(|part| !part.is_empty())
}

/// The meaning of a part of a text, if it is a sentence about the clocks and nothing else. Names may look like colours
/// or like each other: a reading that agrees with `winner` goes first.
fn said(game: &PgnGame, part: &str, winner: Option<Color>) -> Option<Said> {
    let lower = part.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let part = words.join(" ");
    let agrees = |said: &Said| said.loser().is_some_and(|loser| winner == Some(!loser));
    let readings = || subjects(game, &part).filter_map(|(side, rest)| sentence(game, side, rest));
    readings().find(agrees).or_else(|| readings().next())
}

/// The meaning of a sentence about `side`, given without its subject; `None` where it is not about the clocks.
fn sentence(game: &PgnGame, side: Option<Color>, rest: &str) -> Option<Said> {
    let rest = rest.trim_start_matches("'s ").replace(['-', '_'], " ");
    // ICC and FICS add why the game is a draw.
    let rest = rest.split_once(" and ").map_or(rest.as_str(), |(before, _)| before);
    match rest {
        "loses on time"
        | "lost on time"
        | "lost by time"
        | "forfeits on time"
        | "forfeited on time"
        | "loses by time forfeit"
        | "loses by timeout"
        | "lost by timeout"
        | "ran out of time"
        | "runs out of time"
        | "out of time"
        | "outoftime"
        | "clock ran out"
        | "time out"
        | "timed out"
        | "times out"
        | "time over"
        | "flag fell"
        | "flag fall"
        | "flagged"
        | "exceeded the time limit"
        | "exceeded time limit"
        | "overstepped the time limit"
        | "overstepped time"
        | "time forfeit"
        | "time forfeits"
        | "timeforfeit"
        | "time expired"
        | "timeout"
        | "forfeit on time"
        | "loss on time"
        | "0 1 on time"
        | "1 0 on time" => Some(Said::Loses(side)),
        "wins on time"
        | "won on time"
        | "wins by time forfeit"
        | "won by time forfeit"
        | "wins by timeout"
        | "won by timeout"
        | "win by timeout"
        | "win on time" => Some(Said::Wins(side)),
        "draw by timeout"
        | "draw by time"
        | "draw on time"
        | "both players ran out of time"
        | "game drawn because both players ran out of time"
        | "game drawn by timeout vs insufficient material"
        | "drawn by timeout vs insufficient material"
        | "draw by timeout vs insufficient material"
        | "timeout vs insufficient material" => Some(Said::Loses(None)),
        _ => {
            let (_, because) = rest.split_once("drawn because ")?;
            let is_time =
                |(side, rest): (Option<Color>, &str)| (side.is_some() && rest == "ran out of time").then_some(side);
            subjects(game, because).find_map(is_time).map(Said::Loses)
        }
    }
}

/// The possible subjects of a sentence, a side by its colour or its name or no side, each with the rest of the
/// sentence.
fn subjects<'a>(game: &PgnGame, part: &'a str) -> impl Iterator<Item = (Option<Color>, &'a str)> {
    let named = |color: Color, name: &str| {
        let rest = part.strip_prefix(name).filter(|rest| !name.is_empty() && rest.starts_with([' ', '\'']))?;
        Some((Some(color), rest.trim_start()))
    };
    let of_player = |color, tag| named(color, &game.tag(tag).to_lowercase());
    // Programs name the colour, and nobody keeps a player from being called Black.
    let subjects = [
        named(Color::White, "white"),
        named(Color::Black, "black"),
        of_player(Color::White, "White"),
        of_player(Color::Black, "Black"),
        Some((None, part)),
    ];
    subjects.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_games::pgn_reader::read_games;

    fn loss(tags: &str, end: &str, result: &str) -> Option<TimeLoss> {
        let names = "[White \"Ann B. (x=1)\"]\n[Black \"black.magic\"]\n";
        let text = format!("{names}{tags}[Result \"{result}\"]\n\n1. e4 {{0.1/5 1s}} e5 {{0.1/5 1s{end}}} {result}\n");
        time_loss(&read_games(text.as_bytes()).unwrap()[0])
    }

    #[test]
    fn ends_of_many_programs() {
        let lost = |color| Some(TimeLoss { color, is_drawn: false, over_ms: None });
        let (white, black) = (lost(Color::White), lost(Color::Black));
        let forfeit = "[Termination \"time forfeit\"]\n";
        for (tags, end, result, expected) in [
            // This program, lichess, c-chess-cli: the result shows the side.
            (forfeit, ", time forfeit", "0-1", white),
            ("[Termination \"Time forfeit\"]\n", "", "1-0", black),
            (forfeit, "", "1-0", black),
            // cutechess, fastchess, FICS, ICC, lichess with words, Arena.
            (forfeit, ", White loses on time", "0-1", white),
            ("", ", Black loses on time", "1-0", black),
            ("", ", Black forfeits on time", "1-0", black),
            ("", "} {Black wins on time.", "0-1", white),
            ("", "} {Time forfeit", "0-1", white),
            ("", "} {White ran out of time", "0-1", white),
            ("", "} {Game 457 (Ann vs. black.magic) black.magic forfeits on time", "1-0", black),
            ("[ICCResult \"White forfeits on time\"]\n", "", "0-1", white),
            ("[TerminationDetails \"White loses on time\"]\n[Termination \"time forfeit\"]\n", "", "0-1", white),
            // chess.com names the winner.
            ("[Termination \"Ann B. (x=1) won on time\"]\n", "", "1-0", black),
            ("[Termination \"black.magic won on time\"]\n", "", "0-1", white),
            // The sentence is surer than the result.
            (forfeit, ", White loses on time", "*", white),
            ("[Termination \"time-out\"]\n", "", "1-0", black),
            ("[Termination \"Time_forfeit\"]\n", "", "1-0", black),
            ("", "} {0-1 on time", "0-1", white),
            // A sentence beside commands, as they come when two comments are made one.
            ("", "} {[%clk 0:00:55] Black forfeits on time. ", "1-0", black),
            ("", "} {Black forfeits on time [%clk 0:00:55]", "1-0", black),
            ("", "} {[%eval 3] [%csl Ra1] Black's clock ran out", "1-0", black),
            ("[Termination \"0-1 {White forfeits on time}\"]\n", "", "0-1", white),
            ("[Termination \"outoftime\"]\n", "", "0-1", white),
            // To the end of a line.
            ("", "} ; Black forfeits on time\n{", "1-0", black),
            // No name and no result show it: the side to move.
            (forfeit, "", "*", white),
        ] {
            assert_eq!(loss(tags, end, result), expected, "{tags}{end} {result}");
        }
    }

    #[test]
    fn draws_on_time_and_what_the_runner_counts() {
        let drawn = |color| Some(TimeLoss { color, is_drawn: true, over_ms: None });
        let draw = "1/2-1/2";
        assert_eq!(loss("[Termination \"Time forfeit\"]\n", "", draw), drawn(Color::White));
        assert_eq!(loss("", "} {Draw by time and insufficient material.", draw), drawn(Color::White));
        let chess_com = "[Termination \"Game drawn by timeout vs insufficient material\"]\n";
        assert_eq!(loss(chess_com, "", draw), drawn(Color::White));
        let icc = "} {Black ran out of time and White has no material to mate";
        assert_eq!(loss("", icc, draw), drawn(Color::Black));
        let fics = "} {Game drawn because Black ran out of time and White has no material";
        assert_eq!(loss("", fics, draw), drawn(Color::Black));
        for end in [", White loses on time (9ms overrun)", "} {White loses on\ntime (9ms\noverrun)"] {
            let late = Some(TimeLoss { color: Color::White, is_drawn: false, over_ms: Some(9.0) });
            assert_eq!(loss("", end, "0-1"), late, "{end}");
        }
    }

    #[test]
    fn names_that_look_like_others_are_told_apart_by_the_result() {
        for (white, black, end, result, loser) in [
            ("Stockfish", "Stockfish dev", "Stockfish dev won on time", "0-1", Color::White),
            ("Stockfish", "Stockfish dev", "Stockfish dev loses on time", "1-0", Color::Black),
            ("Stockfish dev", "Stockfish", "Stockfish won on time", "0-1", Color::White),
            ("Zeitnot", "Zeitnot", "Zeitnot forfeits on time", "1-0", Color::Black),
            ("Anna", "Anna", "Anna won on time", "0-1", Color::White),
            ("Black", "White", "White won on time", "0-1", Color::White),
            ("Black wins", "x", "Black wins won on time", "1-0", Color::Black),
            ("Black", "White", "White loses on time", "*", Color::White),
        ] {
            let text = format!(
                "[White \"{white}\"]\n[Black \"{black}\"]\n[Result \"{result}\"]\n\n1. e4 e5 {{{end}}} {result}\n"
            );
            let loss = time_loss(&read_games(text.as_bytes()).unwrap()[0]);
            assert_eq!(loss.map(|loss| loss.color), Some(loser), "{text}");
        }
        let both = "} {Game drawn because both players ran out of time";
        assert!(loss("", both, "1/2-1/2").unwrap().is_drawn);
    }

    #[test]
    fn other_ends_are_none() {
        for (tags, end) in [
            ("[Termination \"normal\"]\n", ""),
            ("[Termination \"adjudication\"]\n", ", White wins by adjudication"),
            ("[Termination \"black.magic won by checkmate\"]\n", ""),
            ("[Termination \"Ann won - game abandoned\"]\n", ""),
            ("", ", Black mates"),
            ("", "} {White plays on, and Black, who had no time left, resigns on time for dinner"),
            ("", "} {White's connection stalls"),
        ] {
            assert_eq!(loss(tags, end, "1-0"), None, "{tags}{end}");
        }
        // Only the last comment closes a game.
        let text = "1. e4 {White loses on time} e5 *\n";
        assert_eq!(time_loss(&read_games(text.as_bytes()).unwrap()[0]), None);
    }
}
