//! Lines of a stream, in batches, each within a limit.
//!
//! A batch is what one read completes, so that a slow stream is judged line by line and a fast
//! one in large pieces. Blank lines are left out.

use std::io::{self, ErrorKind, Read};

use airtight_core::wire::lines::{Decoder, Line};

/// The most one line may hold: what the readers of agent transcripts are known to need.
const LINE_LIMIT_BYTES: usize = 32 * 1024 * 1024;

/// How much is read at once, and so about how much a batch holds.
const READ_BYTES: usize = 256 * 1024;

/// Splits a reader into lines.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: R,
    decoder: Decoder,
    chunk: Vec<u8>,
    is_over: bool,
}

impl<R: Read> Lines<R> {
    /// Starts before the first line.
    pub(crate) fn new(reader: R) -> Self {
        let decoder = Decoder::within(LINE_LIMIT_BYTES);
        Self { reader, decoder, chunk: vec![0; READ_BYTES], is_over: false }
    }
}

impl<R: Read> Iterator for Lines<R> {
    type Item = io::Result<Vec<Line>>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.is_over {
            let mut batch: Vec<Line> = match self.reader.read(&mut self.chunk) {
                Ok(0) => {
                    self.is_over = true;
                    self.decoder.finish().into_iter().collect()
                }
                Ok(length) => self.decoder.push(self.chunk.get(..length).unwrap_or_default()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.is_over = true;
                    return Some(Err(error));
                }
            };
            batch.retain(|line| !line.is_blank());
            if !batch.is_empty() {
                return Some(Ok(batch));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives out a text in pieces of `size` bytes.
    struct Drip<'t>(&'t [u8], usize);

    impl Read for Drip<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(buffer.len()).min(self.0.len());
            let (now, later) = self.0.split_at(length);
            buffer[..length].copy_from_slice(now);
            self.0 = later;
            Ok(length)
        }
    }

    #[test]
    fn batches_hold_what_a_read_completes_but_no_blank_lines() {
        let batches: Vec<Vec<u64>> = Lines::new(Drip(b"a\n\nb\n  \nc", 4))
            .map(|batch| batch.unwrap().iter().map(|line| line.number).collect())
            .collect();
        assert_eq!(batches, [vec![1], vec![3], vec![5]]);
    }
}
