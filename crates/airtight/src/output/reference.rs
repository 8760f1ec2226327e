//! Keeps the pages and the schemas of `airtight run` and `airtight transcript` in step with the shapes.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use airtight_core::transcript::{Event, Record};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::{Map, Value, json};

use super::shapes::Line;

const RUN: &str = "\
# Events

What `airtight run` tells with `--output-format stream-json` (one object a line, as it happens) and
`--output-format json` (one array of the same objects). Generated from the types;
`AIRTIGHT_BLESS=1 cargo test -p airtight events` writes it anew. Each kind of line has a JSON Schema
in [schemas/events](../../schemas/events).

- The first line is `system` with `subtype: \"init\"`, unless the run is refused before it begins.
- The last line is `result`, whatever happened, and there is exactly one.
- Every line has a `uuid` and the `session_id` of the run; `parent_tool_use_id` names the call of
  the subagent that it is about.
- Text that tools and models said has keys and tokens replaced by `[masked]`. The answer itself
  (`structured_output`, and the arguments of the `structured_output` tool) is told exactly as it was
  judged. Pieces of an answer (`stream_event`) are not masked, because a key may come in parts.
- Readers should ignore members and kinds that they do not know; a change that breaks readers
  raises `version` in `init`.
";

const TRANSCRIPT: &str = "\
# Transcripts

What `airtight transcript` tells: one object a line for each thing that happened, in the words of
[events.md](events.md), and one `record` of what it all comes to as the last line, which is all there
is with `--summary`. Generated from the types; `AIRTIGHT_BLESS=1 cargo test -p airtight events` writes
it anew. Each kind of line has a JSON Schema in [schemas/transcript](../../schemas/transcript).

- `at` says where it stands in the stream that was read.
- With `--json-schema`, the record has `verdict` as its last member, as `airtight validate --format
  json` tells it.
- Readers should ignore members and kinds that they do not know; a change that breaks readers
  raises `version` in `record`.
";

/// The lines of a command.
struct Lines {
    command: &'static str,
    introduction: &'static str,
    kinds: Vec<Value>,
    definitions: Map<String, Value>,
}

fn generator() -> SchemaGenerator {
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.meta_schema = None;
    settings.into_generator()
}

/// Returns the lines of `airtight run`.
fn run() -> Lines {
    Lines::new("run", RUN, generator().into_root_schema_for::<Line>())
}

/// Returns the lines of `airtight transcript`; the record is no event.
fn transcript() -> Lines {
    let mut generator = generator();
    let record = generator.subschema_for::<Record>().to_value();
    let schema = generator.into_root_schema_for::<Event>();
    let mut lines = Lines::new("transcript", TRANSCRIPT, schema);
    let mut kind = json!({
        "type": "object",
        "properties": { "type": { "type": "string", "const": "record" } },
        "required": ["type"],
    });
    kind["$ref"] = record["$ref"].clone();
    lines.kinds.push(kind);
    lines
}

impl Lines {
    fn new(
        command: &'static str,
        introduction: &'static str,
        mut schema: schemars::Schema,
    ) -> Self {
        RecursiveTransform(|schema: &mut schemars::Schema| {
            let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
            if format.contains("int") || format == "double" {
                schema.remove("format");
            }
        })
        .transform(&mut schema);
        let schema = schema.to_value();
        let kinds = schema["oneOf"].as_array().cloned().unwrap();
        let definitions = schema["$defs"].as_object().cloned().unwrap();
        Self { command, introduction, kinds, definitions }
    }

    /// Returns the name and the schema of each kind of line.
    fn schemas(&self) -> Vec<(String, Value)> {
        let schema = |kind: &Value| {
            let name = kind["properties"]["type"]["const"].as_str().unwrap().to_owned();
            let mut schema = json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "title": format!("airtight {}: {name}", self.command),
            });
            let members = schema.as_object_mut().unwrap();
            members.extend(kind.as_object().unwrap().clone());
            let definitions = reachable(kind, &self.definitions);
            members.insert("$defs".to_owned(), Value::Object(definitions));
            (name, schema)
        };
        self.kinds.iter().map(schema).collect()
    }

    fn page(&self) -> String {
        let mut page = self.introduction.to_owned();
        for kind in &self.kinds {
            let name = kind["properties"]["type"]["const"].as_str().unwrap();
            write!(page, "\n## {name}\n").unwrap();
            section(&mut page, self.definitions.get(target(kind)).unwrap());
        }
        page.push_str("\n# Parts\n");
        let is_told = |name: &str| self.kinds.iter().any(|kind| target(kind) == name);
        for (name, definition) in self.definitions.iter().filter(|(name, _)| !is_told(name)) {
            write!(page, "\n## {name}\n").unwrap();
            section(&mut page, definition);
        }
        page
    }
}

/// Returns the definitions that `schema` leads to.
fn reachable(schema: &Value, all: &Map<String, Value>) -> Map<String, Value> {
    let mut found = Map::new();
    let mut texts = vec![schema.to_string()];
    while let Some(text) = texts.pop() {
        for (name, definition) in all {
            if text.contains(&format!("\"#/$defs/{name}\"")) && !found.contains_key(name) {
                texts.push(definition.to_string());
                found.insert(name.clone(), definition.clone());
            }
        }
    }
    found.sort_keys();
    found
}

