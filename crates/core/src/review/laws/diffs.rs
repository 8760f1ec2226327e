//! What holds for every diff.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::texts::{diff, files};
use crate::review::diff::{Change, Content, Diff, Hunk, Text};
use crate::review::{Scope, Why, parse};

/// Returns how often each line of the new version is in the parts, by file and number.
fn shown(diff: &Diff<'_>, budget: u64) -> BTreeMap<(usize, u32), usize> {
    let mut counts = BTreeMap::new();
    for part in diff.split(budget).parts {
        for piece in &part.pieces {
            let same = |file: &&crate::review::FileDiff<'_>| file.name == piece.file().name;
            let holders: Vec<usize> =
                (0..diff.files.len()).filter(|it| same(&&diff.files[*it])).collect();
            for (number, line) in piece.file().hunks().iter().flat_map(Hunk::numbered) {
                if let (Some(number), Text::Whole(_)) = (number, line.text) {
                    // Made-up diffs may have a file twice; its lines are counted for the first.
                    *counts.entry((holders[0], number)).or_default() += 1;
                }
            }
        }
    }
    counts
}

/// Claims that no two files have one name, which no diff of git has.
fn is_proper(diff: &Diff<'_>) -> bool {
    let mut names: Vec<_> = diff.files.iter().map(|file| &file.name).collect();
    names.sort();
    names.windows(2).all(|pair| pair[0] != pair[1])
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let diff = parse(&bytes).unwrap();
        diff.split(200).parts.iter().for_each(|part| drop(part.numbered()));
    }

    #[test]
    fn any_words_of_a_diff_are_read_without_a_panic(
        words in prop::collection::vec(prop::sample::select(&[
            "diff --git ", "a/x ", "b/x", "\n", "--- a/x\n", "+++ b/x\n", "@@ -1 +1 @@\n", "@@ -1,2 +1,2 @@",
            "+x\n", "-y\n", " z\n", "\\ No newline\n", "rename from x\n", "rename to y\n", "\"b/\\303", "\r\n",
            "new file mode 100644\n", "index 1..2 160000\n", "Binary files a and b differ\n", "diff --cc x\n",
            "GIT binary patch\n", "literal 3\n", "/dev/null", "@@@ -1 -1 +1 @@@\n", "4294967295", ",",
        ][..]), 0..40)
    ) {
        let text = words.concat();
        let diff = parse(text.as_bytes()).unwrap();
        let again = diff.to_bytes();
        let texts = |diff: &Diff<'_>| -> Vec<String> {
            let texts = diff.files.iter().filter(|file| !file.hunks().is_empty());
            texts.map(|file| format!("{:?} {:?}", file.name, file.hunks())).collect()
        };
        prop_assert_eq!(texts(&diff), texts(&parse(&again).unwrap()));
    }

    #[test]
    fn what_is_written_reads_the_same(files in files()) {
        let text = diff(&files);
        let read = parse(&text).unwrap();
        prop_assert_eq!(&read.unread, &vec![]);
        prop_assert_eq!(read.other_lines, 0);
        prop_assert_eq!(read.files.len(), files.len());
        for (made, file) in files.iter().zip(&read.files) {
            prop_assert_eq!((&made.name, &made.change), (&file.name, &file.change));
            let lines: Vec<usize> = file.hunks().iter().map(|hunk| hunk.lines.len()).collect();
            prop_assert_eq!(lines, made.hunks.iter().map(Vec::len).collect::<Vec<_>>());
        }
        let again = read.to_bytes();
        prop_assert_eq!(parse(&again).unwrap(), read);
    }

    #[test]
    fn every_new_line_is_in_one_part_or_told(files in files(), budget in 100_u64..600) {
        let text = diff(&files);
        let read = parse(&text).unwrap();
        prop_assume!(is_proper(&read));
        let mut counts = shown(&read, budget);
        let split = read.split(budget);
        for left_out in &split.left_out {
            if let (Why::LongLine(_) | Why::LongContext(_), Some(file), Some(line)) =
                (left_out.why, &left_out.file, left_out.line)
            {
                let index = read.files.iter().position(|it| it.name.shown() == *file).unwrap();
                *counts.entry((index, line)).or_default() += 1;
            }
        }
        for (index, file) in read.files.iter().enumerate() {
            if file.change == Change::Deleted || file.content == Content::Binary {
                continue;
            }
            for (number, _) in file.hunks().iter().flat_map(Hunk::numbered) {
                if let Some(number) = number {
                    prop_assert_eq!(counts.remove(&(index, number)), Some(1));
                }
            }
        }
        prop_assert!(counts.is_empty(), "{:?}", counts);
        prop_assert!(split.parts.iter().all(|part| part.tokens <= budget));
    }

    #[test]
    fn the_scope_of_a_part_can_be_read_from_its_diff(files in files(), budget in 100_u64..600) {
        let text = diff(&files);
        let read = parse(&text).unwrap();
        prop_assume!(is_proper(&read));
        for part in read.split(budget).parts {
            prop_assert_eq!(Scope::read(&part.to_diff()), Some(part.scope()));
            prop_assert!(part.numbered().len() as u64 / 4 <= part.tokens);
        }
    }
}
