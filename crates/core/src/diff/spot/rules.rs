//! Rules: what they accept cannot be compared, but one more never admits anything.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::Answer;
use crate::contract::{GROUNDED, RULES};
use crate::diff::ChangeKind;
use crate::diff::words::{Fate, fate, name};

use super::{Effect, Patch, Spot};

impl Spot<'_, '_> {
    pub(super) fn rules(&mut self) {
        let texts = |value: Option<&Value>| -> BTreeSet<String> {
            let rules = value.and_then(Value::as_array).into_iter().flatten();
            rules.filter_map(|rule| rule.get("rule")?.as_str()).map(str::to_owned).collect()
        };
        let [old, new] = self.both(RULES).map(texts);
        let gone = old.difference(&new).map(|text| (text, Fate::Gone));
        let fresh = new.difference(&old).map(|text| (text, Fate::New));
        for (text, coming) in gone.chain(fresh) {
            let sentence = fate(&format!("rule {}", name(text)), coming);
            self.condition(ChangeKind::Rule, RULES, sentence, coming);
        }
        let demands = |value: Option<&Value>| value.is_some_and(|it| it != &Value::Bool(false));
        match self.both(GROUNDED).map(demands) {
            [false, true] => {
                let sentence = "it must be quoted from the source text".to_owned();
                self.condition(ChangeKind::Grounding, GROUNDED, sentence, Fate::New);
            }
            [true, false] => {
                let sentence = "it need not be quoted from the source text".to_owned();
                self.condition(ChangeKind::Grounding, GROUNDED, sentence, Fate::Gone);
            }
            [true, true] | [false, false] => {}
        }
    }

    /// Notes that one condition more, or less, must hold.
    fn condition(
        &mut self,
        kind: ChangeKind,
        keyword: &'static str,
        sentence: String,
        coming: Fate,
    ) {
        let (kept, within) = match coming {
            Fate::New => (Answer::Unknown, Answer::Yes),
            Fate::Gone => (Answer::Yes, Answer::Unknown),
        };
        let atom = self.atom(kind, &[keyword], sentence, Patch::default());
        atom.effect = Effect::Known { kept, within };
    }
}
