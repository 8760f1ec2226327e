//! Two doubts about a success, both advisory: a question that nobody could answer, and background
//! work that nobody waited for.
//!
//! An error beats both, and the first beats the second.

use regex::Regex;

use super::Category;
use super::tally::Tally;

/// A doubt, with the words for it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Doubt {
    pub(super) category: Category,
    pub(super) warning: String,
}

/// Whether doubts are raised.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Heuristics {
    /// They are.
    #[default]
    Applied,
    /// They are not.
    Off,
}

/// Words of a model that waits for something.
const WAITING: &str =
    r"(?i)\b(waiting on|still waiting|continuing|in progress|in the background)\b";

/// Raises the doubt there is, if any.
pub(super) fn doubt(tally: &Tally) -> Option<Doubt> {
    if tally.failure.is_some() || tally.record.num_results == 0 {
        return None;
    }
    interactive(tally).or_else(|| background(tally))
}

fn interactive(tally: &Tally) -> Option<Doubt> {
    let ended = tally.record.num_turns == Some(1)
        && tally.record.stop_reason.as_deref() == Some("end_turn");
    if !ended {
        return None;
    }
    let how = if tally.asked_user {
        "called a tool that asks the user"
    } else if tally.words().trim_end().ends_with('?') {
        "ended with a question"
    } else {
        return None;
    };
    Some(Doubt {
        category: Category::Interactive,
        warning: format!("interactive-hang: the model {how}, and nobody could answer"),
    })
}

fn background(tally: &Tally) -> Option<Doubt> {
    let launches = tally.launches.len() as u64;
    if launches == 0 {
        return None;
    }
    let says_so = || Regex::new(WAITING).is_ok_and(|regex| regex.is_match(&tally.words()));
    let how = if says_so() {
        "its last words say that it is waiting".to_owned()
    } else {
        let turns = tally.record.num_turns.filter(|turns| *turns < launches + 2)?;
        format!("there were only {turns} turns")
    };
    Some(Doubt {
        category: Category::BackgroundTask,
        warning: format!("background-task: {launches} launched, and {how}"),
    })
}
