//! What the next tier is told: what the one before reported, quoted as data.
//!
//! Sections without content are left out. What is too long loses healthy services first, then details, then
//! the ends of texts, then the ends of lists; what was lost is said in the block and in an event.

use crate::excerpt;
use crate::watch::event::Event;
use crate::watch::level::Level;
use crate::watch::quote::{DATA_RULE, fenced, one_line, quoted};
use crate::watch::services::{ServiceCheck, ServiceStatus};
use crate::watch::session::{Ask, Extracted};
use crate::watch::tier::Tier;

/// The most characters of the block: it is a part of a prompt, not the whole of it.
pub const ESCALATION_LIMIT_CHARS: usize = 50_000;

/// What the next tier is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EscalationBlock {
    /// The text.
    pub text: String,
    /// What was left out, if anything was.
    pub warning: Option<Event>,
}

/// How much is kept.
#[derive(Debug, Clone, Copy)]
struct Keep {
    healthy: Healthy,
    /// Characters of a name, and of a detail.
    line: usize,
    /// Lines of a list.
    list: usize,
    /// Characters of the reason, of a long text, and of a short one.
    texts: [usize; 3],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Healthy {
    Told,
    LeftOut,
}

const EVERYTHING: Keep =
    Keep { healthy: Healthy::Told, line: usize::MAX, list: usize::MAX, texts: [usize::MAX; 3] };

/// From everything to what fits whatever was said: 40 checks and 40 failed ones of 320 and 120 characters,
/// 4,000 of the reason and each of three texts, twice 2,000, and a fence as long as the longest.
const STAGES: [Keep; 5] = [
    EVERYTHING,
    Keep { healthy: Healthy::LeftOut, ..EVERYTHING },
    Keep { healthy: Healthy::LeftOut, line: 150, ..EVERYTHING },
    Keep { healthy: Healthy::LeftOut, line: 150, texts: [usize::MAX, 4_000, 2_000], ..EVERYTHING },
    Keep { healthy: Healthy::LeftOut, line: 100, list: 40, texts: [4_000, 4_000, 2_000] },
];

/// Writes what the tier above `from` is told.
pub fn escalation_block(from: Tier, extracted: &Extracted) -> EscalationBlock {
    let mut smallest = String::new();
    for (stage, keep) in STAGES.iter().enumerate() {
        let losses = losses(extracted, stage);
        let text = render(from, extracted, keep, losses.as_deref());
        if text.chars().count() <= ESCALATION_LIMIT_CHARS {
            let warning = losses.map(|losses| {
                let message = format!(
                    "what {from} reported is over {ESCALATION_LIMIT_CHARS} characters; left out for \
                     the next tier: {losses}"
                );
                Event::of_watch(Level::Warning, message)
            });
            return EscalationBlock { text, warning };
        }
        smallest = text;
    }
    let message = format!("what {from} reported is cut off at {ESCALATION_LIMIT_CHARS} characters");
    let text = excerpt(&smallest, ESCALATION_LIMIT_CHARS, "").into_owned();
    EscalationBlock { text, warning: Some(Event::of_watch(Level::Warning, message)) }
}

/// Says what is left out.
fn losses(extracted: &Extracted, stage: usize) -> Option<String> {
    let healthy = extracted.checks.iter().filter(|it| it.status == ServiceStatus::Healthy).count();
    let lost = [
        format!("{healthy} healthy services"),
        "ends of long lines".to_owned(),
        "ends of long texts".to_owned(),
        "ends of long lists".to_owned(),
    ];
    let lost = lost.get(..stage).filter(|lost| !lost.is_empty())?;
    Some(lost.join(", "))
}

fn render(from: Tier, extracted: &Extracted, keep: &Keep, losses: Option<&str>) -> String {
    let mut sections: Vec<String> = Vec::new();
    let mut section = |title: &str, body: String| {
        if !body.is_empty() {
            sections.push(format!("### {title}\n{body}"));
        }
    };
    let [reason, long, short] = keep.texts;
    let text = |text: Option<&str>, limit: usize| {
        excerpt(&quoted(text.unwrap_or_default()), limit, "…").into_owned()
    };
    let (request, handoff) = match &extracted.ask {
        Ask::Request(request) => (Some(request), None),
        Ask::Handoff(handoff) => (None, Some(handoff)),
        Ask::Nothing | Ask::Invalid(_) => (None, None),
    };
    section("Reason", text(request.and_then(|it| it.reason.as_deref()), reason));
    section("Services affected", list(handoff.map(|it| &it.services_affected), keep));
    section("Services", services(&extracted.checks, keep));
    section("Failed checks", list(request.map(|it| &it.failed_checks), keep));
    section("Context", text(request.and_then(|it| it.context.as_deref()), long));
    let findings = handoff.and_then(|it| it.investigation_findings.as_deref());
    section("Findings", text(findings, long));
    let attempted = handoff.and_then(|it| it.remediation_attempted.as_deref());
    section("Attempted", text(attempted, long));
    section("Cooldowns", text(handoff.and_then(|it| it.cooldown_state.as_deref()), short));
    section("Summary", text(extracted.summary.as_deref(), short));
    let losses = losses.map(|it| format!(" Left out for length: {it}.")).unwrap_or_default();
    let head = format!("## Escalation from {from} ({})", from.name());
    let rule = format!("What the session before reported. {DATA_RULE}{losses}");
    format!("{head}\n\n{rule}\n\n{}", fenced("escalation", &sections.join("\n\n")))
}

fn list(names: Option<&Vec<String>>, keep: &Keep) -> String {
    let names = names.map(Vec::as_slice).unwrap_or_default();
    let lines = names.iter().map(|name| excerpt(&one_line(name), keep.line, "…").into_owned());
    lines
        .filter(|line| !line.is_empty())
        .take(keep.list)
        .map(|it| format!("- {it}"))
        .collect::<Vec<_>>()
        .join("\n")
}

fn services(checks: &[ServiceCheck], keep: &Keep) -> String {
    let is_told = |check: &&ServiceCheck| {
        keep.healthy == Healthy::Told || check.status != ServiceStatus::Healthy
    };
    let line = |check: &ServiceCheck| {
        let name = one_line(&check.name);
        let status = check.status.name();
        let name = excerpt(&name, keep.line, "…");
        match check.detail.as_deref().map(one_line).filter(|detail| !detail.is_empty()) {
            Some(detail) => format!("- {name}: {status} - {}", excerpt(&detail, keep.line, "…")),
            None => format!("- {name}: {status}"),
        }
    };
    let told = checks.iter().filter(is_told).take(keep.list).map(line);
    told.collect::<Vec<_>>().join("\n")
}
