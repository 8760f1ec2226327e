//! What a program writes: two files without a name, read while they grow.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::process::Stdio;

use airtight_core::redact::Redactor;

use crate::process::Capture;

/// The most that a program may write to one of its streams. The longest recorded run has a few MB; this
/// is what stands between a program in a loop and a full disk.
const OUTPUT_LIMIT_BYTES: u64 = 1024 * 1024 * 1024;

/// How much is read at once.
const PIECE_BYTES: usize = 64 * 1024;

/// How many pieces are read before others have their turn: 200 MB a second at the usual pace.
const BURST_PIECES: usize = 64;

/// How much of stderr is told.
const STDERR_LIMIT_CHARS: usize = 8_192;

/// How much of that is the beginning; what a program dies of it says last.
const STDERR_HEAD_CHARS: usize = 2_048;

/// Stands for what is not told.
const GAP: &str = "\n[the middle is left out]\n";

/// Whether there may be more to read at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// There may.
    More,
    /// Not before the program writes again.
    Nothing,
}

/// What a program writes.
#[derive(Debug)]
pub(super) struct Output {
    stdout: Stream,
    stderr: Stream,
    words: Capture,
    fault: Option<io::Error>,
}

impl Output {
    /// Makes both files; returns also what the program gets as stdout and stderr.
    pub(super) fn new() -> io::Result<(Self, Stdio, Stdio)> {
        let (stdout, stderr) = (Stream::new()?, Stream::new()?);
        let (to_stdout, to_stderr) = (stdout.writer()?, stderr.writer()?);
        let output = Self { stdout, stderr, words: Capture::default(), fault: None };
        Ok((output, to_stdout, to_stderr))
    }

    /// Claims that more was written than is read.
    pub(super) fn is_too_much(&self) -> bool {
        [&self.stdout, &self.stderr].iter().any(|stream| stream.is_too_long())
    }

    /// Reads what is there, one burst of each stream at most, and hands on what is stdout's.
    pub(super) fn read_on(&mut self, hear: &mut dyn FnMut(&[u8])) -> Rest {
        let stderr = self.stderr.read_on(&mut |bytes| self.words.push(bytes));
        let stdout = self.stdout.read_on(hear);
        let mut rest = Rest::Nothing;
        for read in [stdout, stderr] {
            match read {
                Ok(Rest::More) => rest = Rest::More,
                Ok(Rest::Nothing) => {}
                Err(error) => self.fault = Some(error),
            }
        }
        rest
    }

    /// Says what went wrong in reading, if anything did.
    pub(super) fn fault(&self) -> Option<String> {
        self.fault.as_ref().map(|error| format!("what it wrote was not read to the end: {error}"))
    }

    /// Returns how much of stdout was handed on.
    pub(super) fn stdout_bytes(&self) -> u64 {
        self.stdout.position
    }

    /// Returns what was read of stderr: secrets masked, and then the middle left out.
    pub(super) fn into_stderr(self, redactor: &Redactor) -> String {
        shorten(&redactor.mask(&self.words.into_text()))
    }
}

/// A file that one writes and the other reads.
#[derive(Debug)]
struct Stream {
    file: File,
    position: u64,
}

impl Stream {
    fn new() -> io::Result<Self> {
        Ok(Self { file: tempfile::tempfile()?, position: 0 })
    }

    fn writer(&self) -> io::Result<Stdio> {
        Ok(self.file.try_clone()?.into())
    }

    fn is_too_long(&self) -> bool {
        self.file.metadata().is_ok_and(|file| file.len() > OUTPUT_LIMIT_BYTES)
    }

    fn read_on(&mut self, hear: &mut dyn FnMut(&[u8])) -> io::Result<Rest> {
        let mut piece = vec![0; PIECE_BYTES];
        for _ in 0..BURST_PIECES {
            // At a place of our own: the file's belongs to the writer.
            let count = self.file.read_at(&mut piece, self.position)?;
            if count == 0 || self.position >= OUTPUT_LIMIT_BYTES {
                return Ok(Rest::Nothing);
            }
            self.position = self.position.saturating_add(count as u64);
            hear(piece.get(..count).unwrap_or_default());
        }
        Ok(Rest::More)
    }
}

fn shorten(text: &str) -> String {
    let count = text.chars().count();
    if count <= STDERR_LIMIT_CHARS {
        return text.to_owned();
    }
    let tail = STDERR_LIMIT_CHARS - STDERR_HEAD_CHARS - GAP.len();
    let head = text.chars().take(STDERR_HEAD_CHARS);
    head.chain(GAP.chars()).chain(text.chars().skip(count - tail)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_fits_is_told_whole() {
        let text = "é".repeat(STDERR_LIMIT_CHARS);
        assert_eq!(shorten(&text), text);
    }

    #[test]
    fn a_text_that_does_not_fit_keeps_both_ends() {
        let text = format!("first{}last", "é".repeat(STDERR_LIMIT_CHARS));
        let told = shorten(&text);
        assert!(told.starts_with("first") && told.contains(GAP) && told.ends_with("last"));
        assert_eq!(told.chars().count(), STDERR_LIMIT_CHARS);
    }
}
