//! What a program has used while it has not said what it used in all.

use std::collections::VecDeque;

use crate::codec::Usage;

use super::tally::is_usable;

/// How many messages may still grow. A main session and its subagents speak in turns; older messages
/// are over.
const GROWING_LIMIT: usize = 64;

/// Adds up what messages say they used; lines of one message tell it again and again.
#[derive(Debug, Default)]
pub(super) struct Meter {
    /// What messages used that are over.
    over: Usage,
    /// Messages that may still grow, by their ids.
    growing: VecDeque<(String, Usage)>,
}

impl Meter {
    /// Notes what a message has used so far.
    pub(super) fn note(&mut self, message_id: Option<&str>, usage: &Usage) {
        let id = message_id.filter(|id| is_usable(id));
        let Some(id) = id else { return self.over.add(usage) };
        // The latest is told again most often.
        let mut latest = self.growing.iter_mut().rev();
        if let Some((_, known)) = latest.find(|(known, _)| known == id) {
            return known.replace(usage);
        }
        self.growing.push_back((id.to_owned(), *usage));
        if self.growing.len() > GROWING_LIMIT
            && let Some((_, usage)) = self.growing.pop_front()
        {
            self.over.add(&usage);
        }
    }

    /// Returns what all messages used.
    pub(super) fn total(&self) -> Usage {
        let mut total = self.over;
        self.growing.iter().for_each(|(_, usage)| total.add(usage));
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(input_tokens: u64, output_tokens: u64) -> Usage {
        Usage {
            input_tokens: Some(input_tokens),
            output_tokens: Some(output_tokens),
            ..Usage::default()
        }
    }

    #[test]
    fn a_message_counts_once_however_many_lines_tell_it() {
        let mut meter = Meter::default();
        assert_eq!(meter.total(), Usage::default());
        for (id, output) in [("one", 1), ("subagent", 3), ("one", 5)] {
            meter.note(Some(id), &used(10, output));
        }
        assert_eq!(meter.total(), used(20, 8));
        meter.note(None, &used(1, 1));
        assert_eq!(meter.total(), used(21, 9));
    }

    #[test]
    fn nothing_is_lost_of_messages_that_are_over() {
        let mut meter = Meter::default();
        for number in 0..200 {
            meter.note(Some(&number.to_string()), &used(1, 0));
        }
        assert_eq!((meter.total(), meter.growing.len()), (used(200, 0), GROWING_LIMIT));
    }
}
