//! Turns values of parameters into options of the engine.

use super::manager_parameter::ManagerParameter;
use super::parameter::Parameter;
use thiserror::Error;
use zeitnot_engine::engine::options::{OptionSpec, find};
use zeitnot_engine::engine::{Kind, Options, is_same_network};

/// The option that holds the specification of the time manager.
const TIME_MANAGER: &str = "TimeManager";

/// Why a parameter cannot be tuned. The text is one line.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum TargetError {
    /// The name is neither an option nor a manager's parameter.
    #[error("{name}: neither an option of the engine nor a parameter of a time manager, as smooth(extension) is")]
    Unknown {
        /// The parameter.
        name: String,
    },
    /// The option does not take numbers.
    #[error("{name}: an option that is {expected} cannot be tuned, only one that is a number")]
    NoNumber {
        /// The option.
        name: String,
        /// The option's values, in words.
        expected: String,
    },
    /// The option takes only whole numbers.
    #[error("{name}: its type is int, since the option is {expected}")]
    Whole {
        /// The option.
        name: String,
        /// The option's values, in words.
        expected: String,
    },
    /// The engine plays with another time manager.
    #[error("{name}: the time manager is {manager}")]
    OtherManager {
        /// The parameter.
        name: String,
        /// The specification of the manager.
        manager: String,
    },
    /// The parameter does not take a value.
    #[error("{name} = {value}: {problem}")]
    Value {
        /// The parameter.
        name: String,
        /// The value.
        value: f64,
        /// The reason.
        problem: String,
    },
    /// The parameter has no effect on the stops of recorded searches.
    #[error(
        "{name} has no effect on recorded searches: they know the time manager, the stoppers and the overhead alone"
    )]
    NoEffect {
        /// The parameter.
        name: String,
    },
    /// Another value would load another network.
    #[error("{name}: another value loads the network anew, which no tuning does")]
    Network {
        /// The option.
        name: String,
    },
}

/// The target that a parameter is set on: an option, or a number of the time manager.
#[derive(Clone)]
enum Target {
    Option(&'static OptionSpec),
    Manager(ManagerParameter),
}

/// The targets that the parameters of a tuning are set on.
#[derive(Clone)]
pub struct Targets {
    base: Options,
    /// The specification of the time manager in which parameters are set.
    manager: String,
    targets: Vec<Target>,
    names: Vec<String>,
}

impl Targets {
    /// Finds the targets of the parameters; `base` has all other options. Where `base` has the usual manager, the
    /// manager that the parameters name plays instead.
    ///
    /// # Errors
    /// [`TargetError`], also where a parameter does not take its least, its largest or its first value.
    pub fn new(base: &Options, parameters: &[Parameter]) -> Result<Targets, TargetError> {
        let targets: Vec<Target> = parameters.iter().map(target).collect::<Result<_, _>>()?;
        let named = targets.iter().find_map(|target| match target {
            Target::Manager(parameter) => Some(parameter.manager().to_owned()),
            Target::Option(_) => None,
        });
        let is_usual = base.time_manager == Options::default().time_manager;
        let manager = named.filter(|_| is_usual).unwrap_or_else(|| base.time_manager.clone());
        let names = parameters.iter().map(|parameter| parameter.name.clone()).collect();
        let targets = Targets { base: base.clone(), manager, targets, names };
        for (parameter, [low, high]) in parameters.iter().zip(targets.ranges(parameters)?) {
            if !is_same_network(&low, &high) {
                return Err(TargetError::Network { name: parameter.name.clone() });
            }
        }
        Ok(targets)
    }

    /// The options with the least and with the largest value of each parameter, where the other parameters have their
    /// first values.
    ///
    /// # Errors
    /// [`TargetError`] for the first invalid value.
    pub fn ranges(&self, parameters: &[Parameter]) -> Result<Vec<[Options; 2]>, TargetError> {
        let start: Vec<f64> = parameters.iter().map(|parameter| parameter.start).collect();
        self.options(&start)?;
        let with = |index: usize, value: f64| {
            let mut values = start.clone();
            values[index] = value;
            self.options(&values)
        };
        let ends =
            |(index, parameter): (usize, &Parameter)| Ok([with(index, parameter.min)?, with(index, parameter.max)?]);
        parameters.iter().enumerate().map(ends).collect()
    }

    /// Checks that the stops of recorded searches depend on all the parameters.
    ///
    /// # Errors
    /// [`TargetError::NoEffect`], or the error of an invalid value.
    pub fn check_effect(&self, parameters: &[Parameter]) -> Result<(), TargetError> {
        for (parameter, [low, high]) in parameters.iter().zip(self.ranges(parameters)?) {
            let is_same = low.stopper_params() == high.stopper_params();
            if is_same && low.time_manager_spec() == high.time_manager_spec() {
                return Err(TargetError::NoEffect { name: parameter.name.clone() });
            }
        }
        Ok(())
    }

    /// The settings that give the parameters these values: options and their values as text, the time manager last.
    ///
    /// # Errors
    /// [`TargetError::OtherManager`].
    pub fn settings(&self, values: &[f64]) -> Result<Vec<(&'static str, String)>, TargetError> {
        let (mut settings, mut specification) = (Vec::new(), None);
        for ((target, name), value) in self.targets.iter().zip(&self.names).zip(values) {
            match target {
                Target::Option(spec) => settings.push((spec.name, value.to_string())),
                Target::Manager(parameter) => {
                    let manager = specification.as_ref().unwrap_or(&self.manager);
                    let set = parameter.set(manager, *value);
                    let other = || TargetError::OtherManager { name: name.clone(), manager: self.manager.clone() };
                    specification = Some(set.ok_or_else(other)?);
                }
            }
        }
        settings.extend(specification.map(|specification| (TIME_MANAGER, specification)));
        Ok(settings)
    }

