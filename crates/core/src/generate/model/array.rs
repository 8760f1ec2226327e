//! Arrays: lists, and tuples where the length is fixed.

use super::build::Builder;
use super::{Form, Id, List, Type};
use crate::generate::name;
use crate::lower::items::Items;
use crate::lower::original::Place;

/// How many positions a tuple may have: languages and readers have their limits.
const TUPLE_LIMIT: u64 = 12;

impl<'c> Builder<'c> {
    pub(super) fn array(
        &mut self,
        place: &Place<'c>,
        name: &str,
        into: Option<Id>,
    ) -> Option<Type> {
        self.lose_every(place, &["contains", "uniqueItems", "unevaluatedItems"]);
        let items = Items::of(place, self.original.draft);
        let mut list = List {
            items: Type::Any,
            min: self.at_least(place, "minItems"),
            max: self.at_most(place, "maxItems"),
        };
        if items.positions() > 0 {
            let ends = items.item(&self.original, items.positions()).never.is_some();
            let positions = items.positions() as u64;
            let most = if ends {
                Some(list.max.map_or(positions, |max| max.min(positions)))
            } else {
                list.max
            };
            if most == Some(list.min) && (1..=TUPLE_LIMIT).contains(&list.min) {
                return self.tuple(&items, list.min, place, (name, into));
            }
            for clause in items.clauses() {
                self.lose(clause);
            }
        } else {
            match self.place(&items.item(&self.original, 0), &name::inside(name, "Item"), None) {
                Some(of) => list.items = of,
                None => list.max = Some(0),
            }
        }
        if list.max.is_some_and(|max| max < list.min) {
            return None;
        }
        if list.min == 0 && list.max.is_none() {
            return Some(Type::List(Box::new(list.items)));
        }
        Some(self.hoist(Form::List(list), name, into, place))
    }

    fn tuple(
        &mut self,
        items: &Items<'_, 'c>,
        length: u64,
        place: &Place<'c>,
        (name, into): (&str, Option<Id>),
    ) -> Option<Type> {
        let mut found = Vec::new();
        for index in 0..usize::try_from(length).unwrap_or_default() {
            let wished = name::inside(name, &format!("Item{}", index + 1));
            found.push(self.place(&items.item(&self.original, index), &wished, None)?);
        }
        let form = match found.as_slice() {
            // One item in a tuple is written like no tuple in some languages.
            [single] => Form::List(List { items: single.clone(), min: 1, max: Some(1) }),
            _ => Form::Tuple(found),
        };
        Some(self.hoist(form, name, into, place))
    }
}
