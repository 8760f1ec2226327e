//! Turns, written the way a test reads.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Act, CHUNK_CHARS, Call, Piece, Point, Raw, Repeat, Reply, Say, Stop, Turn, Usage};
use crate::endpoint::Wire;
use crate::when::When;

/// The beginning of a turn.
impl Turn {
    /// Answers with text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::say().then_text(text)
    }

    /// Answers with a tool call.
    #[expect(clippy::needless_pass_by_value, reason = "tests write json!({…}) in place")]
    pub fn call(name: impl Into<String>, arguments: Value) -> Self {
        Self::call_text(name, arguments.to_string())
    }

    /// Answers with a tool call whose arguments are sent as they are, be they JSON or not.
    pub fn call_text(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self::say().then_call_text(name, arguments)
    }

    /// Answers with a thought; something usually follows.
    pub fn thinking(text: impl Into<String>) -> Self {
        Self::say().then_thinking(text)
    }

    /// Declines.
    pub fn refusal(text: impl Into<String>) -> Self {
        Self::say().then(Piece::Refusal { text: text.into() })
    }

    /// Answers with nothing, until pieces are added.
    pub fn say() -> Self {
        Self::new(Reply::Say(Say { pieces: Vec::new(), usage: Some(Usage::default()), stop: None }))
    }

    /// Refuses the request with this HTTP status.
    pub fn status(status: u16) -> Self {
        Self::new(Reply::Status { status, message: None })
    }

    /// Answers with an event stream made by hand.
    pub fn raw<R: Into<Raw>>(chunks: impl IntoIterator<Item = R>) -> Self {
        Self::new(Reply::Raw { chunks: chunks.into_iter().map(Into::into).collect() })
    }

    /// Makes a turn of a reply.
    pub fn new(reply: Reply) -> Self {
        Self {
            when: When::default(),
            repeat: Repeat::Once,
            reply,
            headers: BTreeMap::new(),
            delay_ms: 0,
            points: Vec::new(),
            chunk_chars: CHUNK_CHARS,
            write_bytes: None,
        }
    }
}

/// What the model says. No effect on turns that are not an answer of the model.
impl Turn {
    /// Adds a piece.
    #[must_use]
    pub fn then(self, piece: Piece) -> Self {
        self.saying(|say| say.pieces.push(piece))
    }

    /// Adds text.
    #[must_use]
    pub fn then_text(self, text: impl Into<String>) -> Self {
        self.then(Piece::Text { text: text.into() })
    }

    /// Adds a thought.
    #[must_use]
    pub fn then_thinking(self, text: impl Into<String>) -> Self {
        self.then(Piece::Thinking { text: text.into(), signature: None })
    }

    /// Adds a tool call.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "tests write json!({…}) in place")]
    pub fn then_call(self, name: impl Into<String>, arguments: Value) -> Self {
        self.then_call_text(name, arguments.to_string())
    }

    /// Adds a tool call whose arguments are sent as they are.
    #[must_use]
    pub fn then_call_text(self, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        self.then(Piece::Call(Call {
            id: None,
            name: name.into(),
            arguments: arguments.into(),
            signature: None,
        }))
    }

    /// Gives the last call this id.
    #[must_use]
    pub fn id(self, id: impl Into<String>) -> Self {
        self.saying(|say| {
            if let Some(Piece::Call(call)) = say.pieces.last_mut() {
                call.id = Some(id.into());
            }
        })
    }

    /// Seals the last thought or call.
    #[must_use]
    pub fn signed(self, seal: impl Into<String>) -> Self {
        self.saying(|say| match say.pieces.last_mut() {
            Some(Piece::Call(Call { signature, .. }) | Piece::Thinking { signature, .. }) => {
                *signature = Some(seal.into());
            }
            Some(Piece::Text { .. } | Piece::Refusal { .. }) | None => {}
        })
    }

    /// Sets what the answer costs: tokens in, tokens out.
    #[must_use]
    pub fn usage(self, input: u64, output: u64) -> Self {
        self.usage_full(Usage { input, output, ..Usage::default() })
    }

    /// Sets what the answer costs, with caches and thoughts.
    #[must_use]
    pub fn usage_full(self, usage: Usage) -> Self {
        self.saying(|say| say.usage = Some(usage))
    }

