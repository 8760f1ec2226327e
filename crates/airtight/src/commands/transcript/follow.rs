//! Reads a stream piece by piece, and waits for more at its end if asked to.

use std::io::{self, ErrorKind, Read};
use std::thread;
use std::time::Duration;

use airtight_core::transcript::Decoder;

use crate::input::Input;

/// How much is read at once.
const READ_BYTES: usize = 256 * 1024;

/// How long to wait before looking for more.
const PAUSE: Duration = Duration::from_millis(100);

/// How often to look in vain once the program says it is done: some have last words.
const LAST_LOOKS: u32 = 20;

/// What the end of the stream means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// There is no more.
    Final,
    /// There may be more later.
    ForNow,
}

/// The pieces of a stream.
pub(super) struct Chunks {
    reader: Box<dyn Read + Send>,
    end: End,
    chunk: Vec<u8>,
}

impl Chunks {
    /// Starts to read; only a file can grow, a pipe says itself when it ends.
    pub(super) fn new(input: Input, end: End) -> Self {
        let end = match &input {
            Input::File { .. } => end,
            Input::Stdin => End::Final,
        };
        Self { reader: input.into_reader(), end, chunk: vec![0; READ_BYTES] }
    }

    /// Returns the next piece; nothing at the end.
    pub(super) fn next(&mut self, decoder: &Decoder) -> io::Result<&[u8]> {
        let mut looks = 0;
        loop {
            match self.reader.read(&mut self.chunk) {
                Ok(0) if self.end == End::Final => return Ok(&[]),
                Ok(0) if decoder.is_over() && looks == LAST_LOOKS => return Ok(&[]),
                Ok(0) => {
                    looks += u32::from(decoder.is_over());
                    thread::sleep(PAUSE);
                }
                Ok(length) => return Ok(self.chunk.get(..length).unwrap_or_default()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}
