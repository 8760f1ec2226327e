//! A bound on what canonicalisation would cost, computed in one pass over the schema.
//!
//! Canonicalisation brings a schema into alternatives of conjunctions. `allOf` and everything else
//! that stands side by side multiplies the alternatives, `anyOf` adds them; comparing them pairwise
//! costs their number times their size. Alternatives of a value's parts count on their own, until
//! several schemas side by side constrain equal parts. Values and names that are listed are no
//! alternatives, but each may be tried with every pattern.

use serde_json::Value;

use crate::contract::compile::count_patterns;
use crate::contract::cycle::post_order;
use crate::contract::references::References;
use crate::contract::subschemas::{Site, SiteId, Subschemas};

/// How many subschemas are looked at; 10,000 take 60 ms.
const SUBSCHEMA_LIMIT: usize = 20_000;

/// How many schemas in a row canonicalisation may recurse into.
const CHAIN_LIMIT: usize = 4_000;

/// How much work may be expected, in units of about two microseconds.
pub(crate) const WORK_LIMIT: u64 = 300_000;

/// Above this number of alternatives canonicalisation no longer compares them pairwise.
const COMPARED: u64 = 256;

/// How many names are tried with a pattern in one unit: a match takes a twentieth of it, but a name
/// that matches has its schemas joined as well.
const MATCHES_PER_UNIT: u64 = 5;

/// Keywords that list values or names.
const LISTING: [&str; 6] =
    ["enum", "const", "required", "properties", "dependentRequired", "dependencies"];

/// The alternatives of one schema.
#[derive(Clone, Copy)]
struct Shape {
    alternatives: u64,
    /// How many keywords they hold together.
    size: u64,
    /// The alternatives of the part that has most.
    inside: u64,
}

impl Shape {
    const NONE: Self = Self { alternatives: 0, size: 0, inside: 1 };
    const ANYTHING: Self = Self { alternatives: 1, size: 0, inside: 1 };

    fn or(self, other: Self) -> Self {
        Self {
            alternatives: self.alternatives.saturating_add(other.alternatives),
            size: self.size.saturating_add(other.size),
            inside: self.inside.max(other.inside),
        }
    }

    fn and(self, other: Self) -> Self {
        let (left, right) = (self.alternatives.max(1), other.alternatives.max(1));
        Self {
            alternatives: left.saturating_mul(right),
            size: self.size.saturating_mul(right).saturating_add(other.size.saturating_mul(left)),
            inside: self.inside.saturating_mul(other.inside),
        }
    }

    fn work(self) -> u64 {
        let compared = if self.alternatives > COMPARED { 1 } else { self.alternatives };
        self.size.saturating_mul(compared).saturating_add(self.inside)
    }
}

/// What canonicalisation of one schema would cost.
#[derive(Clone, Copy)]
pub(crate) struct Estimate {
    root: Shape,
    /// In units of about two microseconds.
    pub(crate) work: u64,
    /// How many values and names it lists.
    listed: u64,
    patterns: u64,
}

impl Estimate {
    /// Returns what comparing both would cost.
    pub(crate) fn against(self, other: Self) -> u64 {
        let product = self.root.and(other.root).work();
        let tried = tries(self.listed + other.listed, self.patterns + other.patterns);
        product.saturating_add(tried).saturating_add(self.work).saturating_add(other.work)
    }
}

/// Returns why canonicalisation should not start, if so.
pub(crate) fn excess(subschemas: &Subschemas<'_>, references: &References) -> Option<String> {
    estimate(subschemas, references).err()
}

