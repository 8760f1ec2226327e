//! What happens to answers on the way from a model, and what must become of them.

use serde_json::{Value, json};

use crate::instance::Random;
use crate::render::{COMMENTS, DOUBTFUL_COMMENTS, Style, render};

/// One way to damage an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    FenceAndProse,
    ThinkBlock,
    ProseWithBrackets,
    Wrapper,
    InString,
    InStringTwice,
    NumbersAsStrings,
    TrailingComma,
    SingleQuotes,
    UnquotedKeys,
    PythonConstants,
    PythonLiteral,
    LostLastBrace,
    Comments,
    DoubtfulComments,
    SketchBesideBlock,
    ChannelsAndFinal,
    Refusal,
    EscapedLiteral,
    MissingCommas,
    RawNewlines,
    CurlyQuotes,
    InnerQuotes,
    SaidTwice,
    CutInString,
    CutInNumber,
    CutInKey,
    CutAfterComma,
    TwoAnswers,
    TwoLines,
    SchemaEcho,
    CutBeforeCloser,
}

/// What must become of a damaged answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    Recovered,
    Truncated,
    Ambiguous,
    SchemaEcho,
    /// For whatever reason.
    Refused,
}

/// An answer before damage.
pub(crate) struct Answer<'c> {
    pub(crate) schema: &'c Value,
    pub(crate) value: Value,
    /// Another answer to the same contract.
    pub(crate) other: Value,
}

impl Kind {
    pub(crate) const ALL: [Self; 32] = [
        Self::FenceAndProse,
        Self::ThinkBlock,
        Self::ProseWithBrackets,
        Self::Wrapper,
        Self::InString,
        Self::InStringTwice,
        Self::NumbersAsStrings,
        Self::TrailingComma,
        Self::SingleQuotes,
        Self::UnquotedKeys,
        Self::PythonConstants,
        Self::PythonLiteral,
        Self::LostLastBrace,
        Self::CutBeforeCloser,
        Self::Comments,
        Self::DoubtfulComments,
        Self::SketchBesideBlock,
        Self::ChannelsAndFinal,
        Self::Refusal,
        Self::EscapedLiteral,
        Self::MissingCommas,
        Self::RawNewlines,
        Self::CurlyQuotes,
        Self::InnerQuotes,
        Self::SaidTwice,
        Self::CutInString,
        Self::CutInNumber,
        Self::CutInKey,
        Self::CutAfterComma,
        Self::TwoAnswers,
        Self::TwoLines,
        Self::SchemaEcho,
    ];

    pub(crate) fn expected(self) -> Expected {
        let cut = [
            Self::CutBeforeCloser,
            Self::CutInString,
            Self::CutInNumber,
            Self::CutInKey,
            Self::CutAfterComma,
        ];
        let doubtful = [Self::DoubtfulComments, Self::Refusal, Self::EscapedLiteral];
        let several = [Self::TwoAnswers, Self::TwoLines];
        if cut.contains(&self) {
            Expected::Truncated
        } else if several.contains(&self) {
            Expected::Ambiguous
        } else if doubtful.contains(&self) {
            Expected::Refused
        } else if self == Self::SchemaEcho {
            Expected::SchemaEcho
        } else {
            Expected::Recovered
        }
    }

