//! Any bytes are read without a panic, and how they are cut does not matter.
#![no_main]

use airtight_core::codec::{Assembler, Delta, Reply, Wire};
use airtight_core::wire::sse;
use libfuzzer_sys::fuzz_target;

/// Small, so that the fuzzer reaches it.
const EVENT_LIMIT_BYTES: usize = 4096;

fn read(wire: Wire, bytes: &[u8], size: usize) -> (Vec<Delta>, Reply, bool) {
    let mut events = sse::Decoder::within(EVENT_LIMIT_BYTES);
    let mut decoder = wire.decoder();
    let mut assembler = Assembler::default();
    let mut deltas = Vec::new();
    for chunk in bytes.chunks(size) {
        for event in events.push(chunk).into_iter().flatten() {
            for delta in decoder.push(&event) {
                let is_failure = matches!(delta, Delta::Failed(_));
                assert_eq!(assembler.push(delta.clone()).is_err(), is_failure);
                deltas.push(delta);
            }
        }
    }
    (deltas, assembler.finish(), decoder.is_complete())
}

fuzz_target!(|bytes: &[u8]| {
    for wire in [Wire::Anthropic, Wire::Responses, Wire::Chat, Wire::Gemini] {
        let whole = read(wire, bytes, bytes.len().max(1));
        assert_eq!(whole, read(wire, bytes, 1));
        assert_eq!(whole, read(wire, bytes, 7));
    }
});
