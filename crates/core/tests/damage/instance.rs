//! Conforming instances of a contract, with strings that are hard to tell from JSON.

use airtight_core::verdict::check;
use airtight_core::{Contract, Document};
use serde_json::{Map, Value, json};

/// Pieces that strings are made of.
const PIECES: [&str; 36] = [
    "it's",
    "James' book",
    "\"quoted\"",
    "say \"hi\", ok",
    "{",
    "}",
    "[1]",
    "{result}",
    "```",
    "```json\n{}\n```",
    "True",
    "None",
    "null",
    "// not a comment",
    "/* nor this */",
    "# heading",
    "https://example.com/a?b=1#c",
    "\n",
    "\t",
    "a, b",
    "key: value",
    "\"a\": 1",
    "naïve café",
    "日本語",
    "😀",
    "</think>",
    "<think>",
    "C:\\temp\\new",
    "\\d+",
    "100%",
    "“curly”",
    "don’t",
    "'single'",
    "end,",
    "\u{1}",
    "and so on",
];

/// A small deterministic generator (xorshift64*).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let mixed = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(mixed).unwrap() % bound.max(1)
    }

    pub(crate) fn pick<'c, T>(&mut self, choices: &'c [T]) -> &'c T {
        &choices[self.below(choices.len())]
    }
}

/// Texts of formats.
const FORMATS: [(&str, [&str; 2]); 2] = [
    ("email", ["ada@example.org", "o'neil+1@mail.example"]),
    ("uri", ["https://example.org/a?b=[c]", "mailto:ada@example.org"]),
];

/// Texts for patterns.
const SAMPLES: [&str; 6] =
    ["a-slug", "2024-11-notes", "+45 33 12 00 41", "010 555 0142", "AB-1234", "x"];

/// Makes a value that `contract` accepts.
pub(crate) fn conforming(contract: &Contract, random: &mut Random) -> Value {
    let schema = contract.schema();
    loop {
        let value = instance(schema, schema, 0, random);
        if check(contract, &Document::from_value(&value).unwrap()).is_empty() {
            return value;
        }
    }
}

/// Makes a value of the shape of `schema`; bounds and rules are left to chance.
fn instance(root: &Value, schema: &Value, depth: usize, random: &mut Random) -> Value {
    if let Some(target) = schema["$ref"].as_str() {
        let definition = root.pointer(target.trim_start_matches('#')).unwrap();
        return instance(root, definition, depth, random);
    }
    for branches in ["oneOf", "anyOf"] {
        if let Some(branches) = schema[branches].as_array() {
            return instance(root, random.pick(branches), depth, random);
        }
    }
    if let Some(constant) = schema.get("const") {
        return constant.clone();
    }
    if let Some(members) = schema["enum"].as_array() {
        return random.pick(members).clone();
    }
    let kinds = schema["type"].as_array();
    let kind = kinds.map_or(&schema["type"], |kinds| random.pick(kinds));
    match kind.as_str().unwrap() {
        "object" => object(root, schema, depth, random),
        "array" => {
            let least =
                schema["minItems"].as_u64().map_or(0, |count| usize::try_from(count).unwrap());
            let count = if depth > 4 { 0 } else { 1 + random.below(3) }.max(least);
            (0..count).map(|_| instance(root, &schema["items"], depth + 1, random)).collect()
        }
        "string" => json!(string(schema, random)),
        "boolean" => json!(random.below(2) == 0),
        "integer" => json!(1 + random.below(5_000)),
        "number" => json!(f64::from(u16::try_from(random.below(60_000)).unwrap()) / 8.0 + 0.125),
        "null" => Value::Null,
        other => panic!("unknown type {other}"),
    }
}

fn object(root: &Value, schema: &Value, depth: usize, random: &mut Random) -> Value {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let mut members = Map::new();
    for (key, property) in schema["properties"].as_object().unwrap() {
        if required.contains(&json!(key)) || random.below(3) > 0 {
            members.insert(key.clone(), instance(root, property, depth + 1, random));
        }
    }
    Value::Object(members)
}

/// Makes a text that is long enough, of a form that is asked for.
fn string(schema: &Value, random: &mut Random) -> String {
    if let Some(format) = schema["format"].as_str() {
        let (_, samples) = FORMATS.iter().find(|(name, _)| *name == format).unwrap();
        return (*random.pick(samples)).to_owned();
    }
    if let Some(pattern) = schema["pattern"].as_str() {
        let pattern = regex::Regex::new(pattern).unwrap();
        let samples: Vec<&str> = SAMPLES.into_iter().filter(|it| pattern.is_match(it)).collect();
        return (*random.pick(&samples)).to_owned();
    }
    let mut text = text(random);
    let Some(least) = schema["minLength"].as_u64() else { return text };
    text.push('.');
    while (text.chars().count() as u64) < least {
        text = format!("{text} {}.", self::text(random));
    }
    text
}

fn text(random: &mut Random) -> String {
    let count = random.below(5);
    let pieces: Vec<&str> = (0..count).map(|_| *random.pick(&PIECES)).collect();
    pieces.join(if random.below(4) == 0 { "" } else { " " })
}