    /// Leaves out what the answer costs, where the format allows that.
    #[must_use]
    pub fn without_usage(self) -> Self {
        self.saying(|say| say.usage = None)
    }

    /// Sets why the model stops.
    #[must_use]
    pub fn stop(self, stop: Stop) -> Self {
        self.saying(|say| say.stop = Some(stop))
    }

    /// Stops at the token limit.
    #[must_use]
    pub fn max_tokens(self) -> Self {
        self.stop(Stop::MaxTokens)
    }

    fn saying(mut self, change: impl FnOnce(&mut Say)) -> Self {
        if let Reply::Say(say) = &mut self.reply {
            change(say);
        }
        self
    }
}

/// Which requests the turn is for, and how often.
impl Turn {
    /// Only for requests with this text in some string of their body.
    #[must_use]
    pub fn when_contains(mut self, text: impl Into<String>) -> Self {
        self.when.contains.push(text.into());
        self
    }

    /// Only for requests without this text in any string of their body.
    #[must_use]
    pub fn when_lacks(mut self, text: impl Into<String>) -> Self {
        self.when.lacks.push(text.into());
        self
    }

    /// Only for requests in this format.
    #[must_use]
    pub fn when_wire(mut self, wire: Wire) -> Self {
        self.when.wire = Some(wire);
        self
    }

    /// Only for requests to this model.
    #[must_use]
    pub fn when_model(mut self, model: impl Into<String>) -> Self {
        self.when.model = Some(model.into());
        self
    }

    /// For every request that gets as far as this turn, not only for one.
    #[must_use]
    pub fn forever(mut self) -> Self {
        self.repeat = Repeat::Forever;
        self
    }
}

/// How the turn is sent, and what goes wrong.
impl Turn {
    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }

    /// Sets what the error of a status says.
    #[must_use]
    pub fn message(mut self, text: impl Into<String>) -> Self {
        if let Reply::Status { message, .. } = &mut self.reply {
            *message = Some(text.into());
        }
        self
    }

    /// Waits so many milliseconds before the first byte.
    #[must_use]
    pub fn delay_ms(mut self, ms: u64) -> Self {
        self.delay_ms = ms;
        self
    }

    /// Puts so many characters of text or arguments into one chunk.
    #[must_use]
    pub fn chunk_chars(mut self, chars: usize) -> Self {
        self.chunk_chars = chars;
        self
    }

    /// Cuts the stream into network writes of so many bytes, also within a character.
    #[must_use]
    pub fn write_bytes(mut self, bytes: usize) -> Self {
        self.write_bytes = Some(bytes);
        self
    }

    /// Waits at the named gate after so many chunks; see [`crate::Fake::gate`].
    #[must_use]
    pub fn gate(self, after: usize, name: impl Into<String>) -> Self {
        self.at(after, Act::Gate { name: name.into() })
    }

    /// Waits so many milliseconds after so many chunks.
    #[must_use]
    pub fn pause_after(self, after: usize, ms: u64) -> Self {
        self.at(after, Act::Pause { ms })
    }

    /// Breaks the connection in the middle of the event behind so many chunks.
    #[must_use]
    pub fn cut_after(self, after: usize) -> Self {
        self.at(after, Act::Cut)
    }

    /// Sends nothing any more after so many chunks.
    #[must_use]
    pub fn stall_after(self, after: usize) -> Self {
        self.at(after, Act::Stall)
    }

    /// Ends the response after so many chunks, without the format's end mark.
    #[must_use]
    pub fn end_after(self, after: usize) -> Self {
        self.at(after, Act::End)
    }

    /// Reports an error within the stream after so many chunks.
    #[must_use]
    pub fn error_after(self, after: usize, status: u16) -> Self {
        self.at(after, Act::Error { status, message: None })
    }

    /// Sends bytes that no vendor sends after so many chunks.
    #[must_use]
    pub fn garbage_after(self, after: usize, raw: impl Into<Raw>) -> Self {
        self.at(after, Act::Raw { raw: raw.into() })
    }

    /// Sends one event of this size after so many chunks.
    #[must_use]
    pub fn filler_after(self, after: usize, bytes: usize) -> Self {
        self.at(after, Act::Filler { bytes })
    }

    /// Does something after so many chunks.
    #[must_use]
    pub fn at(mut self, after: usize, act: Act) -> Self {
        self.points.push(Point { after, act });
        self
    }
}
