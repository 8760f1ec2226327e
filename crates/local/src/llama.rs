//! Models of the Llama architecture, and Qwen 2, which differs in its biases and rotation.

mod attention;
mod rotation;
mod shape;

use rayon::iter::{IndexedParallelIterator as _, ParallelIterator as _};
use rayon::slice::ParallelSliceMut as _;
use toktrie::SimpleVob;

use crate::engine::{Engine, EngineError};
use crate::kernel::{Activation, ROWS};
use crate::matrix::Matrix;
use crate::weights::{Weights, WeightsError};
use attention::Head;
use rotation::{Angles, Rotary};
use shape::Shape;

/// How many tokens are evaluated together: enough to use each weight many times while it is near.
const BATCH: usize = 64;

// A word of a set of tokens has as many bits as a tile has rows, so that it says of a whole tile
// whether it is wanted.
const _: () = assert!(ROWS == 32, "a tile has as many rows as a word has bits");

/// One layer's weights.
#[derive(Debug)]
struct Layer {
    attention_norm: Vec<f32>,
    query: Projection,
    key: Projection,
    value: Projection,
    output: Matrix,
    inner_norm: Vec<f32>,
    gate: Matrix,
    up: Matrix,
    down: Matrix,
}

/// A matrix, and what is added to its product.
#[derive(Debug)]
struct Projection {
    matrix: Matrix,
    bias: Option<Vec<f32>>,
}

/// A model with its weights, what it has read so far, and its threads.
#[derive(Debug)]
pub struct Llama {
    shape: Shape,
    embedding: Matrix,
    layers: Vec<Layer>,
    norm: Vec<f32>,
    /// The rows that score tokens; the embedding serves where it is absent.
    head: Option<Matrix>,
    rotary: Rotary,
    cache: Cache,
    threads: rayon::ThreadPool,
}

/// Keys and values of the tokens read so far, by layer, and the state after the last one.
#[derive(Debug, Default)]
struct Cache {
    layers: Vec<(Vec<f32>, Vec<f32>)>,
    length: usize,
    state: Option<Vec<f32>>,
}

impl Llama {
    /// Reads the weights into memory, to be used by so many threads.
    pub fn load(weights: &mut Weights, threads: usize) -> Result<Self, WeightsError> {
        let threads = rayon::ThreadPoolBuilder::new()
            .num_threads(threads.max(1))
            .build()
            .map_err(|source| WeightsError::Threads { threads, source })?;
        let shape = Shape::of(weights.header())?;
        weights.require_memory(shape.cache_bytes())?;
        let (width, vocabulary) = (shape.width, shape.vocabulary);
        let embedding =
            threads.install(|| weights.matrix("token_embd.weight", vocabulary, width))?;
        let layers = (0..shape.layers)
            .map(|layer| threads.install(|| Layer::read(weights, &shape, layer)))
            .collect::<Result<Vec<_>, _>>()?;
        let head = match weights.header().tensor("output.weight") {
            Some(_) => {
                Some(threads.install(|| weights.matrix("output.weight", vocabulary, width))?)
            }
            None => None,
        };
        let factors = weights.optional_vector("rope_freqs.weight", shape.rotated / 2)?;
        Ok(Self {
            embedding,
            norm: weights.vector("output_norm.weight", width)?,
            head,
            rotary: Rotary::new(&shape, factors.as_deref()),
            cache: Cache { layers: vec![Default::default(); shape.layers], ..Cache::default() },
            layers,
            shape,
            threads,
        })
    }

    /// Evaluates up to [`BATCH`] tokens.
    fn read(&self, cache: &mut Cache, tokens: &[u32]) {
        let width = self.shape.width;
        let mut states = vec![0.0; tokens.len() * width];
        for (state, token) in states.chunks_exact_mut(width).zip(tokens) {
            self.embedding.row(*token as usize, state);
        }
        let angles: Vec<Angles> =
            (0..tokens.len()).map(|place| self.rotary.angles(cache.length + place)).collect();
        let past = cache.length;
        for (layer, (keys, values)) in self.layers.iter().zip(&mut cache.layers) {
            let inputs = self.normed(&states, &layer.attention_norm);
            let mut queries = layer.query.apply(&inputs);
            let mut new_keys = layer.key.apply(&inputs);
            for (angles, (query, key)) in angles.iter().zip(
                queries
                    .chunks_exact_mut(width)
                    .zip(new_keys.chunks_exact_mut(self.shape.key_width())),
            ) {
                self.rotary.turn(angles, query);
                self.rotary.turn(angles, key);
            }
            keys.extend_from_slice(&new_keys);
            values.extend(layer.value.apply(&inputs));
            let taken = self.attend(&queries, keys, values, past);
            add(&mut states, &layer.output.multiply(&rounded(&taken, width)).into_rows());
            let inputs = self.normed(&states, &layer.inner_norm);
            add(&mut states, &layer.think(&inputs, self.shape.inner));
        }
        cache.length += tokens.len();
        cache.state = states.chunks_exact(width).next_back().map(<[f32]>::to_vec);
    }

    fn normed(&self, states: &[f32], weights: &[f32]) -> Vec<Activation> {
        states
            .chunks_exact(self.shape.width)
            .map(|state| Activation::round(&norm(state, weights, self.shape.epsilon)))
            .collect()
    }