    /// The options with these values of the parameters.
    ///
    /// # Errors
    /// [`TargetError`] for the first invalid value.
    pub fn options(&self, values: &[f64]) -> Result<Options, TargetError> {
        let mut options = self.base.clone();
        for (option, text) in self.settings(values)? {
            let set = options.set(option, &text).map_err(|error| error.to_string());
            let set = match option {
                TIME_MANAGER => set.and_then(|()| zeitnot_time::build(&text).map(drop).map_err(|e| e.to_string())),
                _ => set,
            };
            set.map_err(|problem| self.blame(option, values, problem))?;
        }
        Ok(options)
    }

    /// The error that names the parameter to blame for an option that does not take its value.
    fn blame(&self, option: &str, values: &[f64], problem: String) -> TargetError {
        let is_meant = |(target, value): &(&Target, &f64)| match target {
            Target::Option(spec) => spec.name == option,
            // One value alone makes a manager that cannot be built, where it is out of its range.
            Target::Manager(parameter) => {
                let alone = parameter.set(&self.manager, **value);
                option == TIME_MANAGER && alone.is_none_or(|alone| zeitnot_time::build(&alone).is_err())
            }
        };
        let place = self.targets.iter().zip(values).position(|pair| is_meant(&pair)).unwrap_or_default();
        TargetError::Value { name: self.names[place].clone(), value: values[place], problem }
    }
}

fn target(parameter: &Parameter) -> Result<Target, TargetError> {
    let name = parameter.name.clone();
    if let Some(manager) = ManagerParameter::parse(&name) {
        return Ok(Target::Manager(manager));
    }
    let spec = find(&name).ok_or_else(|| TargetError::Unknown { name: name.clone() })?;
    match spec.kind {
        Kind::Spin { .. } if !parameter.is_whole => Err(TargetError::Whole { name, expected: spec.kind.to_string() }),
        Kind::Spin { .. } | Kind::Float { .. } | Kind::Steps { .. } => Ok(Target::Option(spec)),
        _ => Err(TargetError::NoNumber { name, expected: spec.kind.to_string() }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::parameter_file::read_parameters;
    use super::*;

    fn targets(base: &Options, lines: &str) -> Result<Targets, TargetError> {
        Targets::new(base, &read_parameters(lines).unwrap())
    }

    const EXTENSION: &str = "smooth(extension), float, 0.5, 0, 2, 0.1, 0.002";

    #[test]
    fn options_and_the_parameters_of_a_manager_are_set_together() {
        let lines = format!("cpuct, float, 1.7, 1, 3, 0.2, 0.002\n{EXTENSION}\nMinibatchSize, int, 8, 1, 64, 2, 0.002");
        let base = Options { time_manager: "smooth(init-nps=5)".into(), ..Options::default() };
        let targets = targets(&base, &lines).unwrap();
        let text =
            |settings: Vec<(&str, String)>| settings.iter().map(|(n, v)| format!("{n}={v} ")).collect::<String>();
        let settings = text(targets.settings(&[2.5, 0.75, 16.0]).unwrap());
        assert_eq!(settings, "CPuct=2.5 MinibatchSize=16 TimeManager=smooth(init-nps=5,extension=0.75) ");
        let options = targets.options(&[2.5, 0.75, 16.0]).unwrap();
        assert_eq!((options.cpuct, options.minibatch_size, options.threads), (2.5, 16, base.threads));
        assert_eq!(options.time_manager, "smooth(init-nps=5,extension=0.75)");
    }

    #[test]
    fn the_manager_that_parameters_name_plays_unless_told_otherwise() {
        let price = "legacy(slowmover), float, 1, 0.5, 2, 0.1, 0.002";
        let options = targets(&Options::default(), price).unwrap().options(&[1.25]).unwrap();
        assert_eq!(options.time_manager, "legacy(slowmover=1.25)");
        let base = Options { time_manager: "simple".into(), ..Options::default() };
        let error = targets(&base, price).err().unwrap();
        assert_eq!(error.to_string(), "legacy(slowmover): the time manager is simple");
    }

    #[test]
    fn what_cannot_be_tuned_is_told_in_one_line() {
        for (lines, expected) in [
            ("Nonsense, float, 1, 0, 2, 0.1, 0.002", "Nonsense: neither an option"),
            ("Ponder, int, 1, 0, 2, 1, 0.002", "Ponder: an option that is true or false"),
            ("TimeManager, float, 1, 0, 2, 0.1, 0.002", "TimeManager: an option that is a text"),
            ("MinibatchSize, float, 8, 1, 64, 2, 0.002", "MinibatchSize: its type is int"),
            ("CPuct, float, 1, -1, 2, 0.1, 0.002", "CPuct = -1: option CPuct: \"-1\" is not a number from 0 to 100"),
            (
                "smooth(extension), float, 0.5, 0, 20, 0.1, 0.002",
                "smooth(extension) = 20: smooth.extension = 20: out of",
            ),
            ("smooth(nonsense), float, 0.5, 0, 2, 0.1, 0.002", "smooth(nonsense) = 0.5: smooth has no parameter"),
            ("none(x), float, 0.5, 0, 2, 0.1, 0.002", "none(x) = 0.5: unknown time manager"),
            (
                "Threads, int, 1, 1, 4, 1, 0.002\nsmooth(x), float, 0.5, 0, 2, 0.1, 0.002",
                "smooth(x) = 0.5: smooth has no",
            ),
        ] {
            let error = targets(&Options::default(), lines).err().unwrap().to_string();
            assert!(error.starts_with(expected) && error.lines().count() == 1, "{lines}: {error}");
        }
    }
}
