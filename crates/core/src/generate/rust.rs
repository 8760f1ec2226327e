//! Rust: types for serde, with nothing else behind them but `serde_json::Value` where anything goes.
//!
//! Bounds are newtypes that check (`TryFrom`), choices are enums, unions are tagged by the member that
//! tells them apart or tried in order. Serde by itself is laxer than a contract: it reads an object from
//! an array, a choice from `{"word": null}`, an absent member from `null` and `null` from an absent one,
//! and it is stricter on `1.0`. What is generated closes these gaps with some lines of its own.
//!
//! typify is not used: it reads draft 7 alone, knows nothing of rules, and does not say which keywords
//! it leaves out, which is what a header here must list; its newtypes for patterns need another crate.

mod object;
mod support;
mod tag;

use std::collections::{BTreeSet, HashMap};

use super::header::MARK;
use super::model::{Definition, Form, Id, List, Model, Rest, Type, Union};
use super::name::{Names, pascal};
use super::text::{Escapes, lines, quoted};
use super::{Integers, Rendered, lost};
use support::Support;
use tag::{mark, tag, tagged};

/// How wide the arguments of an attribute may be before rustfmt writes one a line.
const ATTRIBUTE_WIDTH: usize = 70;

/// Words that no variable can be called, even as `r#…`.
const NEVER: [&str; 5] = ["self", "Self", "super", "crate", "_"];

#[rustfmt::skip]
const KEYWORDS: [&str; 48] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static",
    "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where",
    "while", "yield",
];

/// Writes the types of a model.
pub(super) fn render(model: &Model) -> Rendered {
    let (tags, marks) = tagged(model);
    let mut writer = Writer { model, tags, body: String::new(), support: Support::default() };
    for (id, definition) in model.definitions() {
        if writer.plain(id).is_none() && !marks.contains(&id) {
            writer.definition(id, definition);
        }
    }
    let mut text = format!("{MARK}\n");
    let mut imports = BTreeSet::from(["use serde::{Deserialize, Serialize};"]);
    if writer.body.contains("BTreeMap<") {
        imports.insert("use std::collections::BTreeMap;");
    }
    // The standard library first, as rustfmt leaves both orders alone.
    for import in imports.iter().rev() {
        text.push_str(import);
        text.push('\n');
    }
    text.push_str(&writer.body);
    text.push_str(&writer.support.text());
    Rendered {
        text,
        lost: lost(model, None),
        integers: Integers::Bits64,
        notes: notes(model),
        without_example: None,
    }
}

fn notes(model: &Model) -> Vec<&'static str> {
    let has_any = |definition: &Definition| {
        definition.form.parts().into_iter().any(|part| innermost(part) == &Type::Any)
    };
    let mut notes = vec!["Needs serde 1 with the feature `derive`."];
    if model.definitions().any(|(_, definition)| has_any(definition)) {
        notes = vec!["Needs serde 1 with the feature `derive`, and serde_json 1."];
    }
    if model.objects().any(|object| object.rest == Rest::Open) {
        notes.push("Members that the contract does not name are accepted, and not kept.");
    }
    notes
}

fn innermost(of: &Type) -> &Type {
    match of {
        Type::List(inner) | Type::Map(inner) | Type::Nullable(inner) => innermost(inner),
        Type::Any
        | Type::Null
        | Type::Boolean
        | Type::Integer
        | Type::Number
        | Type::Text
        | Type::Named(_) => of,
    }
}

/// Whether a type stands where its size must be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    Direct,
    /// In a `Vec` or a map.
    Behind,
}

