//! What a program is asked: one text, made of the conversation so far.

use airtight_core::codec::Request;
use airtight_core::message::{Block, Message, Role};
use airtight_core::price::Cost;
use airtight_core::run::TERMINAL_TOOL;
use airtight_core::transcript::Program;

use super::invocation::ARGUMENT_LIMIT_BYTES;
use super::session::{Left, Session, unanswered};

/// What a program is asked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Question {
    /// The session that goes on.
    pub(super) session: Option<Session>,
    /// The calls of tools in a session that cannot go on: to be asked again might repeat them.
    pub(super) repeats: Option<u64>,
    /// Standing instructions.
    pub(super) system: Option<String>,
    /// The text.
    pub(super) text: String,
    /// The most that the answer may cost.
    pub(super) max_cost: Option<Cost>,
}

/// The longest instructions that are an argument: what stands around them takes some room, too, and
/// escapes may take half of it.
const INSTRUCTIONS_LIMIT_BYTES: usize = ARGUMENT_LIMIT_BYTES / 2;

/// Stands before a text that the program would take for a command of its own.
const GUARD: &str = "The job:\n";

impl Question {
    /// Makes a question of `request`: what is new to a session that goes on, else everything.
    pub(super) fn of(program: Program, request: &Request) -> Self {
        let (session, repeats) = match Left::of(request) {
            Some(Left::Session(session)) => (Some(session), None),
            Some(Left::Work { calls }) => (None, Some(calls)),
            None => (None, None),
        };
        let messages = match session {
            Some(_) => unanswered(&request.messages),
            None => &request.messages,
        };
        let mut text = messages.iter().map(told).collect::<Vec<_>>().join("\n\n");
        if session.is_some() {
            // The program knows the tool by another name than the machine that asks again.
            text = named(program, &text);
        }
        let system = request.system.as_deref().map(|it| named(program, it));
        Self { session, repeats, system, text, max_cost: request.max_cost }
    }

    /// Puts the standing instructions into the text, for programs that have no place for them; a
    /// session that goes on knows them.
    pub(super) fn with_instructions_inside(mut self) -> Self {
        if let Some(system) = self.system.take().filter(|_| self.session.is_none()) {
            self.text = format!("{system}\n\n{}", self.text);
        }
        self
    }

    /// Puts instructions into the text that are too long for an argument.
    pub(super) fn with_long_instructions_inside(self) -> Self {
        match &self.system {
            Some(system) if system.len() > INSTRUCTIONS_LIMIT_BYTES => {
                self.with_instructions_inside()
            }
            Some(_) | None => self,
        }
    }

    /// Keeps the program from taking the text for a command: `/clear` would be obeyed, not asked.
    pub(super) fn guarded(mut self) -> Self {
        if self.text.trim_start().starts_with('/') {
            self.text.insert_str(0, GUARD);
        }
        self
    }
}

/// Returns what `message` says; what the model said before is quoted as such.
fn told(message: &Message) -> String {
    let blocks = message.blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.as_str()),
        Block::Call(call) => Some(call.arguments.as_str()),
        Block::Result(result) => Some(result.content.as_str()),
        Block::Thinking(_) | Block::Opaque(_) | Block::Session(_) => None,
    });
    let text = blocks.collect::<Vec<_>>().join("\n\n");
    match message.role {
        Role::User => text,
        Role::Assistant => format!("Your answer was:\n\n{text}"),
    }
}

/// Calls the terminal tool by the program's name for it.
fn named(program: Program, text: &str) -> String {
    match program {
        Program::Claude => text.replace(&format!("`{TERMINAL_TOOL}`"), "`StructuredOutput`"),
        Program::Codex | Program::Qwen | Program::Gemini | Program::Opencode => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use airtight_core::transcript::Record;

    use super::super::tests::request;
    use super::*;

    fn conversation(blocks: Vec<Block>) -> Request {
        let messages = vec![
            Message::user("Sort it."),
            Message { role: Role::Assistant, blocks },
            Message::user("Call `structured_output` again."),
        ];
        Request { messages, system: Some("Use `structured_output`.".into()), ..request() }
    }

    fn session() -> Block {
        let record = Record { session_id: Some("s".to_owned()), ..Record::default() };
        Left::block(0, None, &record).unwrap()
    }

    #[test]
    fn a_session_that_goes_on_is_told_only_what_is_new() {
        let request = conversation(vec![session(), Block::Text("no".into())]);
        let question = Question::of(Program::Qwen, &request);
        assert_eq!(question.text, "Call `structured_output` again.");
        assert_eq!(question.session.unwrap().session_id, "s");
    }

    #[test]
    fn without_a_session_everything_is_told_again() {
        let question = Question::of(Program::Gemini, &conversation(vec![Block::Text("no".into())]));
        let whole = "Sort it.\n\nYour answer was:\n\nno\n\nCall `structured_output` again.";
        assert_eq!((question.text.as_str(), question.session), (whole, None));
    }

    #[test]
    fn claude_is_told_its_own_name_of_the_tool_and_the_job_as_it_is() {
        let request = conversation(vec![session(), Block::Text("no".into())]);
        let question = Question::of(Program::Claude, &request);
        assert_eq!(question.text, "Call `StructuredOutput` again.");
        assert_eq!(question.system.unwrap(), "Use `StructuredOutput`.");
        let job = Request { messages: vec![Message::user("`structured_output`")], ..request };
        assert_eq!(Question::of(Program::Claude, &job).text, "`structured_output`");
    }

    #[test]
    fn a_question_is_never_a_command_of_the_program() {
        for text in ["/clear", " /help me", "\n/exit"] {
            let request = Request { messages: vec![Message::user(text)], ..request() };
            let question = Question::of(Program::Claude, &request).guarded();
            assert_eq!(question.text, format!("{GUARD}{text}"));
        }
    }

    #[test]
    fn instructions_stand_before_the_job_and_only_the_first_time() {
        let first = Request { messages: vec![Message::user("Job.")], ..conversation(Vec::new()) };
        let question = Question::of(Program::Gemini, &first).with_instructions_inside();
        assert_eq!(question.text, "Use `structured_output`.\n\nJob.");
        let again = conversation(vec![session(), Block::Text("no".into())]);
        let question = Question::of(Program::Gemini, &again).with_instructions_inside();
        assert_eq!(question.text, "Call `structured_output` again.");
    }
}
