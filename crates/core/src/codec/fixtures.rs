//! Streams written after the vendors' documentation: what is read, and what it adds up to.

use std::fs;
use std::path::PathBuf;

use insta::assert_snapshot;
use test_case::test_case;

use super::{Assembler, Delta, ProviderFailure, Reply, Wire};
use crate::chunks::chunks;
use crate::page::repository;
use crate::wire::sse;

/// Every format with the folder of its streams.
pub(super) const FOLDERS: [(Wire, &str); 4] = [
    (Wire::Anthropic, "anthropic"),
    (Wire::Responses, "responses"),
    (Wire::Chat, "chat"),
    (Wire::Gemini, "gemini"),
];

/// What reading a stream came to.
#[derive(Debug, PartialEq)]
pub(super) struct Reading {
    pub(super) deltas: Vec<Delta>,
    pub(super) reply: Reply,
    pub(super) failure: Option<ProviderFailure>,
    pub(super) is_complete: bool,
}

/// Reads a stream in chunks of these sizes, again and again; whole if there are none.
pub(super) fn read(wire: Wire, bytes: &[u8], sizes: &[usize]) -> Reading {
    let mut events = sse::Decoder::default();
    let mut decoder = wire.decoder();
    let mut assembler = Assembler::default();
    let mut deltas = Vec::new();
    let mut failure = None;
    for chunk in chunks(bytes, sizes) {
        for event in events.push(chunk).into_iter().flatten() {
            for delta in decoder.push(&event) {
                failure = assembler.push(delta.clone()).err().or(failure);
                deltas.push(delta);
            }
        }
    }
    Reading { deltas, reply: assembler.finish(), failure, is_complete: decoder.is_complete() }
}

/// Returns the streams of one folder, by name.
pub(super) fn streams(folder: &str) -> Vec<(String, Vec<u8>)> {
    let folder = repository().join("fixtures/wire").join(folder);
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let name = |path: &PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    paths.iter().map(|path| (name(path), fs::read(path).unwrap())).collect()
}

fn show(reading: &Reading) -> String {
    let deltas: Vec<String> = reading.deltas.iter().map(|delta| format!("{delta:?}")).collect();
    let end = if reading.is_complete { "complete" } else { "cut" };
    let failure = reading.failure.as_ref().map_or(String::new(), |f| format!("\n{f:#?}"));
    format!("{}\n\n{end}{failure}\n{:#?}", deltas.join("\n"), reading.reply)
}

#[test_case(0; "anthropic")]
#[test_case(1; "responses")]
#[test_case(2; "chat")]
#[test_case(3; "gemini")]
fn a_documented_stream_is_read_as_it_is_meant(folder: usize) {
    let (wire, folder) = FOLDERS[folder];
    for (name, bytes) in streams(folder) {
        assert_snapshot!(format!("{folder}.{name}"), show(&read(wire, &bytes, &[])));
    }
}
