//! What one input holds.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use airtight_core::Document;
use airtight_core::json::{Kind, Node};

/// What is said of bytes that are no text: to guess at them would change what was meant.
pub(super) const NOT_TEXT: &str = "is not UTF-8";

/// The field that holds a text without a name.
const TEXT: &str = "text";

/// The field that holds the whole input.
const WHOLE: &str = "input";

/// What one input holds.
#[derive(Debug)]
pub(crate) enum Body {
    /// A JSON string or object.
    Json(Document),
    /// A row of a table.
    Row { names: Arc<[String]>, values: Vec<String> },
    /// A file.
    File { name: String, path: String, text: String },
}

impl Body {
    /// Reads a line of JSON.
    pub(super) fn of_line(bytes: Vec<u8>) -> Result<Self, String> {
        let text = String::from_utf8(bytes).map_err(|_| NOT_TEXT.to_owned())?;
        let text = text.trim_start_matches('\u{feff}').trim();
        let document = Document::parse(text).map_err(|error| format!("is not JSON: {error}"))?;
        if let Some(twice) = document.duplicates(1).first() {
            return Err(format!("says `{}` twice", twice.pointer));
        }
        match document.root().kind() {
            Kind::String | Kind::Object => Ok(Self::Json(document)),
            kind @ (Kind::Null | Kind::Boolean | Kind::Number | Kind::Array) => {
                Err(format!("must be a JSON string or object, is {}", kind.name()))
            }
        }
    }

    /// Reads a row of a table whose columns are called `names`.
    pub(super) fn of_row(names: Arc<[String]>, values: Vec<String>) -> Result<Self, String> {
        if names.is_empty() {
            return Err("the header cannot be read".to_owned());
        }
        let mut unnamed = names.iter().zip(&values).filter(|(name, _)| name.is_empty());
        if unnamed.clone().count() > 1 && unnamed.any(|(_, value)| !value.is_empty()) {
            return Err("has a field in one of several columns without a name".to_owned());
        }
        if names.len() == values.len() {
            return Ok(Self::Row { names, values });
        }
        Err(format!("has {} fields, and the header has {}", values.len(), names.len()))
    }

    /// Returns a field: by its name, or by a path of names in a JSON object, with dots between.
    pub(crate) fn field(&self, name: &str) -> Option<Cow<'_, str>> {
        let own = match self {
            Self::Json(document) => match document.root().kind() {
                Kind::String if name == TEXT => document.root().as_str().map(Cow::Borrowed),
                Kind::Object => member(document.root(), name).map(text),
                Kind::Null | Kind::Boolean | Kind::Number | Kind::String | Kind::Array => None,
            },
            Self::Row { names, values } => {
                let at = names.iter().position(|column| column == name);
                at.and_then(|at| values.get(at)).map(|value| Cow::Borrowed(value.as_str()))
            }
            Self::File { name: file, path, text } => match name {
                TEXT => Some(Cow::Borrowed(text.as_str())),
                "name" => Some(Cow::Borrowed(file.as_str())),
                "path" => Some(Cow::Borrowed(path.as_str())),
                _ => None,
            },
        };
        own.or_else(|| (name == WHOLE).then(|| self.whole()))
    }

    /// Returns all of it, as it is put to the model where there is no template.
    pub(crate) fn whole(&self) -> Cow<'_, str> {
        match self {
            Self::Json(document) => text(document.root()),
            Self::Row { names, values } => {
                let members = names.iter().cloned().zip(values.iter().map(|it| it.as_str().into()));
                Cow::Owned(serde_json::Value::Object(members.collect()).to_string())
            }
            Self::File { text, .. } => Cow::Borrowed(text),
        }
    }
}

/// Follows `path` from `node`; a member whose name has dots counts first.
fn member<'d>(node: Node<'d>, path: &str) -> Option<Node<'d>> {
    if let Some(found) = node.member(path) {
        return Some(found);
    }
    let (name, rest) = path.split_once('.')?;
    member(node.member(name)?, rest)
}

/// Returns the text of a string, and any other value as it was written.
fn text(node: Node<'_>) -> Cow<'_, str> {
    match node.as_str() {
        Some(text) => Cow::Borrowed(text),
        None => Cow::Borrowed(node.raw()),
    }
}

/// Returns the fields of a record as texts.
pub(super) fn texts(fields: Vec<Vec<u8>>) -> Result<Vec<String>, String> {
    let text = |field| String::from_utf8(field).map_err(|_| NOT_TEXT.to_owned());
    fields.into_iter().map(text).collect()
}

/// Returns the names in a header, without the mark that some programs put before the first.
pub(super) fn header(mut names: Vec<String>) -> Result<Arc<[String]>, String> {
    if let Some(first) = names.first_mut() {
        *first = first.trim_start_matches('\u{feff}').trim_matches('"').to_owned();
    }
    let mut seen = BTreeSet::new();
    let names: Arc<[String]> = names.into_iter().map(|name| name.trim().to_owned()).collect();
    // Exports often end their lines with columns that have no name, and hold nothing.
    let twice = names.iter().find(|name| !name.is_empty() && !seen.insert(name.as_str())).cloned();
    twice.map_or(Ok(names), |twice| Err(format!("two columns are called `{twice}`")))
}
