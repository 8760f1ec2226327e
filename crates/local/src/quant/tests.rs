use test_case::test_case;

use super::*;
use crate::trial::random_block;

fn weights(kind: Kind, block: &[u8]) -> Vec<f32> {
    let mut spans = Vec::new();
    kind.decode(block, &mut spans);
    let weights =
        |span: Quantized| span.codes.map(|code| span.scale * f32::from(code) + span.floor);
    spans.into_iter().flat_map(weights).collect()
}

/// The loops of the reference implementation, from a block to its weights.
fn reference(kind: Kind, block: &[u8]) -> Vec<f32> {
    match kind {
        Kind::Q4_0 => simple(block, 2, None, 8.0),
        Kind::Q4_1 => simple(block, 4, None, f32::NAN),
        Kind::Q5_0 => simple(block, 6, Some(2), 16.0),
        Kind::Q5_1 => simple(block, 8, Some(4), f32::NAN),
        Kind::Q8_0 => {
            block[2..].iter().map(|byte| f32::from(byte.cast_signed()) * half(block, 0)).collect()
        }
        Kind::Q4K => k_quants(block, None, &block[16..]),
        Kind::Q5K => k_quants(block, Some(&block[16..48]), &block[48..]),
        Kind::Q6K => six_bit_quants(block),
        Kind::F32 | Kind::F16 | Kind::Bf16 => panic!("floats have no codes"),
    }
}

/// A middle that is no number stands for a floor in the block.
fn simple(block: &[u8], codes: usize, fifth: Option<usize>, middle: f32) -> Vec<f32> {
    let (d, m) = (half(block, 0), half(block, 2));
    let qs = &block[codes..];
    let qh = fifth.map_or(0, |at| u32::from_le_bytes(block[at..at + 4].try_into().unwrap()));
    let mut y = vec![0.0; 32];
    for j in 0..16 {
        let high = |place: usize| if (qh >> place) & 1 == 1 { 16 } else { 0 };
        let x0 = f32::from((qs[j] & 0xf) | high(j));
        let x1 = f32::from((qs[j] >> 4) | high(j + 16));
        let value = |x: f32| if middle.is_nan() { x * d + m } else { (x - middle) * d };
        (y[j], y[j + 16]) = (value(x0), value(x1));
    }
    y
}

fn k_quants(block: &[u8], fifth: Option<&[u8]>, ql: &[u8]) -> Vec<f32> {
    let (d, m) = (half(block, 0), half(block, 2));
    let mut y = vec![0.0; 256];
    for j in 0..4 {
        for half in 0..2 {
            let (scale, floor) = scale_min(2 * j + half, &block[4..16]);
            for l in 0..32 {
                let low = if half == 0 { ql[32 * j + l] & 0xf } else { ql[32 * j + l] >> 4 };
                let bit = fifth.is_some_and(|qh| qh[l] & (1 << (2 * j + half)) != 0);
                let code = f32::from(low + if bit { 16 } else { 0 });
                y[64 * j + 32 * half + l] = d * scale * code - m * floor;
            }
        }
    }
    y
}

fn six_bit_quants(block: &[u8]) -> Vec<f32> {
    let d = half(block, 208);
    let mut y = vec![0.0; 256];
    for n in 0..2 {
        let (ql, qh) = (&block[64 * n..], &block[128 + 32 * n..]);
        for l in 0..32 {
            let codes = [
                (ql[l] & 0xf) | ((qh[l] & 3) << 4),
                (ql[l + 32] & 0xf) | (((qh[l] >> 2) & 3) << 4),
                (ql[l] >> 4) | (((qh[l] >> 4) & 3) << 4),
                (ql[l + 32] >> 4) | (((qh[l] >> 6) & 3) << 4),
            ];
            for (part, code) in codes.into_iter().enumerate() {
                let scale = block[192 + 8 * n + l / 16 + 2 * part].cast_signed();
                y[128 * n + 32 * part + l] = d * f32::from(scale) * (f32::from(code) - 32.0);
            }
        }
    }
    y
}

fn scale_min(j: usize, q: &[u8]) -> (f32, f32) {
    let (scale, min) = if j < 4 {
        (q[j] & 63, q[j + 4] & 63)
    } else {
        ((q[j + 4] & 0xf) | ((q[j - 4] >> 6) << 4), (q[j + 4] >> 4) | ((q[j] >> 6) << 4))
    };
    (f32::from(scale), f32::from(min))
}

#[test_case(Kind::Q4_0, 0.0)]
#[test_case(Kind::Q4_1, 0.0)]
#[test_case(Kind::Q5_0, 0.0)]
#[test_case(Kind::Q5_1, 0.0)]
#[test_case(Kind::Q8_0, 0.0)]
#[test_case(Kind::Q4K, 0.0)]
#[test_case(Kind::Q5K, 0.0)]
#[test_case(Kind::Q6K, 0.002; "Q6K is rounded to eight bits")]
fn blocks_have_the_weights_of_the_reference(kind: Kind, tolerance: f32) {
    let mut chance = fastrand::Rng::with_seed(7);
    for _ in 0..50 {
        let block = random_block(kind, &mut chance);
        let (found, expected) = (weights(kind, &block), reference(kind, &block));
        let largest = expected.iter().fold(0f32, |largest, weight| largest.max(weight.abs()));
        assert_eq!(found.len(), kind.block().0);
        for (found, expected) in found.iter().zip(&expected) {
            let error = (found - expected).abs();
            assert!(error <= largest * (2.0 * tolerance + 1e-6), "{found} is not {expected}");
        }
    }
}

#[test_case(0x0000, 0.0)]
#[test_case(0x3c00, 1.0)]
#[test_case(0xc000, -2.0)]
#[test_case(0x0001, 5.960_464_5e-8; "the smallest")]
#[test_case(0x7bff, 65504.0; "the largest")]
#[test_case(0x7c00, f32::INFINITY)]
fn halves_are_exact(bits: u16, value: f32) {
    assert_eq!(half(&bits.to_le_bytes(), 0).to_bits(), value.to_bits());
}

proptest::proptest! {
    #[test]
    fn floats_are_rounded_to_the_nearest_of_256_steps(seed: u64, range in 0.001f32..100.0) {
        let mut chance = fastrand::Rng::with_seed(seed);
        let floats: [f32; SPAN] = std::array::from_fn(|_| (chance.f32() - 0.5) * range);
        let block: Vec<u8> = floats.iter().flat_map(|weight| weight.to_le_bytes()).collect();
        for (found, expected) in weights(Kind::F32, &block).iter().zip(floats) {
            proptest::prop_assert!((found - expected).abs() <= range / 255.0 * 0.51);
        }
    }
}
