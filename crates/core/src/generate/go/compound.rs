//! Objects, tuples and unions, and how types are written where they are used.

use super::support::Need;
use super::{METHODS, Writer, exported, literal};
use crate::generate::model::{Id, Member, Object, Presence, Rest, Type, Union};
use crate::generate::name::{Names, pascal};
use crate::generate::text::lines;

/// A member and what it is called in Go.
struct Field<'m> {
    member: &'m Member,
    name: String,
}

impl Writer<'_> {
    pub(super) fn object(&mut self, id: Id, name: &str, object: &Object) {
        let mut names = Names::without(METHODS);
        let fields: Vec<Field<'_>> = object
            .members
            .iter()
            .map(|member| Field { member, name: names.unique(&exported(&pascal(&member.key))) })
            .collect();
        let rest = match &object.rest {
            Rest::Typed(of) => Some((names.unique("Rest"), of)),
            Rest::Closed | Rest::Open => None,
        };
        self.structure(id, name, &fields, rest.as_ref());
        self.read_object(id, name, (&fields, rest.as_ref()), &object.rest);
        let is_plain = fields.iter().all(|field| is_tag(&field.member.key)) && rest.is_none();
        if !is_plain {
            self.write_object(name, &fields, rest.as_ref());
        }
        let mut body = String::new();
        for field in &fields {
            let check = self.validated(id, &used(field.member), &format!("v.{}", field.name));
            if let Some(check) = check {
                self.need(Need::Format);
                let told = literal(&format!("{}: %w", field.member.key.replace('%', "%%")));
                body.push_str(&format!(
                    "\tif err := {check}; err != nil {{\n\t\treturn fmt.Errorf({told}, err)\n\t}}\n"
                ));
            }
        }
        if let Some((field, of)) = &rest
            && let Some(check) =
                self.validated(id, &Type::Map(Box::new((*of).clone())), &format!("v.{field}"))
        {
            body.push_str(&format!("\tif err := {check}; err != nil {{\n\t\treturn err\n\t}}\n"));
        }
        body.push_str("\treturn nil\n");
        self.validate(name, &body);
    }

    fn structure(
        &mut self,
        id: Id,
        name: &str,
        fields: &[Field<'_>],
        rest: Option<&(String, &Type)>,
    ) {
        if fields.is_empty() && rest.is_none() {
            return self.line(&format!("type {name} struct{{}}"));
        }
        self.line(&format!("type {name} struct {{"));
        for Field { member, name: field } in fields {
            let said = member.description.as_deref().map(lines).unwrap_or_default();
            let said = if said.is_empty() {
                vec![format!("{field} is {}.", literal(&member.key))]
            } else {
                said
            };
            self.comment("\t", said);
            let kind = self.kind(id, &used(member));
            let omit = if member.presence == Presence::Optional { ",omitempty" } else { "" };
            let tag = match member.key.as_str() {
                "-" => "`json:\"-,\"`".to_owned(),
                key if is_tag(key) => format!("`json:\"{key}{omit}\"`"),
                _ => "`json:\"-\"`".to_owned(),
            };
            self.line(&format!("\t{field} {kind} {tag}"));
        }
        if let Some((field, of)) = rest {
            let kind = self.kind(id, &Type::Map(Box::new((*of).clone())));
            self.line(&format!("\t// {field} has the members that the contract does not name."));
            self.line(&format!("\t{field} {kind} `json:\"-\"`"));
        }
        self.line("}");
    }

    fn read_object(
        &mut self,
        id: Id,
        name: &str,
        (fields, rest): (&[Field<'_>], Option<&(String, &Type)>),
        others: &Rest,
    ) {
        self.need(Need::Members);
        let mut body = format!(
            "\tmembers, err := readMembers(data)\n\tif err != nil {{\n\t\treturn err\n\t}}\n\tvar read {name}\n"
        );
        for Field { member, name: field } in fields {
            let how = match member.presence {
                Presence::Required => {
                    self.need(Need::Required);
                    "readRequired"
                }
                Presence::Optional => {
                    self.need(Need::Optional);
                    "readOptional"
                }
            };
            let is_pointed = member.presence == Presence::Optional && !is_nil(&member.of);
            // Absence is told apart before: the pointer is that of a value.
            let reader =
                if is_pointed { self.pointed(&member.of) } else { self.reader(id, &member.of) };
            let key = literal(&member.key);
            body.push_str(&format!(
                "\tif err := {how}(members, {key}, {reader}, &read.{field}); err != nil {{\n\t\treturn err\n\t}}\n"
            ));
        }
        if let Some((field, of)) = rest {
            self.need(Need::Rest);
            let reader = self.reader(id, of);
            body.push_str(&format!(
                "\tif read.{field}, err = readRest(members, {reader}); err != nil {{\n\t\treturn err\n\t}}\n"
            ));
        } else if *others == Rest::Closed {
            self.need(Need::Nothing);
            body.push_str("\tif err := readNothing(members); err != nil {\n\t\treturn err\n\t}\n");
        }
        body.push_str("\t*v = read\n\treturn nil\n");
        self.unmarshal(name, &body);
    }

    /// Writes how an object is written whose names are no tags of Go, or that has others.
    fn write_object(&mut self, name: &str, fields: &[Field<'_>], rest: Option<&(String, &Type)>) {
        let mut body = "\tmembers := map[string]any{}\n".to_owned();
        if let Some((field, _)) = rest {
            body.push_str(&format!(
                "\tfor key, value := range v.{field} {{\n\t\tmembers[key] = value\n\t}}\n"
            ));
        }
        for Field { member, name: field } in fields {
            let key = literal(&member.key);
            body.push_str(&match member.presence {
                Presence::Required => format!("\tmembers[{key}] = v.{field}\n"),
                Presence::Optional => {
                    format!("\tif v.{field} != nil {{\n\t\tmembers[{key}] = v.{field}\n\t}}\n")
                }
            });
        }
        body.push_str("\treturn json.Marshal(members)\n");
        self.line(&format!("\nfunc (v {name}) MarshalJSON() ([]byte, error) {{\n{body}}}"));
    }

    pub(super) fn tuple(&mut self, id: Id, name: &str, items: &[Type]) {
        self.line(&format!("type {name} struct {{"));
        let mut read = format!(
            "\titems, err := readItems(data, {})\n\tif err != nil {{\n\t\treturn err\n\t}}\n\tvar read {name}\n",
            items.len()
        );
        let mut written = Vec::new();
        let mut checks = String::new();
        self.need(Need::Items);
        for (position, item) in items.iter().enumerate() {
            let field = format!("Item{}", position + 1);
            let kind = self.kind(id, item);
            self.line(&format!("\t// {field} is at position {position}."));
            self.line(&format!("\t{field} {kind}"));
            let reader = self.reader(id, item);
            read.push_str(&format!("\tif read.{field}, err = {reader}(items[{position}]); err != nil {{\n\t\treturn err\n\t}}\n"));
            written.push(format!("v.{field}"));
            if let Some(check) = self.validated(id, item, &format!("v.{field}")) {
                checks.push_str(&format!(
                    "\tif err := {check}; err != nil {{\n\t\treturn err\n\t}}\n"
                ));
            }
        }
        self.line("}");
        read.push_str("\t*v = read\n\treturn nil\n");
        self.unmarshal(name, &read);
        self.line(&format!(
            "\nfunc (v {name}) MarshalJSON() ([]byte, error) {{\n\treturn json.Marshal([]any{{{}}})\n}}",
            written.join(", ")
        ));
        self.validate(name, &format!("{checks}\treturn nil\n"));
    }

    pub(super) fn union(&mut self, id: Id, name: &str, union: &Union) {
        let mut names = Names::without(METHODS);
        let (mut read, mut write, mut check) = (String::new(), String::new(), String::new());
        self.need(Need::Errors);
        self.line(&format!("type {name} struct {{"));
        for variant in &union.variants {
            let field = names.unique(&exported(&variant.name));
            let kind = self.kind(id, &variant.of);
            let reader = self.reader(id, &variant.of);
            self.line(&format!("\t// {field} is set if the value is that."));
            self.line(&format!("\t{field} *{kind}"));
            read.push_str(&format!(
                "\tif read, err := {reader}(data); err == nil {{\n\t\t*v = {name}{{{field}: &read}}\n\t\treturn nil\n\t}}\n"
            ));
            write.push_str(&format!(
                "\tif v.{field} != nil {{\n\t\treturn json.Marshal(v.{field})\n\t}}\n"
            ));
            let checker = self.validated(id, &variant.of, &format!("(*v.{field})"));
            let checker = checker.unwrap_or_else(|| "nil".to_owned());
            check.push_str(&format!("\tif v.{field} != nil {{\n\t\treturn {checker}\n\t}}\n"));
        }
        self.line("}");
        let none = literal("none of the alternatives of the contract");
        self.unmarshal(name, &format!("{read}\treturn errors.New({none})\n"));
        self.line(&format!(
            "\nfunc (v {name}) MarshalJSON() ([]byte, error) {{\n{write}\treturn nil, errors.New({none})\n}}"
        ));
        self.validate(name, &format!("{check}\treturn errors.New({none})\n"));
    }

    /// Returns how a type is written.
    pub(super) fn kind(&self, owner: Id, of: &Type) -> String {
        match of {
            Type::Any | Type::Null => "any".to_owned(),
            Type::Boolean => "bool".to_owned(),
            Type::Integer => "int64".to_owned(),
            Type::Number => "float64".to_owned(),
            Type::Text => "string".to_owned(),
            Type::List(items) => format!("[]{}", self.unboxed(owner, items)),
            Type::Map(values) => format!("map[string]{}", self.unboxed(owner, values)),
            Type::Nullable(inner) => format!("*{}", self.unboxed(owner, inner)),
            Type::Named(id) if self.model.is_circular(owner, *id) => {
                format!("*{}", self.called(*id))
            }
            Type::Named(id) => self.called(*id),
        }
    }

    /// Returns how a type is written behind a pointer, a slice or a map, where it may hold itself.
    fn unboxed(&self, owner: Id, of: &Type) -> String {
        if let Type::Named(id) = of { self.called(*id) } else { self.kind(owner, of) }
    }

    fn called(&self, id: Id) -> String {
        self.model.get(id).map(|definition| exported(&definition.name)).unwrap_or_default()
    }

    /// Returns the function that reads a type.
    pub(super) fn reader(&self, owner: Id, of: &Type) -> String {
        let (need, word) = match of {
            Type::Any => (Need::Anything, "readAnything"),
            Type::Null => (Need::Null, "readNull"),
            Type::Boolean => (Need::Flag, "readFlag"),
            Type::Integer => (Need::Whole, "readWhole"),
            Type::Number => (Need::Number, "readNumber"),
            Type::Text => (Need::Text, "readText"),
            Type::List(items) => {
                self.need(Need::List);
                return format!("readList({})", self.behind(items));
            }
            Type::Map(values) => {
                self.need(Need::Map);
                return format!("readMap({})", self.behind(values));
            }
            Type::Nullable(inner) => {
                self.need(Need::Nullable);
                return format!("readNullable({})", self.behind(inner));
            }
            Type::Named(id) if self.model.is_circular(owner, *id) => return self.pointed(of),
            Type::Named(_) => return self.behind(of),
        };
        self.need(need);
        word.to_owned()
    }

    fn behind(&self, of: &Type) -> String {
        let Type::Named(id) = of else { return self.reader(Id::ROOT, of) };
        self.need(Need::Named);
        format!("readNamed[{}]", self.called(*id))
    }

    /// Returns the function that reads a type and points at it.
    fn pointed(&self, of: &Type) -> String {
        self.need(Need::Pointer);
        format!("readPointer({})", self.behind(of))
    }

    /// Returns what validates a value, if there is anything to validate.
    fn validated(&self, owner: Id, of: &Type, value: &str) -> Option<String> {
        if let Type::Named(id) = of
            && !self.model.is_circular(owner, *id)
        {
            return Some(format!("{value}.Validate()"));
        }
        self.checker(owner, of).map(|check| format!("{check}({value})"))
    }

    /// Returns the function that validates a type, if there is anything to validate.
    pub(super) fn checker(&self, owner: Id, of: &Type) -> Option<String> {
        match of {
            Type::List(items) => {
                let inner = self.checker_behind(items)?;
                self.need(Need::CheckList);
                Some(format!("checkList({inner})"))
            }
            Type::Map(values) => {
                let inner = self.checker_behind(values)?;
                self.need(Need::CheckMap);
                Some(format!("checkMap({inner})"))
            }
            Type::Nullable(inner) => {
                let inner = self.checker_behind(inner)?;
                self.need(Need::CheckPointer);
                Some(format!("checkPointer({inner})"))
            }
            Type::Named(id) if self.model.is_circular(owner, *id) => {
                self.need(Need::CheckPointer);
                Some(format!("checkPointer({}.Validate)", self.called(*id)))
            }
            Type::Named(_) => self.checker_behind(of),
            Type::Any | Type::Null | Type::Boolean | Type::Integer | Type::Number | Type::Text => {
                None
            }
        }
    }

    fn checker_behind(&self, of: &Type) -> Option<String> {
        let Type::Named(id) = of else { return self.checker(Id::ROOT, of) };
        Some(format!("{}.Validate", self.called(*id)))
    }
}

/// Returns the type of a member in a struct: one that may be absent is a pointer, unless it can be nil.
fn used(member: &Member) -> Type {
    match member.presence {
        Presence::Optional if !is_nil(&member.of) => Type::Nullable(Box::new(member.of.clone())),
        Presence::Optional | Presence::Required => member.of.clone(),
    }
}

/// Claims that a pointer says already that there is nothing: absent and `null` are the same then.
fn is_nil(of: &Type) -> bool {
    matches!(of, Type::Nullable(_))
}

/// Claims that a name can stand in a tag.
fn is_tag(key: &str) -> bool {
    !key.is_empty()
        && key.chars().all(|letter| {
            letter.is_ascii_alphanumeric() || "!#$%&()*+-./:;<=>?@[]^_{|}~ ".contains(letter)
        })
}
