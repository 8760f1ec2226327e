//! Numbers, strings and constants: values only where nothing stands beside them.

use std::borrow::Cow;

use super::{Finder, role};
use crate::json::{StringEnd, number_end, string_end};
use crate::repair::Reading;
use crate::verdict::{Edit, EditKind, Edits};

impl<'t> Finder<'t> {
    /// Takes the scalar at this place if nothing but a fence, or tokens of the chat template, follows it.
    pub(super) fn scalar_alone(&mut self) {
        let start = self.skip_space(self.at);
        let Some((end, text, edits)) = self.scalar(start) else {
            return;
        };
        let rest = self.text.get(self.skip_space(end)..).unwrap_or_default();
        let is_over = || role::is_tokens(rest);
        if ["```", "~~~"].iter().any(|end| rest.starts_with(end)) || is_over() {
            self.take(Reading { range: start..end, text, edits });
        }
    }

    fn scalar(&self, start: usize) -> Option<(usize, Cow<'t, str>, Edits)> {
        let rest = self.text.get(start..)?;
        let end = match self.bytes.get(start)? {
            b'"' => match string_end(self.bytes, start + 1) {
                StringEnd::Closed { end, .. } => end,
                StringEnd::Control { .. } | StringEnd::Open => return None,
            },
            b'-' | b'0'..=b'9' => number_end(self.bytes, start)?,
            _ => {
                let words = [
                    ("true", "true"),
                    ("false", "false"),
                    ("null", "null"),
                    ("True", "true"),
                    ("False", "false"),
                    ("None", "null"),
                ];
                let (word, constant) =
                    words.into_iter().find(|(word, _)| rest.starts_with(word))?;
                let edit = Edit::at_byte(EditKind::Constant, start);
                let edits = (word != constant).then_some(edit).into_iter().collect();
                return Some((start + word.len(), Cow::Borrowed(constant), edits));
            }
        };
        Some((end, Cow::Borrowed(self.text.get(start..end)?), Edits::default()))
    }
}
