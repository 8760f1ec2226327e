//! Weight matrices, packed for the kernel.
//!
//! Thirty-two rows lie side by side in a tile, so that one vector instruction serves them all. A
//! matrix of eight-bit weights is two planes of four-bit codes, the upper one with a scale sixteen
//! times as large: one kernel serves every element type.

use rayon::iter::{IndexedParallelIterator as _, IntoParallelIterator as _, ParallelIterator as _};
use rayon::slice::{ParallelSlice as _, ParallelSliceMut as _};

use crate::kernel::{self, Activation, Block, ROWS};
use crate::quant::{Kind, Quantized, SPAN};

/// How many tiles a thread takes at once.
const TILES_PER_TASK: usize = 4;

/// A matrix, or the outcome of packing one.
#[derive(Debug)]
pub(crate) struct Matrix {
    rows: usize,
    /// How many blocks one tile has: spans times planes.
    blocks_per_tile: usize,
    planes: usize,
    blocks: Vec<Block>,
}

/// What a matrix makes of some activations: for each tile, one output of 32 rows per activation.
#[derive(Debug)]
pub(crate) struct Product {
    rows: usize,
    inputs: usize,
    outputs: Vec<[f32; ROWS]>,
}

impl Matrix {
    /// Packs `rows` of `columns` weights, as `bytes` hold them, if all of them are numbers.
    pub(crate) fn pack(kind: Kind, bytes: &[u8], rows: usize, columns: usize) -> Option<Self> {
        let (weights, size) = kind.block();
        let planes = planes(kind);
        let row_bytes = columns / weights * size;
        let blocks_per_tile = columns / SPAN * planes;
        let mut blocks = vec![Block::default(); rows.div_ceil(ROWS) * blocks_per_tile];
        let tiles = blocks.par_chunks_mut(blocks_per_tile).zip(bytes.par_chunks(row_bytes * ROWS));
        tiles.try_for_each(|(tile, rows)| {
            let mut codes = Vec::new();
            for (row, bytes) in rows.chunks_exact(row_bytes).enumerate() {
                codes.clear();
                bytes.chunks_exact(size).for_each(|block| kind.decode(block, &mut codes));
                if !codes.iter().all(Quantized::is_finite) {
                    return None;
                }
                place(tile, planes, row, &codes);
            }
            Some(())
        })?;
        Some(Self { rows, blocks_per_tile, planes, blocks })
    }

    /// Writes the weights of one row, as an embedding is looked up; nothing if there is no such row.
    pub(crate) fn row(&self, row: usize, into: &mut [f32]) {
        let tile =
            self.blocks.chunks_exact(self.blocks_per_tile).nth(row / ROWS).unwrap_or_default();
        for (span, group) in into.chunks_exact_mut(SPAN).zip(tile.chunks_exact(self.planes)) {
            span.fill(0.0);
            for block in group {
                block.add_row(row % ROWS, span);
            }
        }
    }

    /// Multiplies all rows with each of `inputs`.
    pub(crate) fn multiply(&self, inputs: &[Activation]) -> Product {
        let mut outputs = vec![[0.0; ROWS]; self.rows.div_ceil(ROWS) * inputs.len()];
        outputs
            .par_chunks_mut(TILES_PER_TASK * inputs.len().max(1))
            .zip(self.blocks.par_chunks(TILES_PER_TASK * self.blocks_per_tile))
            .for_each(|(outputs, blocks)| {
                let tiles = outputs
                    .chunks_exact_mut(inputs.len())
                    .zip(blocks.chunks_exact(self.blocks_per_tile));
                for (outputs, tile) in tiles {
                    kernel::multiply(tile, self.planes, inputs, outputs);
                }
            });
        Product { rows: self.rows, inputs: inputs.len(), outputs }
    }

    /// Multiplies with one input the rows of tiles that `wanted` names; the others stay at `rest`.
    pub(crate) fn multiply_some(
        &self,
        input: &Activation,
        rest: f32,
        wanted: impl Fn(usize) -> bool + Sync,
    ) -> Vec<f32> {
        let tiles = self.blocks.par_chunks(self.blocks_per_tile);
        let mut outputs: Vec<f32> = (0..self.rows.div_ceil(ROWS))
            .into_par_iter()
            .zip(tiles)
            .flat_map_iter(|(tile, blocks)| {
                let mut output = [[rest; ROWS]];
                if wanted(tile) {
                    kernel::multiply(blocks, self.planes, std::slice::from_ref(input), &mut output);
                }
                output.into_iter().flatten()
            })
            .collect();
        outputs.truncate(self.rows);
        outputs
    }
}

impl Product {
    /// Appends the outputs of one input, in the order of the rows.
    pub(crate) fn extend(&self, input: usize, into: &mut Vec<f32>) {
        let end = into.len() + self.rows;
        for output in self.outputs.iter().skip(input).step_by(self.inputs.max(1)) {
            into.extend_from_slice(output);
        }
        into.truncate(end);
    }

    /// Returns the outputs of all inputs, one after the other.
    pub(crate) fn into_rows(self) -> Vec<f32> {
        let mut rows = Vec::with_capacity(self.rows.next_multiple_of(ROWS) * self.inputs);
        for input in 0..self.inputs {
            self.extend(input, &mut rows);
        }
        rows
    }
}

/// Returns how many bytes a matrix takes when it is packed.
pub(crate) fn packed_bytes(kind: Kind, rows: u64, columns: u64) -> u64 {
    let spans = rows.div_ceil(ROWS as u64).saturating_mul(columns.div_ceil(SPAN as u64));
    spans.saturating_mul((planes(kind) * size_of::<Block>()) as u64)
}

/// Returns how many planes of four-bit codes hold weights of a type.
fn planes(kind: Kind) -> usize {
    if kind.fits_four_bits() { 1 } else { 2 }
}

/// Puts the codes of one row into its lane of the tile.
fn place(tile: &mut [Block], planes: usize, row: usize, codes: &[Quantized]) {
    for (group, codes) in tile.chunks_exact_mut(planes).zip(codes) {
        match group {
            [only] => only.set_row(row, codes.codes, codes.scale, codes.floor),
            [lower, upper] => {
                lower.set_row(row, codes.codes.map(|code| code & 15), codes.scale, codes.floor);
                upper.set_row(row, codes.codes.map(|code| code >> 4), codes.scale * 16.0, 0.0);
            }
            _ => {}
        }
    }
}
