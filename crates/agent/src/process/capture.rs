//! The beginning and the end of an output of any length, in bounded memory.

use std::collections::VecDeque;

/// How much of the beginning is kept.
const HEAD_BYTES: usize = 16 * 1024;

/// How much of the end is kept: with the head more than a result may hold, so that what the model
/// sees is cut once.
const TAIL_BYTES: usize = 64 * 1024;

/// What was kept of an output.
#[derive(Debug, Default)]
pub(crate) struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped_bytes: u64,
}

impl Capture {
    /// Takes more output.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let room = HEAD_BYTES.saturating_sub(self.head.len()).min(bytes.len());
        let (head, rest) = bytes.split_at(room);
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(TAIL_BYTES);
        drop(self.tail.drain(..over));
        self.dropped_bytes = self.dropped_bytes.saturating_add(over as u64);
    }

    /// Returns the output as text; where something is missing, a line says how much.
    pub(crate) fn into_text(self) -> String {
        let Self { mut head, tail, dropped_bytes } = self;
        if dropped_bytes == 0 {
            head.extend(tail);
            return String::from_utf8_lossy(&head).into_owned();
        }
        let tail: Vec<u8> = tail.into();
        format!(
            "{}\n[{dropped_bytes} bytes left out]\n{}",
            String::from_utf8_lossy(&head),
            String::from_utf8_lossy(&tail),
        )
    }
}
