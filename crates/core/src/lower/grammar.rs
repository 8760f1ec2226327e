//! What llama.cpp makes a grammar of: of what a place says, the first that it knows.
//!
//! Its converter looks at a list of values, else at a pattern, a format, a length, and forgets the rest. It
//! refuses the whole schema for a repetition that is too long.

use serde_json::{Map, Value};

/// How often anything may be repeated: from here on it is refused, or taken for any number.
const REPEAT_LIMIT: u64 = 2_000;

/// Claims that so many characters or items can be counted.
pub(super) fn counts(count: &Value) -> bool {
    count.as_u64().is_some_and(|count| count < REPEAT_LIMIT)
}

/// Returns the keyword that is not looked at beside the others in `schema`, if there is one.
pub(super) fn clash(schema: &Map<String, Value>) -> Option<&'static str> {
    let has = |keyword: &&str| schema.contains_key(*keyword);
    let passed_over: [(&[&str], &[&'static str]); 5] = [
        (
            &["enum", "const"],
            &[
                "pattern",
                "format",
                "minLength",
                "maxLength",
                "minimum",
                "maximum",
                "exclusiveMinimum",
                "exclusiveMaximum",
                "minItems",
                "maxItems",
            ],
        ),
        (&["pattern"], &["format", "minLength", "maxLength"]),
        (&["format"], &["minLength", "maxLength"]),
        (&["minimum"], &["exclusiveMinimum"]),
        (&["maximum"], &["exclusiveMaximum"]),
    ];
    let mut known = passed_over.iter().filter(|(first, _)| first.iter().any(has));
    known.find_map(|(_, others)| others.iter().copied().find(|keyword| has(keyword)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use test_case::test_case;

    use super::*;

    #[test_case(&json!({"enum": [1, 5], "minimum": 3}) => Some("minimum"); "a list")]
    #[test_case(&json!({"pattern": "^a$", "format": "date"}) => Some("format"); "a pattern")]
    #[test_case(&json!({"format": "date", "maxLength": 9}) => Some("maxLength"); "a format")]
    #[test_case(&json!({"minimum": 3, "exclusiveMinimum": 5}) => Some("exclusiveMinimum"); "two bounds")]
    #[test_case(&json!({"minimum": 3, "maximum": 5, "minLength": 1, "maxLength": 2}) => None; "what goes together")]
    fn only_the_first_is_heeded(schema: &Value) -> Option<&'static str> {
        clash(schema.as_object().unwrap())
    }

    #[test_case(&json!(1999) => true)]
    #[test_case(&json!(2000) => false)]
    fn repetitions_are_short(count: &Value) -> bool {
        counts(count)
    }
}
