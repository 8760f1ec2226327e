//! Go: types that read themselves strictly, and say what is wrong with them.
//!
//! `encoding/json` by itself matches names without their case, reads `null` into anything and ignores
//! what it does not know; so every type has an `UnmarshalJSON` of its own, and `Validate` for values that
//! were made in Go. Each contract is a package of its own, since all bring the same helpers along.

mod compound;
mod support;

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::header::MARK;
use super::model::{Definition, Edge, Form, Id, Integer, List, Model, Number, Rest, Text, Type};
use super::name::{Names, pascal};
use super::text::{Escapes, lines, quoted};
use super::{Integers, Rendered, lost};
use crate::pattern::{Engine, translated};
use support::Need;

#[rustfmt::skip]
const KEYWORDS: [&str; 25] = [
    "break", "case", "chan", "const", "continue", "default", "defer", "else", "fallthrough", "for",
    "func", "go", "goto", "if", "import", "interface", "map", "package", "range", "return", "select",
    "struct", "switch", "type", "var",
];

/// Methods of every type, which no member can be called.
const METHODS: [&str; 3] = ["MarshalJSON", "UnmarshalJSON", "Validate"];

/// Writes the types of a model.
pub(super) fn render(model: &Model, called: &str) -> Rendered {
    let mut names = Names::default();
    for (_, definition) in model.definitions() {
        names.unique(&exported(&definition.name));
    }
    let mut writer = Writer { model, names, needs: RefCell::default(), body: String::new() };
    for (id, definition) in model.definitions() {
        writer.definition(id, definition);
    }
    let needs = writer.needs.into_inner();
    let text = format!(
        "{MARK}\npackage {}\n\n{}{}{}",
        package(called),
        support::imports(&needs),
        writer.body,
        support::helpers(&needs)
    );
    let open = model.objects().any(|object| object.rest == Rest::Open);
    let note = "Members that the contract does not name are accepted, and not kept.";
    Rendered {
        text,
        lost: lost(model, Some(Engine::Re2)),
        integers: Integers::Bits64,
        notes: if open { vec![note] } else { Vec::new() },
        without_example: None,
    }
}

fn package(called: &str) -> String {
    let name: String =
        called.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    match name.chars().next() {
        Some(first) if first.is_ascii_alphabetic() && !KEYWORDS.contains(&name.as_str()) => name,
        _ => format!("contract{name}"),
    }
}

/// Returns a name that other packages see.
fn exported(name: &str) -> String {
    if name.starts_with(char::is_uppercase) { name.to_owned() } else { format!("X{name}") }
}

