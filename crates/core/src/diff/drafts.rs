//! Whether a schema means the same by two drafts.

use jsonschema::Draft;
use serde_json::Value;

use crate::contract::Keyword;

use super::reading::{Clarity, Reading};

/// Keywords that drafts read differently, or whose values they do.
const UNSETTLED: [&str; 3] = ["format", "contentMediaType", "contentEncoding"];

/// Claims that both schemas can be read by either draft.
pub(super) fn agree(old: &Reading<'_>, new: &Reading<'_>) -> bool {
    let drafts = [old.contract.draft(), new.contract.draft()];
    if drafts[0] == drafts[1] {
        return true;
    }
    // Draft 4 has other integers and other bounds.
    let is_known = |draft: &Draft| {
        matches!(draft, Draft::Draft6 | Draft::Draft7 | Draft::Draft201909 | Draft::Draft202012)
    };
    drafts.iter().all(is_known) && [old, new].iter().all(|reading| is_neutral(reading, drafts))
}

fn is_neutral(reading: &Reading<'_>, drafts: [Draft; 2]) -> bool {
    let is_settled = |(name, value): (&str, &Value)| {
        let is_tuple = name == "items" && value.is_array();
        let known = Keyword::named(name).filter(|keyword| keyword.is_constraint());
        let is_shared = known.is_none_or(|it| it.is_in(drafts[0]) == it.is_in(drafts[1]));
        is_shared && !is_tuple && !UNSETTLED.contains(&name)
    };
    reading.clarity == Clarity::Plain
        && reading.subschemas.iter().all(|(_, site)| {
            let members = site.members().into_iter().flatten();
            let mut members = members.map(|(name, value)| (name.as_str(), value));
            let asks = |(name, _): &(&str, &Value)| {
                Keyword::named(name).is_some_and(Keyword::is_constraint)
            };
            let asked = members.clone().filter(asks).count();
            let is_mixed = asked > 1 && members.clone().any(|(name, _)| name == "$ref");
            !is_mixed && members.all(is_settled)
        })
}
