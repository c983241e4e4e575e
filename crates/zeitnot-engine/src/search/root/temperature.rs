//! Chooses a move at random, the likelier the more it was visited (docs/lc0.md, 3.6): for varied openings and for
//! training.

/// Percent in `TempValueCutoff` for one unit of Q: a certain loss and a certain win are 100 % and 2 units apart.
const PERCENT_OF_Q: f32 = 50.0;

/// Sets how random the choice is, and until which move of the game. Names and defaults are Lc0's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Temperature {
    /// Temperature at the first move; 0 plays the best move.
    pub initial: f32,
    /// Moves over which the temperature falls linearly to 0; 0: it does not fall.
    pub decay_moves: u32,
    /// Moves before the temperature begins to fall.
    pub decay_delay_moves: u32,
    /// The move number from which [`Temperature::endgame`] holds; 0: never.
    pub cutoff_move: u32,
    /// Temperature from the cutoff move on, and the lowest to which it falls.
    pub endgame: f32,
    /// Loss of value against the most visited move beyond which a move is not played, in percent of the chance to win.
    pub value_cutoff: f32,
    /// Added to the visits of every move; moves that are then below 0 are not played.
    pub visit_offset: f32,
    /// Share of the chances, the largest first, within which a move is chosen; 1: all moves.
    pub top_p: f32,
}

/// A move to choose from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    /// Visits.
    pub n: u32,
    /// Value for the side to move.
    pub q: f32,
    /// Prior; it counts when no move has visits.
    pub p: f32,
}

impl Temperature {
    /// No randomness: always the best move.
    pub(crate) const NONE: Temperature = Temperature {
        initial: 0.0,
        decay_moves: 0,
        decay_delay_moves: 0,
        cutoff_move: 0,
        endgame: 0.0,
        value_cutoff: 100.0,
        visit_offset: 0.0,
        top_p: 1.0,
    };

    /// The temperature for the move after `ply` plies of the game; 0: the best move is played.
    pub(crate) fn at(&self, ply: u32) -> f32 {
        let moves = ply / 2;
        if self.cutoff_move > 0 && moves + 1 >= self.cutoff_move {
            return self.endgame;
        }
        if self.initial == 0.0 || self.decay_moves == 0 {
            return self.initial;
        }
        let left = self.decay_delay_moves.saturating_add(self.decay_moves).saturating_sub(moves);
        let share = (left as f32 / self.decay_moves as f32).min(1.0);
        (self.initial * share).max(self.endgame)
    }

    /// The index of the move to play at `temperature`, which is more than 0. `toss` is a random number from 0 to 1
    /// (less than 1). `None` when no move may be played.
    pub(crate) fn choose(&self, moves: &[Choice], temperature: f32, toss: f32) -> Option<usize> {
        let visits = |choice: &Choice| choice.n as f32 + self.visit_offset;
        // The first of the most visited ones.
        let (mut most, mut q_of_most) = (0.0, -1.0);
        for choice in moves.iter().filter(|choice| visits(choice) > 0.0) {
            if visits(choice) > most {
                (most, q_of_most) = (visits(choice), choice.q);
            }
        }
        let least_q = q_of_most - self.value_cutoff / PERCENT_OF_Q;
        let weight = |choice: &Choice| {
            if choice.q < least_q {
                return 0.0;
            }
            let share = if most > 0.0 { visits(choice) / most } else { choice.p };
            share.max(0.0).powf(1.0 / temperature)
        };
        let mut weights: Vec<f32> = moves.iter().map(weight).collect();
        if self.top_p < 1.0 {
            leave_out_the_rest(&mut weights, self.top_p);
        }
        let mut left = toss * weights.iter().sum::<f32>();
        let mut last = None;
        for (index, weight) in weights.into_iter().enumerate().filter(|(_, weight)| *weight > 0.0) {
            last = Some(index);
            left -= weight;
            if left < 0.0 {
                break;
            }
        }
        last
    }
}

