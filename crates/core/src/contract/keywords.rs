//! Every keyword of every draft: who knows it, what it restricts, and where it holds schemas.

use jsonschema::Draft;

use crate::nearest::nearest;

/// What a keyword's value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
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
pub(crate) enum Judges {
    /// The value that its parent judges.
    SameValue,
    /// A part of that value.
    Part,
    /// No value, until a reference names it.
    Nothing,
}

/// Which values a keyword may reject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Restricts {
    /// Those of one type.
    OneType(&'static str),
    /// Any.
    Values,
    /// None: it informs, names or defines.
    Nothing,
}

/// One keyword.
#[derive(Debug)]
pub(crate) struct Keyword {
    pub(crate) name: &'static str,
    restricts: Restricts,
    drafts: u8,
    pub(crate) holds: Holds,
    pub(crate) judges: Judges,
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

/// Claims that `$ref` makes every other keyword beside it void, as it does up to draft 7.
pub(crate) fn reference_stands_alone(draft: Draft) -> bool {
    matches!(draft, Draft::Draft4 | Draft::Draft6 | Draft::Draft7)
}

/// Returns the name of `draft` that people use.
pub(crate) fn draft_name(draft: Draft) -> &'static str {
    DRAFTS.iter().find(|(known, _)| *known == draft).map_or("unknown", |(_, name)| name)
}

const OBJECTS: Restricts = Restricts::OneType("object");
const ARRAYS: Restricts = Restricts::OneType("array");
const STRINGS: Restricts = Restricts::OneType("string");
const NUMBERS: Restricts = Restricts::OneType("number");

const fn data(name: &'static str, restricts: Restricts, drafts: u8) -> Keyword {
    Keyword { name, restricts, drafts, holds: Holds::Data, judges: Judges::Part }
}

const fn schemas(
    name: &'static str,
    restricts: Restricts,
    drafts: u8,
    holds: Holds,
    judges: Judges,
) -> Keyword {
    Keyword { name, restricts, drafts, holds, judges }
}

