//! What is in no type: every clause of a contract is either checked or recorded here.

use super::build::Builder;
use crate::contract::Keyword;
use crate::lower::original::{Clause, Place, is_constraint};

impl<'c> Builder<'c> {
    /// Records that a clause is in no type.
    pub(super) fn lose(&mut self, clause: &Clause<'_>) {
        self.losses.insert((clause.at.clone(), clause.keyword.to_owned()));
    }

    /// Records that the clauses of these keywords are in no type, unless they demand nothing.
    pub(super) fn lose_every(&mut self, place: &Place<'c>, keywords: &[&str]) {
        for clause in place.clauses.iter().filter(|it| keywords.contains(&it.keyword)) {
            if !clause.demands_nothing() {
                self.lose(clause);
            }
        }
    }

    /// Records that nothing of a place is in a type.
    pub(super) fn lose_all(&mut self, place: &Place<'c>) {
        for clause in place.constraints().filter(|clause| !clause.demands_nothing()) {
            self.lose(clause);
        }
        if let Some(pointer) = &place.never {
            self.losses.insert((pointer.clone(), "false".to_owned()));
        }
    }

    /// Records what is said of values of every kind and is in no type.
    pub(super) fn lose_logic(&mut self, place: &Place<'c>) {
        for clause in &place.clauses {
            let is_lost = match clause.keyword {
                "if" => ["then", "else"]
                    .iter()
                    .any(|keyword| place.all(keyword).any(|other| other.at == clause.at)),
                "not" | "$ref" | "$dynamicRef" | "$recursiveRef" => true,
                keyword => is_constraint(keyword) && Keyword::named(keyword).is_none(),
            };
            if is_lost && !clause.demands_nothing() {
                self.lose(clause);
            }
        }
    }
}
