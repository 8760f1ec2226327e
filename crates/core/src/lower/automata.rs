//! What llguidance can make automata of: patterns and numbers.
//!
//! It reads a pattern as a Rust regular expression that is anchored at its ends alone, and numbers
//! as floats. It refuses the whole schema for one that it cannot read, and for a number that it
//! rounds it forces a wrong answer; so both are losses here.

use regex_syntax::hir::{Hir, HirKind, Look};
use serde_json::{Map, Number, Value};

/// Below this every whole number is a float.
const TOO_LARGE: f64 = 9_007_199_254_740_992.0;

/// The most characters or items that are counted.
const COUNT_LIMIT: u64 = 100_000;

/// The largest step, without zeros at its end: an automaton has a state for each remainder.
const STEP_LIMIT: f64 = 4_096.0;

/// The most digits behind the point.
const DECIMALS: usize = 20;

/// Returns `pattern` in the words of the automaton, if it has them.
pub(super) fn pattern(pattern: &str) -> Option<String> {
    let translated = jsonschema_regex::to_rust_regex(pattern).ok()?;
    let hir = regex_syntax::parse(&translated).ok()?;
    looks_out_at_its_ends_alone(&hir, true, true).then(|| translated.into_owned())
}

/// Recurses as deep as the pattern, which its parser has bounded.
fn looks_out_at_its_ends_alone(hir: &Hir, starts: bool, ends: bool) -> bool {
    match hir.kind() {
        HirKind::Look(Look::Start) => starts,
        HirKind::Look(Look::End) => ends,
        HirKind::Look(_) => false,
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) => true,
        HirKind::Repetition(repetition) => {
            looks_out_at_its_ends_alone(&repetition.sub, false, false)
        }
        // A group of that name is where the automaton stops: it takes the rest for looked at.
        HirKind::Capture(capture) if capture.name.as_deref() == Some("stop") => false,
        HirKind::Capture(capture) => looks_out_at_its_ends_alone(&capture.sub, starts, ends),
        HirKind::Alternation(branches) => {
            branches.iter().all(|branch| looks_out_at_its_ends_alone(branch, starts, ends))
        }
        HirKind::Concat(parts) => {
            let is = |part: &Hir, look| *part.kind() == HirKind::Look(look);
            let first = parts.iter().position(|part| !is(part, Look::Start)).unwrap_or(0);
            let last = parts.iter().rposition(|part| !is(part, Look::End)).unwrap_or(parts.len());
            parts.iter().enumerate().all(|(index, part)| {
                looks_out_at_its_ends_alone(part, starts && index <= first, ends && index >= last)
            })
        }
    }
}

/// Claims that a number can be a bound: it is a float, and not too long to be spelt out.
pub(super) fn bounds(number: &Number) -> bool {
    number.as_f64().is_some_and(|float| float.abs() < TOO_LARGE && decimals(float) <= DECIMALS)
}

/// Claims that a number can be a step: times ten and times ten again, it becomes a small whole
/// number as soon as its decimals are used up, and not later by rounding. Remainders of it are counted
/// in 32 bits: ten times one of them, and a digit in the place of a whole.
pub(super) fn steps(number: &Number) -> bool {
    number.as_f64().is_some_and(|float| {
        let (mut counted, mut places, mut whole) = (float, 0, 1.0);
        while counted.fract() != 0.0 && places <= DECIMALS {
            (counted, places, whole) = (counted * 10.0, places + 1, whole * 10.0);
        }
        let mut digits = counted;
        while digits >= 10.0 && digits % 10.0 == 0.0 {
            digits /= 10.0;
        }
        places == decimals(float)
            && 10.0 * counted + 9.0 * whole <= f64::from(u32::MAX)
            && digits <= STEP_LIMIT
    })
}

/// Claims that so many characters or items can be counted.
pub(super) fn counts(count: &Value) -> bool {
    count.as_u64().is_some_and(|count| count <= COUNT_LIMIT)
}

/// Returns the keyword that cannot stand beside the others in `schema`, if there is one.
///
/// Multiples of a part of one are looked for between bounds by rounding, and between narrow ones none may be
/// found. A whole bound that is no value itself counts as one if the other bound begins with the same whole.
pub(super) fn clash(schema: &Map<String, Value>) -> Option<&'static str> {
    let number = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    let bound = |keywords: [&str; 2]| keywords.into_iter().find_map(number);
    let lower = bound(["exclusiveMinimum", "minimum"])?;
    let upper = bound(["exclusiveMaximum", "maximum"])?;
    let is_whole_of = |keyword: &str, other: f64| {
        number(keyword).is_some_and(|bound| bound.fract() == 0.0 && (bound - other.trunc()) == 0.0)
    };
    let is_integer = schema.get("type").is_some_and(|kind| kind == "integer");
    let unit = if is_integer { 1.0 } else { 0.0 };
    let is_missed = |step: f64| step.fract() != 0.0 && upper - lower < 3.0 * step.max(unit);
    if number("multipleOf").is_some_and(is_missed) {
        Some("multipleOf")
    } else if is_whole_of("exclusiveMinimum", upper) {
        Some("exclusiveMinimum")
    } else if is_whole_of("exclusiveMaximum", lower) {
        Some("exclusiveMaximum")
    } else {
        None
    }
}

