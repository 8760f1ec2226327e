//! The names of a contract's members, and where a value or a text gives one of them.
//!
//! What is said behind a draft counts as an answer in its place if it names what the contract names,
//! however deep and in whatever notation. Where no member has a name, nothing is found here.

use std::collections::BTreeSet;

use serde_json::Value;

use super::shape::Shape;
use crate::contract::Contract;
use crate::json::{Document, Kind, Limits, Node};

/// How many brackets, quotes and blanks are looked past before a name.
const MARKS_LIMIT: usize = 64;

/// How far before a colon its name is looked for.
const NAME_LIMIT: usize = 128;

/// What stands between a name and what it is said to be.
const COLONS: [char; 5] = [':', '=', '\u{ff1a}', '\u{fe55}', '\u{fe13}'];

/// What a call of a tool calls its arguments.
const ARGUMENTS: [&str; 3] = ["arguments", "parameters", "input"];

/// The keywords under which each member is a schema.
const MAPS: [&str; 5] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// The keywords under which no schema stands.
const VALUES: [&str; 5] = ["enum", "const", "default", "examples", "example"];

/// The names that a contract gives, in lower case.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Those of the members of an answer, or of an answer's items.
    pub(super) near: BTreeSet<String>,
    /// Those at any depth.
    pub(super) all: BTreeSet<String>,
    /// Those that an answer, or each of its items, must have; all of them, if none must be there.
    pub(super) needed: BTreeSet<String>,
}

/// A name in a text that a colon follows.
pub(super) struct Naming<'t> {
    pub(super) name: &'t str,
    pub(super) colon: char,
    pub(super) is_quoted: bool,
    /// Whether nothing but marks stands before it on its line.
    pub(super) leads: bool,
    pub(super) said: Said,
}

impl Naming<'_> {
    /// Claims that it is written as the member of an object: in quotes, with a value behind the colon.
    pub(super) fn is_member(&self) -> bool {
        self.is_quoted && self.colon != '=' && self.said == Said::Value
    }
}

/// What a name is said to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// Dots, in place of it.
    Nothing,
    /// What begins like a value.
    Value,
    Words,
}

impl Names {
    pub(crate) fn of(contract: &Contract) -> Self {
        let root = Shape::of_root(contract);
        let item = root.item();
        let near = root.declared().chain(item.declared());
        let near: BTreeSet<String> = near.map(|name| name.to_ascii_lowercase()).collect();
        let mut all = near.clone();
        let mut pending = vec![contract.schema()];
        while let Some(schema) = pending.pop() {
            let declared = schema.get("properties").and_then(Value::as_object);
            all.extend(declared.into_iter().flatten().map(|(name, _)| name.to_ascii_lowercase()));
            for (word, inside) in schema.as_object().into_iter().flatten() {
                match inside {
                    Value::Object(map) if MAPS.contains(&word.as_str()) => {
                        pending.extend(map.values());
                    }
                    Value::Array(list) if !VALUES.contains(&word.as_str()) => pending.extend(list),
                    Value::Object(_) if !VALUES.contains(&word.as_str()) => pending.push(inside),
                    Value::Null
                    | Value::Bool(_)
                    | Value::Number(_)
                    | Value::String(_)
                    | Value::Array(_)
                    | Value::Object(_) => {}
                }
            }
        }
        let needed = root.required().chain(item.required()).map(str::to_ascii_lowercase);
        let needed: BTreeSet<String> = needed.filter(|name| near.contains(name)).collect();
        let needed = if needed.is_empty() { near.clone() } else { needed };
        Self { near, all, needed }
    }

