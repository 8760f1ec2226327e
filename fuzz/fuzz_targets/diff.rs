//! Any bytes are read as a diff without a panic; what is written of it reads the same; parts hold every
//! line once, and their scopes can be read from their diffs.
#![no_main]

use std::collections::HashSet;

use airtight_core::review::{Change, Diff, FileDiff, Scope, Split, Why, parse};
use libfuzzer_sys::fuzz_target;

/// Names and hunks of the files that have any.
fn texts(diff: &Diff<'_>) -> Vec<String> {
    let files = diff.files.iter().filter(|file| !file.hunks().is_empty());
    files.map(|file| format!("{:?} {:?}", file.name, file.hunks())).collect()
}

/// The files with a name that is too long for a part. A diff may show such a file twice, and one of them may
/// fit; no lines are counted of either.
fn long_names(split: &Split<'_>) -> HashSet<String> {
    let left_out = split.left_out.iter().filter(|it| matches!(it.why, Why::LongName(_)));
    left_out.filter_map(|it| it.file.clone()).collect()
}

/// How many lines of the new version a file shows.
fn new_lines(file: &FileDiff<'_>) -> usize {
    let lines = file.hunks().iter().flat_map(|hunk| hunk.numbered());
    lines.filter(|(number, _)| number.is_some()).count()
}

fuzz_target!(|bytes: &[u8]| {
    let diff = parse(bytes).expect("the fuzzer's inputs are small");
    let written = diff.to_bytes();
    let again = parse(&written).expect("what is written is not larger by much");
    assert_eq!(texts(&diff), texts(&again));
    let split = diff.split(150);
    let long_names = long_names(&split);
    let is_counted = |file: &&FileDiff<'_>| !long_names.contains(&file.name.shown());
    let mut lines = 0;
    for part in &split.parts {
        assert!(part.tokens <= 150);
        assert_eq!(Scope::read(&part.to_diff()).unwrap_or_default(), part.scope());
        let files = part.pieces.iter().map(|piece| piece.file());
        lines += files.filter(is_counted).map(new_lines).sum::<usize>();
    }
    let files = diff.files.iter().filter(|file| file.change != Change::Deleted);
    assert_eq!(lines, files.filter(is_counted).map(new_lines).sum::<usize>());
});
