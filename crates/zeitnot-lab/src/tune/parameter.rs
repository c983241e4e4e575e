//! Describes a parameter that is tuned: its range and its steps, as a line of OpenBench gives them.

use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Steps in the last perturbation that a value is rounded to: finer differences play the same games but for chance.
const ROUNDING_STEPS: f64 = 100.0;
/// Most decimals of a value.
const MOST_DECIMALS: f64 = 12.0;
/// The smallest last perturbation of a whole-number parameter: with less, both points of an iteration would be the same
/// number.
const LEAST_WHOLE_STEP: f64 = 0.5;
/// Fields of a line behind the name.
const FIELDS: usize = 6;

/// A parameter that is tuned.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The name: an option of the engine (`CPuct`), or a parameter of a time manager (`smooth(extension)`).
    pub name: String,
    /// Whether the parameter takes whole numbers alone.
    pub is_whole: bool,
    /// The value at the start.
    pub start: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// The perturbation of the last iteration, in units of the value.
    pub c_end: f64,
    /// The last step for one point won, as a multiple of the last perturbation (OpenBench's usual value is 0.002).
    pub r_end: f64,
}

/// Why a line declares no parameter. The text is one line.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ParameterError {
    /// The line has other fields.
    #[error("no NAME, int|float, VALUE, MIN, MAX, C_END, R_END")]
    Fields,
    /// The type is neither `int` nor `float`.
    #[error("{name}: {given:?} is no type; int and float are")]
    Type {
        /// The parameter.
        name: String,
        /// The text in its place.
        given: String,
    },
    /// A field is no number.
    #[error("{name}: {field} {given:?} is no number")]
    Number {
        /// The parameter.
        name: String,
        /// The field.
        field: &'static str,
        /// The text in its place.
        given: String,
    },
    /// The numbers contradict each other.
    #[error("{name}: {problem}")]
    Range {
        /// The parameter.
        name: String,
        /// The problem.
        problem: String,
    },
}

impl FromStr for Parameter {
    type Err = ParameterError;

    fn from_str(line: &str) -> Result<Parameter, ParameterError> {
        // A name may have commas in parentheses, the other fields have none.
        let fields: Vec<&str> = line.rsplitn(FIELDS + 1, ',').map(str::trim).collect();
        let [r_end, c_end, max, min, start, kind, name] = fields[..] else { return Err(ParameterError::Fields) };
        let name = name.to_owned();
        if name.is_empty() {
            return Err(ParameterError::Fields);
        }
        let is_whole = match kind {
            "int" => true,
            "float" => false,
            _ => return Err(ParameterError::Type { name, given: kind.to_owned() }),
        };
        let number = |field: &'static str, text: &str| {
            let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
            value.ok_or_else(|| ParameterError::Number { name: name.clone(), field, given: text.to_owned() })
        };
        let parameter = Parameter {
            is_whole,
            start: number("value", start)?,
            min: number("min", min)?,
            max: number("max", max)?,
            c_end: number("c_end", c_end)?,
            r_end: number("r_end", r_end)?,
            name: name.clone(),
        };
        parameter.check().map_err(|problem| ParameterError::Range { name, problem })?;
        Ok(parameter)
    }
}

impl Parameter {
    fn check(&self) -> Result<(), String> {
        let Parameter { start, min, max, c_end, r_end, .. } = *self;
        if min >= max {
            return Err(format!("min {min} is not below max {max}"));
        }
        if !(min..=max).contains(&start) {
            return Err(format!("{start} is not from {min} to {max}"));
        }
        if c_end <= 0.0 || 2.0 * c_end > max - min {
            return Err(format!(
                "c_end {c_end} is not more than 0 and at most half of the way from {min} to {max}: both points of an \
                 iteration are that far from the value"
            ));
        }
        if r_end <= 0.0 {
            return Err(format!("r_end {r_end} is not more than 0"));
        }
        if self.is_whole && c_end < LEAST_WHOLE_STEP {
            return Err(format!(
                "c_end {c_end} is less than {LEAST_WHOLE_STEP}, which would not change a whole number"
            ));
        }
        if self.is_whole && [start, min, max].iter().any(|value| value.fract() != 0.0) {
            return Err("value, min and max of an int are whole numbers".to_owned());
        }
        Ok(())
    }

    /// The value nearest to `value` in its range.
    pub fn clamped(&self, value: f64) -> f64 {
        value.clamp(self.min, self.max)
    }