    /// Returns what all heads take, for each token of the batch from those before it and itself.
    fn attend(&self, queries: &[f32], keys: &[f32], values: &[f32], past: usize) -> Vec<f32> {
        let Shape { heads, key_heads, head_width, .. } = self.shape;
        let stride = self.shape.key_width();
        let mut taken = vec![0.0; queries.len()];
        taken.par_chunks_mut(head_width).enumerate().for_each(|(place, output)| {
            let (token, head) = (place / heads, place % heads);
            let seen = (past + token + 1) * stride;
            let head = Head {
                query: queries
                    .get(place * head_width..(place + 1) * head_width)
                    .unwrap_or_default(),
                keys: keys.get(..seen).unwrap_or_default(),
                values: values.get(..seen).unwrap_or_default(),
                stride,
                offset: head / (heads / key_heads) * head_width,
            };
            head.attend(output);
        });
        taken
    }

    /// Scores the tokens of tiles that have an allowed one; the others are impossible.
    fn score(&self, state: &[f32], allowed: Option<&SimpleVob>) -> Vec<f32> {
        let input = Activation::round(&norm(state, &self.norm, self.shape.epsilon));
        let head = self.head.as_ref().unwrap_or(&self.embedding);
        head.multiply_some(&input, f32::NEG_INFINITY, |tile| {
            allowed.is_none_or(|set| set.as_slice().get(tile).is_some_and(|word| *word != 0))
        })
    }
}

impl Engine for Llama {
    fn length(&self) -> usize {
        self.cache.length
    }

    fn capacity(&self) -> usize {
        self.shape.context
    }

    fn evaluate(&mut self, tokens: &[u32]) -> Result<(), EngineError> {
        let end = self.cache.length + tokens.len();
        if end > self.shape.context {
            return Err(EngineError::Context { tokens: end, limit: self.shape.context });
        }
        if let Some(token) = tokens.iter().find(|token| **token as usize >= self.shape.vocabulary) {
            return Err(EngineError::NoSuchToken(*token));
        }
        let mut cache = std::mem::take(&mut self.cache);
        self.threads.install(|| {
            for batch in tokens.chunks(BATCH) {
                self.read(&mut cache, batch);
            }
        });
        self.cache = cache;
        Ok(())
    }

    fn scores(&mut self, allowed: Option<&SimpleVob>) -> Result<Vec<f32>, EngineError> {
        let state = self.cache.state.as_ref().ok_or(EngineError::NothingRead)?;
        Ok(self.threads.install(|| self.score(state, allowed)))
    }

    fn truncate(&mut self, length: usize) {
        // What was being read when something broke down took the cache with it.
        self.cache.layers.resize_with(self.shape.layers, Default::default);
        if length >= self.cache.length {
            return;
        }
        let end = length * self.shape.key_width();
        for (keys, values) in &mut self.cache.layers {
            keys.truncate(end);
            values.truncate(end);
        }
        self.cache.length = length;
        self.cache.state = None;
    }
}

impl Layer {
    fn read(weights: &mut Weights, shape: &Shape, layer: usize) -> Result<Self, WeightsError> {
        let (width, inner, keys) = (shape.width, shape.inner, shape.key_width());
        let name = |part: &str| format!("blk.{layer}.{part}");
        let mut matrix = |part: &str, rows, columns| weights.matrix(&name(part), rows, columns);
        let output = matrix("attn_output.weight", width, width)?;
        let gate = matrix("ffn_gate.weight", inner, width)?;
        let up = matrix("ffn_up.weight", inner, width)?;
        let down = matrix("ffn_down.weight", width, inner)?;
        let mut projection = |part: &str, rows| {
            let matrix = weights.matrix(&name(&format!("{part}.weight")), rows, width)?;
            let bias = weights.optional_vector(&name(&format!("{part}.bias")), rows)?;
            Ok::<_, WeightsError>(Projection { matrix, bias })
        };
        Ok(Self {
            query: projection("attn_q", width)?,
            key: projection("attn_k", keys)?,
            value: projection("attn_v", keys)?,
            attention_norm: weights.vector(&name("attn_norm.weight"), width)?,
            inner_norm: weights.vector(&name("ffn_norm.weight"), width)?,
            output,
            gate,
            up,
            down,
        })
    }

    /// The feed-forward part.
    fn think(&self, inputs: &[Activation], inner: usize) -> Vec<f32> {
        let mut gates = self.gate.multiply(inputs).into_rows();
        let ups = self.up.multiply(inputs).into_rows();
        for (gate, up) in gates.iter_mut().zip(ups) {
            *gate = *gate / (1.0 + (-*gate).exp()) * up;
        }
        self.down.multiply(&rounded(&gates, inner)).into_rows()
    }
}

impl Projection {
    fn apply(&self, inputs: &[Activation]) -> Vec<f32> {
        let mut rows = self.matrix.multiply(inputs).into_rows();
        if let Some(bias) = &self.bias {
            rows.chunks_exact_mut(bias.len()).for_each(|row| add(row, bias));
        }
        rows
    }
}

fn rounded(values: &[f32], width: usize) -> Vec<Activation> {
    values.chunks_exact(width).map(Activation::round).collect()
}

fn add(sums: &mut [f32], more: &[f32]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum += more;
    }
}

/// Scales a state to unit length, then by the weights.
fn norm(state: &[f32], weights: &[f32], epsilon: f32) -> Vec<f32> {
    let squares: f32 = state.chunks(16).map(|part| part.iter().map(|x| x * x).sum::<f32>()).sum();
    #[expect(clippy::cast_precision_loss, reason = "a state is at most 65,536 wide")]
    let scale = (squares / state.len() as f32 + epsilon).sqrt().recip();
    state.iter().zip(weights).map(|(value, weight)| value * scale * weight).collect()
}

#[cfg(test)]
mod tests;
