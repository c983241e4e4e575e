//! Reads a file of parameters: OpenBench's lines, `#` before a comment.

use super::parameter::{Parameter, ParameterError};
use thiserror::Error;

/// Why a file declares no parameters. The text is one line.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ParameterFileError {
    /// A line does not declare a parameter.
    #[error("line {line}: {error}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// The problem with the line; part of the text, and so no `source` that would say it again.
        error: ParameterError,
    },
    /// A parameter is declared twice.
    #[error("line {line}: {name} for the second time")]
    Twice {
        /// The line, from 1.
        line: usize,
        /// The parameter.
        name: String,
    },
    /// The file has no parameters.
    #[error("there is no parameter in it; a line is NAME, int|float, VALUE, MIN, MAX, C_END, R_END")]
    Empty,
}

/// The parameters of a file, in its order.
///
/// # Errors
/// [`ParameterFileError`] for the first line that is wrong.
pub fn read_parameters(text: &str) -> Result<Vec<Parameter>, ParameterFileError> {
    let mut parameters: Vec<Parameter> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let (line, content) = (index + 1, line.split('#').next().unwrap_or_default().trim());
        if content.is_empty() {
            continue;
        }
        let parameter: Parameter = content.parse().map_err(|error| ParameterFileError::Line { line, error })?;
        if parameters.iter().any(|other| other.name.eq_ignore_ascii_case(&parameter.name)) {
            return Err(ParameterFileError::Twice { line, name: parameter.name });
        }
        parameters.push(parameter);
    }
    if parameters.is_empty() { Err(ParameterFileError::Empty) } else { Ok(parameters) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_empty_lines_are_left_out() {
        let text =
            "# of the search\n\nCPuct, float, 1.7, 1, 3, 0.2, 0.002 # Lc0's\r\nFpuValue, float, 0.3, 0, 1, 0.1, 0.002";
        let names: Vec<String> = read_parameters(text).unwrap().into_iter().map(|parameter| parameter.name).collect();
        assert_eq!(names, ["CPuct", "FpuValue"]);
    }

    #[test]
    fn wrong_lines_are_told_by_their_number() {
        let error = |text: &str| read_parameters(text).unwrap_err().to_string();
        assert!(error("#\n\nCPuct, float").starts_with("line 3: no NAME"), "{}", error("#\n\nCPuct, float"));
        let line = "CPuct, float, 1.7, 1, 3, 0.2, 0.002\n";
        assert_eq!(error(&format!("{line}{}", line.to_lowercase())), "line 2: cpuct for the second time");
        assert!(error("# nothing\n").starts_with("there is no parameter in it"));
    }
}