/// Returns what canonicalisation would cost, or why it should not start.
pub(crate) fn estimate(
    subschemas: &Subschemas<'_>,
    references: &References,
) -> Result<Estimate, String> {
    if subschemas.len() > SUBSCHEMA_LIMIT {
        return Err(format!("the contract has more than {SUBSCHEMA_LIMIT} subschemas"));
    }
    if longest_chain(subschemas, references) > CHAIN_LIMIT {
        return Err(format!("more than {CHAIN_LIMIT} schemas may nest through references"));
    }
    let edges = |id: SiteId| {
        let children = subschemas.get(id).map(|site| site.children.clone()).unwrap_or_default();
        children.into_iter().chain(references.of(id).iter().copied()).collect()
    };
    let listed = count_listed(subschemas);
    let patterns = u64::try_from(count_patterns(subschemas)).unwrap_or(u64::MAX);
    let mut work = tries(listed, patterns);
    if work > WORK_LIMIT {
        return Err("what it lists is too much to try with each of its patterns".to_owned());
    }
    let mut shapes = vec![Shape::ANYTHING; subschemas.len()];
    for id in post_order(subschemas.len(), edges, |_| {}) {
        let (shape, extra) = shape_of(subschemas, references, &shapes, id);
        work = work.saturating_add(shape.work()).saturating_add(extra);
        if work > WORK_LIMIT {
            return Err("its alternatives multiply to too many".to_owned());
        }
        if let Some(slot) = shapes.get_mut(id) {
            *slot = shape;
        }
    }
    let root = shapes.first().copied().unwrap_or(Shape::ANYTHING);
    Ok(Estimate { root, work, listed, patterns })
}

/// Returns what it costs to try everything that is listed with every pattern.
fn tries(listed: u64, patterns: u64) -> u64 {
    listed.saturating_mul(patterns) / MATCHES_PER_UNIT
}

/// Counts the values and names that a schema lists.
fn count_listed(subschemas: &Subschemas<'_>) -> u64 {
    let asking = subschemas.iter().filter_map(|(_, site)| site.members());
    let lists =
        asking.flat_map(|members| LISTING.iter().filter_map(move |name| members.get(*name)));
    let count = lists.map(|list| match list {
        Value::Array(values) => values.len(),
        Value::Object(members) => members.len(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    });
    u64::try_from(count.sum::<usize>()).unwrap_or(u64::MAX)
}

/// Bounds how deep a walk that enters each referenced schema once can get.
fn longest_chain(subschemas: &Subschemas<'_>, references: &References) -> usize {
    let mut heights = vec![1_usize; subschemas.len()];
    // Parents come before children.
    for id in (0..subschemas.len()).rev() {
        let Some(site) = subschemas.get(id) else { continue };
        let inner = site.children.iter().filter_map(|child| heights.get(*child)).max();
        let height = inner.copied().unwrap_or_default() + 1;
        if let Some(slot) = heights.get_mut(id) {
            *slot = height;
        }
    }
    let targets = references.distinct_targets();
    let height = |id: &SiteId| heights.get(*id).copied().unwrap_or_default();
    height(&0) + targets.iter().map(height).sum::<usize>()
}

/// Returns the shape of one schema, given those of its children, and what `oneOf` adds in work.
fn shape_of(
    subschemas: &Subschemas<'_>,
    references: &References,
    shapes: &[Shape],
    id: SiteId,
) -> (Shape, u64) {
    let Some(site) = subschemas.get(id) else { return (Shape::ANYTHING, 0) };
    let shape = |id: &SiteId| shapes.get(*id).copied().unwrap_or(Shape::ANYTHING);
    let keywords = site.members().map_or(0, serde_json::Map::len);
    let mut whole = Shape { size: u64::try_from(keywords).unwrap_or(u64::MAX), ..Shape::ANYTHING };
    for target in references.of(id) {
        whole = whole.and(shape(target));
    }
    let (mut any, mut one, mut condition, mut inside) = (Shape::NONE, Shape::NONE, Shape::NONE, 1);
    for child in &site.children {
        let inner = shape(child);
        match subschemas.get(*child).and_then(Site::held_by) {
            Some("anyOf") => any = any.or(inner),
            Some("oneOf") => one = one.or(inner),
            Some("then" | "else") => condition = condition.or(inner),
            // Either the condition fails or the schema holds.
            Some("dependentSchemas" | "dependencies") => {
                whole = whole.and(inner.or(Shape::ANYTHING));
            }
            Some("allOf" | "not" | "if") => whole = whole.and(inner),
            Some("$defs" | "definitions" | "contentSchema") => {}
            Some(_) | None => inside = inner.alternatives.max(inner.inside).max(inside),
        }
    }
    if condition.alternatives == 1 {
        condition = condition.or(Shape::ANYTHING);
    }
    let parts = Shape { inside, ..Shape::ANYTHING };
    let exclusive = one.alternatives.saturating_mul(one.alternatives);
    (whole.and(any).and(one).and(condition).and(parts), exclusive)
}
