//! What llama.cpp makes a grammar of: of what a place says, the first that it knows.
//!
//! Its converter looks at a list of values, else at a pattern, a format, a length, and forgets the rest. It
//! refuses the whole schema for a repetition that is too long.

use serde_json::{Map, Number, Value};

use super::lowerer::Lowerer;
use super::original::{Place, names};
use super::place::{Sketch, is_kind};
use crate::contract::Keyword;

/// How often anything may be repeated: from here on it is refused, or taken for any number.
const REPEAT_LIMIT: u64 = 2_000;

/// How many digits a lone bound may have: from here on a repetition has more of them than it may.
const DIGIT_LIMIT: usize = 15;

/// Below this bounds are numbers, exclusive ones and their negatives as well.
const BOUND_LIMIT: u64 = i64::MAX.unsigned_abs() - 1;

/// Claims that the grammar of the format in `schema` admits what has not this format: it has no calendar, and
/// thirty days in February.
pub(super) fn is_rough(schema: &Map<String, Value>) -> bool {
    schema.get("format").is_some_and(|format| format == "date")
}

/// Claims that so many characters or items can be counted.
pub(super) fn counts(count: &Value) -> bool {
    count.as_u64().is_some_and(|count| count < REPEAT_LIMIT)
}

/// What is passed over beside a list of values, of what is about values of one type.
const BESIDE_A_LIST: [&str; 21] = [
    "properties",
    "patternProperties",
    "required",
    "additionalProperties",
    "minProperties",
    "maxProperties",
    "items",
    "prefixItems",
    "additionalItems",
    "minItems",
    "maxItems",
    "uniqueItems",
    "pattern",
    "format",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
];

impl<'c> Lowerer<'c> {
    /// Loses what else is said of the values that `sketch` lists.
    pub(super) fn pass_over(&mut self, place: &Place<'c>, sketch: &mut Sketch) {
        let kinds = sketch.listed_kinds();
        for clause in place.clauses.iter().filter(|clause| !clause.demands_nothing()) {
            let kind = Keyword::named(clause.keyword).and_then(Keyword::restricted_type);
            let is_about =
                kind.is_some_and(|kind| kinds.iter().any(|listed| is_kind(listed, kind)));
            if BESIDE_A_LIST.contains(&clause.keyword) && is_about {
                self.tell(clause, sketch);
            }
        }
    }
}

/// Returns the keyword that cannot stand beside the others in `schema`, if there is one.
pub(super) fn clash(schema: &Map<String, Value>) -> Option<&'static str> {
    let has = |keyword: &&str| schema.contains_key(*keyword);
    let passed_over: [(&str, &[&'static str]); 4] = [
        ("pattern", &["format", "minLength", "maxLength"]),
        ("format", &["minLength", "maxLength"]),
        ("minimum", &["exclusiveMinimum"]),
        ("maximum", &["exclusiveMaximum"]),
    ];
    let mut known = passed_over.iter().filter(|(first, _)| has(first));
    let beside = known.find_map(|(_, others)| others.iter().copied().find(has));
    beside.or_else(|| crossed(schema)).or_else(|| lone_bound(schema))
}

/// Returns the lower of two limits between which nothing lies: counting from one to the other never ends, or
/// comes to what neither admits.
fn crossed(schema: &Map<String, Value>) -> Option<&'static str> {
    let count = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
    let counts = [("minLength", "maxLength"), ("minItems", "maxItems")];
    let crossed = counts.into_iter().find(|(least, most)| match (count(least), count(most)) {
        (Some(least), Some(most)) => least > most,
        _ => false,
    });
    match (crossed, least(schema), most(schema)) {
        (Some((keyword, _)), ..) => Some(keyword),
        (None, Some((keyword, least)), Some((_, most))) => (least > most).then_some(keyword),
        (None, ..) => None,
    }
}

/// Returns what bounds integers from below, and the least that there may be.
fn least(schema: &Map<String, Value>) -> Option<(&'static str, i64)> {
    bound(schema, [("minimum", 0), ("exclusiveMinimum", 1)])
}

/// Returns what bounds integers from above, and the greatest that there may be.
fn most(schema: &Map<String, Value>) -> Option<(&'static str, i64)> {
    bound(schema, [("maximum", 0), ("exclusiveMaximum", -1)])
}

