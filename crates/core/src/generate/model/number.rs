//! Numbers with bounds.

use jsonschema::Draft;
use serde_json::Value;

use super::build::Builder;
use super::choice::{is_exact, whole};
use super::{Bound, Edge, Form, Id, Integer, Number, Type};
use crate::lower::original::{Clause, Place};

impl<'c> Builder<'c> {
    pub(super) fn integer(
        &mut self,
        place: &Place<'c>,
        name: &str,
        into: Option<Id>,
    ) -> Option<Type> {
        if self.original.draft == Draft::Draft4 {
            // There, `1.0` is no integer; most languages cannot tell.
            self.lose_every(place, &["type"]);
        }
        let mut integer = Integer::default();
        for clause in &place.clauses {
            match clause.keyword {
                "minimum" | "exclusiveMinimum" => match lowest(clause) {
                    Some(Reach::Within(least)) => {
                        integer.min = Some(integer.min.map_or(least, |before| before.max(least)));
                    }
                    Some(Reach::Everything) | None => self.lose(clause),
                    Some(Reach::Nothing) => return Some(self.beyond(place)),
                },
                "maximum" | "exclusiveMaximum" => match highest(clause) {
                    Some(Reach::Within(most)) => {
                        integer.max = Some(integer.max.map_or(most, |before| before.min(most)));
                    }
                    Some(Reach::Everything) | None => self.lose(clause),
                    Some(Reach::Nothing) => return Some(self.beyond(place)),
                },
                "multipleOf" => match clause.value.as_number().and_then(whole) {
                    Some(factor) if factor > 0 => integer.multiples.push(factor),
                    Some(_) | None => self.lose(clause),
                },
                _ => {}
            }
        }
        if let (Some(min), Some(max)) = (integer.min, integer.max)
            && min > max
        {
            return None;
        }
        if integer.min.is_none() || integer.max.is_none() {
            self.large_integers.insert(place.pointer());
        }
        if integer == Integer::default() {
            return Some(Type::Integer);
        }
        Some(self.hoist(Form::Integer(integer), name, into, place))
    }

    /// Takes integers that 64 bits do not hold for anything.
    fn beyond(&mut self, place: &Place<'c>) -> Type {
        self.lose_all(place);
        Type::Any
    }

    pub(super) fn number(
        &mut self,
        place: &Place<'c>,
        name: &str,
        into: Option<Id>,
    ) -> Option<Type> {
        // Whether a float is a multiple of another depends on how a language rounds.
        self.lose_every(place, &["multipleOf"]);
        let mut number = Number::default();
        for clause in &place.clauses {
            let edge = match clause.keyword {
                "minimum" | "maximum" => Edge::Inclusive,
                "exclusiveMinimum" | "exclusiveMaximum" => Edge::Exclusive,
                _ => continue,
            };
            let exact = clause.value.as_number().filter(|number| is_exact(number));
            let Some(value) = exact.and_then(serde_json::Number::as_f64) else {
                self.lose(clause);
                continue;
            };
            let bound = Bound { value, edge };
            if clause.keyword.ends_with("inimum") {
                number.min = Some(tighter(number.min, bound, |new, old| new > old));
            } else {
                number.max = Some(tighter(number.max, bound, |new, old| new < old));
            }
        }
        if let (Some(min), Some(max)) = (number.min, number.max)
            && (min.value > max.value)
        {
            return None;
        }
        if number == Number::default() {
            return Some(Type::Number);
        }
        Some(self.hoist(Form::Number(number), name, into, place))
    }
}

fn tighter(before: Option<Bound>, new: Bound, is_beyond: impl Fn(f64, f64) -> bool) -> Bound {
    match before {
        Some(old) if is_beyond(old.value, new.value) => old,
        Some(old) if !is_beyond(new.value, old.value) && old.edge == Edge::Exclusive => old,
        _ => new,
    }
}

/// How a bound meets the integers of 64 bits.
enum Reach {
    /// It is one of them.
    Within(i64),
    /// It leaves all of them.
    Everything,
    /// It leaves none of them.
    Nothing,
}

/// Returns the least integer that the clause allows.
fn lowest(clause: &Clause<'_>) -> Option<Reach> {
    let number = clause.value.as_number()?;
    let is_exclusive = clause.keyword == "exclusiveMinimum";
    if let Some(bound) = whole(number) {
        let least = if is_exclusive { bound.checked_add(1) } else { Some(bound) };
        return Some(least.map_or(Reach::Nothing, Reach::Within));
    }
    let above = number.as_f64()?.ceil();
    Some(rounded(above, if above > 0.0 { Reach::Nothing } else { Reach::Everything }))
}

/// Returns the greatest integer that the clause allows.
fn highest(clause: &Clause<'_>) -> Option<Reach> {
    let number = clause.value.as_number()?;
    let is_exclusive = clause.keyword == "exclusiveMaximum";
    if let Some(bound) = whole(number) {
        let most = if is_exclusive { bound.checked_sub(1) } else { Some(bound) };
        return Some(most.map_or(Reach::Nothing, Reach::Within));
    }
    let below = number.as_f64()?.floor();
    Some(rounded(below, if below < 0.0 { Reach::Nothing } else { Reach::Everything }))
}

fn rounded(float: f64, otherwise: Reach) -> Reach {
    let whole = Value::from(float).as_number().and_then(whole);
    whole.map_or(otherwise, Reach::Within)
}
