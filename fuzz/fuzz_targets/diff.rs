//! Any bytes are read as a diff without a panic; what is written of it reads the same; parts hold every
//! line once, and their scopes can be read from their diffs.
#![no_main]

use airtight_core::review::{Change, Diff, Scope, Split, Why, parse};
use libfuzzer_sys::fuzz_target;

/// Names and hunks of the files that have any.
fn texts(diff: &Diff<'_>) -> Vec<String> {
    let files = diff.files.iter().filter(|file| !file.hunks().is_empty());
    files.map(|file| format!("{:?} {:?}", file.name, file.hunks())).collect()
}

/// How many lines of the new version there are to review.
fn new_lines(diff: &Diff<'_>, split: &Split<'_>) -> usize {
    let has_long_name = |name: &str| {
        let mut left_out = split.left_out.iter();
        left_out.any(|it| matches!(it.why, Why::LongName(_)) && it.file.as_deref() == Some(name))
    };
    let files = diff.files.iter().filter(|file| file.change != Change::Deleted);
    let files = files.filter(|file| !has_long_name(&file.name.shown()));
    let lines = files.flat_map(|file| file.hunks()).flat_map(|hunk| hunk.numbered());
    lines.filter(|(number, _)| number.is_some()).count()
}

fuzz_target!(|bytes: &[u8]| {
    let diff = parse(bytes).expect("the fuzzer's inputs are small");
    let written = diff.to_bytes();
    let again = parse(&written).expect("what is written is not larger by much");
    assert_eq!(texts(&diff), texts(&again));
    let split = diff.split(150);
    let mut lines = 0;
    for part in &split.parts {
        assert!(part.tokens <= 150);
        assert_eq!(Scope::read(&part.to_diff()).unwrap_or_default(), part.scope());
        for piece in &part.pieces {
            let numbered = piece.file().hunks().iter().flat_map(|hunk| hunk.numbered());
            lines += numbered.filter(|(number, _)| number.is_some()).count();
        }
    }
    assert_eq!(lines, new_lines(&diff, &split));
});
