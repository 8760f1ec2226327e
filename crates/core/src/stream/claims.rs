//! Which shapes the open values must still have, and what follows when one cannot.
//!
//! A [`Claim`] says that an open value has a shape. Claims depend on each other: all of `allOf`,
//! one of `anyOf`, the members for their object. One that falls takes with it those that need it;
//! when the contract's own claim falls, no completion can conform.

use std::ops::Range;

use super::lexicon::Candidates;
use super::plan::{Alternatives, Breach, Plan, ShapeId};
use crate::json::Kind;

/// How many claims there may be on one value; shapes beyond count as had.
///
/// Chains of `anyOf` references multiply without it. Each value costs at most its square.
const CLAIM_LIMIT: usize = 128;

/// A claim's place; the contract's own is the first.
pub(super) type ClaimId = usize;

/// The claim that some completion conforms.
pub(super) const CONTRACT: ClaimId = 0;

#[derive(Debug)]
struct Claim {
    shape: ShapeId,
    has_fallen: bool,
    /// The words that the string or key being read can still become.
    candidates: Candidates,
}

/// `parent` needs `child`: alone, or as one of a group.
#[derive(Debug)]
struct Link {
    child: ClaimId,
    parent: ClaimId,
    group: Option<usize>,
}

/// Alternatives of which one must stand.
#[derive(Debug)]
struct Group {
    keyword: &'static str,
    standing: usize,
}

/// Where the claims on one open value start.
#[derive(Debug)]
struct Level {
    claims: usize,
    links: usize,
    groups: usize,
}

/// Why no completion can conform.
#[derive(Debug)]
pub(super) struct Fall {
    /// The shape that was broken last.
    pub(super) shape: ShapeId,
    pub(super) breach: Breach,
    /// How many values enclose the one that broke it.
    pub(super) depth: usize,
    /// The outermost alternatives that ran out with it, and the depth of their value.
    pub(super) alternatives: Option<(usize, &'static str)>,
}

/// What became of a demand on a value.
enum Demand {
    /// Every value meets it.
    Free,
    /// This claim stands for it.
    Claimed(ClaimId),
    /// This value cannot meet it.
    Unmet(Breach),
}

/// The claims on all open values.
#[derive(Debug)]
pub(super) struct Claims {
    all: Vec<Claim>,
    links: Vec<Link>,
    groups: Vec<Group>,
    levels: Vec<Level>,
}

impl Claims {
    pub(super) fn new() -> Self {
        let contract = Claim { shape: ShapeId::ANYTHING, has_fallen: false, candidates: 0..0 };
        Self { all: vec![contract], links: Vec::new(), groups: Vec::new(), levels: Vec::new() }
    }

    /// Begins a value of which `demands` say who needs it to have which shape.
    pub(super) fn open(
        &mut self,
        plan: &Plan,
        kind: Kind,
        demands: &[(ClaimId, ShapeId)],
    ) -> Result<(), Fall> {
        let first = self.all.len();
        let (links, groups) = (self.links.len(), self.groups.len());
        self.levels.push(Level { claims: first, links, groups });
        for (parent, shape) in demands {
            self.require(plan, kind, *parent, *shape)?;
        }
        let mut next = first;
        while next < self.all.len() {
            self.unfold(plan, kind, next)?;
            next += 1;
        }
        Ok(())
    }

    /// Ends the innermost value.
    pub(super) fn close(&mut self) {
        if let Some(level) = self.levels.pop() {
            self.all.truncate(level.claims);
            self.links.truncate(level.links);
            self.groups.truncate(level.groups);
        }
    }

    /// Returns the places of the claims on the innermost value.
    pub(super) fn innermost(&self) -> Range<ClaimId> {
        self.levels.last().map_or(0, |level| level.claims)..self.all.len()
    }

    /// Returns the shape that a standing claim is about.
    pub(super) fn standing(&self, claim: ClaimId) -> Option<ShapeId> {
        self.all.get(claim).filter(|claim| !claim.has_fallen).map(|claim| claim.shape)
    }

    pub(super) fn candidates(&self, claim: ClaimId) -> Candidates {
        self.all.get(claim).map_or(0..0, |claim| claim.candidates.clone())
    }

    pub(super) fn set_candidates(&mut self, claim: ClaimId, candidates: Candidates) {
        if let Some(claim) = self.all.get_mut(claim) {
            claim.candidates = candidates;
        }
    }

