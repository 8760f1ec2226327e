//! What the doctor says, for people and for programs.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::program::Program;
use super::provider::{Examined, State};
use crate::config::{Config, Key, TABLE};
use crate::error::{Error, Outcome};
use crate::ledger;
use crate::printer::{Printer, Span, Tone};

/// The version of the JSON shape; a change that breaks readers raises it.
const VERSION: u8 = 1;

/// One setting in force.
#[derive(Debug)]
pub(super) struct Setting {
    name: &'static str,
    about: &'static str,
    value: String,
    origin: String,
    layer: &'static str,
    /// Where weaker values were said.
    overruled: Vec<String>,
}

/// Something to do.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) what: String,
    pub(super) hints: Vec<String>,
}

/// Everything that was found.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) settings: Vec<Setting>,
    pub(super) files: Vec<PathBuf>,
    pub(super) providers: Vec<Examined>,
    pub(super) programs: Vec<Program>,
    pub(super) sandbox: Result<(), String>,
    pub(super) problems: Vec<Problem>,
    /// What to type besides what problems say.
    pub(super) hints: Vec<String>,
    pub(super) outcome: Outcome,
}

/// Lists every setting that somebody made.
pub(super) fn settings(config: &Config) -> Vec<Setting> {
    let setting = |spec: &crate::config::Spec| {
        let said = config.said(spec.key);
        let (strongest, weaker) = said.split_last()?;
        let value = match config.list(spec.key) {
            Some(items) => items.join(", "),
            None if spec.key == Key::Database => ledger::shown(&strongest.value.to_string()),
            None => strongest.value.to_string(),
        };
        Some(Setting {
            name: spec.key.name(),
            about: spec.about,
            value,
            origin: strongest.origin.to_string(),
            layer: strongest.origin.layer(),
            overruled: weaker.iter().map(|entry| entry.origin.to_string()).collect(),
        })
    };
    TABLE.iter().filter_map(setting).collect()
}

/// Returns what stands in for a report when the settings are refused.
pub(super) fn refused(error: &Error) -> String {
    let problem = json!({
        "what": error.to_string(),
        "details": error.findings.iter().cloned().chain(error.causes()).collect::<Vec<_>>(),
        "hints": error.hints,
    });
    json!({
        "version": VERSION,
        "usable": false,
        "outcome": error.kind.name(),
        "exit_code": error.kind.exit_code(),
        "problems": [problem],
    })
    .to_string()
}

impl Report {
    /// Returns the report for programs.
    pub(super) fn document(&self) -> String {
        let setting = |setting: &Setting| {
            json!({
                "name": setting.name,
                "about": setting.about,
                "value": setting.value,
                "origin": setting.origin,
                "layer": setting.layer,
                "overruled": setting.overruled,
            })
        };
        let problem = |problem: &Problem| json!({ "what": problem.what, "hints": problem.hints });
        json!({
            "version": VERSION,
            "usable": self.outcome.exit_code() == 0,
            "outcome": self.outcome.name(),
            "exit_code": self.outcome.exit_code(),
            "files": self.files,
            "settings": self.settings.iter().map(setting).collect::<Vec<Value>>(),
            "providers": self.providers,
            "sandbox": {
                "available": self.sandbox.is_ok(),
                "why_not": self.sandbox.as_ref().err(),
            },
            "programs": self.programs,
            "problems": self.problems.iter().map(problem).collect::<Vec<Value>>(),
            "hints": self.hints,
        })
        .to_string()
    }

