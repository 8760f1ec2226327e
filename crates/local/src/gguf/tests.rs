use test_case::test_case;

use super::*;
use crate::trial::Gguf;

fn read(bytes: &[u8]) -> Result<Header, HeaderError> {
    Header::read(bytes, bytes.len() as u64)
}

#[test]
fn a_header_says_what_was_written() {
    let header = read(&Gguf::model(0).bytes()).unwrap();
    assert_eq!(header.text("general.architecture"), Some("llama"));
    assert_eq!(header.natural("llama.block_count"), Some(2));
    assert_eq!(header.texts("tokenizer.ggml.tokens").map(<[String]>::len), Some(264));
    assert_eq!(header.integers("tokenizer.ggml.token_type").map(<[i64]>::len), Some(264));
    let tensor = header.tensor("blk.1.ffn_down.weight").unwrap();
    assert_eq!((tensor.dimensions.as_slice(), tensor.kind), ([96, 64].as_slice(), 0));
    assert_eq!(tensor.offset % 32, 0);
}

#[test]
fn a_header_that_is_cut_anywhere_is_refused() {
    let whole = Gguf::model(0).without("token_embd.weight").bytes();
    let header = whole.windows(8).rposition(|bytes| bytes == b"ffn_down").unwrap();
    for length in 0..header {
        let error = read(&whole[..length]).unwrap_err();
        assert!(matches!(error, HeaderError::Truncated), "cut at {length}: {error:?}");
    }
}

fn with_value(kind: u32, value: &[u8]) -> Vec<u8> {
    let mut file = b"GGUF\x03\0\0\0".to_vec();
    file.extend([0u64.to_le_bytes(), 1u64.to_le_bytes(), 1u64.to_le_bytes()].concat());
    file.push(b'k');
    file.extend(kind.to_le_bytes());
    file.extend(value);
    file
}

fn list(kind: u32, length: u64) -> Vec<u8> {
    with_value(9, &[kind.to_le_bytes().as_slice(), &length.to_le_bytes()].concat())
}

#[test_case(b"GGML\x03\0\0\0", "this is no GGUF file"; "another format")]
#[test_case(b"GGUF\x01\0\0\0", "GGUF version 1 is not supported, only 2 and 3 are"; "an old version")]
#[test_case(&with_value(8, &u64::MAX.to_le_bytes()), "the file ends inside its header"; "an endless text")]
#[test_case(&list(8, u64::MAX), "the file ends inside its header"; "an endless list")]
#[test_case(&list(0, 1 << 40), "the file ends inside its header"; "a list beyond the file")]
#[test_case(&list(9, 1), "the header is corrupt: a list has an unknown type"; "a list of lists")]
#[test_case(&with_value(13, &[]), "the header is corrupt: a value has an unknown type"; "an unknown type")]
fn hostile_headers_are_refused(bytes: &[u8], message: &str) {
    assert_eq!(read(bytes).unwrap_err().to_string(), message);
}

#[test]
fn counts_beyond_the_limit_are_refused_before_anything_is_read() {
    let file = [b"GGUF\x03\0\0\0".as_slice(), &u64::MAX.to_le_bytes(), &[0; 8]].concat();
    let message = read(&file).unwrap_err().to_string();
    assert_eq!(message, "the header has tensors 18446744073709551615, over the limit of 65536");
}

#[test]
fn offsets_that_overflow_are_refused() {
    let mut file = b"GGUF\x03\0\0\0".to_vec();
    file.extend([1u64.to_le_bytes(), 0u64.to_le_bytes(), 1u64.to_le_bytes()].concat());
    file.push(b't');
    file.extend(
        [1u32.to_le_bytes().as_slice(), &32u64.to_le_bytes(), &0u32.to_le_bytes()].concat(),
    );
    file.extend(u64::MAX.to_le_bytes());
    assert!(matches!(read(&file), Err(HeaderError::Corrupt(_))));
}

proptest::proptest! {
    #[test]
    fn any_damage_is_an_error_or_a_header(place in 0usize..20_000, byte: u8) {
        let mut bytes = Gguf::model(0).bytes();
        bytes[place] = byte;
        drop(read(&bytes));
    }
}