    /// A value as it can be played. A whole-number parameter is rounded down or up by `random`, a number from 0 to 1,
    /// to the nearer number the likelier; another one keeps as many decimals as keep points apart.
    pub fn playable(&self, value: f64, random: f64) -> f64 {
        let value = if self.is_whole { (value + random).floor() } else { rounded(value, self.decimals()) };
        self.clamped(value)
    }

    /// The playable value nearest to `value`.
    pub fn nearest(&self, value: f64) -> f64 {
        self.playable(value, 0.5)
    }

    /// Decimals of a playable value.
    pub fn decimals(&self) -> usize {
        if self.is_whole { 0 } else { (ROUNDING_STEPS / self.c_end).log10().ceil().clamp(0.0, MOST_DECIMALS) as usize }
    }

    /// The line that declares the parameter with another start.
    pub fn line(&self, start: f64) -> String {
        Parameter { start, ..self.clone() }.to_string()
    }
}

/// A number rounded to `decimals` decimals: the very number that its text reads as, to the last bit.
fn rounded(value: f64, decimals: usize) -> f64 {
    format!("{value:.decimals$}").parse().unwrap_or(value)
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parameter { name, start, min, max, c_end, r_end, .. } = self;
        let kind = if self.is_whole { "int" } else { "float" };
        write!(f, "{name}, {kind}, {start}, {min}, {max}, {c_end}, {r_end}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "smooth(extension), float, 0.5, 0, 2, 0.1, 0.002";

    #[test]
    fn lines_are_read_and_written() {
        let parameter: Parameter = LINE.parse().unwrap();
        assert_eq!(
            (parameter.start, parameter.min, parameter.max, parameter.c_end, parameter.r_end, parameter.is_whole),
            (0.5, 0.0, 2.0, 0.1, 0.002, false)
        );
        assert_eq!(parameter.to_string(), LINE);
        assert_eq!(parameter.line(0.75), "smooth(extension), float, 0.75, 0, 2, 0.1, 0.002");
        let spaced: Parameter = " a(b, c) ,int,5 , -1,  9, 1.5,1e-3 ".parse().unwrap();
        assert_eq!(spaced.to_string(), "a(b, c), int, 5, -1, 9, 1.5, 0.001");
    }

    #[test]
    fn what_is_no_parameter_is_told() {
        for (line, expected) in [
            ("CPuct", "no NAME, int|float, VALUE"),
            (", float, 0.5, 0, 2, 0.1, 0.002", "no NAME"),
            ("CPuct, real, 1, 0, 2, 0.1, 0.002", "CPuct: \"real\" is no type"),
            ("CPuct, float, x, 0, 2, 0.1, 0.002", "CPuct: value \"x\" is no number"),
            ("CPuct, float, 1, 0, inf, 0.1, 0.002", "CPuct: max \"inf\" is no number"),
            ("CPuct, float, 1, 2, 2, 0.1, 0.002", "CPuct: min 2 is not below max 2"),
            ("CPuct, float, 3, 0, 2, 0.1, 0.002", "CPuct: 3 is not from 0 to 2"),
            ("CPuct, float, 1, 0, 2, 1.1, 0.002", "CPuct: c_end 1.1 is not more than 0 and at most half"),
            ("CPuct, float, 1, 0, 2, 0, 0.002", "CPuct: c_end 0 is not more than 0"),
            ("CPuct, float, 1, 0, 2, 0.1, -1", "CPuct: r_end -1 is not more than 0"),
            ("MinibatchSize, int, 8, 1, 64, 0.4, 0.002", "MinibatchSize: c_end 0.4 is less than 0.5"),
            ("MinibatchSize, int, 8.5, 1, 64, 4, 0.002", "MinibatchSize: value, min and max of an int are whole"),
        ] {
            let error = line.parse::<Parameter>().unwrap_err().to_string();
            assert!(error.starts_with(expected) && error.lines().count() == 1, "{line}: {error}");
        }
    }

    #[test]
    fn played_values_are_whole_or_short_and_in_the_range() {
        let float: Parameter = LINE.parse().unwrap();
        assert_eq!((float.decimals(), float.playable(0.123_456, 0.9), float.playable(9.0, 0.0)), (3, 0.123, 2.0));
        let coarse: Parameter = "a, float, 3000, 1, 1e9, 500, 0.002".parse().unwrap();
        assert_eq!((coarse.decimals(), coarse.nearest(3_123.6)), (0, 3_124.0));
        let int: Parameter = "a, int, 5, 0, 9, 1, 0.002".parse().unwrap();
        assert_eq!([0.0, 0.69, 0.71].map(|random| int.playable(5.3, random)), [5.0, 5.0, 6.0]);
        assert_eq!((int.nearest(5.5), int.playable(9.0, 0.999)), (6.0, 9.0));
    }
}