/// Formats of which the automaton admits more than there is: days without a calendar, seconds that no minute
/// has, names of any length. Where they stand alone, whoever compiles the grammar adds a pattern of what is left.
const ROUGH_FORMATS: [&str; 5] = ["date", "date-time", "time", "email", "hostname"];

/// Claims that the format in `schema` stands beside a pattern, and admits what has not this format.
pub(super) fn is_rough(schema: &Map<String, Value>) -> bool {
    let format = schema.get("format").and_then(Value::as_str);
    schema.contains_key("pattern") && format.is_some_and(|format| ROUGH_FORMATS.contains(&format))
}

/// Claims that a value can be listed.
pub(super) fn lists(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => true,
        Value::Number(number) => bounds(number),
        Value::Array(items) => items.iter().all(lists),
        Value::Object(members) => members.values().all(lists),
    }
}

fn decimals(float: f64) -> usize {
    float.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("^a+$" => Some("^a+$".to_owned()); "anchored")]
    #[test_case("a|^b|c$" => Some("a|^b|c$".to_owned()); "anchored in branches")]
    #[test_case("^^(a)$$" => Some("^^(a)$$".to_owned()); "anchored twice")]
    #[test_case(r"\d" => Some("[0-9]".to_owned()); "digits are those of ECMA")]
    #[test_case("^[[:alpha:]]+$" => Some(r"^[\[:alpha:]]+$".to_owned()); "no class of POSIX")]
    #[test_case("[a-z&&[aeiou]]" => Some(r"[a-z\&\&\[aeiou]]".to_owned()); "no sets of classes")]
    #[test_case(r"^\cA$" => Some("^\u{1}$".to_owned()); "a control character")]
    #[test_case(r"\bfoo\b" => None; "word boundary")]
    #[test_case(r"\Bfoo" => None; "no word boundary")]
    #[test_case("a$b" => None; "an end in the middle")]
    #[test_case("x^" => None; "a start at the end")]
    #[test_case("(^a)*" => None; "a start that repeats")]
    #[test_case("^(?<start>a)b$" => Some("^(?<start>a)b$".to_owned()); "a group with a name")]
    #[test_case("(?<stop>a)b" => None; "a group that would stop it")]
    #[test_case("(?=a)b" => None; "look-ahead")]
    #[test_case(r"(a)\1" => None; "back-reference")]
    fn patterns_are_read_as_the_verdict_reads_them(written: &str) -> Option<String> {
        pattern(written)
    }

    #[test_case("0" => true)]
    #[test_case("-2.50" => true)]
    #[test_case("-9007199254740991" => true; "below 2^53")]
    #[test_case("9007199254740993" => false; "above 2^53")]
    #[test_case("1e30" => false)]
    #[test_case("1e300" => false)]
    #[test_case("1e-20" => true; "twenty decimals")]
    #[test_case("1e-300" => false; "three hundred decimals")]
    fn bounds_are_floats_that_can_be_spelt_out(written: &str) -> bool {
        bounds(&serde_json::from_str(written).unwrap())
    }

    #[test_case("3" => true)]
    #[test_case("0.25" => true)]
    #[test_case("0.01" => true; "cents")]
    #[test_case("0.07" => false; "what times ten rounds")]
    #[test_case("400000000" => true; "under 32 bits")]
    #[test_case("429496729" => false; "over 32 bits with a digit")]
    #[test_case("4096" => true; "thousands of remainders")]
    #[test_case("9973" => false; "too many remainders")]
    #[test_case("4294967296" => false; "over 32 bits")]
    #[test_case("1e-8" => true; "eight decimals")]
    #[test_case("1e-9" => false; "nine decimals")]
    #[test_case("1e-300" => false; "three hundred decimals")]
    fn steps_are_small_whole_numbers_of_their_last_place(written: &str) -> bool {
        steps(&serde_json::from_str(written).unwrap())
    }

    #[test_case(r#"{"minimum":0,"maximum":1}"# => None)]
    #[test_case(r#"{"minimum":0.25,"maximum":0.3,"multipleOf":0.1}"# => Some("multipleOf"))]
    #[test_case(r#"{"minimum":0.25,"multipleOf":0.1}"# => None; "one bound")]
    #[test_case(r#"{"minimum":0,"maximum":1,"multipleOf":0.1}"# => None; "wide bounds")]
    #[test_case(r#"{"type":"integer","minimum":3,"maximum":4,"multipleOf":0.1}"# => Some("multipleOf"); "integers")]
    #[test_case(r#"{"minimum":2,"maximum":9,"multipleOf":2}"# => None; "whole steps")]
    #[test_case(r#"{"exclusiveMinimum":0,"maximum":0.5}"# => Some("exclusiveMinimum"))]
    #[test_case(r#"{"exclusiveMinimum":0,"maximum":1.5}"# => None; "another whole")]
    #[test_case(r#"{"minimum":-0.5,"exclusiveMaximum":0}"# => Some("exclusiveMaximum"))]
    fn bounds_and_steps_may_clash(schema: &str) -> Option<&'static str> {
        clash(&serde_json::from_str(schema).unwrap())
    }
}
