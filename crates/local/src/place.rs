//! Where a JSON text stands: inside a string or not, and which keys its open objects have.
//!
//! Grammars know what a key looks like, and not that it was there before. A key that comes twice
//! breaks every contract, so the writer asks here.

/// Where a JSON text ends so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    /// The open containers, from the outermost inward.
    open: Vec<Container>,
    text: Text,
    /// The key that is being written.
    key: Option<Vec<u8>>,
    /// Whether the text ends in a number, of which there may be more, or has just opened a string or a
    /// container.
    is_unsaid: bool,
    /// Whether any key came twice in its object.
    has_repeated: bool,
}

#[derive(Debug, Clone)]
enum Container {
    Array,
    /// Its keys so far, and whether the next string is one.
    Object {
        keys: Vec<Vec<u8>>,
        at_key: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Text {
    /// Outside of strings.
    #[default]
    Outside,
    /// Inside a string.
    String,
    /// Inside a string, behind a backslash.
    Escape,
}

impl Text {
    fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::Outside, b'"') | (Self::Escape, _) => Self::String,
            (Self::String, b'"') => Self::Outside,
            (Self::String, b'\\') => Self::Escape,
            (Self::Outside | Self::String, _) => self,
        }
    }
}

impl Place {
    /// Follows more of the text.
    pub(crate) fn follow(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let opens = b"\"[{".contains(byte) || byte.is_ascii_digit();
            self.is_unsaid = opens && !self.is_inside_string();
            let before = self.text;
            self.text = before.after(*byte);
            match (before, self.text) {
                (Text::Outside, Text::Outside) => self.follow_structure(*byte),
                (Text::Outside, _) => self.begin_string(),
                (_, Text::Outside) => self.end_string(),
                _ => self.key.iter_mut().for_each(|key| key.push(*byte)),
            }
        }
    }

    /// Takes note of what the model would say next: before a comma or a bracket a number has no more digits,
    /// and a container that is to be ended is said.
    pub(crate) fn foresee(&mut self, next: &[u8]) {
        let ends = next.first().is_some_and(|byte| b",]}".contains(byte));
        self.is_unsaid &= self.is_inside_string() || !ends;
    }

    /// Claims that a quotation mark would end a string.
    pub(crate) fn is_inside_string(&self) -> bool {
        self.text != Text::Outside
    }

    /// Claims that a key comes twice if these pieces follow.
    pub(crate) fn repeats<'b>(
        &self,
        pieces: impl IntoIterator<Item = &'b [u8], IntoIter: Clone>,
    ) -> bool {
        let pieces = pieces.into_iter();
        // Only a quotation mark ends a key; most candidates have none, and cost no copy.
        if !pieces.clone().any(|piece| piece.contains(&b'"')) {
            return false;
        }
        let mut behind = Self { has_repeated: false, ..self.clone() };
        pieces.for_each(|piece| behind.follow(piece));
        behind.has_repeated
    }

    /// Claims that these bytes only end what has begun: containers and strings with something in
    /// them, and no key, number or escape, of which there might have been more.
    pub(crate) fn only_ends(&self, bytes: impl IntoIterator<Item = u8>) -> bool {
        let mut inside = self.is_inside_string();
        let is_open = self.is_unsaid || self.key.is_some() || self.text == Text::Escape;
        !is_open
            && bytes.into_iter().all(|byte| match byte {
                b'"' => std::mem::take(&mut inside),
                b'}' | b']' => !inside,
                _ => false,
            })
    }

    fn begin_string(&mut self) {
        if let Some(Container::Object { at_key: true, .. }) = self.open.last() {
            self.key = Some(Vec::new());
        }
    }

    fn end_string(&mut self) {
        if let (Some(key), Some(Container::Object { keys, .. })) =
            (self.key.take(), self.open.last_mut())
        {
            self.has_repeated |= keys.contains(&key);
            keys.push(key);
        }
    }

    fn follow_structure(&mut self, byte: u8) {
        match byte {
            b'{' => self.open.push(Container::Object { keys: Vec::new(), at_key: true }),
            b'[' => self.open.push(Container::Array),
            b'}' | b']' => drop(self.open.pop()),
            b':' | b',' => {
                if let Some(Container::Object { at_key, .. }) = self.open.last_mut() {
                    *at_key = byte == b',';
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::Place;

    #[test_case(r#"["ab"#, "\"]" => true)]
    #[test_case(r#"["a\""#, "\"]" => true; "a quotation mark in a string")]
    #[test_case(r#"{"a":["#, "]}" => false; "no item was said yet")]
    #[test_case("{", "}" => false; "no member was said yet")]
    #[test_case(r#"{"ab"#, "\"" => false; "there may be more of a key")]
    #[test_case(r#"["a\"#, "\"" => false; "there must be more of an escape")]
    #[test_case(r#"{"a":[{"b":true"#, "}]}" => true)]
    #[test_case(r#"{"a":""#, "\"}" => false; "nothing was said yet")]
    #[test_case(r#"{"a":1"#, "}" => false; "there may be more of a number")]
    #[test_case(r#"{"a":"b"#, "\",\"c\":0}" => false; "what was not said")]
    #[test_case(r#"["a","#, "\"\"]" => false; "an empty string is a string")]
    #[test_case("[1,2]", "" => true; "nothing")]
    fn ends_are_told_from_what_was_not_said(said: &str, more: &str) -> bool {
        let mut place = Place::default();
        place.follow(said.as_bytes());
        place.only_ends(more.bytes())
    }

    #[test_case("[1", "," => true; "a number that is over")]
    #[test_case("[", "]" => true; "a list that is to be empty")]
    #[test_case("[1", "2" => false; "a number that goes on")]
    #[test_case("[\"", "," => false; "a string that begins")]
    fn the_end_of_a_number_is_foreseen(said: &str, next: &str) -> bool {
        let mut place = Place::default();
        place.follow(said.as_bytes());
        place.foresee(next.as_bytes());
        place.only_ends(*b"]")
    }

    #[test_case(r#"{"a":1,"a""# => true)]
    #[test_case(r#"{"a":1,"a"# => false; "a key that is not over")]
    #[test_case(r#"{"a":"a","b":["a","a"],"c":{"a":1},"ab":{},"a\"":0"# => false; "other strings")]
    #[test_case(r#"[{"a":1},{"a":1}]"# => false; "other objects")]
    #[test_case(r#"{"a":{"b":[{}]},"b":{},"a":"# => true; "behind other objects")]
    fn a_key_that_comes_twice_is_noticed(text: &str) -> bool {
        let bytes = text.as_bytes();
        let (before, behind) = bytes.split_at(1);
        let mut place = Place::default();
        place.follow(before);
        let repeats = place.repeats([behind]);
        assert_eq!(repeats, place.repeats(behind.chunks(1)));
        repeats
    }
}
