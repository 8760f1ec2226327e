//! References that come back to themselves on the same value, and how much work one value costs.
//!
//! Recursion through `properties` or `items` is fine: each round steps into a smaller value. A
//! round that stays on the same value never ends.

use serde_json::Value;

use super::diagnostic::Diagnostic;
use super::references::References;
use super::source::FINDING_LIMIT;
use super::subschemas::{Site, SiteId, Slot, Subschemas};
use crate::json::Pointer;

/// How many schemas may apply to one value inside of each other. Judging takes half a kilobyte of
/// stack for each, at each of 128 levels of a value: 4 MiB in all.
const NESTING_LIMIT: u64 = 64;

/// How many schemas may apply to a value whose evaluated parts must be known: finding those takes
/// time proportional to it already when compiling.
const UNEVALUATED_LIMIT: u64 = 10_000;

/// How many schemas may apply to a name: a name is judged without the meter of its document.
const NAME_LIMIT: u64 = 64;

/// How many schemas apply to one value, at worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Expansion {
    /// All of them, counted as often as they apply; saturates.
    pub schemas: u64,
    /// The longest chain of one inside of another.
    pub nesting: u64,
}

/// Measures every subschema, and reports those that cannot be judged within bounds.
pub(super) fn measure(
    subschemas: &Subschemas<'_>,
    references: &References,
    findings: &mut Vec<Diagnostic>,
) -> Expansion {
    let in_place = |id: SiteId| in_place_edges(subschemas, references, id);
    let mut cycles = 0;
    let order = post_order(subschemas.len(), in_place, |cycle| {
        cycles += 1;
        if cycles <= FINDING_LIMIT {
            findings.push(endless(subschemas, cycle));
        }
    });
    let mut expansions = vec![Expansion::default(); subschemas.len()];
    let mut worst = Expansion::default();
    let mut too_costly = Vec::new();
    for id in order {
        let mut own = Expansion { schemas: 1, nesting: 1 };
        for edge in in_place(id) {
            // An edge that closes a cycle leads to what is not measured yet, and is refused anyway.
            let inner = expansions.get(edge).copied().unwrap_or_default();
            own.schemas = own.schemas.saturating_add(inner.schemas);
            own.nesting = own.nesting.max(inner.nesting.saturating_add(1));
        }
        if let Some(slot) = expansions.get_mut(id) {
            *slot = own;
        }
        let limit = subschemas.get(id).and_then(limit_of);
        too_costly.extend(limit.filter(|(limit, _)| own.schemas > *limit).map(|it| (id, it)));
        worst.schemas = worst.schemas.max(own.schemas);
        worst.nesting = worst.nesting.max(own.nesting);
    }
    findings.extend(too_costly.into_iter().take(FINDING_LIMIT).map(|(id, (limit, keyword))| {
        let message =
            format!("more than {limit} schemas apply to one value here, too many for `{keyword}`");
        Diagnostic::error(subschemas.pointer(id), "too_many_branches", message)
    }));
    if worst.nesting > NESTING_LIMIT {
        let message = format!(
            "{} schemas apply to one value inside of each other, over the limit of {NESTING_LIMIT}",
            worst.nesting
        );
        findings.push(Diagnostic::error(Pointer::root(), "too_deep", message));
    }
    worst
}

/// Returns how many schemas may apply to a value that `site` judges, and the keyword that limits it.
fn limit_of(site: &Site<'_>) -> Option<(u64, &'static str)> {
    if site.held_by() == Some("propertyNames") {
        return Some((NAME_LIMIT, "propertyNames"));
    }
    let tracking = ["unevaluatedProperties", "unevaluatedItems"];
    let keyword = tracking.into_iter().find(|keyword| site.keyword(keyword).is_some())?;
    Some((UNEVALUATED_LIMIT, keyword))
}

/// Returns the schemas that judge the same value as `id` does.
fn in_place_edges(subschemas: &Subschemas<'_>, references: &References, id: SiteId) -> Vec<SiteId> {
    references.of(id).iter().copied().chain(subschemas.branches(id)).collect()
}

/// A node on the current path, and the edges that are still to follow.
pub(super) type Frame = (SiteId, std::vec::IntoIter<SiteId>);

