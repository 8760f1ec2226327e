//! Findings that are known: only others are news.
//!
//! A finding is known if the baseline has its fingerprint, or one of the same place in words that are
//! alike: models seldom find the same words twice. One that became worse is news.

use serde::{Deserialize, Serialize};

use super::assembly::Reported;
use super::finding::Severity;
use super::merge::is_alike;

/// The largest baseline that is read: some ten thousand findings.
pub const BASELINE_LIMIT_BYTES: usize = 16 * 1024 * 1024;

/// The form of the file.
const VERSION: u32 = 1;

/// Findings that are known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    known: Vec<Known>,
}

/// A finding that is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    fingerprint: String,
    place: String,
    severity: String,
    file: String,
    description: String,
}

/// The file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "type")]
    kind: Kind,
    version: u32,
    findings: Vec<Known>,
}

#[derive(Debug, Serialize, Deserialize)]
enum Kind {
    #[serde(rename = "airtight_review_baseline")]
    Baseline,
}

/// Why a baseline cannot be used. Says nothing of what is in it.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// It is no baseline.
    #[error("it is no baseline (line {line}, column {column})")]
    Malformed {
        /// Where.
        line: usize,
        /// Where on the line.
        column: usize,
    },
    /// It has another form.
    #[error("its version is {version}, and only {VERSION} is known")]
    Version {
        /// Which.
        version: u32,
    },
}

impl Baseline {
    /// Reads a file.
    pub fn parse(bytes: &[u8]) -> Result<Self, BaselineError> {
        let file: File = serde_json::from_slice(bytes).map_err(|error| {
            BaselineError::Malformed { line: error.line(), column: error.column() }
        })?;
        if file.version != VERSION {
            return Err(BaselineError::Version { version: file.version });
        }
        Ok(Self { known: file.findings })
    }

    /// Adds findings; what is known stays, since a review sees only what changed.
    #[must_use]
    pub fn with<'r>(mut self, findings: impl IntoIterator<Item = &'r Reported>) -> Self {
        self.known.extend(findings.into_iter().map(Known::of));
        self.known
            .sort_by_cached_key(|it| (it.file.clone(), it.place.clone(), it.fingerprint.clone()));
        self
    }

    /// Returns the file.
    pub fn to_json(&self) -> String {
        let file = File { kind: Kind::Baseline, version: VERSION, findings: self.known.clone() };
        // Plain data is always written.
        let mut text = serde_json::to_string_pretty(&file).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Returns how many findings it has.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Claims that nothing is known.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Tells news from what is known; each that is known stands for one finding.
    pub(super) fn sort(self, findings: Vec<Reported>) -> (Vec<Reported>, Vec<Reported>) {
        let mut left: Vec<Option<Known>> = self.known.into_iter().map(Some).collect();
        let (exact, others): (Vec<_>, Vec<_>) = findings.into_iter().partition(|finding| {
            take(&mut left, |known| known.is_same(finding) && known.covers(finding))
        });
        let (alike, news): (Vec<_>, Vec<_>) = others.into_iter().partition(|finding| {
            take(&mut left, |known| known.is_alike(finding) && known.covers(finding))
        });
        (news, exact.into_iter().chain(alike).collect())
    }
}

/// Takes the first that fits; claims that there is one.
fn take(left: &mut [Option<Known>], fits: impl Fn(&Known) -> bool) -> bool {
    let found = left.iter_mut().find(|known| known.as_ref().is_some_and(&fits));
    found.is_some_and(|known| known.take().is_some())
}

impl Known {
    fn of(reported: &Reported) -> Self {
        let finding = &reported.finding;
        Self {
            fingerprint: reported.fingerprint.clone(),
            place: reported.place.clone(),
            severity: finding.severity.name().to_owned(),
            file: finding.file.clone(),
            description: finding.description.clone(),
        }
    }

    fn is_same(&self, reported: &Reported) -> bool {
        self.fingerprint == reported.fingerprint
    }

    fn is_alike(&self, reported: &Reported) -> bool {
        self.place == reported.place && is_alike(&self.description, &reported.finding.description)
    }

    /// Claims that the finding is no worse than it was.
    fn covers(&self, reported: &Reported) -> bool {
        Severity::named(&self.severity).is_some_and(|before| reported.finding.severity >= before)
    }
}
