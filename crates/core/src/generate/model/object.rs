//! Objects: members that are known, and what may stand beside them.

use super::build::{Builder, description};
use super::{Form, Id, Member, Object, Presence, Rest, Type};
use crate::generate::name;
use crate::lower::members::Members;
use crate::lower::original::Place;

/// What is said of objects and is in no type.
const LOST: [&str; 8] = [
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "unevaluatedProperties",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
];

impl<'c> Builder<'c> {
    pub(super) fn object(
        &mut self,
        place: &Place<'c>,
        name: &str,
        into: Option<Id>,
    ) -> Option<Type> {
        self.lose_every(place, &LOST);
        let members = Members::of(place);
        let patterned = members.facets.iter().filter(|facet| facet.patterns.is_some());
        for clause in patterned.filter_map(|facet| facet.extras) {
            self.lose(clause);
        }
        if members.keys.is_empty() {
            return match self.rest(&members, name) {
                Rest::Open => Some(Type::Map(Box::new(Type::Any))),
                Rest::Typed(of) => Some(Type::Map(Box::new(of))),
                Rest::Closed => {
                    let empty = Object { members: Vec::new(), rest: Rest::Closed };
                    Some(self.hoist(Form::Object(empty), name, into, place))
                }
            };
        }
        let id = into.unwrap_or_else(|| self.reserve(name, place));
        let name = self.slots.get(id.0).map(|slot| slot.name.clone()).unwrap_or_default();
        let mut known = Vec::new();
        let mut impossible = Vec::new();
        for key in &members.keys {
            let (child, _) = members.child(&self.original, key);
            let is_required = members.required.contains(key);
            let presence = if is_required { Presence::Required } else { Presence::Optional };
            match self.place(&child, &name::inside(&name, key), None) {
                Some(of) => {
                    // A type with a name of its own says elsewhere what it is.
                    let described = self.original.expand(&child);
                    let description = description(&child).or_else(|| description(&described));
                    known.push(Member { key: (*key).to_owned(), presence, of, description });
                }
                None if is_required => return None,
                None => impossible.push(child),
            }
        }
        let rest = self.rest(&members, &name);
        if rest != Rest::Closed {
            for child in impossible {
                self.lose_all(&self.original.expand(&child));
            }
        }
        self.fill(id, Form::Object(Object { members: known, rest }));
        Some(Type::Named(id))
    }

    fn rest(&mut self, members: &Members<'_, 'c>, name: &str) -> Rest {
        let Some(place) = members.rest(&self.original) else {
            return Rest::Open;
        };
        match self.place(&place, &name::inside(name, "Value"), None) {
            None => Rest::Closed,
            Some(Type::Any) => Rest::Open,
            Some(of) => Rest::Typed(of),
        }
    }
}
