//! Computes the points that an iteration of SPSA tries, and the step that it takes.

use super::parameter::Parameter;
use zeitnot_engine::splitmix::{SplitMix64, mix};

/// The exponent with which steps fall (Spall 1998, III.B: the smallest that is sure to converge works best in
/// practice).
const ALPHA: f64 = 0.602;
/// The exponent with which perturbations fall (Spall 1998, III.B, too).
const GAMMA: f64 = 0.101;
/// The share of the iterations over which the first steps are held back (Spall 1998, III.B: 10 % or less; fishtest and
/// OpenBench: 10 %).
const STABILITY_SHARE: f64 = 0.1;

/// A tuning: its parameters, and the schedule of its steps.
#[derive(Clone, Debug)]
pub struct Spsa {
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// Iterations of the whole tuning, which the schedule is made for.
    pub iterations: u64,
    /// Seed of everything that is random.
    pub seed: u64,
}

/// The two points that an iteration tries.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// The iteration, from 1; after the last one the result is compared with the start.
    pub iteration: u64,
    /// The values of the first point.
    pub plus: Vec<f64>,
    /// The values of the second point, on the other side of the current values.
    pub minus: Vec<f64>,
    /// The side of each parameter on which the first point lies: 1 or -1.
    signs: Vec<f64>,
}

impl Probe {
    /// The index of the cell for this iteration, of `cells` cells: the iterations take them one after another.
    pub fn turn(&self, cells: usize) -> usize {
        (self.iteration.saturating_sub(1) % cells.max(1) as u64) as usize
    }
}

/// The step sizes of one parameter in one iteration.
struct Gain {
    /// How far each of the two points is from the value.
    perturbation: f64,
    /// How far a point won moves the value.
    step: f64,
}

impl Spsa {
    /// The values at the start.
    pub fn start(&self) -> Vec<f64> {
        self.parameters.iter().map(|parameter| parameter.start).collect()
    }

    /// The sizes of an iteration: the perturbation `c_k = c_end (N / k)^gamma`, and the step for a point won
    /// `a_k / c_k` with `a_k = r_end c_end^2 ((A + N) / (A + k))^alpha`. At the last of `N` iterations the perturbation
    /// is `c_end`, and a point won moves the value by `r_end` times that.
    fn gain(&self, parameter: &Parameter, iteration: u64) -> Gain {
        let (last, now) = (self.iterations as f64, iteration as f64);
        let stability = STABILITY_SHARE * last;
        let perturbation = parameter.c_end * (last / now).powf(GAMMA);
        let gain = parameter.r_end * parameter.c_end.powi(2) * ((stability + last) / (stability + now)).powf(ALPHA);
        Gain { perturbation, step: gain / perturbation }
    }

    /// The two points of an iteration around these values, which depend on the seed, the iteration and the values
    /// alone.
    pub fn probe(&self, iteration: u64, values: &[f64]) -> Probe {
        let mut random = SplitMix64(mix(mix(self.seed) ^ iteration));
        let mut probe = Probe { iteration, plus: Vec::new(), minus: Vec::new(), signs: Vec::new() };
        for (parameter, value) in self.parameters.iter().zip(values) {
            let sign = random.choice(&[1.0, -1.0]);
            let perturbation = sign * self.gain(parameter, iteration).perturbation;
            // Both points are rounded by the same number: their distance then varies least.
            let rounding = random.unit();
            probe.plus.push(parameter.playable(parameter.clamped(value + perturbation), rounding));
            probe.minus.push(parameter.playable(parameter.clamped(value - perturbation), rounding));
            probe.signs.push(sign);
        }
        probe
    }

    /// The values after an iteration in which the first point won `points` points more than the second.
    pub fn step(&self, values: &[f64], probe: &Probe, points: f64) -> Vec<f64> {
        let stepped = self.parameters.iter().zip(values).zip(&probe.signs).map(|((parameter, value), sign)| {
            parameter.clamped(value + self.gain(parameter, probe.iteration).step * sign * points)
        });
        stepped.collect()
    }

    /// The playable values nearest to these.
    pub fn result(&self, values: &[f64]) -> Vec<f64> {
        self.parameters.iter().zip(values).map(|(parameter, value)| parameter.nearest(*value)).collect()
    }

