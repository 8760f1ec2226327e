//! SHA-256 of what is copied.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::path::Path;

use sha2::{Digest as _, Sha256};

/// How much is read at once.
const CHUNK: usize = 1 << 16;

/// Returns the SHA-256 of a file; nothing if `read`, which hears how much, breaks off.
pub(super) fn file_checksum(
    path: &Path,
    read: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> io::Result<Option<String>> {
    copy(File::open(path)?, &mut io::sink(), read)
}

/// Copies everything and returns its SHA-256; nothing if `copied`, which hears how much, breaks off.
pub(super) fn copy(
    mut source: impl Read,
    target: &mut impl Write,
    copied: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> io::Result<Option<String>> {
    let mut hash = Sha256::new();
    let mut chunk = vec![0; CHUNK];
    let mut total = 0;
    loop {
        let length = source.read(&mut chunk)?;
        let Some(bytes) = chunk.get(..length).filter(|bytes| !bytes.is_empty()) else { break };
        hash.update(bytes);
        target.write_all(bytes)?;
        total += length as u64;
        if copied(total).is_break() {
            return Ok(None);
        }
    }
    let mut sum = String::new();
    for byte in hash.finalize() {
        // Writing to a string cannot fail.
        write!(sum, "{byte:02x}").unwrap_or_default();
    }
    Ok(Some(sum))
}