struct Writer<'m> {
    model: &'m Model,
    tags: HashMap<Id, String>,
    body: String,
    support: Support,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        self.body.push_str(line);
        self.body.push('\n');
    }

    /// Returns the type that a definition without checks of its own stands for.
    fn plain(&self, id: Id) -> Option<&'static str> {
        let text = self.model.get(id)?.form.as_text()?;
        (id != Id::ROOT && text.min == 0 && text.max.is_none()).then_some("String")
    }

    fn definition(&mut self, id: Id, definition: &Definition) {
        self.line("");
        let name = &definition.name;
        let limits = support::limits(&definition.form);
        self.document("", definition.description.as_deref(), &limits);
        match &definition.form {
            Form::Alias(of) => self.alias(id, name, of),
            Form::Words(words) => self.words(name, words),
            Form::Flag(_) => self.checked(id, definition, &Type::Boolean),
            Form::Text(_) => self.checked(id, definition, &Type::Text),
            Form::Integer(_) => self.checked(id, definition, &Type::Integer),
            Form::Number(_) => self.checked(id, definition, &Type::Number),
            Form::List(List { items, .. }) => {
                self.checked(id, definition, &Type::List(Box::new(items.clone())));
            }
            Form::Tuple(items) => self.tuple(id, name, items),
            Form::Object(object) => self.object(id, name, object),
            Form::Union(union) => self.union(id, name, union),
        }
    }

    /// Writes a description, and the bounds that a type keeps.
    fn document(&mut self, indent: &str, description: Option<&str>, limits: &[String]) {
        let mut said = description.map(lines).unwrap_or_default();
        if !said.is_empty() && !limits.is_empty() {
            said.push(String::new());
        }
        said.extend(limits.iter().map(|limit| format!("Keeps to: {limit}.")));
        for line in said {
            // Brackets and angles would be links and tags.
            let line = line.replace('[', "\\[").replace(']', "\\]").replace('<', "\\<");
            self.line(format!("{indent}/// {line}").trim_end());
        }
    }

    fn alias(&mut self, id: Id, name: &str, of: &Type) {
        self.line("#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]");
        self.line("#[serde(transparent)]");
        let field = self.element(id, of);
        self.line(&format!("pub struct {name}({field});"));
    }

    fn words(&mut self, name: &str, words: &[String]) {
        self.line("#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]");
        self.line("#[serde(remote = \"Self\")]");
        self.line(&format!("pub enum {name} {{"));
        let mut names = Names::without(["Self"]);
        for word in words {
            self.attribute("    ", &[format!("rename = {}", literal(word))]);
            let variant = names.unique(&pascal(word));
            self.line(&format!("    {variant},"));
        }
        self.line("}");
        self.support.words.push(name.to_owned());
    }

    /// Writes a newtype whose values are checked.
    fn checked(&mut self, id: Id, definition: &Definition, inner: &Type) {
        let name = &definition.name;
        let inner_name = self.expression(id, inner, Position::Direct);
        match inner {
            Type::Text | Type::Integer | Type::Boolean => {
                self.line("#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]");
            }
            Type::Number
            | Type::List(_)
            | Type::Any
            | Type::Null
            | Type::Map(_)
            | Type::Nullable(_)
            | Type::Named(_) => {
                self.line("#[derive(Debug, Clone, PartialEq, Serialize)]");
            }
        }
        self.line(&format!("pub struct {name}({inner_name});"));
        self.line("");
        self.line(&format!("impl TryFrom<{inner_name}> for {name} {{"));
        self.line("    type Error = Refused;");
        self.line("");
        self.line(&format!("    fn try_from(value: {inner_name}) -> Result<Self, Refused> {{"));
        for (condition, refusal) in support::checks(&definition.form) {
            self.line(&format!("        if {condition} {{"));
            self.line(&format!("            return Err(Refused({}));", literal(&refusal)));
            self.line("        }");
        }
        self.line("        Ok(Self(value))");
        self.line("    }");
        self.line("}");
        let reader = if has_integer(inner) {
            self.support.whole = true;
            "whole::read"
        } else if let Type::List(_) = inner {
            "Vec::deserialize"
        } else {
            "Deserialize::deserialize"
        };
        self.support.checked.push((name.clone(), inner_name, reader));
    }

    fn tuple(&mut self, id: Id, name: &str, items: &[Type]) {
        self.line("#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]");
        self.line(&format!("pub struct {name}("));
        for item in items {
            let element = self.element(id, item);
            self.line(&format!("    {element},"));
        }
        self.line(");");
    }

    /// Returns a field without a name.
    fn element(&mut self, owner: Id, of: &Type) -> String {
        let kind = self.expression(owner, of, Position::Direct);
        if has_integer(of) {
            self.support.whole = true;
            return format!("#[serde(deserialize_with = \"whole::read\")] pub {kind}");
        }
        format!("pub {kind}")
    }

    fn union(&mut self, id: Id, name: &str, union: &Union) {
        self.line("#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]");
        let tag = tag(self.model, union).map(str::to_owned);
        match &tag {
            Some(tag) => self.attribute("", &[format!("tag = {}", literal(tag))]),
            None => self.line("#[serde(untagged)]"),
        }
        self.line(&format!("pub enum {name} {{"));
        for variant in &union.variants {
            let marked = tag.as_ref().and_then(|tag| mark(self.model, &variant.of, tag));
            if let Some((_, word)) = marked {
                self.attribute("    ", &[format!("rename = {}", literal(word))]);
            }
            let element = self.element(id, &variant.of).replace("pub ", "");
            self.line(&format!("    {}({element}),", variant.name));
        }
        self.line("}");
    }

    fn expression(&self, owner: Id, of: &Type, position: Position) -> String {
        match of {
            Type::Any => "serde_json::Value".to_owned(),
            Type::Null => "()".to_owned(),
            Type::Boolean => "bool".to_owned(),
            Type::Integer => "i64".to_owned(),
            Type::Number => "f64".to_owned(),
            Type::Text => "String".to_owned(),
            Type::List(items) => {
                format!("Vec<{}>", self.expression(owner, items, Position::Behind))
            }
            Type::Map(values) => {
                format!("BTreeMap<String, {}>", self.expression(owner, values, Position::Behind))
            }
            Type::Nullable(inner) => format!("Option<{}>", self.expression(owner, inner, position)),
            Type::Named(id) => {
                let name = self.model.get(*id).map(|it| it.name.as_str()).unwrap_or_default();
                match self.plain(*id) {
                    Some(plain) => plain.to_owned(),
                    None if position == Position::Direct && self.model.is_circular(owner, *id) => {
                        format!("Box<{name}>")
                    }
                    None => name.to_owned(),
                }
            }
        }
    }

    /// Writes an attribute as rustfmt would.
    fn attribute(&mut self, indent: &str, arguments: &[String]) {
        let joined = arguments.join(", ");
        if joined.chars().count() <= ATTRIBUTE_WIDTH {
            return self.line(&format!("{indent}#[serde({joined})]"));
        }
        self.line(&format!("{indent}#[serde("));
        let separated = arguments.join(&format!(",\n{indent}    "));
        self.line(&format!("{indent}    {separated}"));
        self.line(&format!("{indent})]"));
    }
}

/// Claims that integers stand in it without a name, so that serde would refuse `1.0`.
fn has_integer(of: &Type) -> bool {
    innermost(of) == &Type::Integer
}

fn literal(text: &str) -> String {
    quoted(text, Escapes::Braces)
}