#[rustfmt::skip]
static KEYWORDS: [Keyword; 63] = [
    data("type", Restricts::Values, ALL),
    schemas("properties", OBJECTS, ALL, Holds::SchemaMap, Judges::Part),
    data("required", OBJECTS, ALL),
    schemas("items", ARRAYS, ALL, Holds::SchemaOrSchemas, Judges::Part),
    data("enum", Restricts::Values, ALL),
    data("const", Restricts::Values, FROM_6),
    schemas("additionalProperties", OBJECTS, ALL, Holds::Schema, Judges::Part),
    schemas("patternProperties", OBJECTS, ALL, Holds::SchemaMap, Judges::Part),
    schemas("propertyNames", OBJECTS, FROM_6, Holds::Schema, Judges::Part),
    data("minProperties", OBJECTS, ALL),
    data("maxProperties", OBJECTS, ALL),
    schemas("prefixItems", ARRAYS, D2020, Holds::Schemas, Judges::Part),
    schemas("additionalItems", ARRAYS, ALL & !D2020, Holds::Schema, Judges::Part),
    schemas("contains", ARRAYS, FROM_6, Holds::Schema, Judges::Part),
    data("minContains", ARRAYS, FROM_2019),
    data("maxContains", ARRAYS, FROM_2019),
    data("minItems", ARRAYS, ALL),
    data("maxItems", ARRAYS, ALL),
    data("uniqueItems", ARRAYS, ALL),
    schemas("unevaluatedItems", ARRAYS, FROM_2019, Holds::Schema, Judges::Part),
    schemas("unevaluatedProperties", OBJECTS, FROM_2019, Holds::Schema, Judges::Part),
    data("minimum", NUMBERS, ALL),
    data("maximum", NUMBERS, ALL),
    data("exclusiveMinimum", NUMBERS, ALL),
    data("exclusiveMaximum", NUMBERS, ALL),
    data("multipleOf", NUMBERS, ALL),
    data("minLength", STRINGS, ALL),
    data("maxLength", STRINGS, ALL),
    data("pattern", STRINGS, ALL),
    data("format", STRINGS, ALL),
    schemas("allOf", Restricts::Values, ALL, Holds::Schemas, Judges::SameValue),
    schemas("anyOf", Restricts::Values, ALL, Holds::Schemas, Judges::SameValue),
    schemas("oneOf", Restricts::Values, ALL, Holds::Schemas, Judges::SameValue),
    schemas("not", Restricts::Values, ALL, Holds::Schema, Judges::SameValue),
    schemas("if", Restricts::Values, FROM_7, Holds::Schema, Judges::SameValue),
    schemas("then", Restricts::Values, FROM_7, Holds::Schema, Judges::SameValue),
    schemas("else", Restricts::Values, FROM_7, Holds::Schema, Judges::SameValue),
    schemas("dependentSchemas", OBJECTS, FROM_2019, Holds::SchemaMap, Judges::SameValue),
    data("dependentRequired", OBJECTS, FROM_2019),
    // Deprecated since 2019-09, but still in the meta-schemas and still asserted.
    schemas("dependencies", OBJECTS, ALL, Holds::Dependencies, Judges::SameValue),
    // Assertions up to draft 7, annotations since.
    data("contentMediaType", STRINGS, FROM_7),
    data("contentEncoding", STRINGS, FROM_7),
    // An annotation: nothing is judged by it.
    schemas("contentSchema", Restricts::Nothing, FROM_2019, Holds::Schema, Judges::Nothing),
    schemas("$defs", Restricts::Nothing, FROM_2019, Holds::SchemaMap, Judges::Nothing),
    schemas("definitions", Restricts::Nothing, ALL, Holds::SchemaMap, Judges::Nothing),
    data("$schema", Restricts::Nothing, ALL),
    data("$id", Restricts::Nothing, FROM_6),
    data("id", Restricts::Nothing, D4),
    data("$ref", Restricts::Values, ALL),
    data("$anchor", Restricts::Nothing, FROM_2019),
    data("$dynamicRef", Restricts::Values, D2020),
    data("$dynamicAnchor", Restricts::Nothing, D2020),
    data("$recursiveRef", Restricts::Values, D2019),
    data("$recursiveAnchor", Restricts::Nothing, D2019),
    data("$vocabulary", Restricts::Nothing, FROM_2019),
    data("$comment", Restricts::Nothing, FROM_7),
    data("title", Restricts::Nothing, ALL),
    data("description", Restricts::Nothing, ALL),
    data("default", Restricts::Nothing, ALL),
    data("examples", Restricts::Nothing, FROM_6),
    data("deprecated", Restricts::Nothing, FROM_2019),
    data("readOnly", Restricts::Nothing, FROM_7),
    data("writeOnly", Restricts::Nothing, FROM_7),
];

impl Keyword {
    /// Returns the keyword called `name`, of whichever draft.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        KEYWORDS.iter().find(|keyword| keyword.name == name)
    }

    /// Returns the keyword of `draft` that `name` is most likely a typo of.
    pub(crate) fn meant_by(name: &str, draft: Draft) -> Option<&'static str> {
        let known = KEYWORDS.iter().filter(|keyword| keyword.is_in(draft));
        nearest(name, known.map(|keyword| keyword.name))
    }

    /// Claims that `draft` knows this keyword.
    pub(crate) fn is_in(&self, draft: Draft) -> bool {
        self.drafts & bit(draft) != 0
    }

    /// Claims that it may reject a value.
    pub(crate) fn is_constraint(&self) -> bool {
        self.restricts != Restricts::Nothing
    }

    /// Returns the one type of which it may reject values.
    pub(crate) fn restricted_type(&self) -> Option<&'static str> {
        match self.restricts {
            Restricts::OneType(name) => Some(name),
            Restricts::Values | Restricts::Nothing => None,
        }
    }

    /// Returns the names of the drafts that know this keyword.
    pub(crate) fn draft_names(&self) -> Vec<&'static str> {
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
