//! Where every reference leads, without ever leaving the documents at hand.

use std::collections::{HashMap, HashSet};

use jsonschema::{Draft, Uri};
use serde_json::Value;

use super::diagnostic::Diagnostic;
use super::source::FINDING_LIMIT;
use super::subschemas::{Site, SiteId, Subschemas};
use crate::json::Pointer;

/// How many different schemas may be referred to; compiling a chain of them is quadratic.
const TARGET_LIMIT: usize = 10_000;

/// How many schemas may share a dynamic anchor; each reference to one may lead to all of them.
const NAMESAKE_LIMIT: usize = 64;

/// What a document without `$id` is called.
pub(crate) const DEFAULT_BASE: &str = "json-schema:///";

const KEYWORDS: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// A schema with a URI of its own, against which the references in it are resolved.
struct Resource {
    uri: Uri<String>,
    root: SiteId,
}

/// The targets of all references.
#[derive(Debug, Default)]
pub(crate) struct References {
    /// For each subschema, where its references lead.
    targets: Vec<Vec<SiteId>>,
}

impl References {
    /// Returns where the references of one subschema lead.
    pub(crate) fn of(&self, id: SiteId) -> &[SiteId] {
        self.targets.get(id).map_or(&[], Vec::as_slice)
    }

    /// Returns every schema that is referred to.
    pub(crate) fn distinct_targets(&self) -> HashSet<SiteId> {
        self.targets.iter().flatten().copied().collect()
    }

    /// Resolves all references, and reports those that lead nowhere. `given` names the documents
    /// that came with the contract.
    pub(crate) fn resolve(
        subschemas: &mut Subschemas<'_>,
        given: HashMap<SiteId, &str>,
        findings: &mut Vec<Diagnostic>,
    ) -> Self {
        let mut index = Index { given, ..Index::default() };
        let mut references = Self::default();
        for id in 0..subschemas.len() {
            index.add(subschemas, id);
        }
        let mut unresolved = 0;
        let mut id = 0;
        // Following a reference may add subschemas, which are then followed too.
        while id < subschemas.len() {
            index.add(subschemas, id);
            let mut targets = Vec::new();
            for keyword in KEYWORDS {
                let Some(text) = reference(subschemas, id, keyword) else { continue };
                match index.find(subschemas, id, text) {
                    Ok(Some(target)) if keyword != "$ref" => {
                        targets.extend(index.namesakes(subschemas, target));
                    }
                    Ok(target) => targets.extend(target),
                    Err(problem) => {
                        unresolved += 1;
                        if unresolved <= FINDING_LIMIT {
                            let pointer = subschemas.pointer(id).key(keyword);
                            findings.push(problem.at(pointer, keyword, text));
                        }
                    }
                }
            }
            references.targets.push(targets);
            id += 1;
        }
        if index.dynamic.values().any(|namesakes| namesakes.len() > NAMESAKE_LIMIT) {
            let message =
                format!("more than {NAMESAKE_LIMIT} schemas have the same dynamic anchor");
            findings.push(Diagnostic::error(Pointer::root(), "too_many_references", message));
        }
        let targets = references.distinct_targets().len();
        if targets > TARGET_LIMIT {
            let message =
                format!("{targets} definitions are referred to, over the limit of {TARGET_LIMIT}");
            findings.push(Diagnostic::error(Pointer::root(), "too_many_references", message));
        }
        references
    }
}

fn reference<'s>(subschemas: &Subschemas<'s>, id: SiteId, keyword: &str) -> Option<&'s str> {
    subschemas.get(id)?.keyword(keyword)?.as_str()
}

enum Problem {
    /// It names a document that is not at hand.
    Elsewhere,
    /// There is no schema at that place of the document.
    Nowhere,
}

impl Problem {
    fn at(&self, pointer: Pointer, keyword: &str, text: &str) -> Diagnostic {
        match self {
            Self::Elsewhere => {
                let message = format!(
                    "`{keyword}` names another document, and those are never fetched: `{text}`"
                );
                Diagnostic::error(pointer, "remote_reference", message)
                    .with_hint("copy that schema into `$defs` and refer to it there")
            }
            Self::Nowhere => {
                let message = format!("`{keyword}` leads to no schema: `{text}`");
                Diagnostic::error(pointer, "unresolved_reference", message)
            }
        }
    }
}