    /// The comparison of the result with the start, as one more iteration.
    pub fn comparison(&self, iteration: u64, values: &[f64]) -> Probe {
        Probe { iteration, plus: self.result(values), minus: self.result(&self.start()), signs: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parameter_file::read_parameters;
    use super::*;

    fn spsa(lines: &str, iterations: u64) -> Spsa {
        Spsa { parameters: read_parameters(lines).unwrap(), iterations, seed: 7 }
    }

    #[test]
    fn steps_and_perturbations_end_as_the_parameter_says() {
        let spsa = spsa("a, float, 10, 0, 100, 2, 0.005", 1_000);
        let last = spsa.gain(&spsa.parameters[0], 1_000);
        assert_eq!((last.perturbation, last.step), (2.0, 0.005 * 2.0));
        // The first ones by Spall's formulas with c = c_end N^gamma, a = r_end c_end^2 (A + N)^alpha, A = 0.1 N.
        let first = spsa.gain(&spsa.parameters[0], 1);
        let c = 2.0 * 1_000_f64.powf(0.101);
        let a = 0.005 * 4.0 * 1_100_f64.powf(0.602) / 101_f64.powf(0.602);
        assert!((first.perturbation - c).abs() < 1e-9 && (first.step - a / c).abs() < 1e-9);
        assert!(first.perturbation > last.perturbation && first.step > last.step);
    }

    #[test]
    fn points_lie_on_both_sides_and_a_won_point_moves_towards_its_side() {
        let spsa =
            spsa("a, float, 10, 0, 100, 2, 0.005\nb, float, 0.5, 0, 1, 0.1, 0.005\nc, int, 5, 0, 9, 1, 0.005", 50);
        let values = spsa.start();
        let mut sides = [[0; 2]; 3];
        for iteration in 1..=50 {
            let probe = spsa.probe(iteration, &values);
            assert_eq!(probe, spsa.probe(iteration, &values));
            let stepped = spsa.step(&values, &probe, 2.0);
            for at in 0..3 {
                let side = probe.plus[at] > probe.minus[at];
                assert!(side == (stepped[at] > values[at]) && stepped[at] != values[at], "{probe:?}");
                sides[at][usize::from(side)] += 1;
            }
            assert_eq!(probe.plus[2].fract(), 0.0);
            assert_eq!(spsa.step(&values, &probe, 0.0), values);
        }
        assert!(sides.iter().flatten().all(|count| (10..40).contains(count)), "{sides:?}");
    }

    #[test]
    fn nothing_leaves_its_range() {
        let spsa = spsa("a, float, 0, 0, 1, 0.5, 5", 10);
        let probe = spsa.probe(1, &[0.0]);
        assert!(probe.plus[0].min(probe.minus[0]) == 0.0 && probe.plus[0].max(probe.minus[0]) <= 1.0, "{probe:?}");
        for points in [-9.0, 9.0] {
            assert!((0.0..=1.0).contains(&spsa.step(&[0.0], &probe, points)[0]));
        }
    }

    /// Games whose expected points are the difference of two quadratic functions of the values, with the optimum at 3,
    /// 0.4 and 20.
    fn points(probe: &Probe, noise: f64, random: &mut SplitMix64) -> f64 {
        let loss = |values: &[f64]| {
            let [a, b, c] = values else { panic!("three values") };
            ((a - 3.0) / 2.0).powi(2) + ((b - 0.4) / 0.3).powi(2) + ((c - 20.0) / 10.0).powi(2)
        };
        let uniform = random.unit();
        loss(&probe.minus) - loss(&probe.plus) + noise * (2.0 * uniform - 1.0)
    }

    fn tuned(noise: f64, seed: u64, sense: f64) -> Vec<f64> {
        let lines = "a, float, 5, 0, 10, 0.5, 0.02\nb, float, 0.9, 0, 1, 0.08, 0.02\nc, int, 5, 0, 40, 2, 0.02";
        let spsa = Spsa { seed, ..spsa(lines, 2_000) };
        let mut random = SplitMix64(seed);
        let mut values = spsa.start();
        for iteration in 1..=spsa.iterations {
            let probe = spsa.probe(iteration, &values);
            values = spsa.step(&values, &probe, sense * points(&probe, noise, &mut random));
        }
        spsa.result(&values)
    }

    #[test]
    fn the_optimum_of_a_quadratic_function_is_found() {
        let values = tuned(0.0, 1, 1.0);
        assert!((values[0] - 3.0).abs() < 0.05 && (values[1] - 0.4).abs() < 0.01, "{values:?}");
        assert!((values[2] - 20.0).abs() <= 1.0, "{values:?}");
        // The other way it would run to the ends of the ranges.
        let away = tuned(0.0, 1, -1.0);
        assert!(away[0] > 9.5 && away[1] > 0.95 && away[2] < 2.0, "{away:?}");
    }

    #[test]
    fn noise_as_of_games_leaves_an_error_that_is_expected() {
        // A deviation of 1.15 points: that of a pair of games is about 1. Over 20 tunings the mean is the optimum, and
        // no single one is far away.
        let runs: Vec<Vec<f64>> = (0..20).map(|seed| tuned(2.0, seed, 1.0)).collect();
        for (at, (optimum, scale)) in [(3.0, 2.0), (0.4, 0.3), (20.0, 10.0)].into_iter().enumerate() {
            let errors: Vec<f64> = runs.iter().map(|values| (values[at] - optimum) / scale).collect();
            let mean = errors.iter().sum::<f64>() / errors.len() as f64;
            let deviation = (errors.iter().map(|error| error.powi(2)).sum::<f64>() / errors.len() as f64).sqrt();
            assert!(mean.abs() < 0.1 && deviation < 0.3, "{at}: mean {mean:.3}, deviation {deviation:.3}");
            assert!(deviation > 0.0, "noise has an effect");
        }
    }
}
