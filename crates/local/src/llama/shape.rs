//! The sizes of a model, read from its header and checked.

use crate::gguf::Header;
use crate::weights::WeightsError;

/// The largest sizes that are believed; the largest models of this architecture stay below.
const WIDTH_LIMIT: u64 = 65_536;
const LAYER_LIMIT: u64 = 512;
const VOCABULARY_LIMIT: u64 = 1 << 20;

/// How much context is used at most: a cache for more is beyond what a small model is for.
const CONTEXT_LIMIT: usize = 8192;

/// Which halves of a head are turned against each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rotation {
    /// Neighbours.
    Pairs,
    /// The first half against the second.
    Halves,
}

/// The sizes of a model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shape {
    pub(crate) layers: usize,
    pub(crate) width: usize,
    pub(crate) inner: usize,
    pub(crate) heads: usize,
    pub(crate) key_heads: usize,
    pub(crate) head_width: usize,
    pub(crate) rotated: usize,
    pub(crate) rotation: Rotation,
    pub(crate) base: f32,
    pub(crate) epsilon: f32,
    pub(crate) context: usize,
    pub(crate) vocabulary: usize,
}

impl Shape {
    /// Reads the sizes from a header.
    pub(crate) fn of(header: &Header) -> Result<Self, WeightsError> {
        let architecture = header.text("general.architecture").unwrap_or_default();
        let rotation = match architecture {
            "llama" => Rotation::Pairs,
            "qwen2" => Rotation::Halves,
            other => {
                let supported = "`llama` and `qwen2`".to_owned();
                return Err(WeightsError::Architecture { found: other.to_owned(), supported });
            }
        };
        let sizes = Sizes { header, architecture };
        if header.natural(&sizes.key("expert_count")).is_some_and(|count| count > 0) {
            let supported = "those without experts".to_owned();
            return Err(WeightsError::Architecture { found: architecture.to_owned(), supported });
        }
        let width = sizes.multiple_of_32("embedding_length")?;
        let heads = sizes.size("attention.head_count", WIDTH_LIMIT)?;
        let tokens = header.texts("tokenizer.ggml.tokens").map_or(0, <[String]>::len);
        let vocabulary = checked("tokenizer.ggml.tokens", tokens as u64, VOCABULARY_LIMIT)?;
        let head_width = width / heads;
        if width % heads != 0 || head_width % 2 != 0 {
            return Err(invalid("attention.head_count", heads as u64));
        }
        let key_heads = sizes.optional("attention.head_count_kv", WIDTH_LIMIT)?.unwrap_or(heads);
        if heads % key_heads != 0 || head_width * key_heads % 32 != 0 {
            return Err(invalid("attention.head_count_kv", key_heads as u64));
        }
        let rotated = sizes.optional("rope.dimension_count", head_width as u64)?;
        let rotated = rotated.unwrap_or(head_width);
        if rotated % 2 != 0 {
            return Err(invalid("rope.dimension_count", rotated as u64));
        }
        Ok(Self {
            layers: sizes.size("block_count", LAYER_LIMIT)?,
            width,
            inner: sizes.multiple_of_32("feed_forward_length")?,
            heads,
            key_heads,
            head_width,
            rotated,
            rotation,
            base: sizes.real("rope.freq_base").unwrap_or(10_000.0),
            epsilon: sizes.real("attention.layer_norm_rms_epsilon").unwrap_or(1e-5),
            context: sizes.size("context_length", u64::MAX)?.min(CONTEXT_LIMIT),
            vocabulary,
        })
    }

    /// Returns how many bytes the keys and values of a full context take.
    pub(crate) fn cache_bytes(&self) -> u64 {
        let numbers = 2 * (self.context * self.key_width()) as u64;
        numbers.saturating_mul((self.layers * size_of::<f32>()) as u64)
    }

    /// Returns how many keys, and values, a layer has for one token.
    pub(crate) fn key_width(&self) -> usize {
        self.key_heads * self.head_width
    }
}

/// Reads the sizes of one architecture.
struct Sizes<'a> {
    header: &'a Header,
    architecture: &'a str,
}

impl Sizes<'_> {
    fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.architecture)
    }

    fn size(&self, name: &str, limit: u64) -> Result<usize, WeightsError> {
        self.optional(name, limit)?.ok_or_else(|| WeightsError::Missing(self.key(name)))
    }

    fn optional(&self, name: &str, limit: u64) -> Result<Option<usize>, WeightsError> {
        let key = self.key(name);
        if self.header.value(&key).is_none() {
            return Ok(None);
        }
        let value = self.header.natural(&key).ok_or(WeightsError::NoNumber(key))?;
        checked(name, value, limit).map(Some)
    }

    fn multiple_of_32(&self, name: &str) -> Result<usize, WeightsError> {
        match self.size(name, WIDTH_LIMIT)? {
            size if size % 32 == 0 => Ok(size),
            size => Err(invalid(name, size as u64)),
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the files hold 32-bit numbers here")]
    fn real(&self, name: &str) -> Option<f32> {
        self.header.real(&self.key(name)).map(|value| value as f32)
    }
}

fn checked(name: &str, value: u64, limit: u64) -> Result<usize, WeightsError> {
    match usize::try_from(value) {
        Ok(size) if (1..=limit).contains(&value) => Ok(size),
        _ => Err(invalid(name, value)),
    }
}

fn invalid(name: &str, value: u64) -> WeightsError {
    WeightsError::Invalid { name: name.to_owned(), value }
}
