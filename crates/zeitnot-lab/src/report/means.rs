//! Averages quantities of moves over groups of nearby numbers, such as move numbers.

use zeitnot_games::sample::Mean;

/// Consecutive numbers that are averaged together, as in the tables of `time compare`.
const STRIDE: usize = 5;
/// Least moves that an average needs.
const LEAST_MOVES: usize = 5;

/// Means over all moves with one number: of a quantity of the moves, and of another quantity for each manager.
#[derive(Clone, Debug)]
pub struct Row {
    /// The mean of the first quantity.
    pub first: Mean,
    /// The mean of the other quantity, one for each manager.
    pub of_managers: Vec<Mean>,
}

/// A row of means for each number, such as a move number, from 0.
#[derive(Clone, Debug, Default)]
pub struct Rows(Vec<Row>);

impl Rows {
    /// Adds a move to the row with number `at`: its first quantity, and the other one by each manager that gives it.
    pub fn add(&mut self, at: usize, first: f64, of_managers: &[Option<f64>]) {
        if self.0.len() <= at {
            let empty = Row { first: Mean::default(), of_managers: vec![Mean::default(); of_managers.len()] };
            self.0.resize(at + 1, empty);
        }
        let row = &mut self.0[at];
        row.first.add(first);
        for (mean, number) in row.of_managers.iter_mut().zip(of_managers) {
            number.iter().for_each(|number| mean.add(*number));
        }
    }

    /// Joins rows of [`STRIDE`] consecutive numbers to groups, each with its first number, and leaves out groups of
    /// fewer than [`LEAST_MOVES`] moves. With `is_one_game` each row is a group.
    pub fn groups(&self, is_one_game: bool) -> Vec<(usize, Row)> {
        // Five moves of one game are no average over games.
        let (stride, least) = if is_one_game { (1, 1) } else { (STRIDE, LEAST_MOVES) };
        let joined = self.0.chunks(stride).enumerate().map(|(index, rows)| {
            let mut all = rows[0].clone();
            for row in &rows[1..] {
                all.first = all.first.join(row.first);
                all.of_managers.iter_mut().zip(&row.of_managers).for_each(|(all, mean)| *all = all.join(*mean));
            }
            (index * stride, all)
        });
        joined.filter(|(_, row)| row.first.count >= least).collect()
    }
}