    /// Claims that `value` names a member of an answer at any depth, also in a string that holds JSON, or calls
    /// a tool; or that it is a list whose items name one of a member further in, as of the only list of an answer.
    pub(super) fn are_in(&self, value: &Document, limits: &Limits) -> bool {
        let inner = |text: &str| {
            let is_json = text.trim_start().starts_with(['{', '[']);
            is_json.then(|| Document::parse_within(text, limits).ok()).flatten()
        };
        let is_deep = |item: Node<'_>| {
            item.members().any(|(key, _)| self.all.contains(&key.to_ascii_lowercase()))
        };
        self.are_within(value.root())
            || value.root().items().any(is_deep)
            || value
                .root()
                .values()
                .filter_map(|node| inner(node.as_str()?))
                .any(|inner| self.are_within(inner.root()))
    }

    fn are_within(&self, root: Node<'_>) -> bool {
        let is_named = |node: Node<'_>| {
            calls_tool(node)
                || node.members().any(|(key, _)| self.near.contains(&key.to_ascii_lowercase()))
        };
        root.values().filter(|node| node.kind() == Kind::Object).any(is_named)
    }

    /// Claims that `damaged` starts as an object or list of them would that has a member's name first: with
    /// the name and a colon, or cut off within the name.
    pub(super) fn open(&self, damaged: &str) -> bool {
        let is_mark = |character: char| "[{\\\"'“”‘’".contains(character);
        // A hostile text may hold nothing else.
        let before = |mark: char| mark.is_whitespace() || is_mark(mark);
        let length =
            damaged.chars().take(MARKS_LIMIT).take_while(|mark| before(*mark)).map(char::len_utf8);
        let opened = damaged.get(length.sum::<usize>()..).unwrap_or_default();
        self.near.iter().any(|name| {
            let Some((start, behind)) = opened.split_at_checked(name.len()) else {
                let part = name.get(..opened.len()).filter(|part| !part.is_empty());
                return part.is_some_and(|part| part.eq_ignore_ascii_case(opened));
            };
            if name.is_empty() || !start.eq_ignore_ascii_case(name) {
                return false;
            }
            let colon = behind.trim_start_matches(is_mark).trim_start();
            colon.is_empty() || colon.starts_with(COLONS)
        })
    }
}

/// Claims that an object is the call of a tool.
fn calls_tool(node: Node<'_>) -> bool {
    node.member("name").is_some_and(|name| name.kind() == Kind::String)
        && ARGUMENTS.iter().any(|arguments| node.member(arguments).is_some())
}

/// Finds which of `names` stand in `text` before a colon.
pub(super) fn named<'t>(
    names: &BTreeSet<String>,
    text: &'t str,
) -> impl Iterator<Item = Naming<'t>> {
    let colons = memchr::memchr3_iter(b':', b'=', 0xEF, text.as_bytes());
    colons.filter_map(|at| {
        let naming = naming(text, at)?;
        names.contains(&naming.name.to_ascii_lowercase()).then_some(naming)
    })
}

/// Reads what the colon at `at` follows.
fn naming(text: &str, at: usize) -> Option<Naming<'_>> {
    let (before, rest) = text.split_at_checked(at)?;
    let colon = rest.chars().next().filter(|mark| COLONS.contains(mark))?;
    let behind = rest.get(colon.len_utf8()..)?;
    // Comparisons and paths say nothing of a name.
    if before.ends_with(['=', '!', '<', '>', ':']) || behind.starts_with(['=', ':']) {
        return None;
    }
    let near = before.get(before.ceil_char_boundary(at.saturating_sub(NAME_LIMIT))..)?;
    let near = near.rsplit('\n').next()?.trim_end();
    let word = near.trim_end_matches(|mark| is_quote(mark) || mark == ']');
    let is_quoted = word.len() < near.len();
    let is_limit = |mark: char| {
        is_quote(mark) || !is_quoted && (mark.is_whitespace() || "{[(,;.".contains(mark))
    };
    let name = word.rsplit(is_limit).next()?;
    let line = word.get(..word.len() - name.len())?;
    Some(Naming {
        name,
        colon,
        is_quoted,
        leads: !line.contains(char::is_alphanumeric),
        said: said(behind.trim_start_matches('>').trim_start()),
    })
}

/// Reads how `value` begins.
fn said(value: &str) -> Said {
    let inside = value.trim_start_matches(is_quote);
    let constants = ["true", "false", "null", "True", "False", "None"];
    if is_left_out(inside) {
        Said::Nothing
    } else if inside.len() < value.len()
        || value.starts_with(|first: char| first.is_ascii_digit() || "-{[".contains(first))
        || constants.iter().any(|constant| value.starts_with(constant))
    {
        Said::Value
    } else {
        Said::Words
    }
}

/// Claims that there are dots, and nothing else, in place of a value.
fn is_left_out(value: &str) -> bool {
    let behind = value.trim_start_matches(['.', '…']);
    let is_dotted = value.starts_with("...") || value.starts_with('…');
    let behind = behind.trim_start_matches(|mark| is_quote(mark) || mark == ' ' || mark == '\t');
    is_dotted && (behind.is_empty() || behind.starts_with([',', '}', ']', '\n', '\r']))
}

fn is_quote(mark: char) -> bool {
    "\"'`“”‘’\\".contains(mark)
}
