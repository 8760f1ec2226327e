//! Which of the pieces that come in belong to the answer: the text, or what the terminal tool is called
//! with. Whoever shows or keeps an answer while it grows follows it by this alone.

use airtight_core::codec::Delta;
use airtight_core::run::TERMINAL_TOOL;

/// Follows one answer after the other.
#[derive(Debug, Default)]
pub struct Spoken {
    /// The call of the terminal tool that is coming in.
    call: Option<usize>,
}

/// What a piece means to the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'d> {
    /// It begins anew.
    Anew,
    /// It goes on.
    More(&'d str),
    /// Nothing.
    Other,
}

impl Spoken {
    /// Hears the next piece.
    pub fn hear<'d>(&mut self, delta: &'d Delta) -> Piece<'d> {
        match delta {
            Delta::Started { .. } => {
                self.call = None;
                Piece::Anew
            }
            Delta::CallStarted { index, name, .. } if name == TERMINAL_TOOL => {
                self.call = Some(*index);
                Piece::Anew
            }
            Delta::CallArguments { index, text } if self.call == Some(*index) => Piece::More(text),
            Delta::Text(text) if self.call.is_none() => Piece::More(text),
            Delta::Text(_)
            | Delta::Thinking(_)
            | Delta::ThinkingSigned(_)
            | Delta::Opaque(_)
            | Delta::CallStarted { .. }
            | Delta::CallArguments { .. }
            | Delta::Refusal(_)
            | Delta::Usage(_)
            | Delta::Stopped(_)
            | Delta::Failed(_)
            | Delta::Unknown { .. } => Piece::Other,
        }
    }
}
