//! A model of a few kilobytes, written as a GGUF file by the tests that read it.

use std::io::Write as _;
use std::path::Path;

use crate::quant::Kind;

/// The sizes of the model.
const WIDTH: u64 = 64;
const INNER: u64 = 96;
const LAYERS: u32 = 2;
pub(crate) const CONTEXT: u32 = 2048;

/// Tokens that are merged of others, each of two that come before it.
const MERGES: [(&str, &str); 6] =
    [("t", "h"), ("th", "e"), ("\"", "}"), ("\"", ","), ("\"", ":"), ("t", "r")];

/// Writes GGUF files.
#[derive(Debug, Clone)]
pub(crate) struct Gguf {
    entries: Vec<(String, Vec<u8>)>,
    tensors: Vec<(String, Vec<u64>, u32, Vec<u8>)>,
}

impl Gguf {
    /// Describes the model, with random weights of a seed.
    pub(crate) fn model(seed: u64) -> Self {
        let mut file = Self { entries: Vec::new(), tensors: Vec::new() };
        file.text("general.architecture", "llama");
        for (name, size) in [
            ("block_count", LAYERS),
            ("context_length", CONTEXT),
            ("embedding_length", 64),
            ("feed_forward_length", 96),
            ("attention.head_count", 4),
            ("attention.head_count_kv", 2),
        ] {
            file.number(&format!("llama.{name}"), size);
        }
        file.vocabulary();
        file.weights(&mut fastrand::Rng::with_seed(seed));
        file
    }

    pub(crate) fn text(&mut self, key: &str, value: &str) {
        self.entry(key, 8, &sized(value.as_bytes()));
    }

    pub(crate) fn number(&mut self, key: &str, value: u32) {
        self.entry(key, 4, &value.to_le_bytes());
    }

    /// Sets an entry, in place of one that is there.
    fn entry(&mut self, key: &str, kind: u32, value: &[u8]) {
        self.entries.retain(|(known, _)| known != key);
        let bytes = [kind.to_le_bytes().as_slice(), value].concat();
        self.entries.push((key.to_owned(), bytes));
    }

    fn vocabulary(&mut self) {
        let mut tokens: Vec<String> = ["<|im_start|>", "<|im_end|>"].map(str::to_owned).to_vec();
        tokens.extend((0..=255).map(letter).map(String::from));
        tokens.extend(MERGES.map(|(left, right)| format!("{left}{right}")));
        let merges = MERGES.map(|(left, right)| format!("{left} {right}"));
        let kinds: Vec<u8> =
            (0..tokens.len()).flat_map(|id| if id < 2 { 3u32 } else { 1 }.to_le_bytes()).collect();
        self.text("tokenizer.ggml.model", "gpt2");
        self.text("tokenizer.ggml.pre", "smollm");
        self.text("tokenizer.chat_template", "{{ '<|im_start|>' + message['role'] }}");
        self.number("tokenizer.ggml.eos_token_id", 1);
        self.list("tokenizer.ggml.token_type", 5, tokens.len(), &kinds);
        self.texts("tokenizer.ggml.tokens", &tokens);
        self.texts("tokenizer.ggml.merges", &merges);
    }

    fn texts(&mut self, key: &str, values: &[String]) {
        let bytes: Vec<u8> = values.iter().flat_map(|value| sized(value.as_bytes())).collect();
        self.list(key, 8, values.len(), &bytes);
    }

    fn list(&mut self, key: &str, kind: u32, length: usize, bytes: &[u8]) {
        let length = (length as u64).to_le_bytes();
        self.entry(key, 9, &[kind.to_le_bytes().as_slice(), &length, bytes].concat());
    }

    fn weights(&mut self, chance: &mut fastrand::Rng) {
        let tokens = 258 + MERGES.len() as u64;
        self.tensor(chance, "token_embd.weight", &[WIDTH, tokens]);
        self.tensor(chance, "output_norm.weight", &[WIDTH]);
        for layer in 0..LAYERS {
            for (name, sizes) in [
                ("attn_norm", vec![WIDTH]),
                ("attn_q", vec![WIDTH, WIDTH]),
                ("attn_k", vec![WIDTH, WIDTH / 2]),
                ("attn_v", vec![WIDTH, WIDTH / 2]),
                ("attn_output", vec![WIDTH, WIDTH]),
                ("ffn_norm", vec![WIDTH]),
                ("ffn_gate", vec![WIDTH, INNER]),
                ("ffn_up", vec![WIDTH, INNER]),
                ("ffn_down", vec![INNER, WIDTH]),
            ] {
                self.tensor(chance, &format!("blk.{layer}.{name}.weight"), &sizes);
            }
        }
    }