/// Returns all nodes, each after those that its edges lead to; edges that close a cycle are
/// reported with the path between their ends. Iterates, since paths may be as long as the schema.
pub(super) fn post_order(
    count: usize,
    edges: impl Fn(SiteId) -> Vec<SiteId>,
    mut on_cycle: impl FnMut(&[Frame]),
) -> Vec<SiteId> {
    #[derive(Clone, Copy)]
    enum State {
        New,
        /// On the path, at this position.
        Open(usize),
        Done,
    }
    let mut states = vec![State::New; count];
    let mut order = Vec::with_capacity(count);
    let mut path: Vec<Frame> = Vec::new();
    for start in 0..count {
        let mut next = Some(start);
        loop {
            if let Some(id) = next.take() {
                match states.get(id) {
                    Some(State::New) => {
                        if let Some(state) = states.get_mut(id) {
                            *state = State::Open(path.len());
                        }
                        path.push((id, edges(id).into_iter()));
                    }
                    Some(State::Open(from)) => on_cycle(path.get(*from..).unwrap_or_default()),
                    Some(State::Done) | None => {}
                }
            }
            let Some((id, rest)) = path.last_mut() else { break };
            next = rest.next();
            if next.is_none() {
                if let Some(state) = states.get_mut(*id) {
                    *state = State::Done;
                }
                order.push(*id);
                path.pop();
            }
        }
    }
    order
}

fn endless(subschemas: &Subschemas<'_>, cycle: &[Frame]) -> Diagnostic {
    let (start, path) = path(subschemas, cycle);
    let message = format!("judging a value here leads back here without an end: {path}");
    Diagnostic::error(start, "endless_reference", message)
        .with_hint("recurse through `properties` or `items`, or remove the reference")
}

/// Returns the first round of schemas in which each value has to hold the next one, and the root's the
/// first: where it begins, and its path.
pub(super) fn required_round(
    subschemas: &Subschemas<'_>,
    references: &References,
) -> Option<(Pointer, String)> {
    let edges = |id: SiteId| -> Vec<SiteId> {
        references.of(id).iter().copied().chain(required_parts(subschemas, id)).collect()
    };
    let (mut reached, mut next) = (vec![false; subschemas.len()], vec![0]);
    while let Some(id) = next.pop() {
        if let Some(is_reached @ false) = reached.get_mut(id) {
            *is_reached = true;
            next.extend(edges(id));
        }
    }
    let is_reached = |id: SiteId| reached.get(id).copied().unwrap_or_default();
    let mut round = None;
    let edges = |id| if is_reached(id) { edges(id) } else { Vec::new() };
    post_order(subschemas.len(), edges, |cycle| {
        round.get_or_insert_with(|| path(subschemas, cycle));
    });
    round
}

