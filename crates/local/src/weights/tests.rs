use test_case::test_case;

use super::*;
use crate::llama::Llama;
use crate::trial::Gguf;

/// Returns why a file cannot be loaded, with the causes.
fn refusal(bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gguf");
    std::fs::write(&path, bytes).unwrap();
    let error = Weights::open(&path)
        .and_then(|mut weights| Llama::load(&mut weights, 1))
        .expect_err("the weights are damaged");
    match std::error::Error::source(&error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

fn changed(change: impl FnOnce(&mut Gguf)) -> Vec<u8> {
    let mut file = Gguf::model(0);
    change(&mut file);
    file.bytes()
}

#[test_case(&Vec::new(), "the weights cannot be read: the file ends inside its header"; "an empty file")]
#[test_case(b"<html>not found</html>", "the weights cannot be read: this is no GGUF file"; "a page")]
#[test_case(
    &changed(|file| file.text("general.architecture", "gemma3")),
    "models of the architecture `gemma3` are not supported, only `llama` and `qwen2`"; "another architecture")]
#[test_case(
    &changed(|file| file.number("llama.expert_count", 8)),
    "models of the architecture `llama` are not supported, only those without experts"; "experts")]
#[test_case(&changed(|file| file.number("llama.embedding_length", 0)),
    "`embedding_length` is 0, which no model has"; "no width")]
#[test_case(&changed(|file| file.number("llama.attention.head_count", 7)),
    "`attention.head_count` is 7, which no model has"; "heads that do not divide the width")]
#[test_case(&changed(|file| file.number("llama.attention.head_count_kv", 3)),
    "`attention.head_count_kv` is 3, which no model has"; "heads of keys that do not divide the heads")]
#[test_case(&changed(|file| file.number("llama.attention.head_count_kv", 0)),
    "`attention.head_count_kv` is 0, which no model has"; "no heads of keys")]
#[test_case(&changed(|file| file.text("llama.attention.head_count_kv", "2")),
    "`llama.attention.head_count_kv` is no whole number"; "heads of keys in words")]
#[test_case(&changed(|file| file.number("llama.rope.dimension_count", 3)),
    "`rope.dimension_count` is 3, which no model has"; "half a pair")]
#[test_case(&changed(|file| file.number("llama.block_count", 100_000)),
    "`block_count` is 100000, which no model has"; "too many layers")]
#[test_case(&changed(|file| file.number("llama.block_count", 3)),
    "the weights lack `blk.2.attn_output.weight`"; "a missing layer")]
#[test_case(&changed(|file| file.misdescribe("blk.0.ffn_up.weight", &[64, 64], 0)),
    "the tensor `blk.0.ffn_up.weight` has the sizes [64, 64], not [64, 96]"; "other sizes")]
#[test_case(&changed(|file| file.misdescribe("blk.0.ffn_up.weight", &[64, 96], 99)),
    "the tensor `blk.0.ffn_up.weight` has elements of type 99, which is not supported here"; "unknown elements")]
#[test_case(&changed(|file| file.misdescribe("blk.0.ffn_up.weight", &[64, 96], 12)),
    "`blk.0.ffn_up.weight` is 64, which no model has"; "rows that do not fill blocks")]
#[test_case(&changed(|file| file.damage("blk.1.ffn_up.weight", 400, &[0xff; 4])),
    "the tensor `blk.1.ffn_up.weight` holds what is no number: the file is damaged"; "a weight that is no number")]
#[test_case(&changed(|file| file.damage("token_embd.weight", 0, &f32::INFINITY.to_le_bytes())),
    "the tensor `token_embd.weight` holds what is no number: the file is damaged"; "an infinite weight")]
#[test_case(&changed(|file| file.damage("output_norm.weight", 8, &[0xff; 4])),
    "the tensor `output_norm.weight` holds what is no number: the file is damaged"; "a vector with what is no number")]
fn damaged_weights_are_refused(bytes: &[u8], message: &str) {
    assert_eq!(refusal(bytes), message);
}

#[test]
fn a_file_that_was_cut_off_is_refused() {
    let mut bytes = Gguf::model(0).bytes();
    bytes.truncate(bytes.len() - 1);
    let message = refusal(&bytes);
    assert!(message.contains("but the tensor `blk.1.ffn_down.weight` ends at"), "{message}");
}

#[test]
fn tensors_that_share_bytes_are_refused() {
    let bytes = changed(|file| file.misdescribe("blk.0.ffn_up.weight", &[64, 97], 0));
    let message = refusal(&bytes);
    assert!(message.starts_with("the tensor `blk.0.ffn_down.weight` begins at"), "{message}");
    assert!(message.ends_with("inside of another one"), "{message}");
}

#[test_case("blk.0.ffn_up.weight", &[64, u64::MAX]; "more elements than numbers")]
#[test_case("blk.1.ffn_down.weight", &[96, 65]; "the last one")]
fn tensors_beyond_the_file_are_refused(name: &str, sizes: &[u64]) {
    let message = refusal(&changed(|file| file.misdescribe(name, sizes, 0)));
    assert!(message.contains(&format!("but the tensor `{name}` ends at")), "{message}");
}

#[test_case(Kind::Q4_1, 32, 20 * 32, 768)]
#[test_case(Kind::Q5_0, 32, 22 * 32, 1536)]
#[test_case(Kind::Q8_0, 1, 34, 1536; "a row alone takes a tile")]
fn packed_weights_are_counted_as_large_as_they_become(
    kind: Kind,
    rows: u64,
    stored: u64,
    packed: u64,
) {
    assert_eq!((kind.bytes(rows * 32), packed_bytes(kind, rows, 32)), (stored, packed));
}

#[test]
fn a_missing_file_is_named() {
    let error = Weights::open(Path::new("no/such.gguf")).unwrap_err();
    assert_eq!(error.to_string(), "cannot open the weights `no/such.gguf`");
}

#[test]
fn a_pipe_is_refused_and_nobody_waits_for_its_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gguf");
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    let error = Weights::open(&path).unwrap_err();
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(source.to_string(), "it is no regular file");
}

#[test]
fn weights_beyond_all_memory_are_refused_before_they_are_read() {
    let (_folder, path) = Gguf::model(0).save();
    let weights = Weights::open(&path).unwrap();
    weights.require_memory(0).unwrap();
    let message = weights.require_memory(u64::MAX).unwrap_err().to_string();
    assert!(message.starts_with("there is no memory for the model"), "{message}");
}
