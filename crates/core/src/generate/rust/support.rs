//! What generated Rust brings along: only what is used.

use crate::generate::model::{Bound, Edge, Form};
use crate::lower::describe::describe;

/// What is used.
#[derive(Debug, Default)]
pub(super) struct Support {
    pub(super) objects: Vec<String>,
    pub(super) words: Vec<String>,
    /// Newtypes, with what is in them and what reads that.
    pub(super) checked: Vec<(String, String, &'static str)>,
    pub(super) some: bool,
    pub(super) present: bool,
    pub(super) whole: bool,
}

impl Support {
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        if self.some {
            text.push_str(SOME);
        }
        if self.present {
            text.push_str(PRESENT);
        }
        if self.whole {
            text.push_str(WHOLE);
        }
        if !self.checked.is_empty() {
            text.push_str(CHECKED);
            for (name, inner, reader) in &self.checked {
                text.push_str(&format!("checked! {{ {name}({inner}) by {reader} }}\n"));
            }
        }
        if !self.words.is_empty() {
            text.push_str(WORDS);
            text.extend(self.words.iter().map(|name| format!("word!({name});\n")));
        }
        if !self.objects.is_empty() {
            text.push_str(OBJECTS);
            text.extend(self.objects.iter().map(|name| format!("object!({name});\n")));
        }
        text
    }
}

/// Returns the bounds of a form in words.
pub(super) fn limits(form: &Form) -> Vec<String> {
    checks(form).into_iter().map(|(_, refusal)| refusal).collect()
}

/// Returns when a value is refused, and what it should have been.
pub(super) fn checks(form: &Form) -> Vec<(String, String)> {
    match form {
        Form::Flag(flag) => vec![(format!("value != {flag}"), format!("exactly {flag}"))],
        Form::Text(text) => {
            counts("value.chars().count()", ("minLength", "maxLength"), (text.min, text.max))
        }
        Form::List(list) => counts("value.len()", ("minItems", "maxItems"), (list.min, list.max)),
        Form::Integer(integer) => {
            let mut checks = Vec::new();
            if let Some(min) = integer.min.filter(|min| *min > i64::MIN) {
                checks.push((format!("value < {min}"), said("minimum", min)));
            }
            if let Some(max) = integer.max.filter(|max| *max < i64::MAX) {
                checks.push((format!("value > {max}"), said("maximum", max)));
            }
            for factor in integer.multiples.iter().filter(|factor| **factor > 1) {
                checks.push((format!("value % {factor} != 0"), said("multipleOf", *factor)));
            }
            if !integer.allowed.is_empty() {
                let list = integer.allowed.iter().map(ToString::to_string).collect::<Vec<_>>();
                let list = list.join(", ");
                checks.push((format!("![{list}].contains(&value)"), format!("one of {list}")));
            }
            checks
        }
        Form::Number(number) => {
            let mut checks = Vec::new();
            checks.extend(
                number.min.map(|min| bound(min, ("<", "<="), ("minimum", "exclusiveMinimum"))),
            );
            checks.extend(
                number.max.map(|max| bound(max, (">", ">="), ("maximum", "exclusiveMaximum"))),
            );
            if !number.allowed.is_empty() {
                let list = number.allowed.iter().map(|it| format!("{it:?}")).collect::<Vec<_>>();
                let list = list.join(", ");
                checks.push((format!("![{list}].contains(&value)"), format!("one of {list}")));
            }
            checks
        }
        Form::Alias(_) | Form::Words(_) | Form::Tuple(_) | Form::Object(_) | Form::Union(_) => {
            Vec::new()
        }
    }
}

fn counts(
    count: &str,
    (least, most): (&str, &str),
    (min, max): (u64, Option<u64>),
) -> Vec<(String, String)> {
    let mut checks = Vec::new();
    match min {
        0 => {}
        1 => checks.push(("value.is_empty()".to_owned(), said(least, min))),
        _ => checks.push((format!("{count} < {min}"), said(least, min))),
    }
    if let Some(max) = max {
        checks.push((format!("{count} > {max}"), said(most, max)));
    }
    checks
}

/// Also refuses what is no number at all, which no JSON holds.
fn bound(
    bound: Bound,
    (inclusive, exclusive): (&str, &str),
    (at, beyond): (&str, &str),
) -> (String, String) {
    let (sign, keyword) = match bound.edge {
        Edge::Inclusive => (inclusive, at),
        Edge::Exclusive => (exclusive, beyond),
    };
    let condition = format!("value.is_nan() || value {sign} {:?}", bound.value);
    (condition, said(keyword, bound.value))
}

