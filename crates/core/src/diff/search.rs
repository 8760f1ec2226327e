//! Finds a witness for each change that is not proven harmless.

use serde_json::{Value, json};

use crate::Answer;
use crate::contract::coverage::Coverage;
use crate::json::{Document, Pointer};
use crate::verdict::Violation;

use super::effects::{self, Minis};
use super::focus::Way;
use super::pairs::{Pair, Pairs, Polarity};
use super::probes::probes;
use super::spot::{Atom, Spot};
use super::trial::Trial;
use super::{CHANGE_LIMIT, Change, ChangeKind, Comparison, Ruling, Side, Witness};

/// One change, and all that helps to show what it does.
struct Lead<'l> {
    atom: &'l Atom,
    coverage: &'l Coverage,
    minis: Minis,
    polarity: Polarity,
    way: Option<&'l Way>,
}

impl Comparison<'_> {
    /// Adds what changed at one part.
    pub(super) fn look_at(&mut self, spot: &Spot<'_, '_>, pair: &Pair, pairs: &Pairs) {
        if spot.atoms.is_empty() {
            return;
        }
        let count = CHANGE_LIMIT.saturating_sub(self.changes.len());
        self.unlisted += spot.atoms.len().saturating_sub(count);
        let found = effects::weigh(spot, count, (self.terms, &mut self.budget));
        let way = Way::new(pairs.way(pair), self.terms.draft);
        let mut current = spot.before.clone();
        for (atom, coverage) in spot.atoms.iter().zip(&found) {
            let (polarity, way) = (pair.polarity, way.as_ref());
            let minis = effects::step(&mut current, atom);
            let lead = Lead { atom, coverage, minis, polarity, way };
            self.changes.push(lead.follow(&mut self.trial));
        }
    }
}

impl Lead<'_> {
    fn follow(&self, trial: &mut Trial<'_>) -> Change {
        let (old_answers, consumers) = self.answers();
        let mut ruling = |answer: Answer, side: Side| match answer {
            Answer::Yes | Answer::No => Ruling::of(answer),
            Answer::Unknown => match self.witness(side, trial) {
                Some(witness) => Ruling::shown_by(witness),
                None => Ruling::of(Answer::Unknown),
            },
        };
        let (old_answers, consumers) =
            (ruling(old_answers, Side::Old), ruling(consumers, Side::New));
        let Atom { kind, pointer, side, sentence, .. } = self.atom;
        let (kind, side) = (*kind, *side);
        let (pointer, sentence) = (pointer.clone(), sentence.clone());
        Change { kind, pointer, side, sentence, old_answers, consumers }
    }

    /// Returns what the change at the part means for the whole.
    fn answers(&self) -> (Answer, Answer) {
        let Coverage { kept, within, .. } = *self.coverage;
        let Polarity { follows, opposes, is_opaque } = self.polarity;
        match (self.atom.kind, is_opaque, follows, opposes) {
            (ChangeKind::Annotation, ..) => (Answer::Yes, Answer::Yes),
            (_, true, ..) => (Answer::Unknown, Answer::Unknown),
            (_, false, true, false) => (kept, within),
            (_, false, false, true) => (within, kept),
            (_, false, true, true) if (kept, within) == (Answer::Yes, Answer::Yes) => {
                (Answer::Yes, Answer::Yes)
            }
            (_, false, true, true) => (Answer::Unknown, Answer::Unknown),
            // No part of an answer is judged by it.
            (_, false, false, false) => (Answer::Yes, Answer::Yes),
        }
    }

    /// Looks for an answer that `side` accepts and the other contract rejects because of the change.
    fn witness(&self, side: Side, trial: &mut Trial<'_>) -> Option<Witness> {
        let way = self.way?;
        let (court, effort) = (&mut trial.court, &mut trial.effort);
        let contract = court.contract(side);
        let concerns = |violation: &Violation| self.concerns(violation, &way.place);
        for described in self.described(side) {
            let mut witness = None;
            let mut judge = |document: &Document| {
                witness = court.witness(document, side, concerns);
                witness.is_none().then(|| way.place.clone())
            };
            drop(contract.seek(&way.focus(described), effort, &mut judge));
            if witness.is_some() {
                return witness;
            }
        }
        if way.is_name {
            return None;
        }
        let base = contract.seek(&way.focus(json!({})), effort, &mut |_| None)?.to_value();
        let here = base.pointer(way.place.as_str())?;
        probes(here, &self.minis, self.atom.member.as_deref()).into_iter().find_map(|probe| {
            let mut value = base.clone();
            *value.pointer_mut(way.place.as_str())? = probe;
            court.witness(&Document::from_value(&value).ok()?, side, concerns)
        })
    }

    /// Returns schemas for values at the part that may make the difference.
    fn described(&self, side: Side) -> Vec<Value> {
        let Coverage { lost, gained, .. } = self.coverage;
        let (along, against) = match side {
            Side::Old => (lost, gained),
            Side::New => (gained, lost),
        };
        let Polarity { follows, opposes, .. } = self.polarity;
        let differences =
            [along.as_ref().filter(|_| follows), against.as_ref().filter(|_| opposes)];
        let mut described: Vec<Value> = differences.into_iter().flatten().cloned().collect();
        described.extend(self.atom.likely.clone());
        if let Some(member) = &self.atom.member {
            described.push(json!({"type": "object", "required": [member]}));
            described.push(json!({"type": "object", "properties": { member: false }}));
        }
        described
    }

    /// Claims that a violation has to do with the change.
    fn concerns(&self, violation: &Violation, place: &Pointer) -> bool {
        let keywords = &self.atom.keywords;
        // Custom keywords have no name of their own.
        let is_rule = matches!(self.atom.kind, ChangeKind::Rule | ChangeKind::Grounding);
        let is_own =
            keywords.is_empty() || is_rule || keywords.contains(&violation.keyword.as_str());
        let is_choice =
            ["anyOf", "oneOf", "not", "if", "contains", "propertyNames", "allOf", "$ref"]
                .contains(&violation.keyword.as_str());
        let is_inside = |inner: &Pointer, outer: &Pointer| {
            let rest = inner.as_str().strip_prefix(outer.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        // Members and items that a part forbids are reported of what holds them.
        let is_refused = matches!(
            violation.keyword.as_str(),
            "additionalProperties"
                | "unevaluatedProperties"
                | "additionalItems"
                | "items"
                | "unevaluatedItems"
        ) && place
            .as_str()
            .rsplit_once('/')
            .is_some_and(|(holder, _)| holder == violation.pointer.as_str());
        // What is wrong with another member is no matter of this one.
        let names = self.atom.member.as_ref().is_none_or(|member| {
            is_inside(&violation.pointer, &place.key(member))
                || (violation.pointer == *place
                    && violation.message.contains(&format!("`{member}`")))
        });
        (is_inside(&violation.pointer, place) && ((is_own && names) || is_choice))
            || (is_inside(place, &violation.pointer) && is_choice)
            || is_refused
    }
}
