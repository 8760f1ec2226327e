//! Python: models for Pydantic 2, strict ones.
//!
//! Members keep their names where Python can have them and are aliases otherwise. A member that may be
//! absent is `None` then, but `null` in its place is refused unless the contract accepts it.

mod of;

use std::collections::HashSet;

use super::header::MARK;
use super::model::{Definition, Form, Id, Member, Model, Object, Presence, Rest, Type};
use super::name::{Names, snake};
use super::text::{Escapes, lines, quoted};
use super::{Integers, Rendered, lost};
use crate::pattern::Engine;
use of::Need;

#[rustfmt::skip]
const KEYWORDS: [&str; 39] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "case", "class",
    "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if",
    "import", "in", "is", "lambda", "match", "nonlocal", "not", "or", "pass", "raise", "return", "self",
    "try", "type", "while", "with", "yield",
];

/// What members of a class would hide: attributes of every model, and names that annotations use.
#[rustfmt::skip]
const HIDDEN: [&str; 39] = [
    "construct", "copy", "dict", "fields", "from_orm", "json", "parse_file", "parse_obj", "parse_raw",
    "root", "schema", "schema_json", "update_forward_refs", "validate",
    "Annotated", "Any", "BaseModel", "ConfigDict", "Field", "Literal", "Optional", "RootModel", "Union",
    "bool", "bytes", "float", "int", "list", "object", "set", "str", "tuple",
    "AfterValidator", "BeforeValidator", "TypeAdapter", "annotations", "date", "datetime", "time",
];

/// Writes the models.
pub(super) fn render(model: &Model) -> Rendered {
    let writer = Writer { model, needs: std::cell::RefCell::default() };
    let mut aliases = String::new();
    let mut classes = String::new();
    let mut unions = String::new();
    let mut rebuilt = String::new();
    for (id, definition) in model.definitions().filter(|(id, it)| writer.is_class(*id, it)) {
        classes.push_str(&writer.class(id, definition));
        rebuilt.push_str(&format!("{}.model_rebuild()\n", definition.name));
    }
    // Names are looked up when an alias is read: what it is made of comes first.
    for (id, definition) in model.inner_first() {
        if writer.is_declared(id, definition) && !writer.is_class(id, definition) {
            let is_plain = definition.form.as_words().is_some();
            let part = if is_plain { &mut aliases } else { &mut unions };
            part.push_str(&writer.alias(id, definition));
        }
    }
    let mut text = format!("{MARK}\nfrom __future__ import annotations\n\n");
    text.push_str(&writer.imports());
    text.push_str(&writer.helpers());
    for part in [aliases, classes, unions] {
        text.push_str(&part);
    }
    text.push_str("\n\n");
    text.push_str(&rebuilt);
    Rendered {
        text,
        lost: lost(model, Some(Engine::Rust)),
        integers: Integers::All,
        notes: vec!["Needs pydantic 2.11 or later."],
        without_example: None,
    }
}

struct Writer<'m> {
    model: &'m Model,
    needs: std::cell::RefCell<std::collections::BTreeSet<Need>>,
}

