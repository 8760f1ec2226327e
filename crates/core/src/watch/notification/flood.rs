//! Floods: what happens again for the same cause is told once, and then with a count.
//!
//! The first is told at once. What follows within the window is counted, and told as one when the window
//! is over. Nothing is dropped: every one of them is an event on record, too.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Notification;
use crate::excerpt;
use crate::watch::span::span;

/// For so long a cause is told once: whoever was told has had time to look.
pub const QUIET_MS: i64 = 60 * 60 * 1_000;

/// The most causes that are kept in mind; what is beyond is told each time.
const CAUSES_LIMIT: usize = 200;

/// How much of what is held back is kept.
const BODY_CHARS: usize = 2_000;

/// What people were told of late.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    causes: BTreeMap<String, Lately>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Lately {
    /// When it was told.
    told_at_ms: i64,
    /// How often it happened since.
    more: u32,
    /// What the last of them says.
    last: Option<Notification>,
}

impl Told {
    /// Returns what people are told of `notification` now; nothing if they were told of its cause within
    /// the window, and then it is counted.
    pub fn hear(&mut self, notification: Notification, now_ms: i64) -> Option<Notification> {
        let cause = notification.cause.clone();
        if cause.is_empty() {
            return Some(notification);
        }
        let Some(lately) = self.causes.get_mut(&cause) else {
            if self.causes.len() < CAUSES_LIMIT {
                let lately = Lately { told_at_ms: now_ms, more: 0, last: None };
                self.causes.insert(cause, lately);
            }
            return Some(notification);
        };
        if lately.is_over(now_ms) {
            let told = lately.counted(notification, now_ms);
            *lately = Lately { told_at_ms: now_ms, more: 0, last: None };
            return Some(told);
        }
        lately.more = lately.more.saturating_add(1);
        let body = excerpt(&notification.body, BODY_CHARS, "…").into_owned();
        lately.last = Some(Notification { body, ..notification });
        None
    }

    /// Returns what was held back and whose window is over, each cause once.
    pub fn release(&mut self, now_ms: i64) -> Vec<Notification> {
        let mut released = Vec::new();
        self.causes.retain(|_, lately| {
            if !lately.is_over(now_ms) {
                return true;
            }
            // What nothing came of for a whole window is forgotten.
            let Some(last) = lately.last.take() else { return false };
            lately.more = lately.more.saturating_sub(1);
            released.push(lately.counted(last, now_ms));
            *lately = Lately { told_at_ms: now_ms, more: 0, last: None };
            true
        });
        released
    }
}

impl Lately {
    /// A time in the future is of a clock that went back: its window is over.
    fn is_over(&self, now_ms: i64) -> bool {
        now_ms.saturating_sub(self.told_at_ms).saturating_abs() >= QUIET_MS
    }

    /// Says how often it happened beside this once.
    fn counted(&self, last: Notification, now_ms: i64) -> Notification {
        if self.more == 0 {
            return last;
        }
        let times = self.more.saturating_add(1);
        let within = span(now_ms.saturating_sub(self.told_at_ms));
        Notification {
            title: format!("{} ({times} times)", last.title),
            body: format!(
                "This happened {times} times within {within}. The last time:\n\n{}",
                last.body
            ),
            ..last
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::watch::notification::NotificationCategory;

    fn notification(cause: &str, body: &str) -> Notification {
        Notification {
            category: NotificationCategory::HumanAttention,
            cause: cause.to_owned(),
            title: format!("Needs human attention: {cause}"),
            body: body.to_owned(),
        }
    }

    /// CO-108: the first is told at once, the rest of the window as one with a count.
    #[test]
    fn co_108_the_same_cause_within_an_hour_is_told_once_and_then_with_a_count() {
        let mut told = Told::default();
        let first = notification("web", "a");
        assert_eq!(told.hear(first.clone(), 0), Some(first));
        assert_eq!(told.hear(notification("web", "b"), 1), None);
        assert_eq!(told.hear(notification("web", "c"), 2), None);
        let other = notification("db", "x");
        assert_eq!(told.hear(other.clone(), 3), Some(other), "another cause is no flood");
        assert_eq!(told.release(QUIET_MS - 1), []);
        let released = told.release(QUIET_MS);
        let expected = Notification {
            title: "Needs human attention: web (2 times)".to_owned(),
            ..notification("web", "This happened 2 times within 1 h. The last time:\n\nc")
        };
        assert_eq!(released, [expected]);
        assert_eq!(told.release(QUIET_MS), [], "once");
    }

    #[test]
    fn what_happens_once_more_has_no_count() {
        let mut told = Told::default();
        told.hear(notification("web", "a"), 0);
        assert_eq!(told.hear(notification("web", "b"), 1), None);
        assert_eq!(told.release(QUIET_MS), [notification("web", "b")]);
        let late = notification("web", "c");
        assert_eq!(told.hear(late.clone(), 2 * QUIET_MS), Some(late));
    }

    #[test]
    fn what_has_no_cause_is_always_told() {
        let mut told = Told::default();
        let digest = notification("", "a");
        for at_ms in 0..3 {
            assert_eq!(told.hear(digest.clone(), at_ms), Some(digest.clone()));
        }
        assert_eq!(told, Told::default());
    }

    proptest! {
        /// However often something happens, it is told at most once a window, and nothing is lost.
        #[test]
        fn floods_are_bounded_and_every_time_is_counted(
            steps in vec((0_u8..3, 0..QUIET_MS / 3), 1..80),
        ) {
            let mut told = Told::default();
            let mut now_ms = 0;
            let mut heard = 0_u32;
            let mut times = Vec::new();
            let count = |told: &Notification| -> u32 {
                let number = told.title.rsplit_once('(').map(|(_, rest)| rest);
                let number = number.and_then(|rest| rest.split(' ').next()?.parse().ok());
                number.unwrap_or(1)
            };
            for (step, wait_ms) in steps {
                now_ms += wait_ms;
                let sent = if step == 0 {
                    told.release(now_ms)
                } else {
                    heard += 1;
                    told.hear(notification("web", "a"), now_ms).into_iter().collect()
                };
                times.extend(sent.iter().map(|it| (now_ms, count(it))));
            }
            let sent = told.release(now_ms + QUIET_MS);
            times.extend(sent.iter().map(|it| (now_ms + QUIET_MS, count(it))));
            prop_assert!(times.windows(2).all(|two| two[1].0 - two[0].0 >= QUIET_MS));
            prop_assert_eq!(times.iter().map(|(_, count)| count).sum::<u32>(), heard);
        }
    }
}
