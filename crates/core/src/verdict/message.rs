//! Words for what is wrong, such that a model can act on them.
//!
//! Each violation is worded twice: with the value, and masked. A masked wording holds nothing but
//! what the contract holds too.

use std::borrow::Cow;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;

use super::exact::CONSTANT;
use crate::contract::RULES;
use crate::json::unique::first_repeated;
use crate::json::{Kind, Node};
use crate::nearest::nearest;

/// How many allowed values or names are listed.
const LISTED: usize = 20;

/// How many characters of a value are quoted.
const QUOTED: usize = 80;

/// One violation in words, twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wording {
    pub(super) message: String,
    pub(super) masked: String,
}

impl Wording {
    /// Words something that does not show the value.
    pub(super) fn same(message: impl Into<String>) -> Self {
        let message = message.into();
        Self { masked: message.clone(), message }
    }

    /// Words a demand on a value that is quoted before it.
    fn about(node: Option<Node<'_>>, demand: &str) -> Self {
        let message = match node {
            Some(node) => format!("{} {demand}", quote(node)),
            None => demand.to_owned(),
        };
        Self { message, masked: demand.to_owned() }
    }

    /// Words a value of the wrong kind.
    pub(super) fn wrong_type<'t>(node: Node<'_>, types: impl IntoIterator<Item = &'t str>) -> Self {
        let types: Vec<String> = types.into_iter().map(with_article).collect();
        let found = kind(node).to_owned();
        let demand = if types.contains(&found) {
            // Draft 4 goes by how a number is written.
            format!("must be written as {found}, without a point or an exponent")
        } else {
            format!("is {found}, must be {}", types.join(" or "))
        };
        // A container is not quoted, and its kind is said already.
        let is_container = matches!(node.kind(), Kind::Array | Kind::Object);
        Self::about((!is_container).then_some(node), &demand)
    }
}

/// Words `error` about `node`; several times for several keys that are not allowed, but at most `room`
/// times: each is compared with every key that is.
#[expect(clippy::wildcard_enum_match_arm, reason = "a foreign type; the rest is named by keyword")]
pub(super) fn describe(
    error: &ValidationError<'_>,
    node: Option<Node<'_>>,
    schema: &Value,
    room: usize,
) -> Vec<Wording> {
    use ValidationErrorKind as Broken;
    let about = |demand: &str| Wording::about(node, demand);
    let wording = match error.kind() {
        Broken::AdditionalProperties { unexpected }
        | Broken::UnevaluatedProperties { unexpected } => {
            let unexpected = unexpected.get(..room).unwrap_or(unexpected);
            return unexpected_members(error, unexpected, schema);
        }
        Broken::Type { .. } => match node {
            Some(node) => Wording::wrong_type(node, type_names(error.kind())),
            None => Wording::same("is of the wrong type"),
        },
        Broken::Enum { .. } | Broken::Constant { .. } => match node {
            Some(node) => one_of(node, &allowed(error.kind()).unwrap_or_default()),
            None => Wording::same("is not allowed"),
        },
        Broken::Required { property } => {
            Wording::same(format!("lacks the required member {}", show(property)))
        }
        Broken::Custom { keyword, .. } if keyword == CONSTANT => match node {
            Some(node) => one_of(node, &allowed(error.kind()).unwrap_or_default()),
            None => Wording::same("is not allowed"),
        },
        Broken::BacktrackLimitExceeded { .. } => {
            Wording::same("cannot be judged: to match the pattern takes too much work")
        }
        // A rule's message is a sentence of its own.
        Broken::Custom { message, keyword } if keyword == RULES => Wording::same(message),
        Broken::Custom { message, .. } => about(message),
        Broken::Minimum { limit } => about(&format!("must be at least {limit}")),
        Broken::Maximum { limit } => about(&format!("must be at most {limit}")),
        Broken::ExclusiveMinimum { limit } => about(&format!("must be more than {limit}")),
        Broken::ExclusiveMaximum { limit } => about(&format!("must be less than {limit}")),
        Broken::MultipleOf { multiple_of } => {
            about(&format!("must be a multiple of {multiple_of}"))
        }
        Broken::Pattern { pattern } => {
            about(&format!("must match the pattern `{}`", shorten(pattern)))
        }
        Broken::Format { format } => about(&format!("must be a valid `{format}`")),
        Broken::FalseSchema => Wording::same("must not be there"),
        Broken::Not { schema } => {
            about(&format!("must not match `{}`", shorten(&schema.to_string())))
        }
        Broken::OneOfMultipleValid { context } => several_forms(context),
        Broken::PropertyNames { error } => {
            let demand = describe(error, None, schema, 1).into_iter().next();
            let demand = demand.map_or_else(String::new, |demand| demand.masked);
            Wording::same(format!("has a member whose name is not allowed: it {demand}"))
        }
        Broken::UniqueItems => repeated_items(node),
        Broken::Contains => contains(error, schema),
        _ => sized(error.kind(), node)
            .unwrap_or_else(|| Wording::same(format!("breaks `{}`", error.kind().keyword()))),
    };
    vec![wording]
}

