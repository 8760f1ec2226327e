//! Diffs of every kind that git and `diff` print.

use super::*;

fn names(diff: &Diff<'_>) -> Vec<(String, Change)> {
    diff.files.iter().map(|file| (file.name.shown(), file.change.clone())).collect()
}

fn texts<'d>(hunk: &Hunk<'d>) -> Vec<(Option<u32>, &'d [u8])> {
    let text = |line: &Line<'d>| match line.text {
        Text::Whole(text) => text,
        Text::LeftOut(_) => b"",
    };
    hunk.numbered().map(|(number, line)| (number, text(line))).collect()
}

#[test]
fn lines_are_numbered_as_in_the_new_version() {
    let diff = parse(
        b"diff --git a/a.rs b/a.rs\nindex 1..2 100644\n--- a/a.rs\n+++ b/a.rs\n\
          @@ -10,3 +12,4 @@ fn main() {\n one\n-two\n+2\n+zwei\n three\n@@ -30 +33 @@\n-x\n+y\n",
    )
    .unwrap();
    let hunks = diff.files[0].hunks();
    assert_eq!(hunks[0].section, b"fn main() {");
    assert_eq!(
        texts(&hunks[0]),
        [
            (Some(12), b"one".as_slice()),
            (None, b"two"),
            (Some(13), b"2"),
            (Some(14), b"zwei"),
            (Some(15), b"three"),
        ]
    );
    assert_eq!(texts(&hunks[1]), [(None, b"x".as_slice()), (Some(33), b"y")]);
    assert_eq!((hunks[0].new_lines(), hunks[1].new_lines()), (Some(12..=15), Some(33..=33)));
}

#[test]
fn files_are_named_by_whatever_names_them_for_sure() {
    let text = "\
diff --git a/old name.rs b/new name.rs
similarity index 100%
rename from old name.rs
rename to new name.rs
diff --git a/with space.sh b/with space.sh
old mode 100644
new mode 100755
diff --git \"a/caf\\303\\251.txt\" \"b/caf\\303\\251.txt\"
new file mode 100644
index 000..e69
diff --git a/gone b/gone
deleted file mode 100644
index 1..0
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/src/a b/src/b
similarity index 90%
copy from src/a
copy to src/b
diff --git noprefix.c noprefix.c
index 1..2
--- noprefix.c
+++ noprefix.c
@@ -1 +1 @@
-x
+y
diff --git i/index.c w/index.c
index 1..2
--- i/index.c
+++ w/index.c
@@ -1 +1 @@
-x
+y
";
    let diff = parse(text.as_bytes()).unwrap();
    assert_eq!(diff.unread, []);
    let expected = [
        ("new name.rs", Change::Renamed(Name::new("old name.rs"))),
        ("with space.sh", Change::Modified),
        ("café.txt", Change::Added),
        ("gone", Change::Deleted),
        ("src/b", Change::Copied(Name::new("src/a"))),
        ("noprefix.c", Change::Modified),
        ("index.c", Change::Modified),
    ];
    assert_eq!(names(&diff), expected.map(|(name, change)| (name.to_owned(), change)));
    assert_eq!(
        (diff.files[1].old_mode, diff.files[1].new_mode),
        (Some(0o100_644), Some(0o100_755))
    );
}

#[test]
fn what_is_no_text_says_so() {
    let text = "\
diff --git a/logo.png b/logo.png
index 1..2 100644
Binary files a/logo.png and b/logo.png differ
diff --git a/x.bin b/x.bin
new file mode 100644
index 0..1
GIT binary patch
literal 12
TcmZQzWMXDvWn<^yVd3H8Vd3H8

literal 0
HcmV?d00001

diff --git a/lib b/lib
index 1111111..2222222 160000
--- a/lib
+++ b/lib
@@ -1 +1 @@
-Subproject commit 1111111
+Subproject commit 2222222
diff --cc merged.c
index 1,2..3
--- a/merged.c
+++ b/merged.c
@@@ -1,1 -1,1 +1,1 @@@
- a
 -b
++c
* Unmerged path both.c
";
    let diff = parse(text.as_bytes()).unwrap();
    let contents: Vec<_> = diff.files.iter().map(|file| file.content.clone()).collect();
    let expected = [Content::Binary, Content::Binary, Content::Submodule, Content::Combined];
    assert_eq!(contents, expected);
    let both = Some("both.c".to_owned());
    assert_eq!(diff.unread, [Unread { line: 29, file: both, trouble: Trouble::Unmerged }]);
    assert_eq!(diff.other_lines, 0);
}

#[test]
fn line_breaks_of_every_kind_are_kept_and_none_is_told() {
    let text =
        b"diff --git a/a b/a\r\n--- a/a\r\n+++ b/a\r\n@@ -1,3 +1,3 @@\r\n one\r\n\r\n-three\r\n\
        \\ No newline at end of file\r\n+drei\r\n\\ No newline at end of file\r\n";
    let diff = parse(text).unwrap();
    assert_eq!(diff.unread, []);
    let hunk = &diff.files[0].hunks()[0];
    let lines: Vec<_> = hunk.lines.iter().map(|line| (line.text, line.ending)).collect();
    let whole = |text: &'static [u8]| Text::Whole(text);
    assert_eq!(
        lines,
        [
            (whole(b"one\r"), Ending::Break),
            (whole(b"\r"), Ending::Break),
            (whole(b"three\r"), Ending::File),
            (whole(b"drei\r"), Ending::File),
        ]
    );
}

