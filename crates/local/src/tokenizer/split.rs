//! How a text is cut into pieces before pairs are merged, by the name that weights files give.

use regex::Regex;

/// GPT-2's way. The group is whitespace whose last character may belong to the next piece.
const GPT_2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|(\s+)";
const LLAMA_3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|(\s+)";
const QWEN_2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|(\s+)";

/// Cuts text into pieces.
#[derive(Debug)]
pub(super) struct Splitter {
    pattern: Regex,
    /// Whether each digit is cut out before anything else.
    digits: Digits,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Digits {
    Alone,
    ByPattern,
}

impl Splitter {
    /// Returns the way of this name, if it is known.
    pub(super) fn named(name: &str) -> Option<Self> {
        let (pattern, digits) = match name {
            "default" | "gpt-2" => (GPT_2, Digits::ByPattern),
            "smollm" => (GPT_2, Digits::Alone),
            "llama-bpe" | "llama3" | "smaug-bpe" => (LLAMA_3, Digits::ByPattern),
            "qwen2" => (QWEN_2, Digits::ByPattern),
            _ => return None,
        };
        Some(Self { pattern: Regex::new(pattern).ok()?, digits })
    }

    /// Calls `each` with every piece, in order; nothing is left out.
    pub(super) fn split(&self, text: &str, mut each: impl FnMut(&str)) {
        if self.digits == Digits::ByPattern {
            return self.cut(text, &mut each);
        }
        let mut rest = text;
        while let Some(start) = rest.find(char::is_numeric) {
            let (before, digits) = rest.split_at(start);
            let width = digits.chars().next().map_or(0, char::len_utf8);
            let (digit, after) = digits.split_at(width);
            self.cut(before, &mut each);
            each(digit);
            rest = after;
        }
        self.cut(rest, &mut each);
    }

    fn cut(&self, text: &str, each: &mut impl FnMut(&str)) {
        let mut at = 0;
        while at < text.len() {
            let Some(found) = self.pattern.captures_at(text, at) else { break };
            let Some(whole) = found.get(0) else { break };
            let mut end = whole.end();
            // `\s+(?!\S)`: a run of whitespace leaves its last character to the text behind it.
            if let Some(last) = found.get(1).and_then(|run| run.as_str().char_indices().next_back())
                && end < text.len()
                && last.0 > 0
            {
                end = whole.start() + last.0;
            }
            each(text.get(at..whole.start()).unwrap_or_default());
            each(text.get(whole.start()..end).unwrap_or_default());
            at = end;
        }
        each(text.get(at..).unwrap_or_default());
    }
}
