//! Every keyword of every draft: who knows it, and where it holds schemas.

use jsonschema::Draft;

use crate::nearest::nearest;

/// What a keyword's value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// Plain data, in which nothing is a keyword.
    Data,
    /// One schema.
    Schema,
    /// An array of schemas.
    Schemas,
    /// One schema or an array of them.
    SchemaOrSchemas,
    /// An object whose values are schemas.
    SchemaMap,
    /// An object whose values are schemas or arrays of names.
    Dependencies,
}

/// Which value a subschema judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judges {
    /// The value that its parent judges.
    SameValue,
    /// A part of that value.
    Part,
    /// No value, until a reference names it.
    Nothing,
}

/// One keyword.
#[derive(Debug)]
pub(super) struct Keyword {
    pub(super) name: &'static str,
    drafts: u8,
    pub(super) holds: Holds,
    pub(super) judges: Judges,
}

/// The drafts, oldest first, with the names that people use.
const DRAFTS: [(Draft, &str); 5] = [
    (Draft::Draft4, "4"),
    (Draft::Draft6, "6"),
    (Draft::Draft7, "7"),
    (Draft::Draft201909, "2019-09"),
    (Draft::Draft202012, "2020-12"),
];

const D4: u8 = 1;
const D6: u8 = 2;
const D7: u8 = 4;
const D2019: u8 = 8;
const D2020: u8 = 16;
const FROM_7: u8 = D7 | D2019 | D2020;
const FROM_6: u8 = D6 | FROM_7;
const FROM_2019: u8 = D2019 | D2020;
const ALL: u8 = D4 | FROM_6;

fn bit(draft: Draft) -> u8 {
    // A custom meta-schema is read as the newest draft.
    DRAFTS.iter().position(|(known, _)| *known == draft).map_or(D2020, |position| 1 << position)
}

/// Returns the name of `draft` that people use.
pub(super) fn draft_name(draft: Draft) -> &'static str {
    DRAFTS.iter().find(|(known, _)| *known == draft).map_or("unknown", |(_, name)| name)
}

const fn data(name: &'static str, drafts: u8) -> Keyword {
    Keyword { name, drafts, holds: Holds::Data, judges: Judges::Part }
}

const fn schemas(name: &'static str, drafts: u8, holds: Holds, judges: Judges) -> Keyword {
    Keyword { name, drafts, holds, judges }
}

#[rustfmt::skip]
static KEYWORDS: [Keyword; 63] = [
    data("type", ALL),
    schemas("properties", ALL, Holds::SchemaMap, Judges::Part),
    data("required", ALL),
    schemas("items", ALL, Holds::SchemaOrSchemas, Judges::Part),
    data("enum", ALL),
    data("const", FROM_6),
    schemas("additionalProperties", ALL, Holds::Schema, Judges::Part),
    schemas("patternProperties", ALL, Holds::SchemaMap, Judges::Part),
    schemas("propertyNames", FROM_6, Holds::Schema, Judges::Part),
    data("minProperties", ALL),
    data("maxProperties", ALL),
    schemas("prefixItems", D2020, Holds::Schemas, Judges::Part),
    schemas("additionalItems", ALL & !D2020, Holds::Schema, Judges::Part),
    schemas("contains", FROM_6, Holds::Schema, Judges::Part),
    data("minContains", FROM_2019),
    data("maxContains", FROM_2019),
    data("minItems", ALL),
    data("maxItems", ALL),
    data("uniqueItems", ALL),
    schemas("unevaluatedItems", FROM_2019, Holds::Schema, Judges::Part),
    schemas("unevaluatedProperties", FROM_2019, Holds::Schema, Judges::Part),
    data("minimum", ALL),
    data("maximum", ALL),
    data("exclusiveMinimum", ALL),
    data("exclusiveMaximum", ALL),
    data("multipleOf", ALL),
    data("minLength", ALL),
    data("maxLength", ALL),
    data("pattern", ALL),
    data("format", ALL),
    schemas("allOf", ALL, Holds::Schemas, Judges::SameValue),
    schemas("anyOf", ALL, Holds::Schemas, Judges::SameValue),
    schemas("oneOf", ALL, Holds::Schemas, Judges::SameValue),
    schemas("not", ALL, Holds::Schema, Judges::SameValue),
    schemas("if", FROM_7, Holds::Schema, Judges::SameValue),
    schemas("then", FROM_7, Holds::Schema, Judges::SameValue),
    schemas("else", FROM_7, Holds::Schema, Judges::SameValue),
    schemas("dependentSchemas", FROM_2019, Holds::SchemaMap, Judges::SameValue),
    data("dependentRequired", FROM_2019),
    // Deprecated since 2019-09, but still in the meta-schemas and still asserted.
    schemas("dependencies", ALL, Holds::Dependencies, Judges::SameValue),
    data("contentMediaType", FROM_7),
    data("contentEncoding", FROM_7),
    // An annotation: nothing is judged by it.
    schemas("contentSchema", FROM_2019, Holds::Schema, Judges::Nothing),
    schemas("$defs", FROM_2019, Holds::SchemaMap, Judges::Nothing),
    schemas("definitions", ALL, Holds::SchemaMap, Judges::Nothing),
    data("$schema", ALL),
    data("$id", FROM_6),
    data("id", D4),
    data("$ref", ALL),
    data("$anchor", FROM_2019),
    data("$dynamicRef", D2020),
    data("$dynamicAnchor", D2020),
    data("$recursiveRef", D2019),
    data("$recursiveAnchor", D2019),
    data("$vocabulary", FROM_2019),
    data("$comment", FROM_7),
    data("title", ALL),
    data("description", ALL),
    data("default", ALL),
    data("examples", FROM_6),
    data("deprecated", FROM_2019),
    data("readOnly", FROM_7),
    data("writeOnly", FROM_7),
];

impl Keyword {
    /// Returns the keyword called `name`, of whichever draft.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        KEYWORDS.iter().find(|keyword| keyword.name == name)
    }

    /// Returns the keyword of `draft` that `name` is most likely a typo of.
    pub(super) fn meant_by(name: &str, draft: Draft) -> Option<&'static str> {
        let known = KEYWORDS.iter().filter(|keyword| keyword.is_in(draft));
        nearest(name, known.map(|keyword| keyword.name))
    }

    /// Claims that `draft` knows this keyword.
    pub(super) fn is_in(&self, draft: Draft) -> bool {
        self.drafts & bit(draft) != 0
    }

    /// Returns the names of the drafts that know this keyword.
    pub(super) fn draft_names(&self) -> Vec<&'static str> {
        let known = DRAFTS.iter().filter(|(draft, _)| self.is_in(*draft));
        known.map(|(_, name)| *name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("propertees", Some("properties"))]
    #[test_case("Properties", Some("properties"); "case")]
    #[test_case("reqiured", Some("required"); "swap")]
    #[test_case("additionalProps", Some("additionalProperties"); "short form")]
    #[test_case("anyof", Some("anyOf"))]
    #[test_case("tpye", Some("type"); "swap in a short name")]
    #[test_case("password", None)]
    #[test_case("foo", None)]
    fn typos_lead_to_the_keyword(typo: &str, expected: Option<&str>) {
        assert_eq!(Keyword::meant_by(typo, Draft::Draft202012), expected);
    }

    #[test]
    fn only_keywords_of_the_draft_are_suggested() {
        assert_eq!(Keyword::meant_by("prefixItem", Draft::Draft7), None);
    }
}
