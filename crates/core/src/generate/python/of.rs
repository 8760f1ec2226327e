//! Types as Python annotates them.

use super::{Writer, literal};
use crate::generate::model::{Bound, Definition, Edge, Form, Id, Integer, Number, Text, Type};
use crate::pattern::{Engine, translated};

/// What generated Python imports or brings along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Need {
    Also,
    Annotated,
    Any,
    BaseModel,
    Field,
    Literal,
    OneOf,
    Optional,
    Present,
    RootModel,
    Union,
    Whole,
}

impl Writer<'_> {
    pub(super) fn need(&self, need: Need) {
        let mut needs = self.needs.borrow_mut();
        needs.insert(need);
        match need {
            Need::Present => needs.extend([Need::Annotated, Need::Optional]),
            Need::Whole | Need::OneOf => needs.extend([Need::Annotated]),
            Need::Also => needs.extend([Need::Annotated, Need::Field]),
            Need::Annotated
            | Need::Any
            | Need::BaseModel
            | Need::Field
            | Need::Literal
            | Need::Optional
            | Need::RootModel
            | Need::Union => {}
        }
    }

    pub(super) fn imports(&self) -> String {
        let needs = self.needs.borrow();
        let import = |module: &str, names: &[(&str, &[Need])]| {
            let used = names.iter().filter(|(_, by)| by.iter().any(|need| needs.contains(need)));
            let used: Vec<&str> = used.map(|(name, _)| *name).collect();
            if used.is_empty() {
                return String::new();
            }
            format!("from {module} import {}\n", used.join(", "))
        };
        let typing = import(
            "typing",
            &[
                ("Annotated", &[Need::Annotated]),
                ("Any", &[Need::Also, Need::Any, Need::Present, Need::Whole, Need::OneOf]),
                ("Literal", &[Need::Literal]),
                ("Optional", &[Need::Optional]),
                ("Union", &[Need::Union]),
            ],
        );
        let pydantic = import(
            "pydantic",
            &[
                ("AfterValidator", &[Need::Also, Need::OneOf]),
                ("BaseModel", &[Need::BaseModel]),
                ("BeforeValidator", &[Need::Present, Need::Whole]),
                ("ConfigDict", &[Need::BaseModel, Need::RootModel]),
                ("Field", &[Need::Field]),
                ("RootModel", &[Need::RootModel]),
                ("TypeAdapter", &[Need::Also]),
            ],
        );
        let gap = if typing.is_empty() { "" } else { "\n" };
        format!("{typing}{gap}{pydantic}")
    }

    pub(super) fn helpers(&self) -> String {
        let needs = self.needs.borrow();
        let helpers = [
            (Need::Also, ALSO),
            (Need::Present, PRESENT),
            (Need::Whole, WHOLE),
            (Need::OneOf, ONE_OF),
        ];
        helpers.iter().filter(|(need, _)| needs.contains(need)).map(|(_, text)| *text).collect()
    }

    pub(super) fn of(&self, of: &Type) -> String {
        match of {
            Type::Any => {
                self.need(Need::Any);
                "Any".to_owned()
            }
            Type::Null => "None".to_owned(),
            Type::Boolean => "bool".to_owned(),
            Type::Integer => self.annotated("int", &["_WHOLE".to_owned()]),
            Type::Number => "float".to_owned(),
            Type::Text => "str".to_owned(),
            Type::List(items) => format!("list[{}]", self.of(items)),
            Type::Map(values) => format!("dict[str, {}]", self.of(values)),
            Type::Nullable(inner) => {
                self.need(Need::Optional);
                format!("Optional[{}]", self.of(inner))
            }
            Type::Named(id) => match self.model.get(*id) {
                Some(definition) if self.is_declared(*id, definition) => definition.name.clone(),
                Some(definition) => self.form(*id, definition),
                None => "None".to_owned(),
            },
        }
    }

    pub(super) fn form(&self, id: Id, definition: &Definition) -> String {
        match &definition.form {
            Form::Alias(of) => self.of(of),
            Form::Words(words) => {
                self.need(Need::Literal);
                let words: Vec<String> = words.iter().map(|word| literal(word)).collect();
                format!("Literal[{}]", words.join(", "))
            }
            // `Literal[True]` would accept 1.
            Form::Flag(flag) => {
                let allowed = if *flag { "_one_of(True)" } else { "_one_of(False)" };
                self.annotated("bool", &[allowed.to_owned()])
            }
            Form::Text(text) => self.text(text),
            Form::Integer(integer) => self.integer(integer),
            Form::Number(number) => self.number(number),
            Form::List(list) => {
                let of = self.of(&Type::List(Box::new(list.items.clone())));
                self.annotated(&of, &counts(list.min, list.max))
            }
            Form::Tuple(items) => {
                let items: Vec<String> = items.iter().map(|item| self.of(item)).collect();
                // A list that comes from JSON is as good as a tuple.
                self.annotated(
                    &format!("tuple[{}]", items.join(", ")),
                    &["strict=False".to_owned()],
                )
            }
            Form::Union(union) => {
                self.need(Need::Union);
                let variants: Vec<String> =
                    union.variants.iter().map(|variant| self.of(&variant.of)).collect();
                let of = format!("Union[{}]", variants.join(", "));
                match &union.tag {
                    Some(tag) if super::is_name(tag) && !self.is_hidden(tag) => {
                        self.annotated(&of, &[format!("discriminator={}", literal(tag))])
                    }
                    _ => of,
                }
            }
            Form::Object(_) => self.of(&Type::Named(id)),
        }
    }

    /// Claims that a type has the name of the member, which is an alias then.
    fn is_hidden(&self, key: &str) -> bool {
        self.model.definitions().any(|(_, definition)| definition.name == key)
    }

    fn text(&self, text: &Text) -> String {
        let mut limits = counts(text.min, text.max);
        let patterns = text.patterns.iter().filter_map(|it| translated(&it.text, Engine::Rust));
        limits.extend(one_each("str", patterns.map(|it| format!("pattern={}", literal(&it)))));
        self.annotated("str", &limits)
    }

    fn integer(&self, integer: &Integer) -> String {
        let mut limits = Vec::new();
        limits.extend(integer.min.map(|min| format!("ge={min}")));
        limits.extend(integer.max.map(|max| format!("le={max}")));
        let factors = integer.multiples.iter().map(|it| format!("multiple_of={it}"));
        limits.push("_WHOLE".to_owned());
        limits.extend(one_each("int", factors));
        if !integer.allowed.is_empty() {
            let list: Vec<String> = integer.allowed.iter().map(ToString::to_string).collect();
            limits.push(format!("_one_of({})", list.join(", ")));
        }
        self.annotated("int", &limits)
    }

    fn number(&self, number: &Number) -> String {
        let mut limits = Vec::new();
        let limit = |bound: Option<Bound>, inclusive: &str, exclusive: &str| {
            bound.map(|Bound { value, edge }| {
                let name = if edge == Edge::Inclusive { inclusive } else { exclusive };
                format!("{name}={value:?}")
            })
        };
        limits.extend(limit(number.min, "ge", "gt"));
        limits.extend(limit(number.max, "le", "lt"));
        if !number.allowed.is_empty() {
            let list: Vec<String> = number.allowed.iter().map(|it| format!("{it:?}")).collect();
            limits.push(format!("_one_of({})", list.join(", ")));
        }
        self.annotated("float", &limits)
    }

    /// Returns a type with what it keeps to: arguments of `Field`, then helpers of ours.
    fn annotated(&self, of: &str, limits: &[String]) -> String {
        let (helpers, arguments): (Vec<&String>, Vec<&String>) =
            limits.iter().partition(|limit| limit.starts_with('_'));
        let mut parts = vec![of.to_owned()];
        if !arguments.is_empty() {
            self.need(Need::Field);
            let arguments: Vec<&str> = arguments.iter().map(|it| it.as_str()).collect();
            parts.push(format!("Field({})", arguments.join(", ")));
        }
        for helper in helpers {
            self.need(match helper.split('(').next() {
                Some("_WHOLE") => Need::Whole,
                Some("_also") => Need::Also,
                _ => Need::OneOf,
            });
            parts.push(helper.clone());
        }
        if parts.len() == 1 {
            return of.to_owned();
        }
        self.need(Need::Annotated);
        format!("Annotated[{}]", parts.join(", "))
    }
}

