//! Whether a JSON text stands inside a string.

/// Where a JSON text ends so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Place {
    /// Outside of strings.
    #[default]
    Outside,
    /// Inside a string.
    String,
    /// Inside a string, behind a backslash.
    Escape,
}

impl Place {
    /// Follows more of the text.
    pub(crate) fn follow(&mut self, bytes: &[u8]) {
        for byte in bytes {
            *self = match (*self, byte) {
                (Self::Outside, b'"') | (Self::Escape, _) => Self::String,
                (Self::String, b'"') => Self::Outside,
                (Self::String, b'\\') => Self::Escape,
                (place, _) => place,
            };
        }
    }

    /// Claims that a quotation mark would end a string.
    pub(crate) fn is_inside_string(self) -> bool {
        self != Self::Outside
    }
}
