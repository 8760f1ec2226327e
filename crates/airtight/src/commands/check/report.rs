//! What is known of one contract, for people and for programs.

use airtight_core::contract::{Decision, Options};
use airtight_core::{Answer, Contract, Diagnostic, Fingerprint, Pointer, Severity};
use serde_json::{Value, json};

use crate::commands::run::examples;
use crate::commands::{located, preflight};
use crate::error::Error;
use crate::explain;
use crate::printer::{Printer, Span, Tone};
use crate::source::ContractSource;

use super::route::{self, Route};

/// The version of the JSON shape; a change that breaks readers raises it.
const VERSION: u8 = 1;

/// How much is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// Findings and the table.
    Brief,
    /// Every loss, too, and what everything means.
    Explained,
}

/// What is known of one contract.
#[derive(Debug)]
pub(super) struct Report {
    typed: String,
    label: String,
    standing: Standing,
    diagnostics: Vec<Diagnostic>,
    satisfiable: Decision,
    accepts_object: Decision,
}

/// Whether it is a contract, and then how it travels.
#[derive(Debug)]
enum Standing {
    Refused,
    Accepted { known_as: KnownAs, routes: Vec<Route> },
}

/// What tells a contract from others.
#[derive(Debug)]
struct KnownAs {
    fingerprint: Fingerprint,
    name: Option<String>,
    version: Option<String>,
}

impl KnownAs {
    fn of(contract: &Contract) -> Self {
        Self {
            fingerprint: contract.fingerprint(),
            name: contract.name().map(str::to_owned),
            version: contract.version().map(ToString::to_string),
        }
    }
}

impl Report {
    /// Puts the contract through preflight and lowers it for every dialect.
    pub(super) fn examine(typed: &str, source: &ContractSource, options: &Options) -> Self {
        let mut preflight = match preflight(source, options) {
            Ok(preflight) => preflight,
            Err(error) => return Self::unreadable(typed, source.label(), &error),
        };
        let contract = preflight.contract.as_mut();
        let flaws = contract.map(|contract| bad_examples(source, contract)).unwrap_or_default();
        let standing = match preflight.contract.as_ref().filter(|_| flaws.is_empty()) {
            Some(contract) => {
                let (known_as, routes) = (KnownAs::of(contract), Route::all(contract));
                Standing::Accepted { known_as, routes }
            }
            None => Standing::Refused,
        };
        Self {
            typed: typed.to_owned(),
            label: source.label().to_owned(),
            standing,
            diagnostics: [flaws, preflight.diagnostics].concat(),
            satisfiable: preflight.satisfiable,
            accepts_object: preflight.accepts_object,
        }
    }

    /// Reports a contract that could not even be read.
    pub(super) fn unreadable(typed: &str, label: &str, error: &Error) -> Self {
        Self {
            typed: typed.to_owned(),
            label: label.to_owned(),
            standing: Standing::Refused,
            diagnostics: vec![finding("unreadable", error)],
            satisfiable: undecided(),
            accepts_object: undecided(),
        }
    }

    /// Claims that this is no contract.
    pub(super) fn is_refused(&self) -> bool {
        matches!(self.standing, Standing::Refused)
    }

    /// Prints the report for people.
    pub(super) fn print(&self, detail: Detail, printer: &mut Printer) -> Result<(), Error> {
        let subject = [Span::new(Tone::Strong, &self.label), Span::plain(": ")];
        let standing = match &self.standing {
            Standing::Refused => vec![Span::new(Tone::Bad, "refused")],
            Standing::Accepted { known_as, .. } => {
                let version = known_as.version.iter().map(|version| format!(" version {version}"));
                let version: String = version.collect();
                let identity = format!("{version} ({})", known_as.fingerprint.short());
                vec![Span::new(Tone::Good, "accepted"), Span::new(Tone::Dim, identity)]
            }
        };
        printer.line(&[&subject[..], &standing].concat())?;
        for diagnostic in &self.diagnostics {
            print_diagnostic(diagnostic, detail, printer)?;
        }
        if detail == Detail::Explained {
            print_decision("can be satisfied", &self.satisfiable, printer)?;
            print_decision("accepts an object", &self.accepts_object, printer)?;
        }
        let routes = self.routes();
        if routes.is_empty() {
            return Ok(());
        }
        route::print(routes, printer)?;
        if detail == Detail::Explained {
            routes.iter().try_for_each(|route| route.print_explained(printer))?;
        }
        Ok(())
    }

