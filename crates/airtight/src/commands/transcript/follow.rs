//! Reads a stream piece by piece, and waits for more at its end if asked to.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::thread;
use std::time::{Duration, Instant};

use airtight_core::transcript::Decoder;
use airtight_core::wire::lines::{self, Line};
use tokio_util::sync::CancellationToken;

use crate::input::Input;

/// How much is read at once.
const READ_BYTES: usize = 256 * 1024;

/// From how many bytes on threads are worth their start.
const MANY_BYTES: u64 = 2 * 1024 * 1024;

/// How long to wait before looking for more.
const PAUSE: Duration = Duration::from_millis(100);

/// How long to wait once the program says it is done: some have last words.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What the end of the stream means.
#[derive(Debug)]
pub(super) enum End {
    /// There is no more.
    Final,
    /// There may be more.
    ForNow(Patience),
}

/// How long more is waited for.
#[derive(Debug)]
pub(super) struct Patience {
    /// Unless nothing comes for so long.
    pub(super) idle: Duration,
    /// Unless somebody interrupts.
    pub(super) interrupt: CancellationToken,
}

/// Where the pieces come from.
enum Source {
    /// What ends by itself.
    Ending(Box<dyn Read + Send>),
    /// A file that is read as it is.
    Whole(File),
    /// A file that may grow.
    Growing { file: File, read_bytes: u64, patience: Patience },
}

/// The pieces of a stream.
pub(super) struct Chunks {
    source: Source,
    chunk: Vec<u8>,
}

impl Chunks {
    /// Starts to read; only a file can grow, a pipe says itself when it ends.
    pub(super) fn new(input: Input, end: End) -> Self {
        let source = match (input, end) {
            (Input::File { file, .. }, End::ForNow(patience)) => {
                Source::Growing { file, read_bytes: 0, patience }
            }
            (Input::File { file, .. }, End::Final) => Source::Whole(file),
            (input, _) => Source::Ending(input.into_reader()),
        };
        Self { source, chunk: vec![0; READ_BYTES] }
    }

    /// Claims that so many are there already that it is worth to read them side by side.
    pub(super) fn are_many(&self) -> bool {
        matches!(&self.source, Source::Whole(file) if file.metadata().is_ok_and(|it| it.len() >= MANY_BYTES))
    }

    /// Returns the lines of the pieces that are left.
    pub(super) fn lines(
        mut self,
        mut splitter: lines::Decoder,
    ) -> impl Iterator<Item = io::Result<Vec<Line>>> + Send {
        let mut is_over = false;
        std::iter::from_fn(move || {
            if is_over {
                return None;
            }
            let length = match &mut self.source {
                Source::Ending(reader) => read(reader, &mut self.chunk),
                Source::Whole(file) | Source::Growing { file, .. } => read(file, &mut self.chunk),
            };
            is_over = !matches!(length, Ok(1..));
            Some(length.map(|length| match self.chunk.get(..length) {
                Some([]) | None => splitter.finish().into_iter().collect(),
                Some(chunk) => splitter.push(chunk),
            }))
        })
    }

    /// Returns the next piece; nothing at the end.
    pub(super) fn next(&mut self, decoder: &Decoder) -> io::Result<&[u8]> {
        let length = match &mut self.source {
            Source::Ending(reader) => read(reader, &mut self.chunk)?,
            Source::Whole(file) => read(file, &mut self.chunk)?,
            Source::Growing { file, read_bytes, patience } => {
                let idle = if decoder.is_over() { LAST_WORDS } else { patience.idle };
                let wants_more =
                    |since: Instant| since.elapsed() < idle && !patience.interrupt.is_cancelled();
                let length = await_more(file, *read_bytes, wants_more, &mut self.chunk)?;
                *read_bytes += length as u64;
                length
            }
        };
        Ok(self.chunk.get(..length).unwrap_or_default())
    }
}

/// Reads what is there, or comes while more is wanted; nothing if the file gets shorter, because
/// what follows is another stream.
fn await_more(
    file: &mut File,
    read_bytes: u64,
    wants_more: impl Fn(Instant) -> bool,
    chunk: &mut [u8],
) -> io::Result<usize> {
    let since = Instant::now();
    loop {
        let length = read(file, chunk)?;
        let is_over = || io::Result::Ok(!wants_more(since) || file.metadata()?.len() < read_bytes);
        if length > 0 || is_over()? {
            return Ok(length);
        }
        thread::sleep(PAUSE);
    }
}

/// Reads what is there, whatever signals come in.
fn read(reader: &mut impl Read, chunk: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(chunk) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}