struct Writer<'m> {
    model: &'m Model,
    /// The names of the package.
    names: Names,
    needs: RefCell<BTreeSet<Need>>,
    body: String,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        self.body.push_str(line);
        self.body.push('\n');
    }

    fn need(&self, need: Need) {
        self.needs.borrow_mut().insert(need);
    }

    fn definition(&mut self, id: Id, definition: &Definition) {
        let name = exported(&definition.name);
        self.line("");
        let said = definition.description.as_deref().map(lines).unwrap_or_default();
        self.comment("", said);
        match &definition.form {
            Form::Alias(of) => self.alias(id, &name, of),
            Form::Words(words) => self.words(&name, words),
            Form::Flag(flag) => {
                let check = (format!("bool(v) != {flag}"), format!("exactly {flag}"));
                self.scalar(&name, "bool", ("readFlag", Need::Flag), &[check]);
            }
            Form::Text(text) => self.text(&name, text),
            Form::Integer(integer) => self.integer(&name, integer),
            Form::Number(number) => self.number(&name, number),
            Form::List(list) => self.list(id, &name, list),
            Form::Tuple(items) => self.tuple(id, &name, items),
            Form::Object(object) => self.object(id, &name, object),
            Form::Union(union) => self.union(id, &name, union),
        }
    }

    fn comment(&mut self, indent: &str, said: Vec<String>) {
        for line in said {
            self.line(format!("{indent}// {line}").trim_end());
        }
    }

    /// Writes a type that stands for another.
    fn alias(&mut self, id: Id, name: &str, of: &Type) {
        let kind = self.kind(id, of);
        let reader = self.reader(id, of);
        // Pointers and interfaces have no methods.
        let is_held = matches!(of, Type::Nullable(_) | Type::Any | Type::Null);
        if is_held {
            self.line(&format!("type {name} struct {{\n\tValue {kind}\n}}"));
            self.line(&format!(
                "\nfunc (v {name}) MarshalJSON() ([]byte, error) {{\n\treturn json.Marshal(v.Value)\n}}"
            ));
        } else {
            self.line(&format!("type {name} {kind}"));
        }
        let (field, inner) =
            if is_held { (".Value", "v.Value".to_owned()) } else { ("", format!("({kind})(v)")) };
        let target =
            if is_held { format!("v{field} = read") } else { format!("*v = {name}(read)") };
        self.unmarshal(name, &format!("\tread, err := {reader}(data)\n\tif err != nil {{\n\t\treturn err\n\t}}\n\t{target}\n\treturn nil\n"));
        let check = self.checker(id, of).map(|check| format!("\treturn {check}({inner})\n"));
        self.validate(name, &check.unwrap_or_else(|| "\treturn nil\n".to_owned()));
    }

    fn words(&mut self, name: &str, words: &[String]) {
        self.line(&format!("type {name} string\n"));
        let mut cases = Vec::new();
        for word in words {
            let constant = self.names.unique(&format!("{name}{}", pascal(word)));
            self.line(&format!("const {constant} {name} = {}", literal(word)));
            cases.push(constant);
        }
        self.read_scalar(name, ("readText", Need::Text));
        self.need(Need::Errors);
        self.validate(
            name,
            &format!(
                "\tswitch v {{\n\tcase {}:\n\t\treturn nil\n\t}}\n\treturn errors.New({})\n",
                cases.join(", "),
                literal("must be one of the words of the contract")
            ),
        );
    }

    fn text(&mut self, name: &str, text: &Text) {
        let mut checks = Vec::new();
        if text.min > 0 || text.max.is_some() {
            self.need(Need::Count);
        }
        if text.min > 0 {
            checks.push((
                format!("utf8.RuneCountInString(string(v)) < {}", text.min),
                counted("least", text.min, "character"),
            ));
        }
        if let Some(max) = text.max {
            checks.push((
                format!("utf8.RuneCountInString(string(v)) > {max}"),
                counted("most", max, "character"),
            ));
        }
        let patterns = text.patterns.iter().filter_map(|it| translated(&it.text, Engine::Re2));
        let mut compiled = String::new();
        for pattern in patterns {
            self.need(Need::Pattern);
            let variable = self.names.unique(&format!("pattern{name}"));
            let written =
                if pattern.contains('`') { literal(&pattern) } else { format!("`{pattern}`") };
            compiled.push_str(&format!("\nvar {variable} = regexp.MustCompile({written})\n"));
            checks.push((
                format!("!{variable}.MatchString(string(v))"),
                "a match of its pattern".to_owned(),
            ));
        }
        self.scalar(name, "string", ("readText", Need::Text), &checks);
        self.body.push_str(&compiled);
    }

    fn integer(&mut self, name: &str, integer: &Integer) {
        let mut checks = Vec::new();
        if let Some(min) = integer.min.filter(|min| *min > i64::MIN) {
            checks.push((format!("v < {min}"), format!("at least {min}")));
        }
        if let Some(max) = integer.max.filter(|max| *max < i64::MAX) {
            checks.push((format!("v > {max}"), format!("at most {max}")));
        }
        for factor in &integer.multiples {
            checks.push((format!("v%{factor} != 0"), format!("a multiple of {factor}")));
        }
        if !integer.allowed.is_empty() {
            let others: Vec<String> =
                integer.allowed.iter().map(|it| format!("v != {it}")).collect();
            checks.push((others.join(" && "), "one of the numbers of the contract".to_owned()));
        }
        self.scalar(name, "int64", ("readWhole", Need::Whole), &checks);
    }

    fn number(&mut self, name: &str, number: &Number) {
        let mut checks = Vec::new();
        for (bound, signs, word) in
            [(number.min, ("<", "<="), "least"), (number.max, (">", ">="), "most")]
        {
            let Some(bound) = bound else { continue };
            let is_inclusive = bound.edge == Edge::Inclusive;
            let sign = if is_inclusive { signs.0 } else { signs.1 };
            let beyond = if is_inclusive { "" } else { ", and not that itself" };
            let value = float(bound.value);
            checks.push((format!("v {sign} {value}"), format!("at {word} {value}{beyond}")));
        }
        if !number.allowed.is_empty() {
            let others: Vec<String> =
                number.allowed.iter().map(|it| format!("v != {}", float(*it))).collect();
            checks.push((others.join(" && "), "one of the numbers of the contract".to_owned()));
        }
        self.scalar(name, "float64", ("readNumber", Need::Number), &checks);
    }

    /// Writes a type of one value that is checked.
    fn scalar(
        &mut self,
        name: &str,
        kind: &str,
        reader: (&str, Need),
        checks: &[(String, String)],
    ) {
        self.line(&format!("type {name} {kind}"));
        self.read_scalar(name, reader);
        let body = self.refusals(checks);
        self.validate(name, &body);
    }

    fn read_scalar(&mut self, name: &str, (reader, need): (&str, Need)) {
        self.need(need);
        self.unmarshal(
            name,
            &format!(
                "\tread, err := {reader}(data)\n\tif err != nil {{\n\t\treturn err\n\t}}\n\t\
             *v = {name}(read)\n\treturn v.Validate()\n"
            ),
        );
    }

    fn refusals(&self, checks: &[(String, String)]) -> String {
        let mut body = String::new();
        for (condition, wanted) in checks {
            self.need(Need::Errors);
            let refusal = literal(&format!("must keep to: {wanted}"));
            body.push_str(&format!(
                "\tif {condition} {{\n\t\treturn errors.New({refusal})\n\t}}\n"
            ));
        }
        body.push_str("\treturn nil\n");
        body
    }

    fn list(&mut self, id: Id, name: &str, list: &List) {
        let of = Type::List(Box::new(list.items.clone()));
        let kind = self.kind(id, &of);
        let reader = self.reader(id, &of);
        self.line(&format!("type {name} {kind}"));
        self.unmarshal(
            name,
            &format!(
                "\tread, err := {reader}(data)\n\tif err != nil {{\n\t\treturn err\n\t}}\n\t\
             *v = {name}(read)\n\treturn v.Validate()\n"
            ),
        );
        let mut checks = Vec::new();
        if list.min > 0 {
            checks.push((format!("len(v) < {}", list.min), counted("least", list.min, "item")));
        }
        if let Some(max) = list.max {
            checks.push((format!("len(v) > {max}"), counted("most", max, "item")));
        }
        let mut body = self.refusals(&checks);
        if let Some(check) = self.checker(id, &of) {
            body = body.replace("\treturn nil\n", &format!("\treturn {check}({kind}(v))\n"));
        }
        self.validate(name, &body);
    }

    fn unmarshal(&mut self, name: &str, body: &str) {
        self.line(&format!("\nfunc (v *{name}) UnmarshalJSON(data []byte) error {{\n{body}}}"));
    }

    fn validate(&mut self, name: &str, body: &str) {
        self.line(&format!(
            "\n// Validate says what the contract has against the value, as far as it is checked here.\n\
             func (v {name}) Validate() error {{\n{body}}}"
        ));
    }
}

fn counted(end: &str, count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("at {end} {count} {noun}{plural}")
}

fn float(number: f64) -> String {
    serde_json::Value::from(number).to_string()
}

fn literal(text: &str) -> String {
    quoted(text, Escapes::Long)
}
