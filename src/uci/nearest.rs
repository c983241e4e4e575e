//! Finds the known word that a mistyped one was meant to be.

/// Letters that a word must have for each of its mistyped letters.
const LETTERS_PER_FAULT: usize = 3;
/// Longest word, in bytes, that is compared with the known ones.
const LONGEST_WORD: usize = 40;

/// A question for the end of an error about an unknown word, `; did you mean "..."?`; empty if none is similar.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default()
}

fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST_WORD {
        return None;
    }
    let faults = |known: &str| strsim::osa_distance(&word.to_lowercase(), &known.to_lowercase());
    let most = word.chars().count() / LETTERS_PER_FAULT;
    let near = known.into_iter().map(|known| (faults(known), known)).filter(|(faults, _)| *faults <= most);
    near.min_by_key(|(faults, _)| *faults).map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_of_the_letters_may_be_wrong() {
        let known = ["position", "ponderhit", "go", "stop", "uci"];
        for (word, near) in [
            ("postion", Some("position")),
            ("posiiton", Some("position")),
            ("UCI", Some("uci")),
            ("sotp", Some("stop")),
            ("Go", Some("go")),
            ("xx", None),
            ("xyzzy", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, known), near, "{word}");
        }
        assert_eq!(nearest(&"position".repeat(9), known), None);
        assert_eq!(did_you_mean("stp", known), "; did you mean \"stop\"?");
        assert_eq!(did_you_mean("none of these", known), "");
    }
}
