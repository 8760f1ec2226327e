//! The kernel in the instructions of AVX2.
#![expect(
    clippy::inline_always,
    reason = "what is not inlined is compiled without these instructions"
)]

use std::arch::x86_64::{__m256, __m256i};

use pulp::NullaryFnOnce;
use pulp::x86::V3;

use super::{Block, ROWS, SPAN, Span};

/// How many pairs of columns are added in sixteen bits: `8 * 2 * 15 * 127` does not overflow.
const PAIRS: usize = 8;

pub(super) fn multiply<const N: usize>(
    instructions: V3,
    tile: &[Block],
    planes: usize,
    inputs: [&[Span]; N],
    outputs: &mut [[f32; ROWS]; N],
) {
    instructions.vectorize(Multiplication { instructions, tile, planes, inputs, outputs });
}

struct Multiplication<'a, const N: usize> {
    instructions: V3,
    tile: &'a [Block],
    planes: usize,
    inputs: [&'a [Span]; N],
    outputs: &'a mut [[f32; ROWS]; N],
}

impl<const N: usize> NullaryFnOnce for Multiplication<'_, N> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let mut sums = [[self.instructions.avx._mm256_setzero_ps(); ROWS / 8]; N];
        for (place, group) in self.tile.chunks_exact(self.planes).enumerate() {
            let Some(spans) = gather(&self.inputs, place) else { break };
            for block in group {
                add(self.instructions, block, spans, &mut sums);
            }
        }
        *self.outputs = sums.map(pulp::cast);
    }
}

/// Returns the same span of all inputs.
#[inline(always)]
fn gather<'a, const N: usize>(inputs: &[&'a [Span]; N], place: usize) -> Option<[&'a Span; N]> {
    let mut spans = [inputs.first()?.get(place)?; N];
    for (span, input) in spans.iter_mut().zip(inputs) {
        *span = input.get(place)?;
    }
    Some(spans)
}

#[inline(always)]
fn add<const N: usize>(v3: V3, block: &Block, spans: [&Span; N], sums: &mut [[__m256; 4]; N]) {
    let (avx, fma) = (v3.avx, v3.fma);
    let totals = totals(v3, block, spans);
    let scale: [__m256; 4] = pulp::cast(block.scale);
    let floor: [__m256; 4] = pulp::cast(block.floor);
    for n in 0..N {
        let (span_scale, span_sum) =
            (avx._mm256_set1_ps(spans[n].scale), avx._mm256_set1_ps(spans[n].sum));
        for lane in 0..4 {
            let product = avx._mm256_mul_ps(avx._mm256_cvtepi32_ps(totals[n][lane]), span_scale);
            let sum = fma._mm256_fmadd_ps(product, scale[lane], sums[n][lane]);
            sums[n][lane] = fma._mm256_fmadd_ps(floor[lane], span_sum, sum);
        }
    }
}

#[inline(always)]
fn totals<const N: usize>(v3: V3, block: &Block, spans: [&Span; N]) -> [[__m256i; 4]; N] {
    let (avx, avx2) = (v3.avx, v3.avx2);
    let (mask, zero) = (avx._mm256_set1_epi8(15), avx._mm256_setzero_si256());
    let mut totals = [[zero; 4]; N];
    for half in 0..SPAN / 2 / PAIRS {
        let mut sums = [[zero; 2]; N];
        for pair in half * PAIRS..(half + 1) * PAIRS {
            let codes: __m256i = pulp::cast(block.codes[pair]);
            let lower = avx2._mm256_and_si256(codes, mask);
            let upper = avx2._mm256_and_si256(avx2._mm256_srli_epi16::<4>(codes), mask);
            for n in 0..N {
                let columns = avx._mm256_set1_epi16(pulp::cast(spans[n].pairs[pair]));
                let products = avx2._mm256_maddubs_epi16(lower, columns);
                sums[n][0] = avx2._mm256_add_epi16(sums[n][0], products);
                let products = avx2._mm256_maddubs_epi16(upper, columns);
                sums[n][1] = avx2._mm256_add_epi16(sums[n][1], products);
            }
        }
        for n in 0..N {
            for rows in 0..2 {
                let (low, high) = (
                    avx._mm256_castsi256_si128(sums[n][rows]),
                    avx2._mm256_extracti128_si256::<1>(sums[n][rows]),
                );
                let [low, high] = [low, high].map(|sums| avx2._mm256_cvtepi16_epi32(sums));
                totals[n][2 * rows] = avx2._mm256_add_epi32(totals[n][2 * rows], low);
                totals[n][2 * rows + 1] = avx2._mm256_add_epi32(totals[n][2 * rows + 1], high);
            }
        }
    }
    totals
}
