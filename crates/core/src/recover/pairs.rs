//! Whether a string may be open at some place, by its quotes alone.

/// The quotes of a text, up to some offset.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    at: usize,
    double: usize,
    single: usize,
    opening: usize,
    closing: usize,
}

impl Pairs {
    /// Starts counting at `at`.
    pub(super) fn from(at: usize) -> Self {
        Self { at, ..Self::default() }
    }

    /// Counts on up to `to`, and claims that each quote so far has its partner.
    pub(super) fn are_complete(&mut self, text: &str, to: usize) -> bool {
        let mut rest = text.get(self.at..to).unwrap_or_default().chars().peekable();
        let mut before = ' ';
        while let Some(character) = rest.next() {
            let behind = rest.peek().is_some_and(|behind| behind.is_alphanumeric());
            match character {
                _ if before == '\\' => {}
                '"' => self.double += 1,
                '\'' if !(before.is_alphanumeric() && behind) => self.single += 1,
                '“' => self.opening += 1,
                '”' => self.closing += 1,
                _ => {}
            }
            before = character;
        }
        self.at = self.at.max(to);
        let are_even = self.double.is_multiple_of(2) && self.single.is_multiple_of(2);
        are_even && self.opening == self.closing
    }
}