    fn tensor(&mut self, chance: &mut fastrand::Rng, name: &str, sizes: &[u64]) {
        let elements: u64 = sizes.iter().product();
        let bytes = (0..elements).flat_map(|_| (chance.f32() - 0.5).to_le_bytes()).collect();
        self.tensors.push((name.to_owned(), sizes.to_vec(), 0, bytes));
    }

    /// Changes sizes and element type that the header gives for a tensor.
    pub(crate) fn misdescribe(&mut self, name: &str, sizes: &[u64], kind: u32) {
        for tensor in self.tensors.iter_mut().filter(|tensor| tensor.0 == name) {
            (tensor.1, tensor.2) = (sizes.to_vec(), kind);
        }
    }

    /// Writes other bytes into a tensor, without a change of its length.
    pub(crate) fn damage(&mut self, name: &str, at: usize, bytes: &[u8]) {
        for tensor in self.tensors.iter_mut().filter(|tensor| tensor.0 == name) {
            tensor.3[at..at + bytes.len()].copy_from_slice(bytes);
        }
    }

    /// Leaves a tensor out.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.tensors.retain(|tensor| tensor.0 != name);
        self
    }

    /// Returns the file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut file = b"GGUF\x03\0\0\0".to_vec();
        file.extend((self.tensors.len() as u64).to_le_bytes());
        file.extend((self.entries.len() as u64).to_le_bytes());
        for (key, value) in &self.entries {
            file.extend(sized(key.as_bytes()));
            file.extend(value);
        }
        let mut offset = 0u64;
        for (name, sizes, kind, bytes) in &self.tensors {
            file.extend(sized(name.as_bytes()));
            file.extend(u32::try_from(sizes.len()).unwrap().to_le_bytes());
            for size in sizes {
                file.extend(size.to_le_bytes());
            }
            file.extend(kind.to_le_bytes());
            file.extend(offset.to_le_bytes());
            offset += (bytes.len() as u64).next_multiple_of(32);
        }
        for (_, _, _, bytes) in &self.tensors {
            file.resize(file.len().next_multiple_of(32), 0);
            file.extend(bytes);
        }
        file
    }

    /// Writes the file.
    pub(crate) fn write(&self, path: &Path) {
        std::fs::File::create(path).unwrap().write_all(&self.bytes()).unwrap();
    }

    /// Writes the file to a folder of its own.
    pub(crate) fn save(&self) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.gguf");
        self.write(&path);
        (folder, path)
    }
}

/// Returns the letter that stands for a byte in the alphabet of byte-level BPE.
fn letter(byte: u8) -> char {
    let printed = |byte: &u8| matches!(byte, 0x21..=0x7e | 0xa1..=0xac | 0xae..);
    if printed(&byte) {
        return char::from(byte);
    }
    let place = (0..byte).filter(|each| !printed(each)).count();
    ('\u{100}'..).nth(place).unwrap()
}

fn sized(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u64).to_le_bytes(), bytes].concat()
}

/// Returns random bytes of one block whose scales are small numbers.
pub(crate) fn random_block(kind: Kind, chance: &mut fastrand::Rng) -> Vec<u8> {
    let mut block: Vec<u8> =
        std::iter::repeat_with(|| chance.u8(..)).take(kind.block().1).collect();
    let scales: &[usize] = match kind {
        Kind::Q4_1 | Kind::Q5_1 | Kind::Q4K | Kind::Q5K => &[0, 2],
        Kind::Q6K => &[208],
        Kind::F32 | Kind::F16 | Kind::Bf16 | Kind::Q4_0 | Kind::Q5_0 | Kind::Q8_0 => &[0],
    };
    for scale in scales {
        // A half of 2^-8 up to 2^-5: sign and exponent are fixed, the rest is random.
        block[scale + 1] = 0x1c | block[scale + 1] & 3;
    }
    block
}

/// The model that other crates test with.
#[test]
fn the_tiny_model_of_the_fixtures_is_this_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/local/tiny.gguf");
    let model = Gguf::model(7);
    if std::env::var_os("AIRTIGHT_BLESS").is_some() {
        model.write(&path);
    }
    let written = std::fs::read(&path).unwrap_or_default();
    assert!(written == model.bytes(), "tiny.gguf is out of date: run `make bless`");
}
