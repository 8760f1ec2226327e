//! Messages that are too large to be read: they are dropped, and whoever waits for one has to know.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use rmcp::transport::async_rw::DEFAULT_MAX_LINE_LENGTH;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::watch;

/// The largest message that is read.
pub(super) const MESSAGE_LIMIT_BYTES: usize = DEFAULT_MAX_LINE_LENGTH;

/// What a server says, and a look at how long its lines are.
#[derive(Debug)]
pub(super) struct Gauge<R> {
    said: R,
    line: Line,
    oversized: watch::Sender<()>,
}

/// The line that is being said.
#[derive(Debug, Clone, Copy, Default)]
struct Line {
    bytes: usize,
    content: Content,
}

/// What a line may be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Content {
    #[default]
    Unknown,
    Message,
    Noise,
}

impl<R> Gauge<R> {
    /// Looks at what `said` says; the other end changes with every message that is too large.
    pub(super) fn new(said: R) -> (Self, watch::Receiver<()>) {
        let (oversized, seen) = watch::channel(());
        (Self { said, line: Line::default(), oversized }, seen)
    }

    fn measure(&mut self, bytes: &[u8]) {
        for (index, piece) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if index > 0 {
                self.line = Line::default();
            }
            let first = piece.iter().find(|byte| !byte.is_ascii_whitespace());
            if let (Content::Unknown, Some(first)) = (self.line.content, first) {
                self.line.content = if *first == b'{' { Content::Message } else { Content::Noise };
            }
            let was_within = self.line.bytes <= MESSAGE_LIMIT_BYTES;
            self.line.bytes = self.line.bytes.saturating_add(piece.len());
            let is_over = self.line.bytes > MESSAGE_LIMIT_BYTES;
            if was_within && is_over && self.line.content == Content::Message {
                self.oversized.send_replace(());
            }
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Gauge<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let polled = Pin::new(&mut this.said).poll_read(context, buffer);
        if matches!(polled, Poll::Ready(Ok(()))) {
            this.measure(buffer.filled().get(before..).unwrap_or_default());
        }
        polled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether a message was noticed that is too large.
    fn notices(pieces: &[&[u8]]) -> bool {
        let (mut gauge, seen) = Gauge::new(tokio::io::empty());
        for piece in pieces {
            gauge.measure(piece);
        }
        seen.has_changed().unwrap()
    }

    #[test]
    fn only_a_message_over_the_limit_is_noticed_however_it_is_cut() {
        let most = vec![b'x'; MESSAGE_LIMIT_BYTES - 1];
        assert!(!notices(&[b"{", &most]));
        assert!(!notices(&[b"{", &most, b"\n{", &most]));
        assert!(notices(&[b"{", &most, b"}"]));
        assert!(notices(&[b"noise\n {", &most, b"}\n"]));
        assert!(!notices(&[&most, b"xxx"]));
    }
}