fn bound(
    schema: &Map<String, Value>,
    keywords: [(&'static str, i64); 2],
) -> Option<(&'static str, i64)> {
    keywords.into_iter().find_map(|(keyword, step)| {
        Some((keyword, schema.get(keyword)?.as_i64()?.saturating_add(step)))
    })
}

/// Returns the declared name, if there is one, beside which a grammar cannot say what other names are.
///
/// These differ from declared ones by a character, of which the converter writes a class byte by byte, in
/// order, and escapes none: an accent, a bracket, a control character breaks the grammar of the whole schema,
/// or lets the name end where it should not; a hyphen before a greater byte is a range. A name that is `*` it
/// takes for the others.
pub(super) fn unspeakable(schema: &Map<String, Value>) -> Option<&str> {
    let is_open = !matches!(schema.get("additionalProperties"), None | Some(Value::Bool(false)));
    let is_safe = |letter: u8| (b' '..=b'~').contains(&letter) && !br#""\]^"#.contains(&letter);
    let declared = schema.get("properties").and_then(Value::as_object).filter(|_| is_open);
    let names = || declared.into_iter().flat_map(Map::keys).map(String::as_str);
    let is_range = |name: &str| {
        name.match_indices('-').any(|(at, _)| {
            let start = name.get(..at).unwrap_or_default();
            let mut rests = names().filter_map(|other| other.strip_prefix(start));
            rests.any(|rest| rest.bytes().next().is_some_and(|next| next > b'-'))
        })
    };
    names().find(|name| *name == "*" || !name.bytes().all(is_safe) || is_range(name))
}

/// Returns the only bound of `schema` if the grammar of it would not be right.
///
/// With both, all numbers between are spelt out. With one, digit after digit is compared with the bound's,
/// and zeros that lead the rest of these are forgotten: at least 100 admits 10. Where the rest begins with a
/// one, longer numbers are missed: at least 1216 refuses 12016. Behind the sign of a greatest number below
/// zero zeros may lead: at most -5 admits -04.
fn lone_bound(schema: &Map<String, Value>) -> Option<&'static str> {
    match (least(schema), most(schema)) {
        (Some((keyword, least)), None) => (!is_right_alone(least)).then_some(keyword),
        (None, Some((keyword, most))) => (most < 0).then_some(keyword),
        (Some(_), Some(_)) | (None, None) => None,
    }
}

fn is_right_alone(least: i64) -> bool {
    let digits = least.to_string();
    let inner = digits.get(1..digits.len() - 1).unwrap_or_default();
    least < 10 || (digits.len() <= DIGIT_LIMIT && inner.bytes().all(|digit| digit > b'1'))
}

/// Claims that an integer can be bounded by this: the least and the greatest of 64 bits say that it is not.
pub(super) fn bounds(bound: &Number) -> bool {
    bound.as_i64().is_some_and(|bound| bound.unsigned_abs() < BOUND_LIMIT)
}

/// Returns the keyword of an adapted schema that the converter does not look at, or gets wrong, if there is
/// one.
///
/// Which keyword goes before which is written here once more, apart from the lowering.
pub(super) fn passed_over(schema: &Map<String, Value>) -> Option<&str> {
    let has = |keyword: &str| schema.contains_key(keyword);
    let is_declared =
        |name: &str| schema.get("properties").is_some_and(|members| members.get(name).is_some());
    let is_heeded = |keyword: &str, value: &Value| match keyword {
        "const" => true,
        "enum" => !has("const"),
        keyword if BESIDE_A_LIST.contains(&keyword) && (has("const") || has("enum")) => false,
        "required" => names(value).all(is_declared),
        "minItems" | "maxItems" => has("items"),
        "format" => !has("pattern"),
        "minLength" | "maxLength" => !has("pattern") && !has("format"),
        "exclusiveMinimum" => !has("minimum"),
        "exclusiveMaximum" => !has("maximum"),
        _ => true,
    };
    let mut keywords = schema.iter().map(|(keyword, value)| (keyword.as_str(), value));
    let unheeded = keywords.find(|(keyword, value)| !is_heeded(keyword, value));
    unheeded
        .map(|(keyword, _)| keyword)
        .or_else(|| crossed(schema))
        .or_else(|| lone_bound(schema))
        .or_else(|| unspeakable(schema).map(|_| "additionalProperties"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use test_case::test_case;

    use super::*;

    #[test_case(&json!({"pattern": "^a$", "format": "date"}) => Some("format"); "a pattern")]
    #[test_case(&json!({"format": "date", "maxLength": 9}) => Some("maxLength"); "a format")]
    #[test_case(&json!({"minimum": 3, "exclusiveMinimum": 5}) => Some("exclusiveMinimum"); "two bounds")]
    #[test_case(&json!({"minimum": 3, "maximum": 5, "minLength": 1, "maxLength": 2}) => None; "what goes together")]
    fn only_the_first_is_heeded(schema: &Value) -> Option<&'static str> {
        clash(schema.as_object().unwrap())
    }

    #[test_case(0 => true)]
    #[test_case(9 => true)]
    #[test_case(10 => true)]
    #[test_case(99 => true)]
    #[test_case(100 => false; "a zero that is forgotten")]
    #[test_case(1216 => false; "a one that is missed")]
    #[test_case(1990 => true; "a zero at the end")]
    #[test_case(2000 => false; "zeros that are forgotten")]
    #[test_case(222_222_222_222_222 => true; "fifteen digits")]
    #[test_case(2_222_222_222_222_222 => false; "sixteen digits")]
    fn a_bound_alone_is_kept_where_its_grammar_is_right(bound: i64) -> bool {
        let is_kept = |schema: Value| clash(schema.as_object().unwrap()).is_none();
        let beyond = [
            json!({"minimum": -bound}),
            json!({"maximum": bound}),
            json!({"minimum": bound, "maximum": bound + 1}),
            json!({"minimum": -1 - bound, "maximum": -bound}),
        ];
        assert_eq!(beyond.map(is_kept), [true; 4]);
        // Zeros may lead behind the sign.
        let below = [json!({"maximum": -1 - bound}), json!({"exclusiveMaximum": -bound})];
        assert_eq!(below.map(is_kept), [false; 2]);
        let alone =
            [json!({"minimum": bound}), json!({"exclusiveMinimum": bound - 1})].map(is_kept);
        assert_eq!(alone[0], alone[1]);
        alone[0]
    }

    #[test_case(&json!({"enum": [{}], "properties": {}}), Some("properties"); "members beside a list")]
    #[test_case(&json!({"const": 1, "enum": [1]}), Some("enum"); "a list beside a constant")]
    #[test_case(&json!({"type": "object", "required": ["a"]}), Some("required"); "a name that is not declared")]
    #[test_case(&json!({"properties": {"a": {}}, "required": ["a"]}), None; "a name that is declared")]
    #[test_case(&json!({"type": "array", "maxItems": 1}), Some("maxItems"); "a count of anything")]
    #[test_case(&json!({"items": {}, "maxItems": 1}), None; "a count of items")]
    #[test_case(&json!({"pattern": "^a$", "format": "date"}), Some("format"); "a format beside a pattern")]
    #[test_case(&json!({"type": "integer", "minimum": 100}), Some("minimum"); "a bound alone")]
    fn what_is_passed_over_is_seen_in_what_is_sent(schema: &Value, keyword: Option<&str>) {
        assert_eq!(passed_over(schema.as_object().unwrap()), keyword);
    }

    #[test_case(&json!({"minLength": 5, "maxLength": 3}) => Some("minLength"); "lengths")]
    #[test_case(&json!({"minItems": 2, "maxItems": 1}) => Some("minItems"); "counts")]
    #[test_case(&json!({"minimum": 10, "maximum": 5}) => Some("minimum"); "bounds")]
    #[test_case(&json!({"exclusiveMinimum": 5, "maximum": 5}) => Some("exclusiveMinimum"); "no integer between")]
    #[test_case(&json!({"exclusiveMinimum": 4, "exclusiveMaximum": 6}) => None; "an integer between")]
    #[test_case(&json!({"minLength": 3, "maxLength": 3, "minItems": 0, "maxItems": 0}) => None; "one length")]
    fn nothing_lies_between_limits_that_cross(schema: &Value) -> Option<&'static str> {
        clash(schema.as_object().unwrap())
    }

    #[test_case("größe" => true)]
    #[test_case("a]" => true)]
    #[test_case("a\\b" => true; "a backslash")]
    #[test_case("a\"b" => true; "a quote")]
    #[test_case("^" => true; "a caret")]
    #[test_case("a\nb" => true; "a line feed")]
    #[test_case("*" => true; "what the others are called")]
    #[test_case("z-a" => true; "a hyphen before another letter")]
    #[test_case("y-a" => false; "a hyphen")]
    #[test_case("content-type $id/[x" => false; "other marks")]
    fn beside_some_names_no_others_can_be_said(name: &str) -> bool {
        let declared = json!({"zo": {}, name: {}});
        let open = json!({"properties": declared, "additionalProperties": true});
        let typed = json!({"properties": declared, "additionalProperties": {"type": "null"}});
        let closed = json!({"properties": declared, "additionalProperties": false});
        let is_found =
            [open, typed, closed].map(|schema| unspeakable(schema.as_object().unwrap()).is_some());
        assert_eq!((is_found[0], is_found[2]), (is_found[1], false));
        is_found[0]
    }

    #[test_case(i64::MIN => false)]
    #[test_case(i64::MIN + 2 => false)]
    #[test_case(9_007_199_254_740_991 => true)]
    #[test_case(i64::MAX - 1 => false)]
    fn bounds_are_not_what_says_that_there_is_none(bound: i64) -> bool {
        bounds(&bound.into())
    }

    #[test_case(&json!(1999) => true)]
    #[test_case(&json!(2000) => false)]
    fn repetitions_are_short(count: &Value) -> bool {
        counts(count)
    }
}