fn said(keyword: &str, value: impl Into<serde_json::Value>) -> String {
    describe(keyword, &value.into()).unwrap_or_default()
}

const SOME: &str = r#"
/// Reads a member that may be absent, but not `null`.
fn some<'de, T, D>(from: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: serde::Deserializer<'de>,
{
    T::deserialize(from).map(Some)
}
"#;

const PRESENT: &str = r#"
/// Reads a member that may be `null`, but not absent.
fn present<'de, T, D>(from: D) -> Result<T, D::Error>
where
    T: Deserialize<'de>,
    D: serde::Deserializer<'de>,
{
    T::deserialize(from)
}
"#;

const WHOLE: &str = r#"
/// Reads integers however they are written: `1.0` is one.
mod whole {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, de};

    pub(super) trait Whole: Sized {
        type Read: for<'de> Deserialize<'de>;

        fn of(read: Self::Read) -> Self;
    }

    pub(super) fn read<'de, T: Whole, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        T::Read::deserialize(from).map(T::of)
    }

    #[allow(dead_code)]
    pub(super) fn some<'de, T: Whole, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<T>, D::Error> {
        read(from).map(Some)
    }

    pub(super) struct Integer(i64);

    impl<'de> Deserialize<'de> for Integer {
        fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            struct Digits;

            impl de::Visitor<'_> for Digits {
                type Value = Integer;

                fn expecting(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    to.write_str("an integer of 64 bits")
                }

                fn visit_i64<E: de::Error>(self, value: i64) -> Result<Integer, E> {
                    Ok(Integer(value))
                }

                fn visit_u64<E: de::Error>(self, value: u64) -> Result<Integer, E> {
                    match i64::try_from(value) {
                        Ok(value) => Ok(Integer(value)),
                        Err(_) => Err(E::invalid_value(de::Unexpected::Unsigned(value), &self)),
                    }
                }

                fn visit_f64<E: de::Error>(self, value: f64) -> Result<Integer, E> {
                    let is_held = value.fract() == 0.0 && value.abs() < 9_223_372_036_854_775_808.0;
                    if is_held {
                        return Ok(Integer(value as i64));
                    }
                    Err(E::invalid_value(de::Unexpected::Float(value), &self))
                }
            }

            from.deserialize_any(Digits)
        }
    }

    impl Whole for i64 {
        type Read = Integer;

        fn of(read: Integer) -> Self {
            read.0
        }
    }

    impl<T: Whole> Whole for Option<T> {
        type Read = Option<T::Read>;

        fn of(read: Self::Read) -> Self {
            read.map(T::of)
        }
    }

    impl<T: Whole> Whole for Vec<T> {
        type Read = Vec<T::Read>;

        fn of(read: Self::Read) -> Self {
            read.into_iter().map(T::of).collect()
        }
    }

    impl<T: Whole> Whole for BTreeMap<String, T> {
        type Read = BTreeMap<String, T::Read>;

        fn of(read: Self::Read) -> Self {
            read.into_iter()
                .map(|(key, value)| (key, T::of(value)))
                .collect()
        }
    }
}
"#;

const CHECKED: &str = r#"
/// What a value should have been.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused(pub &'static str);

impl std::fmt::Display for Refused {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "must keep to: {}", self.0)
    }
}

impl std::error::Error for Refused {}

macro_rules! checked {
    ($name:ident($inner:ty) by $read:path) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let value: $inner = $read(from)?;
                Self::try_from(value).map_err(serde::de::Error::custom)
            }
        }

        impl From<$name> for $inner {
            fn from(checked: $name) -> Self {
                checked.0
            }
        }

        impl std::ops::Deref for $name {
            type Target = $inner;

            fn deref(&self) -> &$inner {
                &self.0
            }
        }
    };
}

"#;

const WORDS: &str = r#"
/// Reads a choice from a string alone.
macro_rules! word {
    ($name:ident) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let word = String::deserialize(from)?;
                $name::deserialize(serde::de::value::StringDeserializer::new(word))
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                $name::serialize(self, to)
            }
        }
    };
}

"#;

const OBJECTS: &str = r#"
/// Reads an object from an object alone: serde would read it from an array as well.
macro_rules! object {
    ($name:ident) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                struct Members;

                impl<'de> serde::de::Visitor<'de> for Members {
                    type Value = $name;

                    fn expecting(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        to.write_str("an object")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        map: A,
                    ) -> Result<$name, A::Error> {
                        $name::deserialize(serde::de::value::MapAccessDeserializer::new(map))
                    }
                }

                from.deserialize_map(Members)
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                $name::serialize(self, to)
            }
        }
    };
}

"#;
