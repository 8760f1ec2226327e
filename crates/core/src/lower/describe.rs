//! Lost constraints in words, so that the model still knows them.

use serde_json::Value;

/// The longest constraint that is worth words, in characters.
const WORDS_LIMIT: usize = 200;

/// Says what `keyword` demands; nothing if that takes too many words.
pub(crate) fn describe(keyword: &str, value: &Value) -> Option<String> {
    let written = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let text = match keyword {
        "minimum" => format!("at least {written}"),
        "maximum" => format!("at most {written}"),
        "exclusiveMinimum" => format!("more than {written}"),
        "exclusiveMaximum" => format!("less than {written}"),
        "multipleOf" => format!("a multiple of {written}"),
        "minLength" => format!("at least {}", counted(value, "character")),
        "maxLength" => format!("at most {}", counted(value, "character")),
        "minItems" => format!("at least {}", counted(value, "item")),
        "maxItems" => format!("at most {}", counted(value, "item")),
        "minProperties" => format!("at least {}", counted(value, "member")),
        "maxProperties" => format!("at most {}", counted(value, "member")),
        "pattern" => format!("matches {written}"),
        "format" => format!("format {written}"),
        "contentEncoding" => format!("encoded as {written}"),
        "contentMediaType" => format!("content of type {written}"),
        "uniqueItems" => "no item twice".to_owned(),
        "oneOf" => return Some("exactly one alternative applies".to_owned()),
        "const" => format!("exactly {value}"),
        "enum" => {
            let listed = value.as_array()?.iter().map(ToString::to_string);
            format!("one of {}", listed.collect::<Vec<_>>().join(", "))
        }
        "dependentRequired" => requirements(value)?,
        "x-grounded" if value == &Value::Bool(true) => "quoted from the source text".to_owned(),
        "x-rules" => rules(value)?,
        "not"
        | "if"
        | "then"
        | "else"
        | "contains"
        | "propertyNames"
        | "patternProperties"
        | "dependencies"
        | "dependentSchemas"
        | "prefixItems"
        | "items"
        | "additionalItems"
        | "additionalProperties"
        | "minContains"
        | "maxContains"
            if !written.contains("\"$ref\"") =>
        {
            format!("{keyword} {written}")
        }
        _ => return None,
    };
    (text.chars().count() <= WORDS_LIMIT).then_some(text)
}

fn counted(value: &Value, noun: &str) -> String {
    let plural = if value.as_u64() == Some(1) { "" } else { "s" };
    format!("{value} {noun}{plural}")
}

fn requirements(value: &Value) -> Option<String> {
    let needs = value.as_object()?.iter().map(|(key, needed)| {
        let needed: Vec<&str> = needed.as_array()?.iter().filter_map(Value::as_str).collect();
        Some(format!("`{key}` needs `{}`", needed.join("`, `")))
    });
    Some(needs.collect::<Option<Vec<_>>>()?.join(", "))
}

fn rules(value: &Value) -> Option<String> {
    let messages = value.as_array()?.iter().map(|rule| {
        let text = rule.get("message").or_else(|| rule.get("rule")).unwrap_or(rule);
        text.as_str().map(str::to_owned)
    });
    Some(messages.collect::<Option<Vec<_>>>()?.join("; "))
}
