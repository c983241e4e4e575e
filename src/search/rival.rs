//! The highest of many scores and the next highest, several at a time.

/// Numbers that are worked on together. The compiler makes vector code of it.
pub(super) const LANES: usize = 8;

/// The place of the highest score, the first of equals, and the next highest of the others.
pub(super) fn best_and_rival(scores: &[f32]) -> (usize, f32) {
    let (chunks, rest) = scores.as_chunks::<LANES>();
    let (mut highest, mut second) = ([f32::NEG_INFINITY; LANES], [f32::NEG_INFINITY; LANES]);
    let mut take = |lane: usize, score: f32| {
        second[lane] = greater(lesser(score, highest[lane]), second[lane]);
        highest[lane] = greater(score, highest[lane]);
    };
    for chunk in chunks {
        for (lane, score) in chunk.iter().enumerate() {
            take(lane, *score);
        }
    }
    for (lane, score) in rest.iter().enumerate() {
        take(lane, *score);
    }
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for lane in 0..width {
            let (one, other) = (highest[lane], highest[lane + width]);
            second[lane] = greater(greater(second[lane], second[lane + width]), lesser(one, other));
            highest[lane] = greater(one, other);
        }
    }
    (scores.iter().position(|score| *score == highest[0]).unwrap_or(0), second[0])
}

/// The greater of two numbers, the second where one is NaN; [`f32::max`] takes care of that, in three instructions more.
#[inline]
fn greater(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

#[inline]
fn lesser(a: f32, b: f32) -> f32 {
    if a > b { b } else { a }
}