    /// Prints the report for people.
    pub(super) fn print(&self, printer: &mut Printer) -> Result<(), Error> {
        let heading = |text: &str| [Span::new(Tone::Strong, text)];
        printer.line(&heading("settings"))?;
        let mut rows: Vec<Vec<Span>> = self.settings.iter().map(Setting::row).collect();
        if rows.is_empty() {
            rows.push(vec![Span::new(Tone::Dim, "none; everything is as it comes")]);
        }
        printer.table(2, &rows)?;
        for file in &self.files {
            printer.line(&[Span::new(Tone::Dim, format!("  read {}", file.display()))])?;
        }
        printer.line(&heading("providers"))?;
        printer.table(2, &self.providers.iter().map(Examined::row).collect::<Vec<_>>())?;
        printer.line(&heading("agent programs"))?;
        printer.table(2, &self.programs.iter().map(Program::row).collect::<Vec<_>>())?;
        for warning in self.programs.iter().filter_map(|program| program.warning.as_ref()) {
            let text = Span::plain(format!(" {warning}"));
            printer.line(&[Span::new(Tone::Warning, "  warning:"), text])?;
        }
        printer.line(&heading("sandbox"))?;
        let sandbox = match &self.sandbox {
            Ok(()) => Span::new(Tone::Good, "  available"),
            Err(why) => Span::new(Tone::Warning, format!("  not available: {why}")),
        };
        printer.line(&[sandbox])?;
        self.print_problems(printer)
    }

    fn print_problems(&self, printer: &mut Printer) -> Result<(), Error> {
        for problem in &self.problems {
            printer.line(&[
                Span::new(Tone::Bad, "problem:"),
                Span::plain(format!(" {}", problem.what)),
            ])?;
            for hint in &problem.hints {
                printer.line(&[Span::new(Tone::Good, "hint:"), Span::plain(format!(" {hint}"))])?;
            }
        }
        for hint in &self.hints {
            printer.line(&[Span::new(Tone::Good, "hint:"), Span::plain(format!(" {hint}"))])?;
        }
        let verdict = if self.outcome.exit_code() == 0 {
            Span::new(Tone::Good, "`airtight run` can work")
        } else {
            Span::new(Tone::Bad, "`airtight run` cannot work yet")
        };
        printer.line(&[verdict])
    }
}

impl From<Setting> for airtight_serve::Setting {
    fn from(setting: Setting) -> Self {
        Self {
            name: setting.name.to_owned(),
            about: setting.about.to_owned(),
            value: setting.value,
            origin: setting.origin,
            layer: setting.layer.to_owned(),
            overruled: setting.overruled,
        }
    }
}

impl Setting {
    fn row(&self) -> Vec<Span> {
        let overruled = if self.overruled.is_empty() {
            String::new()
        } else {
            format!("over {}", self.overruled.join(", "))
        };
        vec![
            Span::plain(self.name),
            Span::new(Tone::Strong, &self.value),
            Span::plain(&self.origin),
            Span::new(Tone::Dim, overruled),
        ]
    }
}

impl Examined {
    fn row(&self) -> Vec<Span> {
        let (tone, word) = match self.state {
            State::Working => (Tone::Good, "working"),
            State::Untried => (Tone::Plain, "untried"),
            State::NotConfigured => (Tone::Dim, "absent"),
            State::Failing => (Tone::Bad, "failing"),
        };
        let name = self.model.as_deref().unwrap_or(self.provider);
        vec![Span::plain(name), Span::new(tone, word), Span::plain(&self.message)]
    }
}

impl Program {
    fn row(&self) -> Vec<Span> {
        let (tone, found) = match (&self.problem, &self.path, &self.version) {
            (Some(problem), ..) => (Tone::Warning, problem.clone()),
            (None, None, _) => (Tone::Dim, "not found".to_owned()),
            (None, Some(_), Some(version)) => (Tone::Plain, version.clone()),
            (None, Some(_), None) => (Tone::Warning, "version unknown".to_owned()),
        };
        let path = self.path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        let login = match (&self.path, &self.login) {
            (None, _) => String::new(),
            (Some(_), Some(login)) => format!("key: {login}"),
            (Some(_), None) => "no key, no login found".to_owned(),
        };
        vec![
            Span::plain(self.name),
            Span::new(tone, found),
            Span::plain(&self.honours),
            Span::plain(login),
            Span::new(Tone::Dim, path),
        ]
    }
}
