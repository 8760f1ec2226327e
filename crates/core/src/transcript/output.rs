//! What the model said to the user, part by part, within a limit.

/// How much is kept: what one answer may hold.
const LIMIT_BYTES: usize = 64 * 1024 * 1024;

/// How a text stands to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    /// It is another one.
    Apart,
    /// It goes on, unless the other side spoke in between.
    GoesOn,
}

/// What the model said.
#[derive(Debug, Default)]
pub(super) struct Output {
    parts: Vec<String>,
    /// How many parts were said before the turn that is going on.
    earlier: usize,
    /// How many parts cannot be the last word any more.
    outdated: usize,
    /// Whether something of this turn could not be read.
    has_gap: bool,
    bytes: usize,
    is_cut: bool,
}

impl Output {
    /// Adds a text.
    pub(super) fn say(&mut self, text: &str, joint: Joint) {
        let goes_on = joint == Joint::GoesOn && self.parts.len() > self.earlier;
        let bytes = if goes_on { text.len() } else { cost(text) };
        if self.bytes + bytes > LIMIT_BYTES {
            self.is_cut = true;
            return;
        }
        self.bytes += bytes;
        match self.parts.last_mut().filter(|_| goes_on) {
            Some(last) => last.push_str(text),
            None => self.parts.push(text.to_owned()),
        }
    }

    /// Ends the turn: what follows is another answer.
    pub(super) fn end_turn(&mut self) {
        self.earlier = self.parts.len();
        self.has_gap = false;
    }

    /// Makes nothing that was said so far the last word: more is to come.
    pub(super) fn outdate(&mut self) {
        self.outdated = self.parts.len();
    }

    /// Notes that a line could not be read, which may have held a part.
    pub(super) fn miss(&mut self) {
        self.has_gap = true;
        self.outdate();
    }

    /// Takes back what was said in this turn, because the request is sent again.
    pub(super) fn take_back(&mut self) {
        if self.parts.len() > self.earlier {
            self.bytes -= self.parts.drain(self.earlier..).map(|part| cost(&part)).sum::<usize>();
            self.outdate();
        }
    }

    /// Returns everything.
    pub(super) fn text(&self) -> String {
        self.parts.join("\n")
    }

    /// Returns what was said in this turn, if anything, and all of it is there.
    pub(super) fn this_turn(&self) -> Option<String> {
        let parts = self.parts.get(self.earlier..).filter(|parts| !parts.is_empty())?;
        (!self.is_cut && !self.has_gap).then(|| parts.join("\n"))
    }

    /// Returns the last part, if there is any, and it is the last that was said.
    pub(super) fn last(&self) -> Option<String> {
        let parts = self.parts.get(self.outdated..)?;
        parts.last().filter(|_| !self.is_cut).cloned()
    }

    /// Claims that something was left out, because it was too much.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }
}

/// Returns how much memory a part takes: an empty one is not free.
fn cost(part: &str) -> usize {
    size_of::<String>() + part.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retry_takes_back_this_turn_alone() {
        let mut output = Output::default();
        output.say("first", Joint::Apart);
        output.end_turn();
        output.say("se", Joint::GoesOn);
        output.say("cond", Joint::GoesOn);
        assert_eq!(output.this_turn().as_deref(), Some("second"));
        output.take_back();
        assert_eq!((output.text().as_str(), output.this_turn()), ("first", None));
        output.say("again", Joint::Apart);
        output.say("and more", Joint::Apart);
        assert_eq!(output.text(), "first\nagain\nand more");
    }

    #[test]
    fn too_much_is_left_out_and_said_so() {
        let mut output = Output::default();
        let most = LIMIT_BYTES - size_of::<String>();
        output.say(&"x".repeat(most), Joint::Apart);
        output.say("", Joint::GoesOn);
        assert!(!output.is_cut());
        output.say("", Joint::Apart);
        assert!(output.is_cut());
        assert_eq!(output.text().len(), most);
        assert_eq!((output.this_turn(), output.last()), (None, None));
    }

    #[test]
    fn what_may_lack_a_part_is_no_answer() {
        let mut output = Output::default();
        output.say("{\"answer\":4", Joint::GoesOn);
        output.miss();
        output.say("}", Joint::GoesOn);
        assert_eq!((output.this_turn(), output.text()), (None, "{\"answer\":4}".to_owned()));
        output.end_turn();
        output.say("whole", Joint::GoesOn);
        assert_eq!(
            (output.this_turn(), output.last()),
            (Some("whole".into()), Some("whole".into()))
        );
        output.miss();
        assert_eq!((output.this_turn(), output.last()), (None, None));
    }

    #[test]
    fn an_earlier_word_is_not_the_last_one_once_that_is_taken_back() {
        let mut output = Output::default();
        output.say("draft", Joint::Apart);
        output.end_turn();
        output.say("answer", Joint::Apart);
        output.take_back();
        assert_eq!((output.text().as_str(), output.last()), ("draft", None));
    }
}
