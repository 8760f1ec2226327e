//! Names of files, which on most systems are bytes, and how git writes them.

use std::fmt::Write as _;

/// The name of a file: a path from the root of the repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Vec<u8>);

impl Name {
    /// Takes a name.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// Returns the name itself.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the name as one line of text: what is no text in it, or moves a cursor, is spelt out as
    /// git does, `\303` or `\n`.
    pub fn shown(&self) -> String {
        let is_plain = |text: &str| !text.contains(char::is_control);
        match std::str::from_utf8(&self.0) {
            Ok(text) if is_plain(text) => text.to_owned(),
            Ok(_) | Err(_) => escaped(&self.0),
        }
    }

    /// Returns the name as text, exactly where it is text.
    pub fn exact(&self) -> String {
        String::from_utf8(self.0.clone()).unwrap_or_else(|_| self.shown())
    }

    /// Returns the name as the path of a URI.
    pub fn to_uri(&self) -> String {
        let mut uri = String::with_capacity(self.0.len());
        for byte in &self.0 {
            if byte.is_ascii_alphanumeric() || b"-._~/".contains(byte) {
                uri.push(char::from(*byte));
            } else {
                // Writing to a string cannot fail.
                let _: std::fmt::Result = write!(uri, "%{byte:02X}");
            }
        }
        uri
    }

    /// Writes the name behind `prefix` as git does: in quotes if it must be.
    pub(super) fn quoted(&self, prefix: &str) -> Vec<u8> {
        let is_plain = |byte: &u8| !byte.is_ascii_control() && !b"\"\\".contains(byte);
        let mut out = Vec::with_capacity(self.0.len() + prefix.len() + 2);
        if self.0.iter().all(is_plain) && std::str::from_utf8(&self.0).is_ok() {
            out.extend_from_slice(prefix.as_bytes());
            out.extend_from_slice(&self.0);
        } else {
            out.extend_from_slice(format!("\"{prefix}{}\"", escaped(&self.0)).as_bytes());
        }
        out
    }
}

/// Spells out what is no text, with backslashes doubled.
fn escaped(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                '\r' => out.push_str("\\r"),
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                control if control.is_control() => {
                    let mut buffer = [0; 4];
                    control.encode_utf8(&mut buffer).bytes().for_each(|it| octal(&mut out, it));
                }
                other => out.push(other),
            }
        }
        chunk.invalid().iter().for_each(|byte| octal(&mut out, *byte));
    }
    out
}

fn octal(out: &mut String, byte: u8) {
    // Writing to a string cannot fail.
    let _: std::fmt::Result = write!(out, "\\{byte:03o}");
}

/// Reads a name in quotes; returns it with what stands behind the closing quote.
pub(super) fn unquote(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut rest = text.strip_prefix(b"\"")?;
    let mut name = Vec::new();
    loop {
        let (first, behind) = rest.split_first()?;
        rest = behind;
        match first {
            b'"' => return Some((name, rest)),
            b'\\' => {
                let (byte, behind) = unescape(rest)?;
                name.push(byte);
                rest = behind;
            }
            plain => name.push(*plain),
        }
    }
}

/// Reads what stands behind a backslash.
fn unescape(text: &[u8]) -> Option<(u8, &[u8])> {
    let (first, rest) = text.split_first()?;
    let byte = match first {
        b'a' => 0x07,
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0b,
        b'"' | b'\\' => *first,
        b'0'..=b'7' => {
            let (digits, rest) = text.split_at_checked(3)?;
            let digits = std::str::from_utf8(digits).ok()?;
            return Some((u8::from_str_radix(digits, 8).ok()?, rest));
        }
        _ => return None,
    };
    Some((byte, rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_shown_on_one_line_and_exact_where_they_are_text() {
        let shown = |bytes: &[u8]| Name::new(bytes).shown();
        assert_eq!(shown("src/größe 漢.rs".as_bytes()), "src/größe 漢.rs");
        assert_eq!(shown(b"caf\xe9.txt"), "caf\\351.txt");
        assert_eq!(shown(b"two\nlines\x1b"), "two\\nlines\\033");
        assert_eq!(Name::new("two\nlines").exact(), "two\nlines");
        assert_eq!(Name::new(b"caf\xe9 #1.txt".as_slice()).to_uri(), "caf%E9%20%231.txt");
    }

    #[test]
    fn what_is_no_quoted_name_is_refused() {
        for wrong in ["abc", r#""abc"#, r#""a\q""#, r#""\40""#, r#""\777""#, r#""\"#] {
            assert_eq!(unquote(wrong.as_bytes()), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_name_survives_its_quotes(bytes in prop::collection::vec(any::<u8>(), 1..20)) {
            let quoted = Name::new(bytes.clone()).quoted("b/");
            let read = match unquote(&quoted) {
                Some((name, rest)) => {
                    prop_assert!(rest.is_empty());
                    name
                }
                None => quoted,
            };
            prop_assert_eq!(read.strip_prefix(b"b/".as_slice()), Some(bytes.as_slice()));
        }
    }
}
