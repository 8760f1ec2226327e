//! Rotary positions: queries and keys are turned by an angle for each place in the text.

use super::shape::{Rotation, Shape};

/// How fast each pair of a head turns.
#[derive(Debug)]
pub(super) struct Rotary {
    frequencies: Vec<f32>,
    rotation: Rotation,
    head_width: usize,
}

/// Sine and cosine of each pair, at one position.
#[derive(Debug)]
pub(super) struct Angles(Vec<(f32, f32)>);

impl Rotary {
    /// Makes the frequencies of a model; `factors` slow some of them down, for long contexts.
    #[expect(clippy::cast_precision_loss, reason = "a head is less than 65,536 wide")]
    pub(super) fn new(shape: &Shape, factors: Option<&[f32]>) -> Self {
        let width = shape.rotated as f32;
        let frequencies = (0..shape.rotated / 2)
            .map(|pair| {
                let factor = factors.and_then(|factors| factors.get(pair)).copied().unwrap_or(1.0);
                shape.base.powf(-2.0 * pair as f32 / width) / factor
            })
            .collect();
        Self { frequencies, rotation: shape.rotation, head_width: shape.head_width }
    }

    /// Returns the angles at a position.
    #[expect(clippy::cast_precision_loss, reason = "a context is less than 65,536 long")]
    pub(super) fn angles(&self, position: usize) -> Angles {
        Angles(self.frequencies.iter().map(|each| (each * position as f32).sin_cos()).collect())
    }

    /// Turns every head of `heads`.
    pub(super) fn turn(&self, angles: &Angles, heads: &mut [f32]) {
        for head in heads.chunks_exact_mut(self.head_width) {
            match self.rotation {
                Rotation::Pairs => {
                    for (pair, (sine, cosine)) in head.chunks_exact_mut(2).zip(&angles.0) {
                        if let [first, second] = pair {
                            turn(first, second, *sine, *cosine);
                        }
                    }
                }
                Rotation::Halves => {
                    let (firsts, seconds) = head.split_at_mut(self.frequencies.len());
                    for ((first, second), (sine, cosine)) in
                        firsts.iter_mut().zip(seconds).zip(&angles.0)
                    {
                        turn(first, second, *sine, *cosine);
                    }
                }
            }
        }
    }
}

fn turn(first: &mut f32, second: &mut f32, sine: f32, cosine: f32) {
    (*first, *second) = (*first * cosine - *second * sine, *first * sine + *second * cosine);
}