    fn routes(&self) -> &[Route] {
        match &self.standing {
            Standing::Accepted { routes, .. } => routes,
            Standing::Refused => &[],
        }
    }

    fn to_json(&self) -> Value {
        let known_as = match &self.standing {
            Standing::Refused => None,
            Standing::Accepted { known_as, .. } => Some(known_as),
        };
        json!({
            "contract": self.typed,
            "accepted": !self.is_refused(),
            "fingerprint": known_as.map(|it| it.fingerprint),
            "name": known_as.and_then(|it| it.name.as_ref()),
            "version": known_as.and_then(|it| it.version.as_ref()),
            "satisfiable": decision_json(&self.satisfiable),
            "accepts_object": decision_json(&self.accepts_object),
            "diagnostics": self.diagnostics,
            "portability": self.routes().iter().map(Route::to_json).collect::<Value>(),
        })
    }
}

/// Returns what is wrong with the worked examples of a role, which are shown to models.
fn bad_examples(source: &ContractSource, contract: &mut Contract) -> Vec<Diagnostic> {
    let folder = source.role().and_then(|role| role.examples.as_deref());
    let flaws = folder.map(|folder| examples::flaws(folder, contract)).unwrap_or_default();
    flaws.iter().map(|flaw| finding("bad_example", flaw)).collect()
}

/// Returns an error as a finding: its message, what it found, its causes, and its first hint.
fn finding(code: &'static str, error: &Error) -> Diagnostic {
    let found = error.findings.iter().cloned();
    let parts = std::iter::once(error.to_string()).chain(found).chain(error.causes());
    let message = parts.collect::<Vec<String>>().join(": ");
    let diagnostic = Diagnostic::error(Pointer::root(), code, message);
    match error.hints.first() {
        Some(hint) => diagnostic.with_hint(hint),
        None => diagnostic,
    }
}

/// Returns all reports as one JSON document; `docs/guide/check.md` describes its shape.
pub(super) fn document(reports: &[Report]) -> String {
    let contracts: Value = reports.iter().map(Report::to_json).collect();
    json!({ "version": VERSION, "contracts": contracts }).to_string()
}

fn undecided() -> Decision {
    let reason = "not decided: there is no schema".to_owned();
    Decision { answer: Answer::Unknown, reason, pointer: Pointer::root() }
}

fn decision_json(decision: &Decision) -> Value {
    let Decision { answer, reason, pointer } = decision;
    json!({ "answer": answer, "reason": reason, "pointer": pointer })
}

fn print_decision(claim: &str, decision: &Decision, printer: &mut Printer) -> Result<(), Error> {
    let answer = match decision.answer {
        Answer::Yes => "yes",
        Answer::No => "no",
        Answer::Unknown => "unknown",
    };
    printer.line(&[Span::plain(format!("  {claim}: {answer}; {}", decision.reason))])
}

fn print_diagnostic(
    diagnostic: &Diagnostic,
    detail: Detail,
    printer: &mut Printer,
) -> Result<(), Error> {
    let (tone, severity) = match diagnostic.severity {
        Severity::Error => (Tone::Bad, "error: "),
        Severity::Warning => (Tone::Warning, "warning: "),
    };
    let finding = Span::plain(located(diagnostic));
    printer.line(&[Span::plain("  "), Span::new(tone, severity), finding])?;
    if let Some(hint) = &diagnostic.hint {
        printer.line(&[Span::plain("    hint: "), Span::plain(hint)])?;
    }
    match explain::diagnostic(diagnostic.code) {
        Some(why) if detail == Detail::Explained => {
            let why = format!("    {}: {why}", diagnostic.code);
            printer.line(&[Span::new(Tone::Dim, why)])
        }
        _ => Ok(()),
    }
}
