//! From deltas to the pieces of one streamed answer: what starts is stopped, whatever happens.

use airtight_core::codec::Delta;

use super::shapes::{BlockDelta, OpenBlock, Piece, Started};

/// One answer as it comes in.
#[derive(Debug, Default)]
pub(super) struct Partial {
    is_open: bool,
    /// The blocks that are open, with the kind of each.
    open: Vec<(usize, Kind)>,
    next: usize,
}

/// What an open block holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thinking,
    Call(usize),
}

impl Partial {
    /// Returns the pieces that `delta` makes.
    pub(super) fn push(&mut self, delta: &Delta) -> Vec<Piece> {
        let mut pieces = Vec::new();
        match delta {
            Delta::Started { id, model } => self.start(id.clone(), model.clone(), &mut pieces),
            Delta::Text(text) => {
                let delta = BlockDelta::TextDelta { text: text.clone() };
                self.extend(Kind::Text, OpenBlock::Text, delta, &mut pieces);
            }
            Delta::Thinking(thinking) => {
                let delta = BlockDelta::ThinkingDelta { thinking: thinking.clone() };
                self.extend(Kind::Thinking, OpenBlock::Thinking, delta, &mut pieces);
            }
            Delta::CallStarted { index, id, name, .. } => {
                self.start(None, None, &mut pieces);
                self.close_words(&mut pieces);
                let block = OpenBlock::ToolUse { id: id.clone(), name: name.clone() };
                self.open_block(Kind::Call(*index), block, &mut pieces);
            }
            Delta::CallArguments { index, text } => {
                let call = self.open.iter().find(|(_, kind)| *kind == Kind::Call(*index));
                pieces.extend(call.map(|(index, _)| Piece::ContentBlockDelta {
                    index: *index,
                    delta: BlockDelta::InputJsonDelta { partial_json: text.clone() },
                }));
            }
            Delta::ThinkingSigned(_) => self.close_words(&mut pieces),
            Delta::Opaque(_)
            | Delta::Refusal(_)
            | Delta::Usage(_)
            | Delta::Stopped(_)
            | Delta::Failed(_)
            | Delta::Unknown { .. } => {}
        }
        pieces
    }

    /// Ends the answer, if one is open.
    pub(super) fn close(&mut self) -> Vec<Piece> {
        if !self.is_open {
            return Vec::new();
        }
        let open = std::mem::take(self).open;
        let stops = open.into_iter().map(|(index, _)| Piece::ContentBlockStop { index });
        stops.chain([Piece::MessageStop]).collect()
    }

    fn start(&mut self, id: Option<String>, model: Option<String>, pieces: &mut Vec<Piece>) {
        if !std::mem::replace(&mut self.is_open, true) {
            let message = Started { id, role: "assistant", model };
            pieces.push(Piece::MessageStart { message });
        }
    }

    fn extend(&mut self, kind: Kind, block: OpenBlock, delta: BlockDelta, pieces: &mut Vec<Piece>) {
        self.start(None, None, pieces);
        let found = self.open.iter().find(|(_, open)| *open == kind).map(|(index, _)| *index);
        let index = found.unwrap_or_else(|| {
            self.close_words(pieces);
            self.open_block(kind, block, pieces)
        });
        pieces.push(Piece::ContentBlockDelta { index, delta });
    }

    fn open_block(&mut self, kind: Kind, block: OpenBlock, pieces: &mut Vec<Piece>) -> usize {
        let index = self.next;
        self.next += 1;
        self.open.push((index, kind));
        pieces.push(Piece::ContentBlockStart { index, content_block: block });
        index
    }

    /// Ends text and thought; calls stay open, because their arguments may come interleaved.
    fn close_words(&mut self, pieces: &mut Vec<Piece>) {
        self.open.retain(|(index, kind)| {
            let is_call = matches!(kind, Kind::Call(_));
            if !is_call {
                pieces.push(Piece::ContentBlockStop { index: *index });
            }
            is_call
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(deltas: &[Delta]) -> Vec<String> {
        let mut partial = Partial::default();
        let mut pieces: Vec<Piece> = deltas.iter().flat_map(|delta| partial.push(delta)).collect();
        pieces.extend(partial.close());
        assert!(partial.close().is_empty());
        pieces
            .iter()
            .map(|piece| {
                let json = serde_json::to_value(piece).unwrap();
                let at = json.get("index").map(|index| format!(" {index}")).unwrap_or_default();
                format!("{}{at}", json["type"].as_str().unwrap())
            })
            .collect()
    }

    fn call(index: usize) -> Delta {
        Delta::CallStarted { index, id: "c".to_owned(), name: "t".to_owned(), signature: None }
    }

    #[test]
    fn every_block_that_starts_is_stopped_once() {
        let arguments = |index| Delta::CallArguments { index, text: "{".to_owned() };
        let said = told(&[
            Delta::Thinking("a".to_owned()),
            Delta::Text("b".to_owned()),
            Delta::Text("c".to_owned()),
            call(0),
            call(1),
            arguments(1),
            arguments(0),
        ]);
        let expected = [
            "message_start",
            "content_block_start 0",
            "content_block_delta 0",
            "content_block_stop 0",
            "content_block_start 1",
            "content_block_delta 1",
            "content_block_delta 1",
            "content_block_stop 1",
            "content_block_start 2",
            "content_block_start 3",
            "content_block_delta 3",
            "content_block_delta 2",
            "content_block_stop 2",
            "content_block_stop 3",
            "message_stop",
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn an_answer_without_words_leaves_no_trace() {
        assert_eq!(told(&[Delta::Refusal("no".to_owned())]), [""; 0]);
    }
}