/// The resources and anchors of all documents.
#[derive(Default)]
struct Index<'g> {
    given: HashMap<SiteId, &'g str>,
    resources: Vec<Resource>,
    by_uri: HashMap<String, usize>,
    anchors: HashMap<(usize, String), SiteId>,
    /// The schemas of each dynamic anchor.
    dynamic: HashMap<String, Vec<SiteId>>,
    /// For each subschema, the resource that it belongs to.
    belongs: Vec<usize>,
}

impl Index<'_> {
    /// Adds the subschema's `$id` and anchors; parents come before children.
    fn add(&mut self, subschemas: &Subschemas<'_>, id: SiteId) {
        let Some(site) = subschemas.get(id).filter(|_| id >= self.belongs.len()) else { return };
        let outer = site.parent().and_then(|parent| self.belongs.get(parent)).copied();
        let name = identifier(site).unwrap_or_default();
        let (path, fragment) = name.split_once('#').unwrap_or((name, ""));
        let own = match outer {
            Some(outer) if path.is_empty() => outer,
            Some(outer) => self.add_resource(id, Some(outer), path).unwrap_or(outer),
            None => self.add_document(id, path),
        };
        self.belongs.push(own);
        let anchors =
            ["$anchor", "$dynamicAnchor"].map(|it| site.keyword(it).and_then(Value::as_str));
        for anchor in
            anchors.into_iter().flatten().chain((!fragment.is_empty()).then_some(fragment))
        {
            self.anchors.entry((own, anchor.to_owned())).or_insert(id);
        }
        if let Some(anchor) = dynamic_anchor(site) {
            self.dynamic.entry(anchor.to_owned()).or_default().push(id);
        }
    }

    /// Returns everything that a dynamic reference to `target` may lead to: which one of the
    /// schemas with the same anchor it is, depends on the way that led to the reference.
    fn namesakes(&self, subschemas: &Subschemas<'_>, target: SiteId) -> Vec<SiteId> {
        let anchor = subschemas.get(target).and_then(dynamic_anchor);
        let namesakes = anchor.and_then(|anchor| self.dynamic.get(anchor));
        namesakes.map_or_else(
            || vec![target],
            |namesakes| namesakes.iter().take(NAMESAKE_LIMIT).copied().collect(),
        )
    }

    /// Adds the root of a document, under its `$id` and the name that it was given by.
    fn add_document(&mut self, root: SiteId, path: &str) -> usize {
        let given = self.given.get(&root).copied();
        let own = self
            .add_resource(root, None, path)
            .or_else(|| self.add_resource(root, None, given.unwrap_or(DEFAULT_BASE)))
            .unwrap_or_default();
        if let Some(uri) = given.and_then(|given| jsonschema::uri::from_str(given).ok()) {
            self.by_uri.entry(uri.as_str().to_owned()).or_insert(own);
        }
        own
    }

    fn add_resource(&mut self, root: SiteId, outer: Option<usize>, path: &str) -> Option<usize> {
        let uri = match outer.and_then(|outer| self.resources.get(outer)) {
            Some(outer) => jsonschema::uri::resolve_against(&outer.uri.borrow(), path),
            None if path.is_empty() => return None,
            None => jsonschema::uri::from_str(path),
        }
        .ok()?;
        let position = self.resources.len();
        self.by_uri.entry(uri.as_str().to_owned()).or_insert(position);
        self.resources.push(Resource { uri, root });
        Some(position)
    }

    /// Returns where `text` leads from `from`; nowhere at hand if to a meta-schema.
    fn find(
        &self,
        subschemas: &mut Subschemas<'_>,
        from: SiteId,
        text: &str,
    ) -> Result<Option<SiteId>, Problem> {
        let (path, fragment) = text.split_once('#').unwrap_or((text, ""));
        let own = self.belongs.get(from).copied().unwrap_or_default();
        let resource = if path.is_empty() {
            own
        } else {
            let base = &self.resources.get(own).ok_or(Problem::Elsewhere)?.uri;
            let uri = jsonschema::uri::resolve_against(&base.borrow(), path)
                .map_err(|_| Problem::Elsewhere)?;
            match self.by_uri.get(uri.as_str()) {
                Some(resource) => *resource,
                None if is_meta_schema(uri.as_str()) => return Ok(None),
                None => return Err(Problem::Elsewhere),
            }
        };
        let root = self.resources.get(resource).ok_or(Problem::Elsewhere)?.root;
        let fragment = percent_decoded(fragment).ok_or(Problem::Nowhere)?;
        if fragment.is_empty() || fragment.starts_with('/') {
            let pointer = Pointer::from(fragment.as_str());
            return subschemas.locate(root, &pointer).map(Some).ok_or(Problem::Nowhere);
        }
        self.anchors.get(&(resource, fragment)).copied().map(Some).ok_or(Problem::Nowhere)
    }
}