#[test]
fn plain_diffs_are_read_too() {
    let text = "\
diff -ru old/a.c new/a.c
--- old/a.c\t2026-01-01 00:00:00.000000000 +0000
+++ new/a.c\t2026-01-02 00:00:00.000000000 +0000
@@ -1 +1 @@
-x
+y
Only in new: b.c
Binary files old/c and new/c differ
--- /dev/null\t1970-01-01
+++ b/d.c\t2026-01-02
@@ -0,0 +1 @@
+z
";
    let diff = parse(text.as_bytes()).unwrap();
    let expected = [("new/a.c", Change::Modified), ("d.c", Change::Added)];
    assert_eq!(names(&diff), expected.map(|(name, change)| (name.to_owned(), change)));
    let troubles: Vec<_> = diff.unread.iter().map(|it| (it.line, it.trouble)).collect();
    assert_eq!(troubles, [(7, Trouble::OneSide), (8, Trouble::Binary)]);
    assert_eq!(diff.other_lines, 1);
}

#[test]
fn words_around_a_diff_are_counted() {
    let text = "\
commit 0123456
Author: Ada

    Say it better

diff --git a/a b/a
--- a/a
+++ b/a
@@ -1 +1 @@
--- x
+++ y
--\x20
2.47.3
";
    let diff = parse(text.as_bytes()).unwrap();
    assert_eq!((diff.other_lines, diff.files.len(), diff.unread.len()), (5, 1, 0));
    assert_eq!(texts(&diff.files[0].hunks()[0]), [(None, b"-- x".as_slice()), (Some(1), b"++ y")]);
}

#[test]
fn what_is_damaged_is_told_with_its_line() {
    let cases: [(&[u8], usize, Option<&str>, Trouble); 13] = [
        (b"diff --git a/x b/y\nindex 1..2\n", 1, None, Trouble::NoName),
        (b"@@ -1 +1 @@\n-x\n+y\n", 1, None, Trouble::NoFile),
        (b"--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n x\n", 5, Some("x"), Trouble::CutHunk),
        (b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n+y\n+z\n", 5, Some("x"), Trouble::CutHunk),
        (b"--- a/x\n+++ b/x\n@@ here @@\n", 3, Some("x"), Trouble::NoNumbers),
        (b"--- a/x\n+++ b/x\n@@ -1 +0,1 @@\n-x\n+y\n", 3, Some("x"), Trouble::NoNumbers),
        (b"@@@ -1 -1 +1 @@@\n", 1, None, Trouble::NoFile),
        (b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n+z\n", 6, Some("x"), Trouble::Excess),
        (b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n z\n-w\n", 6, Some("x"), Trouble::Excess),
        (
            b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n\\ No newline\n+z\n--- a/w\n+++ b/w\n@@ -1 +1 @@\n-x\n+y\n",
            7,
            Some("x"),
            Trouble::Excess,
        ),
        (b"diff --git a/x b/x\nindex 1..2 100644\n", 1, Some("x"), Trouble::NoHunks),
        (b"diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n", 1, Some("x"), Trouble::NoHunks),
        (
            b"diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1@@\n",
            5,
            Some("x"),
            Trouble::NoNumbers,
        ),
    ];
    for (text, line, file, trouble) in cases {
        let diff = parse(text).unwrap();
        let file = file.map(str::to_owned);
        assert_eq!(diff.unread, [Unread { line, file, trouble }], "{}", text.escape_ascii());
    }
    let sound: [&[u8]; 4] = [
        // A file that is new and empty, a mode alone, a mail, and the next commit of a log.
        b"diff --git a/x b/x\nnew file mode 100644\nindex 0000000..e69de29\n",
        b"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",
        b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n-- \n2.47.3\n",
        b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n\ncommit 01\n\n    - words\n",
    ];
    for text in sound {
        assert_eq!(parse(text).unwrap().unread, [], "{}", text.escape_ascii());
    }
    let over = b"--- a/x\n+++ b/x\n@@ -4294967295,2 +1 @@\n";
    assert_eq!(parse(over).unwrap().unread[0].trouble, Trouble::NoNumbers);
}

#[test]
fn a_diff_that_is_too_large_is_refused_with_its_size() {
    let bytes = vec![b'x'; DIFF_LIMIT_BYTES + 1];
    assert_eq!(parse(&bytes), Err(DiffError::TooLarge { size: DIFF_LIMIT_BYTES + 1 }));
    let lines = vec![b'\n'; DIFF_LIMIT_LINES + 1];
    assert_eq!(parse(&lines), Err(DiffError::TooLong { count: DIFF_LIMIT_LINES + 1 }));
}
