//! TypeScript: types, and schemas for Zod 4 that check what the types cannot say.
//!
//! Each type has a schema of the same name, and the compiler checks that both agree. Text is counted in
//! characters, not in the halves of them that JavaScript counts.

mod schema;

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::header::MARK;
use super::model::{Definition, Form, Id, Member, Model, Object, Presence, Rest, Type};
use super::text::{Escapes, lines, quoted};
use super::{Integers, Rendered, lost};
use crate::pattern::Engine;
use schema::Need;

/// Writes the types of a model.
pub(super) fn render(model: &Model) -> Rendered {
    let writer = Writer { model, needs: RefCell::default() };
    let mut text = format!("{MARK}\nimport {{ z }} from \"zod\";\n");
    for (id, definition) in model.definitions().filter(|(id, it)| writer.is_declared(*id, it)) {
        text.push('\n');
        text.push_str(&comment("", definition.description.as_deref()));
        text.push_str(&writer.declaration(id, definition));
    }
    text.push_str(&schema::schemas(&writer));
    Rendered {
        text,
        lost: lost(model, Some(Engine::JavaScript)),
        integers: Integers::All,
        notes: notes(model),
        without_example: None,
    }
}

fn notes(model: &Model) -> Vec<&'static str> {
    let mut members = model.objects().flat_map(|object| &object.members);
    let has_prototype = members.any(|member| member.key == "__proto__");
    let mut notes = vec!["Needs zod 4."];
    if has_prototype {
        notes.push("Members called `__proto__` are not checked: Zod leaves them out.");
    }
    notes
}

struct Writer<'m> {
    model: &'m Model,
    needs: RefCell<BTreeSet<Need>>,
}

impl Writer<'_> {
    /// Claims that a definition has a name in TypeScript; bounds are written where they hold.
    fn is_declared(&self, id: Id, definition: &Definition) -> bool {
        match definition.form {
            Form::Text(_) | Form::Integer(_) | Form::Number(_) | Form::Flag(_) | Form::List(_) => {
                id == Id::ROOT || self.model.is_circular(id, id)
            }
            Form::Alias(_) | Form::Words(_) | Form::Tuple(_) | Form::Object(_) | Form::Union(_) => {
                true
            }
        }
    }

    fn declaration(&self, id: Id, definition: &Definition) -> String {
        let name = &definition.name;
        if let Form::Union(union) = &definition.form {
            let variants = union.variants.iter().map(|it| format!("\n  | {}", self.of(&it.of)));
            return format!("export type {name} ={};\n", variants.collect::<String>());
        }
        let of = match definition.form.as_object() {
            Some(object) => self.object(object),
            None => self.form(id, definition),
        };
        format!("export type {name} = {of};\n")
    }

    fn form(&self, id: Id, definition: &Definition) -> String {
        match &definition.form {
            Form::Alias(of) => self.of(of),
            Form::Words(words) => union(words.iter().map(|word| literal(word))),
            Form::Flag(flag) => flag.to_string(),
            Form::Text(_) => "string".to_owned(),
            Form::Integer(it) if it.allowed.is_empty() => "number".to_owned(),
            Form::Integer(it) => union(it.allowed.iter().map(ToString::to_string)),
            Form::Number(it) if it.allowed.is_empty() => "number".to_owned(),
            Form::Number(it) => union(it.allowed.iter().map(|number| schema::number(*number))),
            Form::List(list) => self.of(&Type::List(Box::new(list.items.clone()))),
            Form::Tuple(items) => {
                let items: Vec<String> = items.iter().map(|item| self.of(item)).collect();
                format!("[{}]", items.join(", "))
            }
            Form::Object(_) | Form::Union(_) => self.of(&Type::Named(id)),
        }
    }

    fn object(&self, object: &Object) -> String {
        let mut text = "{\n".to_owned();
        for Member { key, presence, of, description } in schema::written(object) {
            text.push_str(&comment("  ", description.as_deref()));
            let of = self.of(of);
            match presence {
                Presence::Required => text.push_str(&format!("  {}: {of};\n", member_name(key))),
                Presence::Optional => {
                    text.push_str(&format!("  {}?: {of} | undefined;\n", member_name(key)));
                }
            }
        }
        if object.rest != Rest::Closed {
            text.push_str("  [key: string]: unknown;\n");
        }
        text.push('}');
        text
    }

    fn of(&self, of: &Type) -> String {
        match of {
            Type::Any => "unknown".to_owned(),
            Type::Null => "null".to_owned(),
            Type::Boolean => "boolean".to_owned(),
            Type::Integer | Type::Number => "number".to_owned(),
            Type::Text => "string".to_owned(),
            Type::List(items) => format!("Array<{}>", self.of(items)),
            Type::Map(values) => format!("{{ [key: string]: {} }}", self.of(values)),
            Type::Nullable(inner) => format!("{} | null", self.of(inner)),
            Type::Named(id) => match self.model.get(*id) {
                Some(definition) if self.is_declared(*id, definition) => definition.name.clone(),
                Some(definition) => self.form(*id, definition),
                None => "unknown".to_owned(),
            },
        }
    }
}

fn union(members: impl Iterator<Item = String>) -> String {
    members.collect::<Vec<_>>().join(" | ")
}

/// Returns a description as a comment that editors show.
fn comment(indent: &str, description: Option<&str>) -> String {
    let lines = description.map(lines).unwrap_or_default();
    match lines.as_slice() {
        [] => String::new(),
        [single] => format!("{indent}/** {single} */\n"),
        several => {
            let body: String = several
                .iter()
                .map(|line| format!("{}\n", format!("{indent} * {line}").trim_end()))
                .collect();
            format!("{indent}/**\n{body}{indent} */\n")
        }
    }
}

fn member_name(key: &str) -> String {
    let mut letters = key.chars();
    let is_name =
        letters.next().is_some_and(|first| first.is_ascii_alphabetic() || "_$".contains(first))
            && letters.all(|letter| letter.is_ascii_alphanumeric() || "_$".contains(letter));
    if is_name { key.to_owned() } else { literal(key) }
}

fn literal(text: &str) -> String {
    quoted(text, Escapes::Halves)
}