/// Returns the name by which dynamic references find the subschema; 2019-09 has only one.
fn dynamic_anchor<'s>(site: &Site<'s>) -> Option<&'s str> {
    let recursive = site.keyword("$recursiveAnchor") == Some(&Value::Bool(true));
    site.keyword("$dynamicAnchor").and_then(Value::as_str).or(recursive.then_some(""))
}

/// Returns the subschema's `$id`, or `id` in draft 4.
fn identifier<'s>(site: &Site<'s>) -> Option<&'s str> {
    if site.is_only_reference() {
        return None;
    }
    site.members()?.get(site.draft.id_keyword())?.as_str()
}

/// Claims that `uri` is a meta-schema, which every validator knows by heart.
fn is_meta_schema(uri: &str) -> bool {
    let is_vocabulary = ["2019-09", "2020-12"]
        .iter()
        .any(|draft| uri.starts_with(&format!("https://json-schema.org/draft/{draft}/meta/")));
    is_vocabulary || Draft::from_schema_uri(uri) != Draft::Unknown
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = rest.get(2..)?;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use test_case::test_case;

    fn findings(schema: &Value) -> Vec<(&'static str, String)> {
        let mut findings = Vec::new();
        let mut subschemas = Subschemas::of(schema, Draft::Draft202012);
        References::resolve(&mut subschemas, HashMap::new(), &mut findings);
        findings.into_iter().map(|it| (it.code, it.pointer.to_string())).collect()
    }

    #[test_case(&json!({"$ref": "#/$defs/a%20b", "$defs": {"a b": {}}}); "percent")]
    #[test_case(&json!({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {}}}); "escaped")]
    #[test_case(&json!({"$ref": "#x", "$defs": {"a": {"$anchor": "x"}}}); "anchor")]
    #[test_case(&json!({"$id": "http://a.test/r.json", "$ref": "s.json", "$defs": {"a": {"$id": "s.json"}}}); "relative id")]
    #[test_case(&json!({"$id": "http://a.test/r.json", "$ref": "http://a.test/r.json#/$defs/a", "$defs": {"a": {}}}); "own id")]
    #[test_case(&json!({"$ref": "#/x-shared/a", "x-shared": {"a": {"$ref": "#/x-shared/b"}, "b": {}}}); "outside of keywords")]
    #[test_case(&json!({"$ref": "https://json-schema.org/draft/2020-12/schema"}); "meta schema")]
    #[test_case(&json!({"$schema": "http://json-schema.org/draft-04/schema#", "$ref": "#x", "definitions": {"a": {"id": "#x"}}}); "draft 4 anchor")]
    fn references_within_the_contract_are_found(schema: &Value) {
        assert_eq!(findings(schema), []);
    }

    #[test_case("http://127.0.0.1:9/x.json")]
    #[test_case("https://a.test/x")]
    #[test_case("file:///etc/passwd")]
    #[test_case("data:application/json,{}")]
    #[test_case("../../x.json"; "relative")]
    #[test_case("\\\\\\\\host\\\\share"; "unc")]
    #[test_case("//host/x"; "network path")]
    fn references_to_other_documents_are_refused(reference: &str) {
        let schema = json!({"properties": {"a": {"$ref": reference}}});
        assert_eq!(findings(&schema), [("remote_reference", "/properties/a/$ref".to_owned())]);
    }

    #[test_case("#/$defs/b")]
    #[test_case("#b"; "anchor")]
    #[test_case("#/$defs"; "no schema")]
    #[test_case("#/%zz"; "bad escape")]
    fn references_to_nowhere_are_refused(reference: &str) {
        let schema = json!({"$defs": {"a": {"$ref": reference}}, "required": ["$defs"]});
        let expected = if reference == "#/$defs" {
            vec![]
        } else {
            vec![("unresolved_reference", "/$defs/a/$ref".to_owned())]
        };
        assert_eq!(findings(&schema), expected);
    }
}
