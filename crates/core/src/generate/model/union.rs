//! Unions: `anyOf`, `oneOf`, and several kinds in one place.

use super::build::{Builder, Exclusive, inner_name, kind_name, types};
use super::{Form, Id, Type, Union, Variant};
use crate::generate::name::{self, Names};
use crate::lower::original::{Clause, Place, is_constraint};

impl<'c> Builder<'c> {
    /// Reads a place with a union: what stands beside it holds in each alternative.
    pub(super) fn union(
        &mut self,
        place: &Place<'c>,
        union: &Clause<'c>,
        name: &str,
        into: Option<Id>,
    ) -> Option<Type> {
        let is_shared = |clause: &&Clause<'c>| {
            is_constraint(clause.keyword) && !std::ptr::eq(clause.value, union.value)
        };
        let clauses: Vec<Clause<'c>> = place.clauses.iter().filter(is_shared).cloned().collect();
        let shared = Place { clauses, never: None };
        let branches: Vec<Place<'c>> = union
            .branches()
            .map(|(at, branch)| self.alternative(&shared, self.original.place(branch, &at)))
            .collect();
        let is_null = |place: &&Place<'c>| types(place).as_deref() == Some(&["null"]);
        let several = branches.iter().filter(|place| !is_null(place)).count() > 1;
        let mut found = Vec::new();
        for branch in &branches {
            let suffix = self.suffix(branch);
            let wished = inner_name(name, several.then_some(suffix.as_str()), into);
            found.extend(self.place(branch, &wished, None).map(|of| (suffix, of)));
        }
        if union.keyword == "oneOf" {
            let alternatives = found.iter().map(|(_, of)| of.clone()).collect();
            self.exclusive.push(Exclusive { at: union.at.clone(), alternatives });
        }
        self.combine(found, place, name, into)
    }

    /// Returns all that holds in one alternative.
    ///
    /// A type that the alternative has anyway is not repeated, so that a reference stays one.
    fn alternative(&self, shared: &Place<'c>, branch: Place<'c>) -> Place<'c> {
        let adds_nothing = shared.clauses.iter().all(|clause| clause.keyword == "type") && {
            let own = types(&self.original.expand(&branch));
            types(shared).is_none_or(|allowed| {
                own.is_some_and(|own| own.iter().all(|kind| allowed.contains(kind)))
            })
        };
        if adds_nothing {
            return branch;
        }
        let mut both = shared.clone();
        both.and(branch);
        both
    }

    /// Returns what an alternative is called: the word that marks it, its title, its definition, or its
    /// kind.
    fn suffix(&self, place: &Place<'c>) -> String {
        let target = place.all("$ref").find_map(|clause| {
            let (target, _) = self.original.follow(clause.value.as_str()?)?;
            target.segments().last()
        });
        let expanded = self.original.expand(place);
        let marked = expanded.all("properties").find_map(|clause| {
            clause.value.as_object()?.values().find_map(|member| member.get("const")?.as_str())
        });
        let title = || expanded.all("title").find_map(|clause| clause.value.as_str());
        if let Some(word) =
            marked.map(str::to_owned).or(target).or_else(|| title().map(str::to_owned))
        {
            return name::pascal(&word);
        }
        let kind = types(&expanded).and_then(|types| types.first().copied());
        kind_name(kind.unwrap_or("object")).to_owned()
    }

    /// Makes one type of several.
    pub(super) fn combine(
        &mut self,
        found: Vec<(String, Type)>,
        place: &Place<'c>,
        name: &str,
        into: Option<Id>,
    ) -> Option<Type> {
        if found.is_empty() {
            return None;
        }
        if found.iter().any(|(_, of)| *of == Type::Any) {
            return Some(Type::Any);
        }
        let has_number = found.iter().any(|(_, of)| *of == Type::Number);
        let mut has_null = false;
        let mut names = Names::without(["Self"]);
        let mut variants: Vec<Variant> = Vec::new();
        for (suffix, of) in found {
            has_null |= matches!(of, Type::Null | Type::Nullable(_));
            if of == Type::Null || (of == Type::Integer && has_number) {
                continue;
            }
            let of = if let Type::Nullable(inner) = of { *inner } else { of };
            if !variants.iter().any(|variant| variant.of == of) {
                variants.push(Variant { name: names.unique(&suffix), of });
            }
        }
        let mut variants = variants.into_iter();
        let of = match (variants.next(), variants.next()) {
            (None, _) => return Some(Type::Null),
            (Some(single), None) => single.of,
            (Some(first), Some(second)) => {
                let variants = [first, second].into_iter().chain(variants).collect();
                let form = Form::Union(Union { variants, tag: None });
                // What waits for a type that may be `null` cannot be the type without it.
                let name = inner_name(name, None, into.filter(|_| has_null));
                self.hoist(form, &name, into.filter(|_| !has_null), place)
            }
        };
        Some(if has_null { of.or_null() } else { of })
    }
}
