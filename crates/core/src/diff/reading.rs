//! One of the two contracts, as its subschemas and where their references lead.

use std::collections::HashMap;

use serde_json::Value;

use crate::contract::{
    Contract, GROUNDED, Judges, Keyword, RULES, References, SiteId, Slot, Subschemas,
};
use crate::json::Pointer;

/// How many references in a row are followed; preflight refuses circles.
const CHAIN_LIMIT: usize = 64;

/// References whose target depends on the way to them.
const DYNAMIC: [&str; 2] = ["$dynamicRef", "$recursiveRef"];

/// Keywords that see what others leave over.
pub(super) const UNEVALUATED: [&str; 2] = ["unevaluatedItems", "unevaluatedProperties"];

/// A contract's schema, taken apart.
pub(super) struct Reading<'c> {
    pub(super) contract: &'c Contract,
    pub(super) subschemas: Subschemas<'c>,
    pub(super) references: References,
    /// Whether its parts mean the same wherever they stand.
    pub(super) clarity: Clarity,
}

/// Whether the parts of a schema can be judged apart from the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clarity {
    /// They can.
    Plain,
    /// References depend on the way to them, lead to other documents, or drafts are mixed.
    Obscure,
}

/// A subschema within another one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Child<'c> {
    pub(super) keyword: &'static str,
    pub(super) slot: Slot<'c>,
    pub(super) id: SiteId,
}

impl<'c> Reading<'c> {
    /// Takes the schema of `contract` apart.
    pub(super) fn of(contract: &'c Contract) -> Self {
        let mut subschemas = Subschemas::of(contract.schema(), contract.draft());
        let mut flaws = Vec::new();
        let references = References::resolve(&mut subschemas, HashMap::new(), &mut flaws);
        let is_uniform = subschemas.iter().all(|(_, site)| {
            site.draft == contract.draft() && DYNAMIC.iter().all(|it| site.keyword(it).is_none())
        });
        let is_plain = flaws.is_empty() && is_uniform;
        let clarity = if is_plain { Clarity::Plain } else { Clarity::Obscure };
        Self { contract, subschemas, references, clarity }
    }

    /// Returns the subschema's value.
    pub(super) fn value(&self, id: SiteId) -> Option<&'c Value> {
        self.subschemas.get(id).map(|site| site.value)
    }

    /// Returns the subschema's value for `keyword`, if that counts here.
    pub(super) fn keyword(&self, id: SiteId, keyword: &str) -> Option<&'c Value> {
        self.keywords(id).into_iter().find(|(name, _)| *name == keyword).map(|(_, value)| value)
    }

    /// Returns the keywords of a subschema that count: where `$ref` stands alone, only that.
    pub(super) fn keywords(&self, id: SiteId) -> Vec<(&'c str, &'c Value)> {
        let Some(site) = self.subschemas.get(id) else { return Vec::new() };
        let members = site.members().into_iter().flatten();
        let all = members.map(|(name, value)| (name.as_str(), value));
        if site.is_only_reference() {
            return all.filter(|(name, _)| *name == "$ref").collect();
        }
        all.collect()
    }

    /// Claims that `keyword` may reject a value here.
    pub(super) fn is_constraint(&self, keyword: &str) -> bool {
        let draft = self.contract.draft();
        let known = Keyword::named(keyword);
        known.is_some_and(|known| known.is_in(draft) && known.is_constraint())
            || [RULES, GROUNDED].contains(&keyword)
    }

    /// Returns the subschemas directly within `id` that judge something.
    pub(super) fn children(&self, id: SiteId) -> Vec<Child<'c>> {
        let Some(site) = self.subschemas.get(id).filter(|site| !site.is_only_reference()) else {
            return Vec::new();
        };
        let of = |id: &SiteId| {
            let child = self.subschemas.get(*id).filter(|it| it.judges() != Judges::Nothing)?;
            let (keyword, slot) = child.slot()?;
            Some(Child { keyword, slot, id: *id })
        };
        site.children.iter().filter_map(of).collect()
    }

    /// Returns where the `$ref` of a subschema leads.
    pub(super) fn target(&self, id: SiteId) -> Option<SiteId> {
        self.keyword(id, "$ref")?;
        self.references.of(id).first().copied()
    }

    /// Follows references from `id` as long as they are all that is asked.
    pub(super) fn followed(&self, id: SiteId) -> SiteId {
        let mut at = id;
        for _ in 0..CHAIN_LIMIT {
            let mut asked = self.keywords(at).into_iter().filter(|(it, _)| self.is_constraint(it));
            let (Some(("$ref", _)), None) = (asked.next(), asked.next()) else { break };
            let Some(target) = self.target(at) else { break };
            at = target;
        }
        at
    }

    /// Returns where the subschema is in the schema.
    pub(super) fn pointer(&self, id: SiteId) -> Pointer {
        self.subschemas.pointer(id)
    }
}
