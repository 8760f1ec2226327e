//! The schemas for Zod.

use super::{Writer, literal, member_name};
use crate::generate::model::{
    Bound, Definition, Edge, Form, Id, Integer, List, Member, Number, Object, Presence, Rest, Text,
    Type, Union,
};
use crate::pattern::{Engine, translated};

/// What schemas bring along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Need {
    Anything,
    Characters,
    Own,
    Whole,
}

impl Need {
    fn text(self) -> &'static str {
        match self {
            Self::Anything => {
                "/** Anything that is there. */\n\
                 const anything = z.unknown().refine((value) => value !== undefined, \"must be there\");\n"
            }
            Self::Characters => {
                "/** Counts characters, not the halves that JavaScript counts. */\n\
                 const characters = (text: string): number => [...text].length;\n"
            }
            Self::Own => {
                "/** Leaves what every object inherits behind: `constructor` is absent unless it is there. */\n\
                 const own = (value: unknown): unknown =>\n  \
                 typeof value === \"object\" && value !== null && !Array.isArray(value)\n    \
                 ? Object.assign(Object.create(null), value)\n    : value;\n"
            }
            Self::Whole => {
                "const whole = z.number().refine(Number.isInteger, \"must be a whole number\");\n"
            }
        }
    }
}

/// Writes the schema of every declared definition, with what they bring along.
pub(super) fn schemas(writer: &Writer<'_>) -> String {
    let mut schemas = String::new();
    let ordered = writer.model.inner_first();
    for (id, definition) in ordered.into_iter().filter(|(id, it)| writer.is_declared(*id, it)) {
        let name = &definition.name;
        let schema = writer.schema(id, definition);
        schemas.push_str(&if writer.model.is_circular(id, id) {
            format!("\nexport const {name}: z.ZodType<{name}> = {schema};\n")
        } else {
            format!("\nexport const {name} = {schema} satisfies z.ZodType<{name}>;\n")
        });
    }
    let mut text = String::new();
    for need in writer.needs.borrow().iter() {
        text.push('\n');
        text.push_str(need.text());
    }
    text.push_str(&schemas);
    text
}

