//! A schema in few words, like a type: what a small model reads with little effort.

use std::fmt::{self, Formatter, Write as _};

use serde_json::Value;

/// How deep an outline goes.
const DEPTH_LIMIT: usize = 8;

/// How many words of a list are shown.
const WORD_LIMIT: usize = 24;

/// How many bytes of a description are shown.
const DESCRIPTION_LIMIT_BYTES: usize = 160;

/// How long an outline may be.
const LIMIT_BYTES: usize = 6000;

/// A schema that is shown in few words.
pub(super) struct Outline<'a> {
    root: &'a Value,
}

impl<'a> Outline<'a> {
    /// Outlines a schema.
    pub(super) fn of(root: &'a Value) -> Self {
        Self { root }
    }

    fn write(&self, schema: &Value, depth: usize, out: &mut String) {
        if depth > DEPTH_LIMIT || out.len() > LIMIT_BYTES {
            return out.push_str("any");
        }
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            let target = target.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            return self.write(target.unwrap_or(&Value::Null), depth + 1, out);
        }
        if let Some(only) = schema.get("const") {
            return out.push_str(&only.to_string());
        }
        if let Some(words) = schema.get("enum").and_then(Value::as_array) {
            let words: Vec<_> = words.iter().take(WORD_LIMIT).map(Value::to_string).collect();
            return out.push_str(&words.join(" | "));
        }
        for union in ["anyOf", "oneOf", "allOf"] {
            if let Some(branches) = schema.get(union).and_then(Value::as_array) {
                let between = if union == "allOf" { " & " } else { " | " };
                return self.write_all(branches, between, depth, out);
            }
        }
        match schema.get("type") {
            Some(Value::Array(kinds)) => {
                for (place, kind) in kinds.iter().enumerate() {
                    out.push_str(if place > 0 { " | " } else { "" });
                    self.write_kind(kind.as_str().unwrap_or("any"), schema, depth, out);
                }
            }
            Some(Value::String(kind)) => self.write_kind(kind, schema, depth, out),
            _ if schema.get("properties").is_some() => self.write_object(schema, depth, out),
            _ => out.push_str("any"),
        }
    }

    fn write_all(&self, branches: &[Value], between: &str, depth: usize, out: &mut String) {
        for (place, branch) in branches.iter().enumerate() {
            out.push_str(if place > 0 { between } else { "" });
            self.write(branch, depth + 1, out);
        }
    }

    fn write_kind(&self, kind: &str, schema: &Value, depth: usize, out: &mut String) {
        match kind {
            "object" => self.write_object(schema, depth, out),
            "array" => {
                out.push('[');
                match schema.get("items") {
                    Some(items) => self.write(items, depth + 1, out),
                    None => out.push_str("any"),
                }
                out.push_str(", …]");
            }
            "string" => out.push_str(schema.get("format").and_then(Value::as_str).unwrap_or(kind)),
            other => out.push_str(other),
        }
    }

    fn write_object(&self, schema: &Value, depth: usize, out: &mut String) {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            out.push_str("{…}");
            return;
        };
        let required = schema.get("required").and_then(Value::as_array);
        out.push_str("{\n");
        for (name, property) in properties {
            let is_required =
                required.is_some_and(|names| names.iter().any(|each| each == name.as_str()));
            out.extend(std::iter::repeat_n("  ", depth + 1));
            let mark = if is_required { "" } else { "?" };
            // Writing to a string cannot fail.
            write!(out, "{}{mark}: ", Value::from(name.as_str())).unwrap_or_default();
            self.write(property, depth + 1, out);
            if let Some(description) = property.get("description").and_then(Value::as_str) {
                out.push_str(" // ");
                out.push_str(shortened(description));
            }
            out.push('\n');
        }
        out.extend(std::iter::repeat_n("  ", depth));
        out.push('}');
    }
}

impl fmt::Display for Outline<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        self.write(self.root, 0, &mut out);
        f.write_str(&out)
    }
}

/// Returns the first line, at most so long.
fn shortened(description: &str) -> &str {
    let line = description.lines().next().unwrap_or_default();
    line.get(..line.floor_char_boundary(DESCRIPTION_LIMIT_BYTES)).unwrap_or(line)
}
