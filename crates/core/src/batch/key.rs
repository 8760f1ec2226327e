//! Keys: what makes a second run of the same work the same run.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// Makes keys of everything that all inputs of a batch share, and of each input.
#[derive(Debug, Clone)]
pub struct Keys(Sha256);

impl Keys {
    /// Starts with what is shared, in an order that never changes.
    pub fn new<'a>(shared: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hash = Sha256::new();
        // Another version of the form makes other keys.
        add(&mut hash, b"airtight batch 1");
        shared.into_iter().for_each(|part| add(&mut hash, part));
        Self(hash)
    }

    /// Returns the key of one input.
    pub fn key<'a>(&self, own: impl IntoIterator<Item = &'a [u8]>) -> String {
        let mut hash = self.0.clone();
        own.into_iter().for_each(|part| add(&mut hash, part));
        let mut text = String::with_capacity(64);
        for byte in hash.finalize() {
            // Writing to a string cannot fail.
            let _: std::fmt::Result = write!(text, "{byte:02x}");
        }
        text
    }
}

/// Adds a part with its length, so that parts cannot run into each other.
fn add(hash: &mut Sha256, part: &[u8]) {
    hash.update((part.len() as u64).to_le_bytes());
    hash.update(part);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        let keys = Keys::new([b"contract".as_slice()]);
        assert_ne!(keys.key([b"ab".as_slice(), b"c"]), keys.key([b"a".as_slice(), b"bc"]));
        assert_ne!(keys.key([b"ab".as_slice()]), keys.key([b"ab".as_slice(), b""]));
        assert_ne!(
            keys.key([b"a".as_slice()]),
            Keys::new([b"other".as_slice()]).key([b"a".as_slice()])
        );
    }

    #[test]
    fn the_form_is_stable_across_releases() {
        let key = Keys::new([b"contract".as_slice()]).key([b"input".as_slice()]);
        assert_eq!(key, "efb05707cf9111525be73198ad984275b1819ab919fdb335d217b59b4f7b684f");
    }
}
