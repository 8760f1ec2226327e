//! Preflight: everything that can be known about a contract before anything is spent.

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod seed_table;

use std::collections::HashMap;

use jsonschema::{Draft, Registry};
use serde_json::Value;

use super::Contract;
use super::compile::{self, Compiler, Engine, Patterns};
use super::cycle;
use super::cycle::Expansion;
use super::derived::Derived;
use super::diagnostic::{Diagnostic, Refusal, Severity};
use super::faults;
use super::fingerprint::Fingerprint;
use super::identity::Identity;
use super::references::References;
use super::root::{self, Decision, Root};
use super::source::{self, Origin};
use super::strict;
use super::subschemas::Subschemas;
use super::weight::Weight;
use super::worked;
use crate::Answer;
use crate::json::Pointer;
use crate::verdict::BASE_WORK;

/// How long the pointers to all subschemas may be together: ten times what 4 MiB of plain
/// properties need.
const POINTER_LIMIT_BYTES: usize = 32 * 1024 * 1024;

/// How long the pointers to all values may be together, data included: more than 4 MiB of anything
/// need that is not made to be deep and wide at once.
const PLACE_LIMIT_BYTES: usize = 256 * 1024 * 1024;

/// Whether a root that accepts no object will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wrap {
    /// Yes: drivers that need an object get it as the `value` of one.
    #[default]
    Allowed,
    /// No: the root itself must accept an object.
    Refused,
}

/// What is held against a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scrutiny {
    /// What validators ignore in silence, and a root that nothing satisfies, are errors.
    #[default]
    Strict,
    /// They are warnings, for schemas that somebody else wrote.
    Permissive,
}

/// How preflight is to be done.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Whether a root that accepts no object will do.
    pub wrap: Wrap,
    /// Which patterns the contract may use.
    pub patterns: Patterns,
    /// What is held against it.
    pub scrutiny: Scrutiny,
    /// The draft of a schema that declares none; 2020-12 unless set.
    pub default_draft: Draft,
    /// What it is called where it was found, which comes before what it says of itself.
    pub identity: Identity,
    /// Other documents that it may refer to, by URI.
    pub documents: Vec<(String, Value)>,
}

/// The report on one schema.
#[derive(Debug)]
pub struct Preflight {
    /// The contract, unless there is an error.
    pub contract: Option<Contract>,
    /// Every finding, errors first.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether any value satisfies it.
    pub satisfiable: Decision,
    /// Whether any object does.
    pub accepts_object: Decision,
}

impl Preflight {
    /// Inspects a contract's text.
    pub fn run(text: &[u8], origin: Origin, options: &Options) -> Self {
        match source::read(text, origin) {
            Ok(schema) => Self::inspect(schema, origin, options),
            Err(findings) => Self::refused(findings),
        }
    }

    /// Inspects a schema that was never text.
    pub fn of(schema: Value, options: &Options) -> Self {
        match source::inspect(&schema) {
            Ok(()) => Self::inspect(schema, Origin::Inline, options),
            Err(finding) => Self::refused(vec![finding]),
        }
    }

    /// Returns the contract, or all that speaks against it.
    pub fn into_result(self) -> Result<Contract, Refusal> {
        self.contract.ok_or(Refusal { diagnostics: self.diagnostics })
    }

    fn refused(diagnostics: Vec<Diagnostic>) -> Self {
        Self::new(None, diagnostics, Root::unknown("not decided: there is no schema"))
    }

    fn new(contract: Option<Contract>, mut diagnostics: Vec<Diagnostic>, root: Root) -> Self {
        diagnostics.sort_by_key(|finding| finding.severity);
        Self {
            contract,
            diagnostics,
            satisfiable: root.satisfiable,
            accepts_object: root.accepts_object,
        }
    }

