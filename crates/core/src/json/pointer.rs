//! JSON Pointer (RFC 6901).

use std::fmt;

/// Where something is in a document: `""` is the root, `/events/0/level` a member of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pointer(String);

impl Pointer {
    /// Points at the root.
    pub fn root() -> Self {
        Self::default()
    }

    /// Returns this pointer extended by an object key.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        let mut longer = self.clone();
        longer.push_key(key);
        longer
    }

    /// Returns this pointer extended by an array index.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        Self(format!("{}/{index}", self.0))
    }

    /// Extends this pointer by an object key.
    pub fn push_key(&mut self, key: &str) {
        self.0.push('/');
        for character in key.chars() {
            match character {
                '~' => self.0.push_str("~0"),
                '/' => self.0.push_str("~1"),
                other => self.0.push(other),
            }
        }
    }

    /// Extends this pointer by an array index.
    pub(super) fn push_index(&mut self, index: usize) {
        self.0.push('/');
        self.0.push_str(&index.to_string());
    }

    /// Returns the unescaped segments, from the root inward.
    pub fn segments(&self) -> impl Iterator<Item = String> + '_ {
        self.0.split('/').skip(1).map(|segment| segment.replace("~1", "/").replace("~0", "~"))
    }

    /// Returns the pointer's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Claims that this is the root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&str> for Pointer {
    /// Takes a pointer's text; a missing leading slash is added.
    fn from(text: &str) -> Self {
        if text.is_empty() || text.starts_with('/') {
            return Self(text.to_owned());
        }
        Self(format!("/{text}"))
    }
}

impl fmt::Display for Pointer {
    /// Writes the pointer, and `(root)` for the root, which would otherwise be invisible.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.is_root() { "(root)" } else { &self.0 })
    }
}

impl serde::Serialize for Pointer {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_undo_escaping() {
        let pointer = Pointer::root().key("a/b").key("~1").index(3);
        assert_eq!(pointer.as_str(), "/a~1b/~01/3");
        assert_eq!(pointer.segments().collect::<Vec<_>>(), ["a/b", "~1", "3"]);
    }
}
