//! A stream that is there already, on all cores: lines are parsed side by side and heard in order.

use std::io;

use airtight_core::transcript::{Decoder, Event, Parsed};
use airtight_core::wire::lines::Line;

use super::follow::Chunks;
use crate::error::Error;
use crate::input::unreadable;
use crate::parallel::{self, Event as Progress};

/// Reads the rest of the stream `label`, and tells what happens.
pub(super) fn read(
    label: &str,
    chunks: Chunks,
    decoder: &mut Decoder,
    mut tell: impl FnMut(Vec<Event>) -> Result<(), Error>,
) -> Result<(), Error> {
    let lines = chunks.lines(decoder.hand_over_lines());
    parallel::in_order(lines, parse, |progress| match progress {
        Progress::Waiting => Ok(()),
        Progress::Done(parsed) => {
            let parsed = parsed.map_err(|error| unreadable(label, error.into()))?;
            parsed.into_iter().try_for_each(|parsed| tell(decoder.hear(parsed)))
        }
    })
}

fn parse(lines: io::Result<Vec<Line>>) -> io::Result<Vec<Parsed>> {
    Ok(lines?.into_iter().map(Parsed::read).collect())
}
