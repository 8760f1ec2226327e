//! Any bytes come to a record without a panic, and how they are cut does not matter.
#![no_main]

use airtight_core::transcript::{Decoder, Ended, Exit, Program};
use libfuzzer_sys::fuzz_target;

/// Small, so that the fuzzer reaches it.
const LINE_LIMIT_BYTES: usize = 4096;

fn read(decoder: Decoder, bytes: &[u8], size: usize) -> String {
    let mut decoder = decoder.within(LINE_LIMIT_BYTES);
    let mut events: Vec<_> = bytes.chunks(size).flat_map(|chunk| decoder.push(chunk)).collect();
    let Ended { events: last, record } = decoder.finish(Exit::Unknown);
    events.extend(last);
    serde_json::to_string(&(events, record)).expect("plain data is written")
}

fuzz_target!(|bytes: &[u8]| {
    let decoders = || Program::ALL.map(Decoder::of).into_iter().chain([Decoder::default()]);
    for (whole, cut) in decoders().zip(decoders()) {
        assert_eq!(read(whole, bytes, bytes.len().max(1)), read(cut, bytes, 7));
    }
});