/// Words a length or count that is out of bounds.
#[expect(clippy::wildcard_enum_match_arm, reason = "a foreign type; the rest is not about sizes")]
fn sized(broken: &ValidationErrorKind, node: Option<Node<'_>>) -> Option<Wording> {
    use ValidationErrorKind as Broken;
    let size = node.map(|node| match node.as_str() {
        Some(string) => string.chars().count(),
        None => node.len(),
    });
    let (bound, limit, unit) = match broken {
        Broken::MinLength { limit } => ("at least", *limit, "characters"),
        Broken::MaxLength { limit } => ("at most", *limit, "characters"),
        Broken::MinItems { limit } => ("at least", *limit, "items"),
        Broken::MaxItems { limit } => ("at most", *limit, "items"),
        Broken::MinProperties { limit } => ("at least", *limit, "members"),
        Broken::MaxProperties { limit } => ("at most", *limit, "members"),
        Broken::AdditionalItems { limit } => ("at most", u64::try_from(*limit).ok()?, "items"),
        Broken::UnevaluatedItems { .. } => {
            return Some(Wording::same("has items beyond those allowed"));
        }
        Broken::ContentEncoding { content_encoding } => {
            return Some(Wording::about(node, &format!("must be encoded as `{content_encoding}`")));
        }
        Broken::ContentMediaType { content_media_type } => {
            return Some(Wording::about(node, &format!("must be `{content_media_type}`")));
        }
        _ => return None,
    };
    let demand = format!("must have {bound} {limit} {unit}");
    Some(Wording {
        message: size.map_or_else(|| demand.clone(), |size| format!("has {size} {unit}, {demand}")),
        masked: demand,
    })
}

/// Words a value that is none of the `allowed` ones.
pub(super) fn one_of(node: Node<'_>, allowed: &[Cow<'_, Value>]) -> Wording {
    let demand = match allowed {
        [] => "is not allowed, nothing is".to_owned(),
        [only] => format!("is not allowed, must be {}", show(only)),
        several => format!("is not allowed, use one of {}", list(several)),
    };
    let mut wording = Wording::about(Some(node), &demand);
    if allowed.iter().any(|value| looks_like(node, value)) {
        let literals: Vec<String> = allowed
            .iter()
            .take(LISTED)
            .map(|value| format!("`{}`", shorten(&value.to_string())))
            .collect();
        wording.message = format!(
            "`{}` is {} and not allowed, use {}",
            shorten(node.raw()),
            kind(node),
            join(&literals, allowed.len())
        );
    }
    let names = allowed.iter().filter_map(|value| value.as_str());
    if let Some(near) = node.as_str().and_then(|string| nearest(string, names))
        && allowed.len() > 1
    {
        wording.message.extend([" (nearest: `", near, "`)"]);
    }
    wording
}

/// Claims that two values differ in their types alone, as `"2"` and `2` do.
fn looks_like(node: Node<'_>, value: &Value) -> bool {
    match (node.as_str(), value.as_str()) {
        (Some(said), None) => {
            let literal = value.to_string();
            literal == said
        }
        (None, Some(allowed)) => node.raw() == allowed,
        _ => false,
    }
}

/// Returns the values that an `enum` or `const` allows.
pub(super) fn allowed(broken: &ValidationErrorKind) -> Option<Vec<Cow<'_, Value>>> {
    if let ValidationErrorKind::Enum { options } = broken {
        return Some(options.as_array()?.iter().map(Cow::Borrowed).collect());
    }
    Some(vec![constant(broken)?])
}

/// Returns the value that a `const` demands.
pub(super) fn constant(broken: &ValidationErrorKind) -> Option<Cow<'_, Value>> {
    if let ValidationErrorKind::Constant { expected_value } = broken {
        return Some(Cow::Borrowed(expected_value));
    }
    let ValidationErrorKind::Custom { keyword, message } = broken else {
        return None;
    };
    (keyword == CONSTANT).then(|| serde_json::from_str(message).ok().map(Cow::Owned))?
}

/// Returns the types that a `type` allows.
pub(super) fn type_names(broken: &ValidationErrorKind) -> Vec<&'static str> {
    let name = |kind: JsonType| match kind {
        JsonType::Array => "array",
        JsonType::Boolean => "boolean",
        JsonType::Integer => "integer",
        JsonType::Null => "null",
        JsonType::Number => "number",
        JsonType::Object => "object",
        JsonType::String => "string",
    };
    let ValidationErrorKind::Type { kind } = broken else {
        return Vec::new();
    };
    match kind {
        TypeKind::Single(single) => vec![name(*single)],
        TypeKind::Multiple(set) => set.iter().map(name).collect(),
    }
}

