//! What findings, edits, rejections and losses mean, in words.

mod diagnostic;

use airtight_core::lower::{EnforcedBy, Loss, Narrowing};
use airtight_core::{Edit, EditKind, Rejected, Rejection};

pub(crate) use diagnostic::diagnostic;

/// Returns what was changed, in a few words.
pub(crate) fn edit(kind: EditKind) -> &'static str {
    match kind {
        EditKind::TrailingComma => "dropped a trailing comma",
        EditKind::MissingComma => "added a missing comma",
        EditKind::Comment => "dropped a comment",
        EditKind::Quotes => "replaced quotes by double quotes",
        EditKind::UnquotedKey => "quoted a key",
        EditKind::Constant => "replaced a constant by its JSON spelling",
        EditKind::Escape => "escaped a character inside a string",
        EditKind::MissingCloser => "added closing brackets at the end",
        EditKind::Surroundings => "left out the text around the value",
        EditKind::Unquoted => "took the value out of a JSON string",
        EditKind::Unwrapped => "took off a single-key wrapper",
        EditKind::DuplicateMember => "dropped a repeated member with the same value",
        EditKind::StringToBoolean => "made a boolean of a string",
        EditKind::StringToNumber => "made a number of a string",
        EditKind::ScalarToString => "made a string of a number or boolean",
        EditKind::StringToContainer => "made an array or object of the string that spelt it",
        EditKind::EnumCase => "corrected the case of an enum member",
        EditKind::Trimmed => "dropped white space around an enum member or constant",
        EditKind::Carried => "carried it forward from an older version of the contract",
        EditKind::CarryMoved => "moved a member to where the contract has it",
        EditKind::CarryDropped => "dropped a member that the contract does not have",
        EditKind::CarryReworded => "replaced a word by the contract's word for it",
        EditKind::CarryDefault => "said what the contract's owner declares where nothing was said",
    }
}

/// Returns what one change did, with what is special about it.
pub(crate) fn edit_in_full(edit: &Edit) -> String {
    let to = edit.to.as_ref().map(|to| format!(": {to}")).unwrap_or_default();
    let version = edit.version.as_ref().map(|it| format!(" (version {it})")).unwrap_or_default();
    format!("{}{to}{version}", self::edit(edit.kind))
}

/// Returns why such a change invents nothing.
pub(crate) fn why_edit(kind: EditKind) -> &'static str {
    match kind {
        EditKind::TrailingComma
        | EditKind::MissingComma
        | EditKind::Comment
        | EditKind::Quotes
        | EditKind::UnquotedKey
        | EditKind::Constant
        | EditKind::Escape => "the text is not strict JSON, but can be read in one way only",
        EditKind::MissingCloser => "nothing was cut inside a value, only its end was not written",
        EditKind::Surroundings => "models talk around the value; exactly one value in it conforms",
        EditKind::Unquoted | EditKind::Unwrapped => {
            "the outer value breaks the contract, the one inside conforms"
        }
        EditKind::DuplicateMember => "both say the same, so nothing is lost",
        EditKind::StringToBoolean
        | EditKind::StringToNumber
        | EditKind::ScalarToString
        | EditKind::StringToContainer => "the contract allows no other type here",
        EditKind::EnumCase | EditKind::Trimmed => "it can only mean one of the allowed values",
        EditKind::Carried => {
            "the contract rejects it, and a version that it still takes accepts it"
        }
        EditKind::CarryMoved
        | EditKind::CarryDropped
        | EditKind::CarryReworded
        | EditKind::CarryDefault => "the contract's owner declares it for answers of that version",
    }
}

/// Returns what is wrong with a rejected answer, one finding a line.
pub(crate) fn violations(rejected: &Rejected) -> Vec<String> {
    let list = rejected.violations.list.iter();
    let mut lines: Vec<String> = list
        .map(|violation| {
            let (pointer, keyword) = (&violation.pointer, &violation.keyword);
            format!("{pointer}: {} (`{keyword}`)", violation.message)
        })
        .collect();
    if rejected.violations.more {
        lines.push("… and more".to_owned());
    }
    lines
}

/// Returns the violations, or else why nothing was accepted.
pub(crate) fn reasons(rejected: &Rejected) -> Vec<String> {
    match violations(rejected) {
        none if none.is_empty() => vec![rejection(&rejected.reason)],
        violations => violations,
    }
}

/// Returns why nothing was accepted, in one line.
pub(crate) fn rejection(reason: &Rejection) -> String {
    match reason {
        Rejection::NoJson => "there is no JSON in the answer".to_owned(),
        Rejection::Truncated { offset } => format!("answer is cut off at byte {offset}"),
        Rejection::Invalid => "answer breaks the contract".to_owned(),
        Rejection::Ambiguous { offsets } => {
            let places: Vec<String> = offsets.iter().map(ToString::to_string).collect();
            format!("several different values conform, at bytes {}", places.join(", "))
        }
        Rejection::SchemaEcho => "answer only repeats the schema".to_owned(),
        Rejection::OverLimit { limit: "work" } => "answer could not be judged".to_owned(),
        Rejection::OverLimit { limit } => format!("answer is over a limit: `{limit}`"),
    }
}

/// Returns what to do about it.
pub(crate) fn why_rejection(reason: &Rejection) -> &'static str {
    match reason {
        Rejection::NoJson => {
            "nothing in the text reads as JSON, also with every repair allowed; brackets within a \
             sentence are taken for words"
        }
        Rejection::Truncated { .. } => {
            "the rest of the value is unknown and never made up; give the model more output tokens"
        }
        Rejection::Invalid => {
            "each line names a place in the value, what is wrong there, and the broken keyword; \
             send them back to the model"
        }
        Rejection::Ambiguous { .. } => {
            "choosing between them would be a guess; ask the model for one value only"
        }
        Rejection::SchemaEcho => "the model copied the contract instead of answering; ask again",
        Rejection::OverLimit { .. } => "limits keep judging bounded in time and memory",
    }
}

/// Says what a provider does not enforce, and what does.
pub(crate) fn loss(loss: &Loss) -> String {
    let instead = match loss.enforced_by {
        EnforcedBy::Description => "told to the model in words, enforced by the verdict",
        EnforcedBy::VerdictOnly => "unknown to the model, enforced by the verdict",
    };
    format!("{}: `{}` is {instead}", loss.pointer, loss.keyword)
}

/// Says what a provider's schema leaves no way to express.
pub(crate) fn narrowing(narrowing: &Narrowing) -> String {
    format!("{}: the model cannot say {}", narrowing.pointer, narrowing.unsayable.words())
}
