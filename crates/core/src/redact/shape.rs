//! The shapes of credentials: what nothing else looks like, by issuer.
//!
//! Most texts hold none, and most runs see none. So each shape has marks, which are looked for
//! first, and its pattern is built when they were found.

use std::ops::Range;
use std::sync::OnceLock;

use regex::Regex;

/// One shape.
struct Shape {
    marks: Marks,
    pattern: &'static str,
    built: OnceLock<Option<Regex>>,
}

/// What is in every text with that shape.
enum Marks {
    /// All of these.
    All(&'static [&'static str]),
    /// This, in any case.
    AnyCase(&'static str),
}

/// Every shape. `sk-` must begin a word: `risk-based` does not.
static SHAPES: [Shape; 16] = [
    Shape::with(&["sk-ant-"], r"sk-ant-[A-Za-z0-9_-]{16,}"),
    Shape::with(&["sk-"], r"\bsk-[A-Za-z0-9_-]{20,}"),
    Shape::with(&["k_"], r"\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}"),
    Shape::with(&["sk_"], r"\bg?sk_[A-Za-z0-9]{20,}"),
    Shape::with(&["xai-"], r"\bxai-[A-Za-z0-9]{20,}"),
    Shape::with(&["AIza"], r"AIza[0-9A-Za-z_-]{35}"),
    Shape::with(&["gh", "_"], r"gh[pousr]_[A-Za-z0-9]{30,}"),
    Shape::with(&["github_pat_"], r"github_pat_[A-Za-z0-9_]{22,}"),
    Shape::with(&["glpat-"], r"glpat-[A-Za-z0-9_-]{20,}"),
    Shape::with(&["xox", "-"], r"xox[abeprs]-[A-Za-z0-9-]{10,}"),
    Shape::with(&["IA"], r"(?:AKIA|ASIA)[0-9A-Z]{16}"),
    Shape::with(&["hf_"], r"hf_[A-Za-z0-9]{30,}"),
    Shape::with(&["eyJ", "."], r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{4,}"),
    // Up to the next line of dashes, whether that ends the key or not: what is read is masked, so that
    // a text full of beginnings is read once.
    Shape::with(
        &["PRIVATE KEY-----"],
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^-]|-[^-])*(?:-----END [A-Z ]*PRIVATE KEY-----)?",
    ),
    Shape::new(Marks::AnyCase("bearer"), r"(?i:bearer)\s+[A-Za-z0-9._~+/-]{16,}=*"),
    // A URL's user and password.
    Shape::with(&["://", "@"], r#"://[^/?#\s:@"'<>,\\]*:[^/?#\s@"'<>,\\]+@"#),
];

/// Finds everything in `text` that has the shape of a credential, shape by shape.
pub(super) fn credentials(text: &str) -> impl Iterator<Item = Range<usize>> {
    SHAPES.iter().flat_map(move |shape| shape.find(text))
}

impl Shape {
    const fn with(marks: &'static [&'static str], pattern: &'static str) -> Self {
        Self::new(Marks::All(marks), pattern)
    }

    const fn new(marks: Marks, pattern: &'static str) -> Self {
        Self { marks, pattern, built: OnceLock::new() }
    }

    fn find(&'static self, text: &str) -> Vec<Range<usize>> {
        if !self.marks.are_in(text) {
            return Vec::new();
        }
        match self.built.get_or_init(|| Regex::new(self.pattern).ok()) {
            Some(pattern) => pattern.find_iter(text).map(|found| found.range()).collect(),
            // Not for a pattern that a test has built; but if so, everything is a secret.
            None => std::iter::once(0..text.len()).collect(),
        }
    }
}

impl Marks {
    fn are_in(&self, text: &str) -> bool {
        match self {
            Self::All(marks) => marks.iter().all(|mark| text.contains(mark)),
            Self::AnyCase(mark) => {
                let (text, mark) = (text.as_bytes(), mark.as_bytes());
                let [first, ..] = mark else {
                    return true;
                };
                memchr::memchr2_iter(*first, first.to_ascii_uppercase(), text).any(|at| {
                    let found = text.get(at..at + mark.len());
                    found.is_some_and(|found| found.eq_ignore_ascii_case(mark))
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::Regex;

    use super::SHAPES;

    #[test]
    fn every_text_of_a_shape_has_its_marks() {
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        for shape in &SHAPES {
            assert!(Regex::new(shape.pattern).is_ok(), "{}", shape.pattern);
            let plain = shape.pattern.replace(r"\b", "");
            let texts = proptest::string::string_regex(&plain).unwrap();
            runner
                .run(&texts, |text| {
                    prop_assert!(shape.marks.are_in(&text), "{} in {text:?}", shape.pattern);
                    Ok(())
                })
                .unwrap();
        }
    }
}