fn unexpected_members(
    error: &ValidationError<'_>,
    unexpected: &[String],
    schema: &Value,
) -> Vec<Wording> {
    let holder = error.schema_path().as_str().rsplit_once('/').map(|(holder, _)| holder);
    let properties = holder
        .and_then(|holder| schema.pointer(holder)?.get("properties")?.as_object())
        .map(|properties| properties.keys().map(String::as_str).collect::<Vec<_>>())
        .unwrap_or_default();
    let known = match properties.as_slice() {
        [] => String::new(),
        known => format!(", allowed are {}", list_names(known)),
    };
    let masked = format!("has a member that is not allowed{known}");
    let word = |key: &String| {
        let near = nearest(key, properties.iter().copied());
        let hint = near.map(|near| format!(" (nearest: `{near}`)")).unwrap_or_default();
        Wording {
            message: format!("member `{}` is not allowed{known}{hint}", shorten(key)),
            masked: masked.clone(),
        }
    };
    unexpected.iter().map(word).collect()
}

fn several_forms(context: &[Vec<ValidationError<'static>>]) -> Wording {
    let fitting: Vec<String> = context
        .iter()
        .enumerate()
        .filter(|(_, errors)| errors.is_empty())
        .map(|(position, _)| (position + 1).to_string())
        .take(LISTED)
        .collect();
    Wording::same(format!("fits forms {}, must fit exactly one", fitting.join(" and ")))
}

fn repeated_items(node: Option<Node<'_>>) -> Wording {
    match node.and_then(first_repeated) {
        Some((first, second)) => {
            Wording::same(format!("has equal items at {first} and {second}, all must differ"))
        }
        None => Wording::same("has equal items, all must differ"),
    }
}

fn contains(error: &ValidationError<'_>, schema: &Value) -> Wording {
    let path = error.schema_path().as_str();
    let holder = path.rsplit_once('/').and_then(|(holder, _)| schema.pointer(holder));
    let wanted = holder.and_then(|holder| holder.get("contains"));
    Wording::same(match wanted {
        Some(wanted) => format!("must contain items that match `{}`", shorten(&wanted.to_string())),
        None => "must contain items that match `contains`".to_owned(),
    })
}

/// Says what a value of a type is.
fn with_article(name: &str) -> String {
    match name {
        "null" => name.to_owned(),
        "array" | "integer" | "object" => format!("an {name}"),
        _ => format!("a {name}"),
    }
}

/// Says what a value is.
fn kind(node: Node<'_>) -> &'static str {
    match node.kind() {
        Kind::Null => "null",
        Kind::Boolean => "a boolean",
        Kind::Number if node.as_number().is_some_and(|number| number.is_integer()) => "an integer",
        Kind::Number => "a number",
        Kind::String => "a string",
        Kind::Array => "an array",
        Kind::Object => "an object",
    }
}

/// Shows a scalar; a container only by its kind.
fn quote(node: Node<'_>) -> String {
    match node.kind() {
        Kind::Array => "the array".to_owned(),
        Kind::Object => "the object".to_owned(),
        Kind::Null | Kind::Boolean | Kind::Number => format!("`{}`", shorten(node.raw())),
        Kind::String => format!("`{}`", shorten(node.as_str().unwrap_or_default())),
    }
}

fn show(value: &Value) -> String {
    match value.as_str() {
        Some(string) => format!("`{}`", shorten(string)),
        None => format!("`{}`", shorten(&value.to_string())),
    }
}

fn list(values: &[Cow<'_, Value>]) -> String {
    let shown: Vec<String> = values.iter().take(LISTED).map(|value| show(value)).collect();
    join(&shown, values.len())
}

fn list_names(names: &[&str]) -> String {
    let quoted = names.iter().take(LISTED).map(|name| format!("`{}`", shorten(name)));
    join(&quoted.collect::<Vec<_>>(), names.len())
}

fn join(shown: &[String], count: usize) -> String {
    let hidden = count - shown.len().min(count);
    let listed = shown.join(", ");
    if hidden == 0 { listed } else { format!("{listed} and {hidden} more") }
}

/// Cuts a text to what can be quoted, with control characters made visible.
fn shorten(text: &str) -> String {
    let mut short = String::new();
    for (count, character) in text.chars().enumerate() {
        if count == QUOTED {
            short.push('…');
            break;
        }
        if character.is_control() {
            short.extend(character.escape_default());
        } else {
            short.push(character);
        }
    }
    short
}