    /// Lets a claim on the innermost value fall because its shape is broken.
    pub(super) fn refute(&mut self, claim: ClaimId, breach: Breach) -> Result<(), Fall> {
        let shape = self.all.get(claim).map_or(ShapeId::ANYTHING, |claim| claim.shape);
        self.fell(claim, shape, breach)
    }

    /// Lets `claim` fall because the innermost value breaks `shape`.
    fn fell(&mut self, claim: ClaimId, shape: ShapeId, breach: Breach) -> Result<(), Fall> {
        let innermost = self.levels.len().saturating_sub(1);
        let mut falling = vec![(claim, innermost, None)];
        while let Some((claim, depth, alternatives)) = falling.pop() {
            if claim == CONTRACT {
                return Err(Fall { shape, breach, depth: innermost, alternatives });
            }
            let Some(level) = self.levels.get(depth) else {
                continue;
            };
            // A claim of the enclosing value has its links there.
            if claim < level.claims {
                falling.push((claim, depth.saturating_sub(1), alternatives));
                continue;
            }
            let Some(fallen) = self.all.get_mut(claim).filter(|claim| !claim.has_fallen) else {
                continue;
            };
            fallen.has_fallen = true;
            let end = self.levels.get(depth + 1).map_or(self.links.len(), |inner| inner.links);
            let links = self.links.get(level.links..end).unwrap_or_default();
            for link in links.iter().filter(|link| link.child == claim) {
                let Some(group) = link.group.and_then(|group| self.groups.get_mut(group)) else {
                    falling.push((link.parent, depth, alternatives));
                    continue;
                };
                group.standing -= 1;
                if group.standing == 0 {
                    falling.push((link.parent, depth, Some((depth, group.keyword))));
                }
            }
        }
        Ok(())
    }

    fn require(
        &mut self,
        plan: &Plan,
        kind: Kind,
        parent: ClaimId,
        shape: ShapeId,
    ) -> Result<(), Fall> {
        match self.demand(plan, kind, shape) {
            Demand::Free => Ok(()),
            Demand::Claimed(child) => {
                self.links.push(Link { child, parent, group: None });
                Ok(())
            }
            Demand::Unmet(breach) => self.fell(parent, shape, breach),
        }
    }

    /// Claims what a claim's shape demands of the same value.
    fn unfold(&mut self, plan: &Plan, kind: Kind, claim: ClaimId) -> Result<(), Fall> {
        let Some(shape) = self.standing(claim) else {
            return Ok(());
        };
        for needed in &plan.shape(shape).all {
            self.require(plan, kind, claim, *needed)?;
        }
        for alternatives in &plan.shape(shape).any {
            if self.standing(claim).is_some() {
                self.require_one(plan, kind, claim, alternatives)?;
            }
        }
        Ok(())
    }

    fn require_one(
        &mut self,
        plan: &Plan,
        kind: Kind,
        claim: ClaimId,
        alternatives: &Alternatives,
    ) -> Result<(), Fall> {
        let group = self.groups.len();
        let mut standing = 0;
        for shape in &alternatives.shapes {
            match self.demand(plan, kind, *shape) {
                // Counted and never lost.
                Demand::Free => standing += 1,
                Demand::Claimed(child) => {
                    self.links.push(Link { child, parent: claim, group: Some(group) });
                    standing += 1;
                }
                Demand::Unmet(_) => {}
            }
        }
        let keyword = alternatives.keyword;
        self.groups.push(Group { keyword, standing });
        if standing == 0 {
            return self.refute(claim, Breach::NoAlternative(keyword));
        }
        Ok(())
    }

    fn demand(&mut self, plan: &Plan, kind: Kind, id: ShapeId) -> Demand {
        let shape = plan.shape(id);
        if !shape.admits(kind) {
            return Demand::Unmet(Breach::Kind);
        }
        let on_value = self.innermost();
        let mut claims = self.all.get(on_value.clone()).unwrap_or_default().iter();
        if let Some(place) = claims.position(|claim| claim.shape == id) {
            let claim = on_value.start + place;
            // Two schemas may need the same one, and it may have been found unmet for the first.
            return match self.standing(claim) {
                Some(_) => Demand::Claimed(claim),
                None => Demand::Unmet(Breach::Kind),
            };
        }
        if shape.is_free() || on_value.len() >= CLAIM_LIMIT {
            return Demand::Free;
        }
        self.all.push(Claim { shape: id, has_fallen: false, candidates: 0..0 });
        Demand::Claimed(self.all.len() - 1)
    }
}
