//! A conversation as one prompt: drivers are asked one question each.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::fields;
use crate::problem::Problem;

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    System,
    User,
    /// What a tool returned, in the place of the user.
    Tool,
    Assistant,
}

impl Speaker {
    /// Returns who has this role.
    pub(super) fn of(role: &str) -> Result<Self, Problem> {
        match role {
            "system" | "developer" => Ok(Self::System),
            "user" => Ok(Self::User),
            "tool" | "function" => Ok(Self::Tool),
            "assistant" => Ok(Self::Assistant),
            _ => Err(Problem::request(
                "a role must be `system`, `developer`, `user`, `assistant` or `tool`",
            )),
        }
    }

    fn tag(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User | Self::Tool => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// What was said so far.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    system: Vec<String>,
    turns: Vec<(Speaker, String)>,
}

impl Conversation {
    /// Adds what somebody said.
    pub(super) fn say(&mut self, who: Speaker, text: String) {
        match who {
            Speaker::System => self.system.push(text),
            Speaker::User | Speaker::Tool | Speaker::Assistant => self.turns.push((who, text)),
        }
    }

    /// Claims that one message is all that was said.
    pub(super) fn is_one(&self) -> bool {
        self.system.is_empty() && self.turns.len() == 1
    }

    /// Returns what the user said last, whatever stands before and behind it.
    pub(super) fn last_said(self) -> Result<String, Problem> {
        let mut last_first = self.turns.into_iter().rev();
        let last = last_first.find(|(who, _)| *who == Speaker::User);
        let said = last.map(|(_, text)| text).filter(|text| !text.trim().is_empty());
        said.ok_or_else(|| Problem::request("no message is the user's and says something"))
    }

    /// Returns standing instructions, and the question.
    pub(super) fn question(self) -> Result<(Option<String>, String), Problem> {
        let system = (!self.system.is_empty()).then(|| self.system.join("\n\n"));
        let mut turns = self.turns;
        let last = match turns.pop() {
            Some((Speaker::User | Speaker::Tool, text)) if !text.trim().is_empty() => text,
            _ => {
                let message = "the last message must be the user's, and say something";
                return Err(Problem::request(message));
            }
        };
        if turns.is_empty() {
            return Ok((system, last));
        }
        let told = |(who, text): &(Speaker, String)| {
            let tag = who.tag();
            format!("<{tag}>\n{text}\n</{tag}>\n")
        };
        let earlier: Vec<String> = turns.iter().map(told).collect();
        let earlier = earlier.join("\n");
        Ok((system, format!("The conversation so far:\n\n{earlier}\nNow the user says:\n\n{last}")))
    }
}

/// A piece of a message that has several.
#[derive(Debug, Deserialize)]
struct Part {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: Option<String>,
    /// What a tool returned, in Anthropic's format.
    #[serde(default)]
    content: Option<Box<RawValue>>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    input: Option<Box<RawValue>>,
}

/// Returns the text of a message: a string, or a list of pieces.
pub(super) fn text_of(raw: &RawValue) -> Result<String, Problem> {
    if raw.get().starts_with('"') {
        return fields::read(raw).map_err(|error| unreadable(&error));
    }
    let parts: Vec<Part> = fields::read(raw).map_err(|error| unreadable(&error))?;
    let texts: Vec<String> = parts.into_iter().map(text_of_part).collect::<Result<_, _>>()?;
    Ok(texts.join("\n"))
}

fn text_of_part(part: Part) -> Result<String, Problem> {
    match (part.kind.as_str(), part.text, part.content, part.name) {
        ("text" | "input_text" | "output_text", Some(text), _, _) => Ok(text),
        ("thinking" | "redacted_thinking", ..) => Ok(String::new()),
        ("tool_result", _, content, _) => content.map_or(Ok(String::new()), |it| text_of(&it)),
        ("tool_use", _, _, Some(name)) => {
            Ok(called(&name, part.input.as_deref().map_or("{}", RawValue::get)))
        }
        _ => Err(Problem::request(
            "messages may hold text and results of tools; pictures, sound and files are not passed on",
        )),
    }
}

/// Tells of a call that the assistant made.
pub(super) fn called(name: &str, arguments: &str) -> String {
    format!("(calls {name} with {arguments})")
}

fn unreadable(error: &str) -> Problem {
    Problem::request(format!("the content of a message cannot be read: {error}"))
}