/// Sets the weight of every move to 0 but of the likeliest ones that together have at most this share of all, or of the
/// likeliest alone if it has more: the rule of Maia-3's own program.
fn leave_out_the_rest(weights: &mut [f32], share: f32) {
    let limit = share * weights.iter().sum::<f32>();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
    let mut taken = 0.0;
    for (rank, index) in order.into_iter().enumerate() {
        taken += weights[index];
        if rank > 0 && taken > limit {
            weights[index] = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WARM: Temperature = Temperature { initial: 1.0, ..Temperature::NONE };

    fn choices(list: &[(u32, f32, f32)]) -> Vec<Choice> {
        list.iter().map(|(n, q, p)| Choice { n: *n, q: *q, p: *p }).collect()
    }

    #[test]
    fn it_falls_after_a_delay_and_not_below_the_endgame() {
        let falling = Temperature { initial: 0.8, decay_moves: 10, decay_delay_moves: 5, ..Temperature::NONE };
        // Move 5 (ply 10) is the last at full temperature, at move 10 half is left, from move 15 on nothing.
        let at = |temperature: &Temperature| [0, 10, 12, 20, 29, 30, 500].map(|ply| temperature.at(ply));
        for (temperature, expected) in at(&falling).iter().zip([0.8, 0.8, 0.72, 0.4, 0.08, 0.0, 0.0]) {
            assert!((temperature - expected).abs() < 1e-6, "{temperature} {expected}");
        }
        assert_eq!(at(&Temperature { endgame: 0.5, ..falling })[3..], [0.5, 0.5, 0.5, 0.5]);
        let cut = Temperature { cutoff_move: 8, endgame: 0.3, ..WARM };
        assert_eq!([13, 14, 15].map(|ply| cut.at(ply)), [1.0, 0.3, 0.3], "the eighth move is after 14 plies");
        assert_eq!(Temperature::NONE.at(0), 0.0);
        assert_eq!(Temperature { endgame: 0.5, decay_moves: 3, ..Temperature::NONE }.at(0), 0.0, "Lc0: no cutoff");
    }

    #[test]
    fn only_the_likeliest_moves_are_chosen_within_a_share() {
        // Chances 0.2, 0.5, 0.3.
        let moves = choices(&[(0, 0.0, 0.2), (0, 0.0, 0.5), (0, 0.0, 0.3)]);
        let chosen = |top_p: f32| {
            let within = Temperature { top_p, ..WARM };
            [0.0, 0.3, 0.6, 0.9].map(|toss| within.choose(&moves, 1.0, toss).unwrap())
        };
        assert_eq!(chosen(1.0), [0, 1, 1, 2]);
        assert_eq!(chosen(0.85), [1, 1, 1, 2], "0.8 of all are left: the second begins at 0.625 of them");
        assert_eq!([chosen(0.7), chosen(0.0)], [[1; 4]; 2], "the likeliest is left in any case");
    }

    #[test]
    fn moves_are_chosen_by_their_visits() {
        let moves = choices(&[(60, 0.0, 0.5), (30, 0.0, 0.3), (0, 0.0, 0.1), (10, 0.0, 0.1)]);
        let chosen = |temperature: f32, toss: f32| WARM.choose(&moves, temperature, toss);
        // Weights 1, 1/2, 0 and 1/6 of 5/3: the second begins at 0.6, the last at 0.9.
        assert_eq!([0.0, 0.59, 0.61, 0.89, 0.91, 0.9999].map(|toss| chosen(1.0, toss)), [0, 0, 1, 1, 3, 3].map(Some));
        // At 1/2 they are squares: 1, 1/4, 0, 1/36 of 46/36, so the second begins at 0.7826, the last at 0.9783.
        assert_eq!([0.78, 0.79, 0.97, 0.98].map(|toss| chosen(0.5, toss)), [0, 1, 1, 3].map(Some));
        assert_eq!(chosen(1e-3, 0.999), Some(0), "close to 0 it is the best");
    }

    #[test]
    fn bad_moves_are_left_out() {
        let moves = choices(&[(60, 0.5, 0.5), (40, 0.1, 0.5)]);
        // Q may be less by 2 * 0.2 = 0.4 at most; 0.19 of the way is 0.38.
        assert_eq!(Temperature { value_cutoff: 20.5, ..WARM }.choose(&moves, 1.0, 0.9), Some(1));
        assert_eq!(Temperature { value_cutoff: 19.0, ..WARM }.choose(&moves, 1.0, 0.9), Some(0));
    }

    #[test]
    fn the_offset_counts_with_the_visits() {
        let moves = choices(&[(3, 0.0, 0.5), (1, 0.0, 0.25), (0, 0.0, 0.25)]);
        // Weights 1, 0 and 0 with -1.5; 4/4, 2/4 and 1/4 with 1: the last begins at 6/7.
        assert_eq!(Temperature { visit_offset: -1.5, ..WARM }.choose(&moves, 1.0, 0.99), Some(0));
        let more = Temperature { visit_offset: 1.0, ..WARM };
        assert_eq!([0.85, 0.86].map(|toss| more.choose(&moves, 1.0, toss)), [Some(1), Some(2)]);
        // Without a visit left the priors decide.
        let none = Temperature { visit_offset: -5.0, ..WARM };
        assert_eq!([0.49, 0.51, 0.76].map(|toss| none.choose(&moves, 1.0, toss)), [0, 1, 2].map(Some));
        assert_eq!(WARM.choose(&[], 1.0, 0.5), None);
    }
}
