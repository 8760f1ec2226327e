//! What is heard of a program while it works, and when that is enough.

use airtight_core::transcript::{
    self, Decoder, Event, Exit, Place, Program, Record, System, Warning,
};
use tokio_util::sync::CancellationToken;

use super::child::{self, Ended};
use crate::provider::{Heard, Listen};

/// How often in a row a request may fail and be sent again. Most programs give up after five or ten
/// times; the others never do.
pub(super) const SETBACK_LIMIT: u32 = 20;

/// What codex did without a call: it tells of these in items of their own.
const WORK: [&str; 3] = [
    "item.completed file_change",
    "item.completed mcp_tool_call",
    "item.completed collab_tool_call",
];

/// What is said where there is no seat.
const QUEUED: &str = "as many agent CLIs run in this process as the machine has memory and cores for: \
                      the next one waits for one of them to end";

/// Why a program was ended that had not ended by itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// It was not.
    None,
    /// The listener wanted no more.
    Unwanted,
    /// It does not offer its model the tool for the answer: the schema was dropped.
    NoTool,
    /// It sends the same request again and again, the last time for this reason, if it told one.
    Stuck(Option<String>),
}

/// What is heard of a program while it works.
pub(super) struct Hearing<'l> {
    decoder: Decoder,
    listen: Listen<'l>,
    program: Program,
    has_schema: bool,
    reason: Reason,
    /// How often in a row a request came to nothing.
    setbacks: u32,
    /// How many tools were called, besides the one for the answer.
    calls: u64,
    /// Cancelled when the program is to be ended.
    pub(super) enough: CancellationToken,
}

impl<'l> Hearing<'l> {
    /// Begins to listen.
    pub(super) fn new(program: Program, has_schema: bool, listen: Listen<'l>) -> Self {
        let (decoder, enough) = (Decoder::of(program), CancellationToken::new());
        let (reason, setbacks, calls) = (Reason::None, 0, 0);
        Self { decoder, listen, program, has_schema, reason, setbacks, calls, enough }
    }

    /// Tells that the program waits for others to end.
    pub(super) fn queue(&mut self) {
        // It is in no line of the stream.
        let at = Place { line: 0, offset: 0, length: 0 };
        let warning = Warning { at, message: QUEUED.to_owned() };
        self.pass_on(Heard::Activity(Box::new(Event::System(System::Warning(warning)))));
    }

    /// Takes the next bytes of what it says.
    pub(super) fn hear(&mut self, bytes: &[u8]) -> child::Heard {
        for event in self.decoder.push(bytes) {
            self.tell(event);
        }
        if self.decoder.is_over() { child::Heard::Concluded } else { child::Heard::More }
    }

    fn tell(&mut self, event: Event) {
        if self.lacks_tool(&event) {
            self.end(Reason::NoTool);
        }
        self.count_setbacks(&event);
        self.calls += event.tool_calls().count() as u64 + u64::from(is_work(&event));
        let goes_on = event.asks_model() && !self.decoder.has_answer();
        self.pass_on(Heard::Activity(Box::new(event)));
        if goes_on {
            self.pass_on(Heard::WentOn(self.decoder.used()));
        }
    }

    fn pass_on(&mut self, heard: Heard<'_>) {
        if (self.listen)(heard).is_break() {
            self.end(Reason::Unwanted);
        }
    }

    fn end(&mut self, reason: Reason) {
        if self.reason == Reason::None {
            self.reason = reason;
        }
        self.enough.cancel();
    }

    /// Counts how often in a row a request came to nothing; each time is a sign of life, so that no
    /// deadline for silence would ever pass.
    fn count_setbacks(&mut self, event: &Event) {
        let why = match event {
            Event::System(System::Retry(retry)) => retry.message.clone(),
            Event::System(System::Warning(warning)) => Some(warning.message.clone()),
            // Opencode tells what was said in a request that it sends again.
            Event::Assistant(_) if self.program == Program::Opencode => return,
            Event::Assistant(_) | Event::User(_) | Event::Result(_) => {
                self.setbacks = 0;
                return;
            }
            Event::System(_) | Event::StreamEvent(_) | Event::Raw(_) => return,
        };
        self.setbacks += 1;
        if self.setbacks >= SETBACK_LIMIT {
            self.end(Reason::Stuck(why));
        }
    }

    /// Claims that a session begins without the tool that its schema should have made.
    fn lacks_tool(&self, event: &Event) -> bool {
        let Event::System(System::Init(init)) = event else { return false };
        let has_tool = matches!(self.program, Program::Claude | Program::Qwen);
        self.has_schema && has_tool && !init.offers_structured_output()
    }

    /// Takes what the program left beside its stream as its last message.
    pub(super) fn note_last_message(&mut self, text: Option<&str>) {
        if let Some(text) = text {
            self.decoder.note_last_message(text);
        }
    }

    /// Takes its end, and returns what it all comes to, with why it was ended and how many tools it called.
    pub(super) fn finish(mut self, ended: &Ended) -> (Record, Reason, u64) {
        let exit = ended.exit_code.map_or(Exit::Unknown, Exit::Code);
        let decoder = std::mem::take(&mut self.decoder);
        let transcript::Ended { events, record } = decoder.finish(exit);
        for event in events {
            self.tell(event);
        }
        (record, self.reason, self.calls)
    }
}

/// Claims that something was done that is no call of a tool.
fn is_work(event: &Event) -> bool {
    matches!(event, Event::System(System::Other(told)) if WORK.contains(&told.kind.as_str()))
}
