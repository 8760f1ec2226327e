//! The inner loop: thirty-two rows of four-bit codes times activations of eight bits.
//!
//! Written once for every processor, and once with the instructions of AVX2, which `pulp` finds
//! at run time and offers as safe functions. Both add the same integers; a test compares them.
#![expect(
    clippy::indexing_slicing,
    reason = "every index into these arrays is below their fixed size, which the optimiser sees"
)]

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;

use crate::quant::SPAN;

/// How many rows one tile has.
pub(crate) const ROWS: usize = 32;

/// How many activations are multiplied at once, while a tile's codes are in registers.
const BATCH: usize = 4;

/// Thirty-two rows of thirty-two codes, each row with its scale and floor.
///
/// `codes[pair][2 * row + odd]` holds the code of column `2 * pair + odd`: that of `row` in the
/// lower four bits, that of `row + 16` in the upper.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(crate) struct Block {
    codes: [[u8; 2 * ROWS / 2]; SPAN / 2],
    scale: [f32; ROWS],
    floor: [f32; ROWS],
}

impl Default for Block {
    fn default() -> Self {
        Self { codes: [[0; ROWS]; SPAN / 2], scale: [0.0; ROWS], floor: [0.0; ROWS] }
    }
}

impl Block {
    /// Puts codes below 16 into the lane of `row`, which must not have any yet.
    pub(crate) fn set_row(&mut self, row: usize, codes: [u8; SPAN], scale: f32, floor: f32) {
        let (lane, shift) = (row % (ROWS / 2) * 2, if row < ROWS / 2 { 0 } else { 4 });
        for (pair, columns) in self.codes.iter_mut().zip(codes.as_chunks::<2>().0) {
            pair[lane] |= columns[0] << shift;
            pair[lane + 1] |= columns[1] << shift;
        }
        self.scale[row] = scale;
        self.floor[row] = floor;
    }

    /// Adds the weights in the lane of `row` to `weights`.
    pub(crate) fn add_row(&self, row: usize, weights: &mut [f32]) {
        let (lane, shift) = (row % (ROWS / 2) * 2, if row < ROWS / 2 { 0 } else { 4 });
        for (pair, weights) in self.codes.iter().zip(weights.chunks_exact_mut(2)) {
            for (weight, code) in weights.iter_mut().zip([pair[lane], pair[lane + 1]]) {
                *weight += self.scale[row] * f32::from(code >> shift & 15) + self.floor[row];
            }
        }
    }
}

/// Thirty-two activations, rounded to eight bits.
#[derive(Debug, Clone, Copy)]
struct Span {
    pairs: [[i8; 2]; SPAN / 2],
    scale: f32,
    /// The sum of all thirty-two, for the floors of the weights.
    sum: f32,
}

/// What goes into a layer for one token, rounded to eight bits.
#[derive(Debug, Clone)]
pub(crate) struct Activation {
    spans: Vec<Span>,
}

impl Activation {
    /// Rounds `values`, whose number is a multiple of 32.
    pub(crate) fn round(values: &[f32]) -> Self {
        Self { spans: values.as_chunks::<SPAN>().0.iter().map(round).collect() }
    }
}

fn round(values: &[f32; SPAN]) -> Span {
    let largest = values.iter().fold(0f32, |largest, value| largest.max(value.abs()));
    let scale = largest / 127.0;
    let steps = if scale > 0.0 { scale.recip() } else { 0.0 };
    let (mut pairs, mut sum) = ([[0i8; 2]; SPAN / 2], 0i32);
    for (code, value) in pairs.as_flattened_mut().iter_mut().zip(values) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the quotient lies between -127 and 127, and such casts saturate"
        )]
        let rounded = (value * steps).round_ties_even() as i8;
        *code = rounded;
        sum += i32::from(rounded);
    }
    #[expect(clippy::cast_precision_loss, reason = "at most 32 times 127")]
    let sum = sum as f32 * scale;
    Span { pairs, scale, sum }
}

/// Multiplies one tile with each of `inputs`.
pub(crate) fn multiply(
    tile: &[Block],
    planes: usize,
    inputs: &[Activation],
    outputs: &mut [[f32; ROWS]],
) {
    let (batches, rest) = inputs.as_chunks::<BATCH>();
    let (full, single) = outputs.as_chunks_mut::<BATCH>();
    for (inputs, outputs) in batches.iter().zip(full) {
        multiply_batch(tile, planes, inputs, outputs);
    }
    for (input, output) in rest.iter().zip(single) {
        multiply_batch(tile, planes, std::array::from_ref(input), std::array::from_mut(output));
    }
}

fn multiply_batch<const N: usize>(
    tile: &[Block],
    planes: usize,
    inputs: &[Activation; N],
    outputs: &mut [[f32; ROWS]; N],
) {
    let spans = inputs.each_ref().map(|input| input.spans.as_slice());
    #[cfg(target_arch = "x86_64")]
    if let Some(instructions) = pulp::x86::V3::try_new() {
        avx2::multiply(instructions, tile, planes, spans, outputs);
        return;
    }
    portable::multiply(tile, planes, spans, outputs);
}

#[cfg(test)]
mod tests;