impl Writer<'_> {
    fn schema(&self, id: Id, definition: &Definition) -> String {
        match &definition.form {
            Form::Alias(of) => self.use_of(id, of),
            Form::Words(words) => match words.as_slice() {
                [single] => format!("z.literal({})", literal(single)),
                several => format!("z.enum([{}])", list(several.iter().map(|word| literal(word)))),
            },
            Form::Flag(flag) => format!("z.literal({flag})"),
            Form::Text(text) => self.text(text),
            Form::Integer(integer) => self.integer(integer),
            Form::Number(number) => self::bounded(number),
            Form::List(List { items, min, max }) => {
                let mut schema = format!("z.array({})", self.use_of(id, items));
                if *min > 0 {
                    schema.push_str(&format!(".min({min})"));
                }
                schema.extend(max.map(|max| format!(".max({max})")));
                schema
            }
            Form::Tuple(items) => {
                format!("z.tuple([{}])", list(items.iter().map(|item| self.use_of(id, item))))
            }
            Form::Object(object) => self.object_schema(id, object),
            Form::Union(union) => self.union_schema(id, union),
        }
    }

    fn object_schema(&self, id: Id, object: &Object) -> String {
        let mut members = String::new();
        for Member { key, presence, of, .. } in written(object) {
            let name = member_name(key);
            let optional = match presence {
                Presence::Required => "",
                Presence::Optional => ".optional()",
            };
            members.push_str(&format!("\n  {name}: {}{optional},", self.use_of(id, of)));
        }
        let members = if members.is_empty() { "{}".to_owned() } else { format!("{{{members}\n}}") };
        let schema = match &object.rest {
            Rest::Closed => format!("z.strictObject({members})"),
            Rest::Open => format!("z.looseObject({members})"),
            Rest::Typed(of) => format!("z.object({members}).catchall({})", self.use_of(id, of)),
        };
        if has_inherited(object) {
            self.need(Need::Own, "");
            return format!("z.preprocess(own, {schema})");
        }
        schema
    }

    fn union_schema(&self, id: Id, union: &Union) -> String {
        // Zod must see the members that tell the alternatives apart.
        let is_plain = |of: &Type| {
            let form = of.named().and_then(|id| self.model.get(id)).map(|it| &it.form);
            let is_visible = matches!(form, Some(Form::Object(object)) if !has_inherited(object));
            is_visible && of.named().is_some_and(|it| !self.model.is_circular(it, it))
        };
        let variants = list(union.variants.iter().map(|variant| self.use_of(id, &variant.of)));
        match &union.tag {
            Some(tag) if union.variants.iter().all(|variant| is_plain(&variant.of)) => {
                format!("z.discriminatedUnion({}, [{variants}])", literal(tag))
            }
            _ => format!("z.union([{variants}])"),
        }
    }

    fn text(&self, text: &Text) -> String {
        let mut schema = "z.string()".to_owned();
        if text.min > 1 || text.max.is_some() {
            self.need(Need::Characters, "");
        }
        let said = |count: u64| {
            if count == 1 { "1 character".to_owned() } else { format!("{count} characters") }
        };
        match text.min {
            0 => {}
            1 => schema.push_str(".min(1)"),
            min => schema.push_str(&format!(
                ".refine((text) => characters(text) >= {min}, \"must have at least {}\")",
                said(min)
            )),
        }
        schema.extend(text.max.map(|max| {
            format!(
                ".refine((text) => characters(text) <= {max}, \"must have at most {}\")",
                said(max)
            )
        }));
        for pattern in
            text.patterns.iter().filter_map(|it| translated(&it.text, Engine::JavaScript))
        {
            schema.push_str(&format!(".regex(/{pattern}/u)"));
        }
        schema
    }

    fn integer(&self, integer: &Integer) -> String {
        if !integer.allowed.is_empty() {
            return format!(
                "z.literal([{}])",
                list(integer.allowed.iter().map(ToString::to_string))
            );
        }
        let mut schema = self.need(Need::Whole, "whole");
        schema.extend(integer.min.map(|min| format!(".gte({min})")));
        schema.extend(integer.max.map(|max| format!(".lte({max})")));
        for factor in &integer.multiples {
            schema.push_str(&format!(
                ".refine((number) => number % {factor} === 0, \"must be a multiple of {factor}\")"
            ));
        }
        schema
    }

    /// Returns the word for what must be brought along.
    fn need(&self, need: Need, word: &str) -> String {
        self.needs.borrow_mut().insert(need);
        word.to_owned()
    }

    fn use_of(&self, owner: Id, of: &Type) -> String {
        match of {
            Type::Any => self.need(Need::Anything, "anything"),
            Type::Null => "z.null()".to_owned(),
            Type::Boolean => "z.boolean()".to_owned(),
            Type::Integer => self.need(Need::Whole, "whole"),
            Type::Number => "z.number()".to_owned(),
            Type::Text => "z.string()".to_owned(),
            Type::List(items) => format!("z.array({})", self.use_of(owner, items)),
            Type::Map(values) => format!("z.record(z.string(), {})", self.use_of(owner, values)),
            Type::Nullable(inner) => format!("{}.nullable()", self.use_of(owner, inner)),
            Type::Named(id) => match self.model.get(*id) {
                Some(definition) if !self.is_declared(*id, definition) => {
                    self.schema(*id, definition)
                }
                Some(definition) if self.model.is_circular(owner, *id) => {
                    format!("z.lazy(() => {})", definition.name)
                }
                Some(definition) => definition.name.clone(),
                None => "z.never()".to_owned(),
            },
        }
    }
}

/// Returns the members that Zod looks at; it leaves `__proto__` out of everything.
pub(super) fn written(object: &Object) -> impl Iterator<Item = &Member> {
    object.members.iter().filter(|member| member.key != "__proto__")
}

/// Claims that every object of JavaScript seems to have one of the members.
fn has_inherited(object: &Object) -> bool {
    const INHERITED: [&str; 11] = [
        "constructor",
        "hasOwnProperty",
        "isPrototypeOf",
        "propertyIsEnumerable",
        "toLocaleString",
        "toString",
        "valueOf",
        "__defineGetter__",
        "__defineSetter__",
        "__lookupGetter__",
        "__lookupSetter__",
    ];
    object.members.iter().any(|member| INHERITED.contains(&member.key.as_str()))
}

fn bounded(bounds: &Number) -> String {
    if !bounds.allowed.is_empty() {
        return format!("z.literal([{}])", list(bounds.allowed.iter().map(|it| number(*it))));
    }
    let mut schema = "z.number()".to_owned();
    let mut bound = |bound: Option<Bound>, inclusive: &str, exclusive: &str| {
        if let Some(Bound { value, edge }) = bound {
            let method = if edge == Edge::Inclusive { inclusive } else { exclusive };
            schema.push_str(&format!(".{method}({})", number(value)));
        }
    };
    bound(bounds.min, "gte", "gt");
    bound(bounds.max, "lte", "lt");
    schema
}

/// Returns a number as JavaScript and JSON write it.
pub(super) fn number(number: f64) -> String {
    serde_json::Value::from(number).to_string()
}

fn list(members: impl Iterator<Item = String>) -> String {
    members.collect::<Vec<_>>().join(", ")
}
