//! Lc0's scale between values and centipawns: 90·tan(1.5637541897·q) (docs/lc0.md, 3.8).

const SCALE: f64 = 90.0;
const ANGLE: f64 = 1.563_754_189_7;

/// The centipawns of a value from −1 (loss) to 1 (win); about ±12,780 at the ends.
pub fn of_value(value: f64) -> f64 {
    SCALE * (ANGLE * value.clamp(-1.0, 1.0)).tan()
}

/// The value, from −1 (loss) to 1 (win), that is worth `cp` centipawns.
pub fn value_of(cp: f64) -> f64 {
    ((cp / SCALE).atan() / ANGLE).clamp(-1.0, 1.0)
}
