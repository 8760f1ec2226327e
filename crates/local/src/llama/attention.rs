//! Attention: what one head takes from the tokens before it.
#![expect(
    clippy::inline_always,
    reason = "what is not inlined is compiled without the instructions that were found"
)]

use pulp::{Arch, Simd, WithSimd};

/// How many products are summed side by side, so that vector instructions can be used.
const LANES: usize = 16;

/// One head's view of the cache: keys and values of all tokens lie `stride` apart.
pub(super) struct Head<'a> {
    pub(super) query: &'a [f32],
    pub(super) keys: &'a [f32],
    pub(super) values: &'a [f32],
    pub(super) stride: usize,
    /// Where the head's part of a key begins.
    pub(super) offset: usize,
}

impl Head<'_> {
    /// Writes what the head takes from the tokens that the cache holds.
    pub(super) fn attend(self, output: &mut [f32]) {
        Arch::new().dispatch(Attention { head: self, output });
    }
}

struct Attention<'a, 'b> {
    head: Head<'a>,
    output: &'b mut [f32],
}

impl WithSimd for Attention<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { head: Head { query, keys, values, stride, offset }, output } = self;
        #[expect(clippy::cast_precision_loss, reason = "a head is less than 65,536 wide")]
        let scale = (query.len() as f32).sqrt().recip();
        let mut weights: Vec<f32> = keys
            .chunks_exact(stride)
            .map(|key| scale * product(query, key.get(offset..).unwrap_or_default()))
            .collect();
        soften(&mut weights);
        output.fill(0.0);
        for (weight, value) in weights.iter().zip(values.chunks_exact(stride)) {
            for (sum, value) in output.iter_mut().zip(value.get(offset..).unwrap_or_default()) {
                *sum += weight * value;
            }
        }
    }
}

#[inline(always)]
fn product(left: &[f32], right: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    let (left, left_rest) = left.as_chunks::<LANES>();
    let (right, right_rest) = right.as_chunks::<LANES>();
    for (left, right) in left.iter().zip(right) {
        for (sum, (left, right)) in sums.iter_mut().zip(left.iter().zip(right)) {
            *sum += left * right;
        }
    }
    let rest: f32 = left_rest.iter().zip(right_rest).map(|(left, right)| left * right).sum();
    sums.iter().sum::<f32>() + rest
}

/// Turns scores into weights that sum to one.
#[inline(always)]
fn soften(scores: &mut [f32]) {
    let largest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for score in scores.iter_mut() {
        *score = (*score - largest).exp();
        sum += *score;
    }
    for score in scores {
        *score /= sum;
    }
}
