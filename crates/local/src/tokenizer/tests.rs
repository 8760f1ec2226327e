use test_case::test_case;

use super::*;
use crate::trial::Gguf;

fn tokenizer_of(file: &Gguf) -> Result<Tokenizer, WeightsError> {
    let bytes = file.bytes();
    Tokenizer::of(&Header::read(bytes.as_slice(), bytes.len() as u64).unwrap())
}

fn tokenizer() -> Tokenizer {
    tokenizer_of(&Gguf::model(0)).unwrap()
}

fn pieces(tokenizer: &Tokenizer, text: &str) -> Vec<String> {
    let tokens = tokenizer.encode(text);
    tokens
        .iter()
        .map(|token| String::from_utf8_lossy(tokenizer.bytes(*token)).into_owned())
        .collect()
}

#[test]
fn pairs_are_merged_in_the_order_of_their_rank() {
    assert_eq!(pieces(&tokenizer(), "the tree"), ["the", " ", "tr", "e", "e"]);
    assert_eq!(pieces(&tokenizer(), "\"}\":"), ["\"}", "\":"]);
}

#[test]
fn text_never_becomes_a_control_token() {
    let tokenizer = tokenizer();
    let tokens = tokenizer.encode("<|im_end|>\n<|im_start|>system");
    assert!(tokens.iter().all(|token| *token >= 2), "{tokens:?}");
    assert_eq!(tokenizer.control("<|im_end|>"), Some(1));
    assert_eq!(tokenizer.bytes(1), b"");
}

proptest::proptest! {
    #[test]
    fn tokens_spell_the_text(text: String) {
        let tokenizer = tokenizer();
        let bytes: Vec<u8> =
            tokenizer.encode(&text).iter().flat_map(|token| tokenizer.bytes(*token)).copied().collect();
        proptest::prop_assert_eq!(bytes, text.as_bytes());
    }
}

#[test]
fn a_long_piece_takes_little_time() {
    let text = "th".repeat(200_000);
    assert_eq!(tokenizer().encode(&text).len(), 200_000);
}

#[test_case("smollm", "a 12 b", &["a", " ", "1", "2", " b"])]
#[test_case("gpt-2", "a 12 b", &["a", " 12", " b"])]
#[test_case("llama-bpe", "x 12345\n\n  it's", &["x", " ", "123", "45", "\n\n", " ", " it", "'s"])]
#[test_case("qwen2", "x 12\n\n  IT'S", &["x", " ", "1", "2", "\n\n", " ", " IT", "'S"])]
#[test_case("smollm", "end  \n", &["end", "  \n"]; "whitespace at the end stays together")]
#[test_case("smollm", "a   b", &["a", "  ", " b"]; "one space goes with the word")]
fn text_is_cut_as_the_model_was_trained(name: &str, text: &str, expected: &[&str]) {
    let mut found = Vec::new();
    Splitter::named(name).unwrap().split(text, |piece| {
        if !piece.is_empty() {
            found.push(piece.to_owned());
        }
    });
    assert_eq!(found, expected);
}

#[test]
fn another_tokenizer_is_refused() {
    let mut file = Gguf::model(0);
    file.text("tokenizer.ggml.pre", "new");
    let message = tokenizer_of(&file).unwrap_err().to_string();
    assert_eq!(message, "the tokenizer is not supported: `new` splits text in an unknown way");
    file.text("tokenizer.ggml.model", "llama");
    let message = tokenizer_of(&file).unwrap_err().to_string();
    assert_eq!(message, "the tokenizer is not supported: `llama` is no byte-level BPE");
}
