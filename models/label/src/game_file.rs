//! Writes labelled games as bytes, little endian, one after the other; a shard is a gzip stream of them.
//!
//! A game is: u8 length of its FEN, u8 length of its opening moves (0 here: openings are FENs), u16 number of plies;
//! the FEN; then the plies. A ply is: u8 n; n bytes, `round(255 sqrt(p))` of each legal move in ascending order of its
//! policy index (Lc0's 1858 entries, castling as king takes rook); u16 W and u16 D of 65535, for the side to move; u16
//! moves left in sixteenths of a ply; u16 policy index of the move played. A ply without a label has n = 0 and the move
//! played alone.

use std::io::{self, Write};

/// Units per ply in which moves left are stored.
const LEFT_UNIT: f32 = 16.0;

/// A game and its labels.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelledGame {
    /// The FEN of the start position.
    pub fen: String,
    /// The moves of the game.
    pub plies: Vec<Ply>,
}

/// A move of a game.
#[derive(Clone, Debug, PartialEq)]
pub struct Ply {
    /// The teacher's label of the position before the move.
    pub label: Option<Label>,
    /// The policy index of the move.
    pub played: u16,
}

/// The teacher's evaluation of a position, in the precision of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    policy: Box<[u8]>,
    win: u16,
    draw: u16,
    left: u16,
}

impl Label {
    /// Encodes a label. `policy` has the policy index and probability of each legal move, at least one; `win` and
    /// `draw` are probabilities for the side to move, and `left` is in plies.
    pub fn new(mut policy: Vec<(u16, f32)>, win: f32, draw: f32, left: f32) -> Label {
        policy.sort_unstable_by_key(|(index, _)| *index);
        let sixteen_bits = |share: f32| (share.clamp(0.0, 1.0) * f32::from(u16::MAX)).round() as u16;
        Label {
            policy: policy.iter().map(|(_, p)| (p.max(0.0).sqrt() * f32::from(u8::MAX)).round() as u8).collect(),
            win: sixteen_bits(win),
            draw: sixteen_bits(draw),
            left: (left.max(0.0) * LEFT_UNIT).round() as u16,
        }
    }

    /// The probability that the better of the two sides wins.
    pub fn sureness(&self) -> f32 {
        let loss = u16::MAX - self.win.saturating_add(self.draw);
        f32::from(self.win.max(loss)) / f32::from(u16::MAX)
    }
}

impl LabelledGame {
    /// Plies that have a label.
    pub fn labels(&self) -> usize {
        self.plies.iter().filter(|ply| ply.label.is_some()).count()
    }

    /// Appends the game to a shard.
    ///
    /// # Errors
    ///
    /// The errors of the writer, and when a FEN, a game or a list of moves is too long for its field.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let too_long =
            |what| io::Error::new(io::ErrorKind::InvalidInput, format!("{what} is too long for a game file"));
        to.write_all(&[u8::try_from(self.fen.len()).map_err(|_| too_long("a FEN"))?, 0])?;
        to.write_all(&u16::try_from(self.plies.len()).map_err(|_| too_long("a game"))?.to_le_bytes())?;
        to.write_all(self.fen.as_bytes())?;
        for ply in &self.plies {
            match &ply.label {
                None => to.write_all(&[0])?,
                Some(Label { policy, win, draw, left }) => {
                    to.write_all(&[u8::try_from(policy.len()).map_err(|_| too_long("a list of moves"))?])?;
                    to.write_all(policy)?;
                    for number in [win, draw, left] {
                        to.write_all(&number.to_le_bytes())?;
                    }
                }
            }
            to.write_all(&ply.played.to_le_bytes())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labelled_game_is_written_as_documented() {
        let label = Label::new(vec![(300, 0.25), (7, 0.75)], 0.5, 0.25, 10.5);
        let plies = vec![Ply { label: Some(label), played: 300 }, Ply { label: None, played: 0x0102 }];
        let game = LabelledGame { fen: "8/8".to_owned(), plies };
        assert_eq!(game.labels(), 1);
        let mut bytes = Vec::new();
        game.write(&mut bytes).unwrap();
        // Ascending index: 7 with sqrt(0.75) * 255 = 220.8, then 300 with sqrt(0.25) * 255 = 127.5.
        let ply = [2, 221, 128, 0x00, 0x80, 0x00, 0x40, 168, 0, 44, 1];
        let expected: Vec<u8> = [&[3, 0, 2, 0][..], b"8/8", &ply, &[0, 2, 1]].concat();
        assert_eq!(bytes, expected);
    }

    #[test]
    fn sureness_is_that_of_the_surer_side() {
        assert!((Label::new(vec![(0, 1.0)], 0.9, 0.1, 0.0).sureness() - 0.9).abs() < 1e-4);
        assert!((Label::new(vec![(0, 1.0)], 0.1, 0.1, 0.0).sureness() - 0.8).abs() < 1e-4);
        assert!(Label::new(vec![(0, 1.0)], 0.0, 1.0, 0.0).sureness() < 1e-4);
    }

    #[test]
    fn a_fen_too_long_for_its_field_is_refused() {
        let game = LabelledGame { fen: "8".repeat(300), plies: Vec::new() };
        assert!(game.write(&mut Vec::new()).unwrap_err().to_string().contains("a FEN is too long"));
    }
}
