//! What all changes come to.

use serde_json::Value;

use crate::Answer;
use crate::contract::coverage::{Coverage, compare};
use crate::json::Document;

use super::pairs::Polarity;
use super::parts::{Bound, Parts};
use super::reading::Reading;
use super::{Comparison, Diff, Ruling, Side};

/// Answers both questions for the contracts as wholes.
pub(super) fn conclude(
    mut comparison: Comparison<'_>,
    old: &Reading<'_>,
    new: &Reading<'_>,
    root: Polarity,
) -> Diff {
    let mut answers = [Side::Old, Side::New].map(|side| comparison.sum(side));
    let is_open = answers.iter().any(|ruling| ruling.answer == Answer::Unknown);
    if is_open && !root.is_opaque {
        let Coverage { kept, within, .. } = comparison.compared(old, new).unwrap_or_default();
        for (ruling, proven, side) in answers
            .iter_mut()
            .zip([kept, within])
            .zip([Side::Old, Side::New])
            .map(|((a, b), c)| (a, b, c))
        {
            if ruling.answer == Answer::Unknown && proven == Answer::Yes {
                *ruling = Ruling::of(Answer::Yes);
                comparison.acquit(side);
            }
        }
    }
    for (ruling, side) in answers.iter_mut().zip([Side::Old, Side::New]) {
        if ruling.answer == Answer::Unknown
            && let Some(shown) = comparison.seeds(side)
        {
            *ruling = shown;
        }
    }
    let [old_answers, consumers] = answers;
    let Comparison { changes, unlisted, .. } = comparison;
    Diff { changes, unlisted, old_answers, consumers }
}

impl Comparison<'_> {
    /// Adds up what is known of each change; `side` accepts what the other one may reject.
    fn sum(&self, side: Side) -> Ruling {
        let rulings = || {
            self.changes.iter().map(|change| match side {
                Side::Old => &change.old_answers,
                Side::New => &change.consumers,
            })
        };
        if let Some(witness) = rulings().find_map(|ruling| ruling.witness.as_ref()) {
            return Ruling { answer: Answer::No, witness: Some(witness.clone()) };
        }
        let is_proven = self.unlisted == 0 && rulings().all(|it| it.answer == Answer::Yes);
        Ruling::of(if is_proven { Answer::Yes } else { Answer::Unknown })
    }

    /// Compares the schemas as wholes, if they are small enough.
    fn compared(&mut self, old: &Reading<'_>, new: &Reading<'_>) -> Option<Coverage> {
        let mut parts = Parts::new(self.terms.draft);
        let before = parts.add(old, Side::Old, 0)?;
        let after = parts.add(new, Side::New, 0)?;
        let complete = |part: &Value, bound| {
            let beside = [("allOf".to_owned(), Value::Array(vec![part.clone()]))];
            parts.complete(beside.into_iter().collect(), bound)
        };
        let [most_old, most_new] = [&before, &after].map(|it| complete(it, Bound::AtLeast));
        let [least_old, least_new] = [&before, &after].map(|it| complete(it, Bound::AtMost));
        let (terms, budget) = (self.terms, &mut self.budget);
        let kept = compare(&most_old, &least_new, terms, budget).kept;
        let within = compare(&least_old, &most_new, terms, budget).within;
        Some(Coverage { kept, within, ..Coverage::default() })
    }

    /// Notes that no change can do what all of them together do not.
    fn acquit(&mut self, side: Side) {
        for change in &mut self.changes {
            let ruling = match side {
                Side::Old => &mut change.old_answers,
                Side::New => &mut change.consumers,
            };
            if ruling.answer == Answer::Unknown {
                *ruling = Ruling::of(Answer::Yes);
            }
        }
    }

    /// Tries answers that the contracts themselves give as examples.
    fn seeds(&mut self, side: Side) -> Option<Ruling> {
        let contract = self.trial.court.contract(side);
        let given = contract.schema().get("examples").and_then(Value::as_array);
        let given = given.into_iter().flatten().filter_map(|it| Document::from_value(it).ok());
        let worked = contract.worked_examples();
        let worked = worked.iter().filter_map(|it| Document::from_value(&it.output).ok());
        let made = contract.example().into_iter();
        let mut seeds = given.chain(worked).chain(made);
        seeds.find_map(|seed| self.trial.court.witness(&seed, side, |_| true)).map(Ruling::shown_by)
    }
}
