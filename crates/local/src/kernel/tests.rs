use super::*;
use crate::matrix::Matrix;
use crate::quant::Kind;
use crate::trial::random_block;

const COLUMNS: usize = 256;

fn activations(count: usize, chance: &mut fastrand::Rng) -> (Vec<Vec<f32>>, Vec<Activation>) {
    let random = |_| std::iter::repeat_with(|| chance.f32() - 0.5).take(COLUMNS).collect();
    let values: Vec<Vec<f32>> = (0..count).map(random).collect();
    let rounded = values.iter().map(|values| Activation::round(values)).collect();
    (values, rounded)
}

fn random_matrix(kind: Kind, rows: usize, chance: &mut fastrand::Rng) -> Matrix {
    let blocks = rows * COLUMNS / kind.block().0;
    let bytes: Vec<u8> = (0..blocks).flat_map(|_| random_block(kind, chance)).collect();
    Matrix::pack(kind, &bytes, rows, COLUMNS).unwrap()
}

#[test]
fn both_kernels_give_the_same() {
    let mut chance = fastrand::Rng::with_seed(3);
    let tile: Vec<Block> = (0..COLUMNS / SPAN)
        .map(|_| {
            let mut block = Block::default();
            for row in 0..ROWS {
                let codes = std::array::from_fn(|_| chance.u8(..16));
                block.set_row(row, codes, chance.f32(), -chance.f32());
            }
            block
        })
        .collect();
    let (_, inputs) = activations(5, &mut chance);
    let mut found = vec![[0.0; ROWS]; inputs.len()];
    multiply(&tile, 1, &inputs, &mut found);
    for (found, input) in found.iter().zip(&inputs) {
        let mut expected = [[0.0; ROWS]];
        portable::multiply(&tile, 1, [input.spans.as_slice()], &mut expected);
        assert_eq!(found.map(f32::to_bits), expected[0].map(f32::to_bits));
    }
}

#[test]
fn extreme_codes_do_not_overflow() {
    let mut block = Block::default();
    for row in 0..ROWS {
        block.set_row(row, [15; SPAN], 1.0, 0.0);
    }
    for sign in [1.0, -1.0] {
        let input = Activation::round(&[sign; SPAN]);
        let mut found = [[0.0; ROWS]];
        multiply(std::slice::from_ref(&block), 1, &[input], &mut found);
        for sum in found.as_flattened() {
            assert!((sum - sign * 480.0).abs() < 0.01, "{sum}");
        }
    }
}

#[test]
fn products_are_those_of_the_weights() {
    let mut chance = fastrand::Rng::with_seed(4);
    for kind in [Kind::Q4_0, Kind::Q4_1, Kind::Q8_0, Kind::Q4K, Kind::Q6K] {
        // Not a multiple of the rows of a tile.
        let matrix = random_matrix(kind, 70, &mut chance);
        let (values, inputs) = activations(6, &mut chance);
        let products = matrix.multiply(&inputs).into_rows();
        assert_eq!(products.len(), 70 * 6);
        for (values, products) in values.iter().zip(products.chunks_exact(70)) {
            for (row, product) in products.iter().enumerate() {
                let mut weights = [0.0; COLUMNS];
                matrix.row(row, &mut weights);
                let terms = weights.iter().zip(values);
                let (exact, size) = terms.fold((0.0, 0.0f32), |(sum, size), (weight, value)| {
                    (sum + weight * value, size + (weight * value).abs())
                });
                assert!((product - exact).abs() <= 0.01 * size, "{kind:?} {product} {exact}");
            }
        }
    }
}

#[test]
fn a_product_does_not_depend_on_its_batch() {
    let mut chance = fastrand::Rng::with_seed(5);
    let matrix = random_matrix(Kind::Q4_1, 64, &mut chance);
    let (_, inputs) = activations(7, &mut chance);
    let together = matrix.multiply(&inputs).into_rows();
    let alone: Vec<f32> = inputs
        .iter()
        .flat_map(|input| matrix.multiply(std::slice::from_ref(input)).into_rows())
        .collect();
    assert_eq!(together, alone);
}

#[test]
fn rows_that_nobody_wants_are_left_out() {
    let mut chance = fastrand::Rng::with_seed(6);
    let matrix = random_matrix(Kind::Q8_0, 70, &mut chance);
    let (_, inputs) = activations(1, &mut chance);
    let all = matrix.multiply(&inputs).into_rows();
    let some = matrix.multiply_some(&inputs[0], f32::NEG_INFINITY, |tile| tile == 1);
    assert_eq!(some.len(), 70);
    assert_eq!(some[32..64], all[32..64]);
    assert!(some[..32].iter().chain(&some[64..]).all(|score| *score == f32::NEG_INFINITY));
}
