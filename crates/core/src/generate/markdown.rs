//! Markdown: what a contract asks for, for people.
//!
//! Nothing is left out here: what has no place in a table stands below it in words.

use super::header::{MARK, lost};
use super::model::{Bound, Definition, Edge, Form, Id, Model, Presence, Rest, Type};
use super::text::{line, spelt};
use super::{Integers, Rendered};
use crate::contract::Contract;
use crate::lower::describe::describe;

/// How many members of a choice are listed.
const WORD_LIMIT: usize = 40;

/// Writes the documentation of a contract.
pub(super) fn render(model: &Model, contract: &Contract, called: &str) -> Rendered {
    let writer = Writer { model };
    let title = contract.schema().get("title").and_then(|title| title.as_str()).unwrap_or(called);
    let mut text = format!("# {}\n\n{MARK}", escaped(&line(title)));
    for (_, definition) in model.definitions().filter(|(id, it)| is_section(*id, it)) {
        text.push_str(&format!("\n## {}\n", definition.name));
        if let Some(description) = &definition.description {
            text.push_str(&format!("\n{}\n", escaped(&line(description))));
        }
        text.push_str(&writer.section(definition));
    }
    if !model.losses.is_empty() {
        text.push_str("\n## Also\n\nHeld by the verdict, by the place in the contract:\n\n");
        for loss in &model.losses {
            text.push_str(&format!("- {}\n", escaped(&lost(contract, loss))));
        }
    }
    let example = contract.example();
    if let Ok(example) = &example {
        let shown = spelt(&example.to_value());
        let fence = fence(&shown);
        text.push_str(&format!("\n## Example\n\n{fence}json\n{shown}\n{fence}\n"));
    }
    let without_example = example.err();
    let integers = Integers::All;
    Rendered { text, lost: Vec::new(), integers, notes: Vec::new(), without_example }
}

/// Claims that a definition is told about by itself; others are where they are used.
fn is_section(id: Id, definition: &Definition) -> bool {
    id == Id::ROOT || matches!(definition.form, Form::Object(_) | Form::Union(_) | Form::Alias(_))
}

struct Writer<'m> {
    model: &'m Model,
}

