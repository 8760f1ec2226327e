//! The kernel for every processor.

use super::{Block, ROWS, SPAN, Span};

/// How many pairs of columns are added in sixteen bits: `8 * 2 * 15 * 127` does not overflow.
const PAIRS: usize = 8;

pub(super) fn multiply<const N: usize>(
    tile: &[Block],
    planes: usize,
    inputs: [&[Span]; N],
    outputs: &mut [[f32; ROWS]; N],
) {
    *outputs = [[0.0; ROWS]; N];
    for (place, group) in tile.chunks_exact(planes).enumerate() {
        for (input, output) in inputs.iter().zip(outputs.iter_mut()) {
            let Some(span) = input.get(place) else { continue };
            for block in group {
                add(block, span, output);
            }
        }
    }
}

fn add(block: &Block, span: &Span, output: &mut [f32; ROWS]) {
    let mut totals = [0i32; ROWS];
    for half in 0..SPAN / 2 / PAIRS {
        let mut sums = [0i16; ROWS];
        for pair in half * PAIRS..(half + 1) * PAIRS {
            let (codes, [even, odd]) = (&block.codes[pair], span.pairs[pair].map(i16::from));
            for row in 0..ROWS / 2 {
                let (first, second) = (codes[2 * row], codes[2 * row + 1]);
                sums[row] += i16::from(first & 15) * even + i16::from(second & 15) * odd;
                sums[row + ROWS / 2] += i16::from(first >> 4) * even + i16::from(second >> 4) * odd;
            }
        }
        for (total, sum) in totals.iter_mut().zip(sums) {
            *total += i32::from(sum);
        }
    }
    for row in 0..ROWS {
        #[expect(clippy::cast_precision_loss, reason = "at most 32 * 15 * 127")]
        let product = totals[row] as f32 * span.scale;
        output[row] = product.mul_add(block.scale[row], output[row]);
        output[row] = block.floor[row].mul_add(span.sum, output[row]);
    }
}