    /// Damages `answer`; `None` if it has nothing that this kind could damage.
    pub(crate) fn damage(self, answer: &Answer<'_>, random: &mut Random) -> Option<String> {
        let layout = if random.below(2) == 0 { Style::COMPACT } else { Style::PRETTY };
        let plain = render(&answer.value, &layout, random);
        let styled = |style: Style, random: &mut Random| {
            let damaged = render(&answer.value, &style, random);
            let sound = serde_json::from_str::<Value>(&damaged).is_ok();
            (!sound).then_some(damaged)
        };
        match self {
            Self::FenceAndProse => Some(fenced(&plain, random)),
            Self::ThinkBlock => Some(thought(&plain, &answer.other, random)),
            Self::ProseWithBrackets => Some(format!(
                "As [1] and [see {{b}}] say (a), the {{result}} is {plain} where {{x}} is [2, p. 4]."
            )),
            Self::Wrapper => {
                let key = random.pick(&["output", "result", "response", "final_answer"]);
                Some(json!({ *key: answer.value }).to_string())
            }
            Self::InString => Some(json!(plain).to_string()),
            Self::InStringTwice => Some(json!(json!(plain).to_string()).to_string()),
            Self::NumbersAsStrings => {
                let spelt = numbers_as_strings(&answer.value);
                (spelt != answer.value).then(|| spelt.to_string())
            }
            Self::TrailingComma => styled(Style { trailing_commas: true, ..layout }, random),
            Self::SingleQuotes => styled(Style { quotes: ["'", "'"], ..layout }, random),
            Self::CurlyQuotes => styled(Style { quotes: ["“", "”"], ..layout }, random),
            Self::UnquotedKeys => styled(Style { bare_keys: true, ..layout }, random),
            Self::PythonConstants => styled(Style { python: true, ..layout }, random),
            Self::PythonLiteral => {
                styled(Style { python: true, quotes: ["'", "'"], ..layout }, random)
            }
            Self::LostLastBrace if is_complete(answer) && random.below(2) == 0 => {
                lost_brace(&plain)
            }
            Self::LostLastBrace => Some(format!("```json\n{}\n```", lost_brace(&plain)?)),
            Self::CutBeforeCloser if is_complete(answer) => None,
            Self::CutBeforeCloser => lost_brace(&plain),
            Self::Comments => styled(Style { comments: COMMENTS, ..Style::PRETTY }, random),
            Self::DoubtfulComments => {
                styled(Style { comments: DOUBTFUL_COMMENTS, ..Style::PRETTY }, random)
            }
            Self::SketchBesideBlock => Some(sketched(&plain, random)),
            Self::ChannelsAndFinal => Some(format!("{}{plain}<|return|>", channels(&answer.other))),
            Self::Refusal => Some(unanswered(&plain, random)),
            Self::EscapedLiteral => escaped_literal(&plain),
            Self::MissingCommas => styled(Style { commas: false, ..Style::PRETTY }, random),
            Self::RawNewlines => styled(Style { raw_newlines: true, ..layout }, random),
            Self::InnerQuotes => styled(Style { raw_phrases: true, ..layout }, random),
            Self::SaidTwice => Some(format!("{plain}\n\nOnce more:\n```\n{plain}\n```")),
            Self::CutInString => cut(&plain, random, Place::InString),
            Self::CutInNumber => cut(&plain, random, Place::InNumber),
            Self::CutInKey => cut(&plain, random, Place::InKey),
            Self::CutAfterComma => cut(&plain, random, Place::AfterComma),
            Self::TwoAnswers => (answer.value != answer.other).then(|| {
                format!("First:\n```json\n{plain}\n```\nor rather:\n```json\n{}\n```", answer.other)
            }),
            Self::TwoLines => (answer.value != answer.other)
                .then(|| format!("{}\n{}\n", answer.value, answer.other)),
            Self::SchemaEcho => Some(fenced(&answer.schema.to_string(), random)),
        }
    }
}

fn fenced(json: &str, random: &mut Random) -> String {
    let fence = random.pick(&["```", "~~~", "````"]);
    let tag = random.pick(&["json", "", "JSON5", "jsonc", "python", "ts", "text"]);
    format!("Sure! Here's what I found:\n\n{fence}{tag}\n{json}\n{fence}\n\nLet me know.")
}

fn thought(json: &str, draft: &Value, random: &mut Random) -> String {
    let tag = random.pick(&["think", "thinking", "reasoning"]);
    // The draft must not hold the closing tag, or the block would end there.
    let draft = draft.to_string().replace("</", "<");
    format!("<{tag}>Maybe {{x}} or [1, or {draft}? It's {{\"a\": ...\n</{tag}>\n\n{json}")
}