impl Writer<'_> {
    fn section(&self, definition: &Definition) -> String {
        match &definition.form {
            Form::Object(object) => {
                let mut text = String::new();
                if !object.members.is_empty() {
                    text.push_str("\n| member | value | required | |\n|---|---|---|---|\n");
                }
                for member in &object.members {
                    let required = match member.presence {
                        Presence::Required => "yes",
                        Presence::Optional => "no",
                    };
                    let said = member.description.as_deref().map(line).unwrap_or_default();
                    let key = code(&line(&member.key));
                    let row = format!(
                        "| {key} | {} | {required} | {} |\n",
                        self.of(&member.of),
                        escaped(&said)
                    );
                    text.push_str(&row);
                }
                text.push_str(&match &object.rest {
                    Rest::Closed => "\nNo other members.\n".to_owned(),
                    Rest::Open => "\nOther members are allowed.\n".to_owned(),
                    Rest::Typed(of) => format!("\nOther members: {}.\n", self.of(of)),
                });
                text
            }
            Form::Union(union) => {
                let variants = union.variants.iter().map(|it| format!("- {}\n", self.of(&it.of)));
                format!("\nOne of:\n\n{}", variants.collect::<String>())
            }
            Form::Alias(_)
            | Form::Words(_)
            | Form::Flag(_)
            | Form::Text(_)
            | Form::Integer(_)
            | Form::Number(_)
            | Form::List(_)
            | Form::Tuple(_) => {
                format!("\n{}.\n", capitalized(&self.form(&definition.form)))
            }
        }
    }

    fn of(&self, of: &Type) -> String {
        match of {
            Type::Any => "anything".to_owned(),
            Type::Null => "`null`".to_owned(),
            Type::Boolean => "`true` or `false`".to_owned(),
            Type::Integer => "integer".to_owned(),
            Type::Number => "number".to_owned(),
            Type::Text => "text".to_owned(),
            Type::List(items) => format!("list of: {}", self.of(items)),
            Type::Map(values) => format!("object with values: {}", self.of(values)),
            Type::Nullable(inner) => format!("{}, or `null`", self.of(inner)),
            Type::Named(id) => match self.model.get(*id) {
                Some(definition) if is_section(*id, definition) => {
                    let anchor = definition.name.to_lowercase();
                    format!("[{}](#{anchor})", definition.name)
                }
                Some(definition) => self.form(&definition.form),
                None => String::new(),
            },
        }
    }

    fn form(&self, form: &Form) -> String {
        match form {
            Form::Alias(of) => self.of(of),
            Form::Words(words) => {
                let shown = words.iter().take(WORD_LIMIT).map(|word| code(&quoted(word)));
                let mut shown: Vec<String> = shown.collect();
                if words.len() > WORD_LIMIT {
                    shown.push(format!("or {} others", words.len() - WORD_LIMIT));
                }
                shown.join(", ")
            }
            Form::Flag(flag) => code(&flag.to_string()),
            Form::Text(text) => {
                let mut said = counts("minLength", text.min, "maxLength", text.max);
                let patterns = text.patterns.iter();
                said.extend(patterns.map(|it| format!("matches {}", code(&line(&it.text)))));
                limited("text", said)
            }
            Form::Integer(it) => {
                let mut said = Vec::new();
                said.extend(it.min.and_then(|min| describe("minimum", &min.into())));
                said.extend(it.max.and_then(|max| describe("maximum", &max.into())));
                let multiples = it.multiples.iter();
                said.extend(multiples.filter_map(|it| describe("multipleOf", &(*it).into())));
                if !it.allowed.is_empty() {
                    said.extend(describe("enum", &it.allowed.clone().into()));
                }
                limited("integer", said)
            }
            Form::Number(it) => {
                let mut said = Vec::new();
                said.extend(it.min.and_then(|it| bound(it, "minimum", "exclusiveMinimum")));
                said.extend(it.max.and_then(|it| bound(it, "maximum", "exclusiveMaximum")));
                if !it.allowed.is_empty() {
                    said.extend(describe("enum", &it.allowed.clone().into()));
                }
                limited("number", said)
            }
            Form::List(list) => {
                let said = counts("minItems", list.min, "maxItems", list.max);
                format!("{}: {}", limited("list", said), self.of(&list.items))
            }
            Form::Tuple(items) => {
                let items: Vec<String> = items.iter().map(|item| self.of(item)).collect();
                format!("list of exactly: {}", items.join("; "))
            }
            Form::Object(_) | Form::Union(_) => String::new(),
        }
    }
}

fn counts(least: &str, min: u64, most: &str, max: Option<u64>) -> Vec<String> {
    let min = (min > 0).then(|| describe(least, &min.into())).flatten();
    min.into_iter().chain(max.and_then(|max| describe(most, &max.into()))).collect()
}

fn bound(bound: Bound, inclusive: &str, exclusive: &str) -> Option<String> {
    let keyword = if bound.edge == Edge::Inclusive { inclusive } else { exclusive };
    describe(keyword, &bound.value.into())
}

fn limited(kind: &str, limits: Vec<String>) -> String {
    let parts: Vec<String> = std::iter::once(kind.to_owned()).chain(limits).collect();
    parts.join(", ")
}

fn quoted(word: &str) -> String {
    line(&serde_json::Value::from(word).to_string())
}

/// Returns text that Markdown shows as it is, also in a table.
fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, from)) = rest.split_once('`') {
        shown.push_str(&plain_escaped(plain));
        // What stands between two marks is code already.
        match from.split_once('`').filter(|(inside, _)| !inside.is_empty()) {
            Some((inside, behind)) => {
                shown.push_str(&code(inside));
                rest = behind;
            }
            None => {
                shown.push_str("\\`");
                rest = from;
            }
        }
    }
    shown + &plain_escaped(rest)
}

fn plain_escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if "\\*_{}[]<>#|!&~".contains(character) {
            shown.push('\\');
        }
        shown.push(character);
    }
    shown
}

/// Returns text in a code span, also in a table.
fn code(text: &str) -> String {
    let longest = text.split(|it| it != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat(longest + 1);
    let gap =
        if text.starts_with('`') || text.ends_with('`') || text.is_empty() { " " } else { "" };
    // A table would end its cell here, even in code.
    format!("{ticks}{gap}{}{gap}{ticks}", text.replace('|', "\\|"))
}

/// Returns a fence that `text` does not hold.
fn fence(text: &str) -> String {
    let longest = text.split(|it| it != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters.as_str().chars()).collect()
}