impl Writer<'_> {
    /// Claims that a definition has a name in Python; bounds are written where they hold.
    fn is_declared(&self, id: Id, definition: &Definition) -> bool {
        match definition.form {
            Form::Text(_) | Form::Integer(_) | Form::Number(_) | Form::Flag(_) => id == Id::ROOT,
            Form::List(_) | Form::Tuple(_) => id == Id::ROOT || self.model.is_circular(id, id),
            Form::Alias(_) | Form::Words(_) | Form::Object(_) | Form::Union(_) => true,
        }
    }

    /// Claims that a definition is a class: an object, the root, or what leads back to itself.
    fn is_class(&self, id: Id, definition: &Definition) -> bool {
        let is_object = matches!(definition.form, Form::Object(_));
        is_object || id == Id::ROOT || self.model.is_circular(id, id)
    }

    /// Writes a type that has a name and no class.
    fn alias(&self, id: Id, definition: &Definition) -> String {
        format!("\n{} = {}\n", definition.name, self.form(id, definition))
    }

    fn class(&self, id: Id, definition: &Definition) -> String {
        let name = &definition.name;
        let docstring = docstring(definition.description.as_deref());
        match definition.form.as_object() {
            Some(object) => {
                let extra = if object.rest == Rest::Closed { "forbid" } else { "allow" };
                self.need(Need::BaseModel);
                format!(
                    "\n\nclass {name}(BaseModel):\n{docstring}    model_config = ConfigDict(\n        \
                     strict=True, extra=\"{extra}\", serialize_by_alias=True, protected_namespaces=()\n    \
                     )\n{}",
                    self.members(object)
                )
            }
            None => {
                self.need(Need::RootModel);
                let root = self.form(id, definition);
                format!(
                    "\n\nclass {name}(RootModel):\n{docstring}    \
                     model_config = ConfigDict(strict=True)\n\n    root: {root}\n"
                )
            }
        }
    }

    fn members(&self, object: &Object) -> String {
        let types: HashSet<&str> =
            self.model.definitions().map(|(_, definition)| definition.name.as_str()).collect();
        let mut names = Names::without(KEYWORDS.into_iter().chain(HIDDEN));
        // Names that stay as they are come first, so that no other takes them.
        let kept: Vec<bool> = object
            .members
            .iter()
            .map(|it| is_name(&it.key) && !types.contains(it.key.as_str()))
            .collect();
        let mut chosen: Vec<Option<String>> = object
            .members
            .iter()
            .zip(&kept)
            .map(|(member, kept)| {
                kept.then(|| names.unique(&member.key)).filter(|it| *it == member.key)
            })
            .collect();
        for (member, name) in object.members.iter().zip(&mut chosen) {
            name.get_or_insert_with(|| names.unique(&format!("{}_", snake(&member.key))));
        }
        let mut text = String::new();
        if let Rest::Typed(of) = &object.rest {
            let of = self.of(of);
            text.push_str(&format!(
                "\n    __pydantic_extra__: dict[str, {of}] = Field(init=False)\n"
            ));
            self.need(Need::Field);
        }
        for (member, name) in object.members.iter().zip(chosen) {
            text.push_str(&self.member(member, &name.unwrap_or_default()));
        }
        text
    }

    /// Claims that `null` is a value of the type, whatever it is called.
    fn takes_null(&self, of: &Type) -> bool {
        let mut seen = HashSet::new();
        let mut open = vec![of];
        while let Some(of) = open.pop() {
            if matches!(of, Type::Any | Type::Null | Type::Nullable(_)) {
                return true;
            }
            let Type::Named(id) = of else { continue };
            let form = self.model.get(*id).map(|definition| &definition.form);
            if let Some(form @ (Form::Alias(_) | Form::Union(_))) = form
                && seen.insert(*id)
            {
                open.extend(form.parts());
            }
        }
        false
    }

    fn member(&self, member: &Member, name: &str) -> String {
        let of = self.of(&member.of);
        let mut arguments = Vec::new();
        let of = match (member.presence, &member.of) {
            (Presence::Required, _) => of,
            (Presence::Optional, member) if self.takes_null(member) => of,
            (Presence::Optional, _) => {
                self.need(Need::Present);
                format!("Annotated[Optional[{of}], _PRESENT]")
            }
        };
        if member.presence == Presence::Optional {
            arguments.push("default=None".to_owned());
        }
        if name != member.key {
            arguments.push(format!("alias={}", literal(&member.key)));
        }
        if let Some(description) = &member.description {
            let description = lines(description).join("\n");
            arguments.push(format!("description={}", literal(&description)));
        }
        match arguments.as_slice() {
            [] => format!("\n    {name}: {of}\n"),
            [single] if single == "default=None" => format!("\n    {name}: {of} = None\n"),
            several => {
                self.need(Need::Field);
                format!("\n    {name}: {of} = Field({})\n", several.join(", "))
            }
        }
    }
}

/// Claims that a member can have this name in a model.
fn is_name(key: &str) -> bool {
    let is_plain = key.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    is_plain
        && key.starts_with(|first: char| first.is_ascii_alphabetic())
        && !key.starts_with("model_")
        && !KEYWORDS.contains(&key)
        && !HIDDEN.contains(&key)
}

fn docstring(description: Option<&str>) -> String {
    let lines = description.map(lines).unwrap_or_default();
    if lines.is_empty() {
        return String::new();
    }
    let inert = |line: &String| line.replace('\\', "\\\\").replace('"', "\\\"");
    let lines: Vec<String> = lines.iter().map(inert).collect();
    match lines.as_slice() {
        [single] => format!("    \"\"\"{single}\"\"\"\n\n"),
        several => format!(
            "    \"\"\"{}\n    \"\"\"\n\n",
            several.join("\n    ").replace("\n    \n", "\n\n")
        ),
    }
}

fn literal(text: &str) -> String {
    quoted(text, Escapes::Long)
}