    /// Runs every step; each reports all it finds, and later ones need the earlier ones to pass.
    fn inspect(schema: Value, origin: Origin, options: &Options) -> Self {
        let draft = options.default_draft.detect(&schema);
        let mut subschemas = Subschemas::of(&schema, draft);
        let mut given = HashMap::new();
        for (uri, document) in &options.documents {
            given.insert(subschemas.add_document(document, draft), uri.as_str());
        }
        if let Some(finding) = too_long(&schema, &subschemas) {
            return Self::refused(vec![finding]);
        }
        let registry = match register(&options.documents, draft) {
            Ok(registry) => registry,
            Err(finding) => return Self::refused(vec![finding]),
        };
        let engine = Engine::new(options.patterns, compile::count_patterns(&subschemas));
        let compiler = Compiler { draft, engine, registry: &registry, origin };

        let mut findings = strict::inspect(&subschemas);
        soften(&mut findings, options.scrutiny);
        let identity = Identity::read(&schema, &options.identity, &mut findings);
        let undeclared = has_error(&findings, "unknown_draft");

        let mut unsound = Vec::new();
        let references = References::resolve(&mut subschemas, given, &mut unsound);
        let expansion = cycle::measure(&subschemas, &references, &mut unsound);
        if undeclared || !unsound.is_empty() {
            findings.append(&mut unsound);
            findings.extend(faults::of(&schema, draft, origin));
            return Self::new(None, findings, Root::unknown("not decided: it is invalid"));
        }
        let validator = match compiler.compile(&schema, &subschemas, expansion) {
            Ok(validator) => validator,
            Err(errors) => {
                findings.extend(errors);
                return Self::new(None, findings, Root::unknown("not decided: it is invalid"));
            }
        };
        let mut root = root::decide(&schema, &compiler, &subschemas, &references);
        let has_rules = root::has_rules(&subschemas);
        findings.extend(refuse_root(&root, options));
        findings.extend(warn_of_cost(expansion));

        if findings.iter().any(|finding| finding.severity == Severity::Error) {
            return Self::new(None, findings, root);
        }
        let fingerprint = Fingerprint::of(&schema);
        let contract = Contract {
            schema,
            draft,
            validator,
            patterns: options.patterns,
            identity,
            fingerprint,
            expansion,
            added: Vec::new(),
            carries: Vec::new(),
            derived: Derived::default(),
        };
        findings.extend(worked::inspect(&contract));
        if has_rules && let Ok(example) = contract.example() {
            root.shown_by(&example);
        }
        Self::new(Some(contract), findings, root)
    }
}

fn has_error(findings: &[Diagnostic], code: &str) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Error && finding.code == code)
}

/// Refuses what is in keys so long that the library would write them out too often.
fn too_long(schema: &Value, subschemas: &Subschemas<'_>) -> Option<Diagnostic> {
    let is_long = subschemas.pointer_bytes() > POINTER_LIMIT_BYTES
        || Weight::of(schema).places > PLACE_LIMIT_BYTES;
    is_long.then(|| {
        let message = "the keys of the contract are too long for all that is nested in them";
        Diagnostic::error(Pointer::root(), "too_large", message)
    })
}

fn soften(findings: &mut [Diagnostic], scrutiny: Scrutiny) {
    if scrutiny == Scrutiny::Permissive {
        for finding in findings {
            finding.severity = Severity::Warning;
        }
    }
}

/// Makes the documents that came with the contract known by their URIs.
fn register(documents: &[(String, Value)], draft: Draft) -> Result<Registry<'_>, Diagnostic> {
    let pairs = documents.iter().map(|(uri, document)| {
        (uri.as_str(), draft.detect(document).create_resource_ref(document))
    });
    let prepared = Registry::new().extend(pairs).and_then(|it| it.draft(draft).prepare());
    prepared.map_err(|error| {
        let message = format!("a document given with the contract cannot be used: {error}");
        Diagnostic::error(Pointer::root(), "invalid_document", message)
    })
}

/// Says that single values may take more work than a verdict spends.
fn warn_of_cost(expansion: Expansion) -> Option<Diagnostic> {
    (expansion.schemas > BASE_WORK).then(|| {
        let message = format!(
            "{} schemas can apply to one value, so answers may take too much work to judge",
            expansion.schemas
        );
        let hint = "refer to each definition once";
        Diagnostic::warning(Pointer::root(), "costly", message).with_hint(hint)
    })
}

/// Returns what the answers about the root mean for the contract.
fn refuse_root(root: &Root, options: &Options) -> Option<Diagnostic> {
    let (decision, code, hint) = if root.satisfiable.answer == Answer::No {
        let hint = "loosen one of the constraints that exclude each other";
        (&root.satisfiable, "unsatisfiable", hint)
    } else if options.wrap == Wrap::Refused && root.accepts_object.answer == Answer::No {
        let hint = "give the root `\"type\": \"object\"`, or let it be wrapped in one";
        (&root.accepts_object, "root_rejects_objects", hint)
    } else {
        return None;
    };
    let finding =
        Diagnostic::error(decision.pointer.clone(), code, decision.reason.clone()).with_hint(hint);
    let severity = match options.scrutiny {
        Scrutiny::Strict => Severity::Error,
        Scrutiny::Permissive => Severity::Warning,
    };
    Some(Diagnostic { severity, ..finding })
}