/// Returns the schemas of what every value of `id` holds, and those that apply beside it.
fn required_parts(subschemas: &Subschemas<'_>, id: SiteId) -> Vec<SiteId> {
    let Some(site) = subschemas.get(id) else { return Vec::new() };
    let is_always = |kind: &str| site.keyword("type").is_some_and(|value| value == kind);
    let required = site.keyword("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|it| it == name));
    let has_items = || site.keyword("minItems").and_then(Value::as_f64).is_some_and(|it| it >= 1.0);
    let is_part = |child: &SiteId| {
        let slot = subschemas.get(*child).and_then(Site::slot);
        slot.is_some_and(|(keyword, slot)| match (keyword, slot) {
            ("properties", Slot::Named(name)) => is_always("object") && is_required(name),
            ("items", Slot::Alone) => is_always("array") && has_items(),
            (keyword, _) => keyword == "allOf",
        })
    };
    site.children.iter().copied().filter(is_part).collect()
}

/// Returns where a round begins, and how it goes on.
fn path(subschemas: &Subschemas<'_>, cycle: &[Frame]) -> (Pointer, String) {
    /// As many steps as a person follows.
    const SHOWN: usize = 8;
    let pointer = |frame: &Frame| subschemas.pointer(frame.0);
    let start = cycle.first().map(pointer).unwrap_or_default();
    let mut steps: Vec<String> =
        cycle.iter().take(SHOWN).map(|it| pointer(it).to_string()).collect();
    if cycle.len() > SHOWN {
        steps.push(format!("{} more", cycle.len() - SHOWN));
    }
    steps.push(start.to_string());
    (start, steps.join(" → "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jsonschema::Draft;
    use serde_json::json;
    use std::collections::HashMap;
    use test_case::test_case;

    fn measured(schema: &Value) -> (Expansion, Vec<Diagnostic>) {
        let mut findings = Vec::new();
        let mut subschemas = Subschemas::of(schema, Draft::Draft202012);
        let references = References::resolve(&mut subschemas, HashMap::new(), &mut findings);
        let expansion = measure(&subschemas, &references, &mut findings);
        (expansion, findings)
    }

    #[test_case(&json!({"$ref": "#"}), "(root) → (root)"; "itself")]
    #[test_case(&json!({"anyOf": [{"$ref": "#"}]}), "(root) → /anyOf/0 → (root)"; "in a branch")]
    #[test_case(&json!({"not": {"$ref": "#"}}), "(root) → /not → (root)"; "negated")]
    #[test_case(&json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}}),
        "/$defs/a → /$defs/b → /$defs/b/allOf/0 → /$defs/a"; "mutual")]
    fn rounds_on_the_same_value_are_named(schema: &Value, path: &str) {
        let (_, findings) = measured(schema);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!(findings[0].code, "endless_reference");
        assert!(findings[0].message.ends_with(path), "{}", findings[0].message);
    }

    #[test]
    fn dynamic_references_lead_to_every_schema_of_their_anchor() {
        let schema = json!({
            "$id": "http://a.test/root",
            "$dynamicAnchor": "node",
            "$ref": "tree",
            "$defs": {"tree": {
                "$id": "tree",
                "$dynamicRef": "#node",
                "$defs": {"leaf": {"$dynamicAnchor": "node"}},
            }},
        });
        let codes: Vec<_> = measured(&schema).1.into_iter().map(|it| it.code).collect();
        assert_eq!(codes, ["endless_reference"]);
    }

    #[test_case(&json!({"properties": {"next": {"$ref": "#"}}}); "through properties")]
    #[test_case(&json!({"items": {"anyOf": [{"$ref": "#"}]}}); "through items")]
    #[test_case(&json!({"$defs": {"a": {"additionalProperties": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"}); "in a definition")]
    #[test_case(&json!({"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"a": {"$ref": "#/definitions/b", "allOf": [{"$ref": "#/definitions/a"}]}, "b": {}}}); "void beside a reference")]
    fn recursion_into_parts_is_fine(schema: &Value) {
        assert_eq!(measured(schema).1, []);
    }

    /// A chain of definitions, each of which applies the next one twice.
    fn bomb(levels: usize, extra: &Value) -> Value {
        let mut definitions = json!({});
        for level in 0..levels {
            let next = format!("#/$defs/d{}", level + 1);
            definitions[format!("d{level}")] = json!({"anyOf": [{"$ref": next}, {"$ref": next}]});
        }
        definitions[format!("d{levels}")] = json!({});
        let mut schema = json!({"$ref": "#/$defs/d0", "$defs": definitions});
        schema.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        schema
    }

    #[test]
    fn expansion_counts_what_one_value_costs() {
        assert_eq!(measured(&bomb(2, &json!({}))).0, Expansion { schemas: 14, nesting: 6 });
        assert!(measured(&bomb(30, &json!({}))).0.schemas > 1 << 30);
        assert_eq!(measured(&bomb(100, &json!({}))).0.schemas, u64::MAX);
    }

    #[test]
    fn what_cannot_be_judged_within_bounds_is_refused() {
        let codes =
            |schema: &Value| measured(schema).1.into_iter().map(|it| it.code).collect::<Vec<_>>();
        assert_eq!(
            codes(&bomb(24, &json!({"unevaluatedProperties": false}))),
            ["too_many_branches"]
        );
        assert_eq!(codes(&bomb(200, &json!({}))), ["too_deep"]);
        let mut names = bomb(8, &json!({}));
        names["properties"] = json!({"a": {"propertyNames": {"$ref": "#/$defs/d2"}}});
        assert_eq!(codes(&names), ["too_many_branches"]);
        names["properties"] = json!({"a": {"propertyNames": {"$ref": "#/$defs/d6"}}});
        assert_eq!(codes(&names), [""; 0]);
    }

    #[test]
    fn long_chains_do_not_overflow_the_stack() {
        let mut definitions = serde_json::Map::new();
        for level in 0..9_000 {
            let next = format!("#/$defs/d{}", level + 1);
            definitions.insert(format!("d{level}"), json!({"properties": {"a": {"$ref": next}}}));
        }
        definitions.insert("d9000".to_owned(), json!({}));
        assert_eq!(measured(&json!({"$ref": "#/$defs/d0", "$defs": definitions})).1, []);
    }
}