/// Returns limits of which a field takes one: the others hold the value to one more field each.
fn one_each(of: &str, limits: impl Iterator<Item = String>) -> Vec<String> {
    let written = |(position, limit): (usize, String)| match position {
        0 => limit,
        _ => format!("_also({of}, {limit})"),
    };
    limits.enumerate().map(written).collect()
}

fn counts(min: u64, max: Option<u64>) -> Vec<String> {
    let least = (min > 0).then(|| format!("min_length={min}"));
    least.into_iter().chain(max.map(|max| format!("max_length={max}"))).collect()
}

const ALSO: &str = r"

def _also(of: Any, **limits: Any) -> Any:
    return AfterValidator(TypeAdapter(Annotated[of, Field(**limits)]).validate_python)
";

const PRESENT: &str = r#"

def _present(value: Any) -> Any:
    if value is None:
        raise ValueError("may be absent, but not null")
    return value


_PRESENT = BeforeValidator(_present)
"#;

const WHOLE: &str = r#"

def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


_WHOLE = BeforeValidator(_whole)
"#;

const ONE_OF: &str = r#"

def _one_of(*allowed: Any) -> Any:
    def check(value: Any) -> Any:
        if value not in allowed:
            raise ValueError(f"must be one of {allowed}")
        return value

    return AfterValidator(check)
"#;