/// Returns the name of the definition that a kind of line has its members from.
fn target(kind: &Value) -> &str {
    kind["$ref"].as_str().unwrap().rsplit('/').next().unwrap()
}

fn section(page: &mut String, schema: &Value) {
    if let Some(text) = schema["description"].as_str() {
        write!(page, "\n{}\n", unfold(text)).unwrap();
    }
    for variant in schema["oneOf"].as_array().into_iter().flatten() {
        if let Some(word) = variant["const"].as_str() {
            let text = variant["description"].as_str().map(unfold).unwrap_or_default();
            write!(page, "\n- `{word}`: {text}").unwrap();
            continue;
        }
        let tag = variant["properties"].as_object().unwrap().iter();
        let (key, word) = tag.clone().find(|(_, value)| value["const"].is_string()).unwrap();
        let text = variant["description"].as_str().map(unfold).unwrap_or_default();
        write!(page, "\n`{key}: {}`. {text}", word["const"]).unwrap();
        if let Some(target) = variant["$ref"].as_str() {
            write!(page, " Members: those of {}.", link(target)).unwrap();
        }
        page.push('\n');
        table(page, variant, key);
    }
    if schema["oneOf"].is_null() {
        table(page, schema, "");
    }
    if !page.ends_with('\n') {
        page.push('\n');
    }
}

fn table(page: &mut String, schema: &Value, left_out: &str) {
    let Some(members) = schema["properties"].as_object() else { return };
    let members: Vec<_> = members.iter().filter(|(name, _)| *name != left_out).collect();
    if members.is_empty() {
        return;
    }
    page.push_str("\n| member | type | |\n|---|---|---|\n");
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (name, member) in members {
        let absent = if required.contains(&json!(name)) { "" } else { ", may be absent" };
        let text = member["description"].as_str().map(unfold).unwrap_or_default();
        writeln!(page, "| `{name}` | {}{absent} | {text} |", kind(member)).unwrap();
    }
}

fn kind(schema: &Value) -> String {
    if let Some(target) = schema["$ref"].as_str() {
        return link(target);
    }
    if let Some(any) = schema["anyOf"].as_array() {
        return any.iter().map(kind).collect::<Vec<_>>().join(" or ");
    }
    match &schema["type"] {
        Value::String(name) if name == "array" => format!("array of {}", kind(&schema["items"])),
        Value::String(name) => name.clone(),
        Value::Array(names) => {
            names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            "any value".to_owned()
        }
    }
}

fn link(target: &str) -> String {
    let name = target.rsplit('/').next().unwrap();
    format!("[{name}](#{})", name.to_lowercase())
}

fn unfold(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares a file with what it should be, or writes it.
fn agree(path: &Path, expected: &str) {
    if std::env::var_os("AIRTIGHT_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, expected).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(written, expected, "run `AIRTIGHT_BLESS=1 cargo test -p airtight events`");
}

#[test]
fn the_pages_of_events_match_the_shapes() {
    let pages = root().join("docs/reference");
    agree(&pages.join("events.md"), &run().page());
    agree(&pages.join("transcripts.md"), &transcript().page());
}

#[test]
fn the_schemas_of_events_match_the_shapes_and_are_sound() {
    for (folder, lines) in [("events", run()), ("transcript", transcript())] {
        for (name, schema) in lines.schemas() {
            airtight_core::Contract::compile(schema.clone()).unwrap();
            let path = root().join(format!("schemas/{folder}/{name}.json"));
            agree(&path, &format!("{schema:#}\n"));
        }
    }
}

#[test]
fn events_and_records_of_streams_conform_to_their_schemas() {
    let schemas: std::collections::HashMap<String, airtight_core::Contract> = transcript()
        .schemas()
        .into_iter()
        .map(|(name, schema)| (name, airtight_core::Contract::compile(schema).unwrap()))
        .collect();
    let entries = std::fs::read_dir(root().join("fixtures/transcripts")).unwrap();
    let folders = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let streams = folders.flat_map(|folder| std::fs::read_dir(folder).unwrap());
    for stream in streams {
        let stream = stream.unwrap().path();
        let mut decoder = airtight_core::transcript::Decoder::default();
        let mut events = decoder.push(&std::fs::read(&stream).unwrap());
        let ended = decoder.finish(airtight_core::transcript::Exit::Unknown);
        events.extend(ended.events);
        let events = events.iter().map(|event| serde_json::to_string(event).unwrap());
        for line in events.chain([serde_json::to_string(&ended.record).unwrap()]) {
            // Half a surrogate pair is told as it was written, and nothing judges that.
            let Ok(document) = airtight_core::Document::parse(line.as_str()) else { continue };
            let kind = document.root().member("type").unwrap().as_str().unwrap();
            let found = airtight_core::verdict::check(&schemas[kind], &document);
            assert!(found.list.is_empty(), "{}: {found:?}: {line}", stream.display());
        }
    }
}
