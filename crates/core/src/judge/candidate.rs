//! The value in a text that is most likely meant as the answer, for people who mend it.
//!
//! The rule it protects: nothing is hidden from who decides. Where a piece of the text is broken, that may
//! be the answer, so nothing else is offered in its place. No verdict depends on what is found here.

use super::shape;
use crate::contract::Contract;
use crate::json::{Document, Limits, as_text};
use crate::recover::{self, Found};

/// Returns the value in `text` that looks most like an answer by `contract`, whether it conforms or not:
/// the last that has the members of one, else the longest. Nothing if a piece of the text is broken.
pub fn best_candidate(contract: &Contract, text: impl AsRef<[u8]>) -> Option<Document> {
    let limits = Limits::default();
    let text = as_text(text.as_ref()).ok()?;
    if let Ok(whole) = Document::parse_text(text, &limits) {
        return Some(whole);
    }
    let Found { candidates, trouble: None, noise: None, .. } =
        recover::find(text, recover::own(text).range, &limits)
    else {
        return None;
    };
    candidates
        .into_iter()
        .filter_map(|candidate| Document::parse_within(candidate.reading.text, &limits).ok())
        // The last of those that are equal.
        .max_by_key(|value| {
            let is_likely = shape::resembles(contract, value);
            (is_likely, if is_likely { 0 } else { value.text().len() })
        })
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;
    use crate::contract::{Options, Origin, Preflight};

    const SCHEMA: &str = r#"{
        "type": "object",
        "properties": { "summary": { "type": "string" }, "score": { "type": "integer" } },
        "required": ["summary", "score"],
        "additionalProperties": false
    }"#;

    #[test_case("Here:\n```json\n{\"summary\":\"a\",\"score\":\"x\"}\n```\nDone." => Some(r#"{"summary":"a","score":"x"}"#.to_owned()); "amid prose")]
    #[test_case("First\n\n{\"summary\":\"a\",\"score\":null}\n\nand then\n\n{\"summary\":\"b\",\"score\":null}\n" => Some(r#"{"summary":"b","score":null}"#.to_owned()); "the last that looks like one")]
    #[test_case("{\"summary\":1}" => Some(r#"{"summary":1}"#.to_owned()); "all there is")]
    #[test_case("I would rather not." => None; "none")]
    #[test_case("Such as {\"summary\":\"a\",\"score\":1}, so:\n{\"summary\":\"b\", \"sco" => None; "cut off")]
    fn people_begin_with_what_looks_like_an_answer(text: &str) -> Option<String> {
        let preflight = Preflight::run(SCHEMA.as_bytes(), Origin::File, &Options::default());
        let contract = preflight.contract.unwrap();
        best_candidate(&contract, text).map(|value| value.to_compact())
    }
}