/// A block of JSON beside something that only looks like it.
fn sketched(json: &str, random: &mut Random) -> String {
    let sketches = ["{\"a\": ..., \"b\": [...]}", "{\"a\": 1,", "[{\"a\": oops}]}"];
    let sketch = random.pick(&sketches);
    match random.below(2) {
        0 => format!("```json\n{json}\n```\nNot {sketch}."),
        _ => format!("So {sketch}:\n```json\n{json}\n```"),
    }
}

/// A program that holds the answer as a string whose escapes say something else than JSON's.
fn escaped_literal(json: &str) -> Option<String> {
    let literal = json.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n");
    literal.contains("\\\\").then(|| format!("import json\nx = json.loads('{literal}')"))
}

/// What a model of the harmony format says before its final message.
fn channels(draft: &Value) -> String {
    format!(
        "<|channel|>analysis<|message|>Maybe {draft} or {{\"a\": ...<|end|><|start|>assistant\
         <|channel|>commentary<|message|>{draft}<|end|><|start|>assistant<|channel|>final<|message|>"
    )
}

/// A draft, and no answer behind it.
fn unanswered(json: &str, random: &mut Random) -> String {
    // The draft must not hold a tag, or the block would end there.
    let draft = json.replace("</", "<");
    match random.below(4) {
        0 => format!("[THINK]{draft}[/THINK]I cannot answer that."),
        1 => format!("Sure. <think>maybe {draft}"),
        2 => format!("<think>\n{draft}\n</think>\nI cannot answer that."),
        _ => format!("{}I cannot answer that.", channels(&json!(draft))),
    }
}

fn numbers_as_strings(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.to_string()),
        Value::Array(items) => items.iter().map(numbers_as_strings).collect(),
        Value::Object(members) => {
            members.iter().map(|(key, value)| (key.clone(), numbers_as_strings(value))).collect()
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}

/// Drops the last bracket; what ends in a number without it is indistinguishable from a cut.
fn lost_brace(json: &str) -> Option<String> {
    let cut = json.strip_suffix(['}', ']'])?;
    (!cut.ends_with(|last: char| last.is_ascii_digit())).then(|| cut.to_owned())
}

/// Claims that every member is there that the contract names at its root.
fn is_complete(Answer { schema, value, .. }: &Answer<'_>) -> bool {
    let target = schema["$ref"].as_str().map(|target| target.trim_start_matches('#'));
    let root = target.map_or(Some(*schema), |pointer| schema.pointer(pointer)).unwrap();
    let declared = root["properties"].as_object();
    declared.is_some_and(|declared| declared.keys().all(|key| value.get(key).is_some()))
}

/// Where a text can be cut.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    InString,
    InNumber,
    InKey,
    AfterComma,
}

fn cut(json: &str, random: &mut Random, place: Place) -> Option<String> {
    let places: Vec<usize> =
        places(json).into_iter().filter(|(found, _)| *found == place).map(|(_, at)| at).collect();
    (!places.is_empty()).then(|| json[..*random.pick(&places)].to_owned())
}

/// Returns every place of `json` with the offset to cut at.
fn places(json: &str) -> Vec<(Place, usize)> {
    let mut found = Vec::new();
    let mut string_start = None;
    let mut escaped = false;
    for (at, character) in json.char_indices() {
        match (string_start, character) {
            (Some(_), '\\') if !escaped => escaped = true,
            (Some(start), '"') if !escaped => {
                let is_key = json[at + 1..].trim_start().starts_with(':');
                let place = if is_key { Place::InKey } else { Place::InString };
                let inside = json[start + 1..=at].char_indices();
                found.extend(inside.map(|(offset, _)| (place, start + 1 + offset)));
                string_start = None;
            }
            (Some(_), _) => escaped = false,
            (None, '"') => string_start = Some(at),
            (None, ',') => found.push((Place::AfterComma, at + 1)),
            (None, '0'..='9') => found.push((Place::InNumber, at + 1)),
            (None, _) => {}
        }
    }
    found
}
