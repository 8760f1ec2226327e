//! A weights file may say anything about itself: it is read or refused, and its tokenizer spells.
#![no_main]

use airtight_local::{Header, Tokenizer};
use libfuzzer_sys::fuzz_target;

const TEXT: &str = "{\"the\": [1, 2.5e3]}\n\n  <|im_end|> naïve 😀";

fuzz_target!(|bytes: &[u8]| {
    let Ok(header) = Header::read(bytes, bytes.len() as u64) else {
        return;
    };
    let Ok(tokenizer) = Tokenizer::of(&header) else {
        return;
    };
    let tokens = tokenizer.encode(TEXT);
    let spelled: Vec<u8> = tokens.iter().flat_map(|token| tokenizer.bytes(*token)).copied().collect();
    // Bytes without a token are left out; nothing is added or moved.
    let mut rest = TEXT.bytes();
    assert!(spelled.iter().all(|byte| rest.any(|other| other == *byte)));
});
