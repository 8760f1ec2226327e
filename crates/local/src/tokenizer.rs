//! The tokenizer that a weights file carries: byte-level BPE.
//!
//! Text never becomes a control token: what a user writes cannot end a turn or begin one. Control
//! tokens are only written by the chat template, by name.

mod merge;
mod split;

use std::collections::HashMap;
use std::sync::Arc;

use toktrie::{TokEnv, TokRxInfo, TokTrie, TokenId, TokenizerEnv};

use crate::gguf::Header;
use crate::weights::WeightsError;
use merge::Merges;
use split::Splitter;

/// The type number of ordinary tokens.
const ORDINARY: i64 = 1;

/// How many bytes a token may have.
const TOKEN_LIMIT_BYTES: usize = 1024;

/// Turns text into tokens and back.
#[derive(Debug)]
pub struct Tokenizer {
    /// The bytes of each token; of control tokens, their name.
    tokens: Vec<Vec<u8>>,
    control: HashMap<String, TokenId>,
    splitter: Splitter,
    merges: Merges,
    end: TokenId,
}

impl Tokenizer {
    /// Builds the tokenizer that `header` describes.
    pub fn of(header: &Header) -> Result<Self, WeightsError> {
        let missing = |key: &str| WeightsError::Missing(key.to_owned());
        let model = header.text("tokenizer.ggml.model").unwrap_or_default();
        if model != "gpt2" {
            return Err(WeightsError::Tokenizer(format!("`{model}` is no byte-level BPE")));
        }
        let pre = header.text("tokenizer.ggml.pre").unwrap_or("default");
        let splitter = Splitter::named(pre).ok_or_else(|| {
            WeightsError::Tokenizer(format!("`{pre}` splits text in an unknown way"))
        })?;
        let names = header
            .texts("tokenizer.ggml.tokens")
            .ok_or_else(|| missing("tokenizer.ggml.tokens"))?;
        let types = header.integers("tokenizer.ggml.token_type").unwrap_or_default();
        let (mut tokens, mut control, mut ordinary) = (Vec::new(), HashMap::new(), HashMap::new());
        for (id, name) in (0..).zip(names) {
            if name.len() > TOKEN_LIMIT_BYTES {
                return Err(WeightsError::Tokenizer(format!("token {id} is over 1024 bytes long")));
            }
            let is_ordinary = types.get(id as usize).is_none_or(|kind| *kind == ORDINARY);
            let bytes = if is_ordinary { alphabet_bytes(name) } else { None };
            if let Some(bytes) = bytes {
                ordinary.insert(bytes.clone(), id);
                tokens.push(bytes);
            } else {
                control.insert(name.clone(), id);
                tokens.push(name.as_bytes().to_vec());
            }
        }
        let merges = header
            .texts("tokenizer.ggml.merges")
            .ok_or_else(|| missing("tokenizer.ggml.merges"))?;
        let end = header
            .natural("tokenizer.ggml.eos_token_id")
            .and_then(|id| TokenId::try_from(id).ok())
            .filter(|id| (*id as usize) < tokens.len())
            .ok_or_else(|| missing("tokenizer.ggml.eos_token_id"))?;
        Ok(Self { merges: Merges::new(merges, &ordinary), tokens, control, splitter, end })
    }

    /// Returns the tokens of a text, none of which is a control token.
    ///
    /// A byte that the vocabulary lacks has no token.
    pub fn encode(&self, text: &str) -> Vec<TokenId> {
        let mut tokens = Vec::new();
        self.splitter.split(text, |piece| self.merges.apply(piece.as_bytes(), &mut tokens));
        tokens
    }

    /// Returns the bytes of a token; none for control tokens and unknown ones.
    pub fn bytes(&self, token: TokenId) -> &[u8] {
        match self.tokens.get(token as usize) {
            Some(bytes) if !self.is_control(bytes, token) => bytes,
            _ => &[],
        }
    }

    /// Returns how many tokens there are.
    pub fn size(&self) -> TokenId {
        TokenId::try_from(self.tokens.len()).unwrap_or(TokenId::MAX)
    }

    /// Returns the control token of this name.
    pub fn control(&self, name: &str) -> Option<TokenId> {
        self.control.get(name).copied()
    }

    /// Returns the token that ends an answer.
    pub fn end(&self) -> TokenId {
        self.end
    }

    fn is_control(&self, bytes: &[u8], token: TokenId) -> bool {
        std::str::from_utf8(bytes).is_ok_and(|name| self.control(name) == Some(token))
    }

    /// Makes the grammar's view of the vocabulary.
    pub(crate) fn environment(self: &Arc<Self>) -> Result<TokEnv, WeightsError> {
        let size = u32::try_from(self.tokens.len())
            .map_err(|_| WeightsError::Tokenizer("it has too many tokens".to_owned()))?;
        let words: Vec<Vec<u8>> = (0..size)
            .zip(&self.tokens)
            .map(|(id, bytes)| {
                if self.is_control(bytes, id) {
                    [&[TokTrie::SPECIAL_TOKEN_MARKER], bytes.as_slice()].concat()
                } else {
                    bytes.clone()
                }
            })
            .collect();
        let trie = TokTrie::from(&TokRxInfo::new(size, self.end), &words);
        Ok(Arc::new(Environment { tokenizer: Arc::clone(self), trie }))
    }
}

/// The vocabulary as the grammar sees it.
struct Environment {
    tokenizer: Arc<Tokenizer>,
    trie: TokTrie,
}

impl TokenizerEnv for Environment {
    fn tok_trie(&self) -> &TokTrie {
        &self.trie
    }

    fn tokenize_bytes(&self, bytes: &[u8]) -> Vec<TokenId> {
        self.trie.tokenize_with_greedy_fallback(bytes, |text| self.tokenizer.encode(text))
    }
}

/// Returns the bytes that a name in the alphabet of byte-level BPE stands for.
///
/// Bytes that can be printed stand for themselves, the others for characters from U+0100 on.
fn alphabet_bytes(name: &str) -> Option<Vec<u8>> {
    name.chars().map(alphabet_byte).collect()
}

fn alphabet_byte(letter: char) -> Option<u8> {
    let code = u32::from(letter);
    let printed = |byte: u32| matches!(byte, 0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff);
    if printed(code) {
        return u8::try_from(code).ok();
    }
    let place = code.checked_sub(0x100)?;
    (0..=0xff)
        .filter(|byte| !printed(*byte))
        .nth(place as usize)
        .and_then(|byte| u8::try_from(byte).ok())
}

#[cfg(test)]
mod tests;
