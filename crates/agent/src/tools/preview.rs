//! Results that fit: the beginning and the end of a text that is too long.

/// The most bytes that a result may have as a JSON string, quotes included (QW-75).
pub const RESULT_LIMIT_BYTES: usize = 65_536;

/// Room for the line that says how much is missing, with two numbers of 20 digits.
const NOTICE_BYTES: usize = 96;

/// The head's share, in percent: the end of an output says more than its beginning.
const HEAD_PERCENT: usize = 20;

/// Bounds a result.
pub(crate) fn preview(text: String) -> String {
    bounded(text, RESULT_LIMIT_BYTES)
}

/// Bounds `text` to `limit_bytes` as a JSON string; below the size of the notice nothing is left.
fn bounded(text: String, limit_bytes: usize) -> String {
    if cost(&text).saturating_add(2) <= limit_bytes {
        return text;
    }
    let room = limit_bytes.saturating_sub(NOTICE_BYTES).saturating_sub(2);
    let head = prefix(&text, room.saturating_mul(HEAD_PERCENT) / 100);
    let behind = text.get(head.len()..).unwrap_or_default();
    let tail = suffix(behind, room.saturating_sub(cost(head)));
    let missing = behind.len().saturating_sub(tail.len());
    if room == 0 {
        return String::new();
    }
    format!("{head}\n[{missing} of {} bytes left out here]\n{tail}", text.len())
}

/// Returns what a text takes inside of a JSON string.
pub(super) fn cost(text: &str) -> usize {
    text.chars().map(char_cost).sum()
}

fn char_cost(next: char) -> usize {
    match next {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..'\u{20}' => 6,
        _ => next.len_utf8(),
    }
}

/// Returns the longest prefix that costs at most `budget`.
pub(super) fn prefix(text: &str, budget: usize) -> &str {
    let mut spent = 0_usize;
    let end = text.char_indices().find(|&(_, next)| {
        spent = spent.saturating_add(char_cost(next));
        spent > budget
    });
    end.and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

fn suffix(text: &str, budget: usize) -> &str {
    let mut spent = 0_usize;
    let start = text.char_indices().rev().find(|&(_, next)| {
        spent = spent.saturating_add(char_cost(next));
        spent > budget
    });
    start.and_then(|(start, next)| text.get(start + next.len_utf8()..)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn as_json(text: &str) -> usize {
        serde_json::to_string(text).unwrap().len()
    }

    proptest! {
        #[test]
        fn a_result_never_exceeds_its_limit(text in "(?s).{0,400}", limit in 0_usize..500) {
            let shown = bounded(text.clone(), limit);
            prop_assert!(as_json(&shown) <= limit.max(2));
        }

        #[test]
        fn what_fits_is_unchanged(text in "(?s).{0,400}") {
            prop_assert_eq!(bounded(text.clone(), as_json(&text)), text);
        }

        #[test]
        fn the_cost_is_what_the_serializer_writes(text in "(?s).{0,400}") {
            prop_assert_eq!(cost(&text) + 2, as_json(&text));
        }

        #[test]
        fn head_and_tail_are_the_texts_own(text in "[a-z\\n\"]{300,600}") {
            let shown = bounded(text.clone(), 256);
            let (head, rest) = shown.split_once("\n[").unwrap();
            let (_, tail) = rest.split_once("left out here]\n").unwrap();
            prop_assert!(text.starts_with(head) && text.ends_with(tail));
            prop_assert!(tail.len() >= head.len() * 2);
        }
    }

    #[test]
    fn the_line_says_how_much_is_missing() {
        let text = "a".repeat(200_000);
        let shown = preview(text);
        let kept = shown.matches('a').count() - "bytes left out here".matches('a').count();
        assert!(shown.contains(&format!("[{} of 200000 bytes left out here]", 200_000 - kept)));
        assert!(as_json(&shown) > RESULT_LIMIT_BYTES - 100, "the room is used");
    }
}
