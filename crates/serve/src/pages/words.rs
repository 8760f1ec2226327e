//! Times, durations, money and counts, as people read them.

use airtight_core::calendar;
use airtight_core::price::Cost;
use maud::{Markup, html};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
/// A day, in milliseconds.
pub(super) const DAY: i64 = 24 * HOUR;

/// Renders a time by how long ago it is, with the exact one at hand.
pub(super) fn ago(at_ms: i64, now_ms: i64) -> Markup {
    let exact = calendar::rfc3339(at_ms);
    html! { time datetime=(exact) title=(exact) { (age(at_ms, now_ms)) } }
}

/// Renders a time exactly, to the second.
pub(super) fn at(at_ms: i64) -> Markup {
    let exact = calendar::rfc3339(at_ms);
    let shown = exact.get(..19).unwrap_or(&exact).replace('T', " ");
    html! { time datetime=(exact) { (shown) " UTC" } }
}

/// Renders the time of a day, to the second.
pub(super) fn clock(at_ms: i64) -> Markup {
    let exact = calendar::rfc3339(at_ms);
    let shown = exact.get(11..19).unwrap_or(&exact);
    html! { time datetime=(exact) title=(exact) { (shown) } }
}

/// Returns the day of a time, as `11-17`.
pub(super) fn day(at_ms: i64) -> String {
    calendar::rfc3339(at_ms).get(5..10).unwrap_or_default().to_owned()
}

fn age(at_ms: i64, now_ms: i64) -> String {
    match now_ms.saturating_sub(at_ms) {
        ..5_000 => "just now".to_owned(),
        age @ ..MINUTE => format!("{} s ago", age / 1_000),
        age @ ..HOUR => format!("{} min ago", age / MINUTE),
        age @ ..DAY => format!("{} h ago", age / HOUR),
        age if age < 7 * DAY => format!("{} d ago", age / DAY),
        _ => calendar::rfc3339(at_ms).get(..10).unwrap_or_default().to_owned(),
    }
}

/// Returns how long something took.
pub(super) fn span(ms: i64) -> String {
    match ms.max(0) {
        ms @ ..1_000 => format!("{ms} ms"),
        ms @ ..MINUTE => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        ms @ ..HOUR => format!("{} min {} s", ms / MINUTE, ms % MINUTE / 1_000),
        ms => format!("{} h {} min", ms / HOUR, ms % HOUR / MINUTE),
    }
}

/// Returns an amount of money; small amounts keep the digits that say something.
pub(super) fn money(cost: Cost) -> String {
    match cost.usd() {
        usd if usd <= 0.0 => "$0".to_owned(),
        usd if usd < 0.000_1 => "< $0.0001".to_owned(),
        usd if usd < 0.1 => format!("${usd:.4}"),
        usd => format!("${usd:.2}"),
    }
}

/// Returns an amount of money that may not be known.
pub(super) fn cost(cost: Option<Cost>) -> String {
    cost.map_or_else(|| "unknown".to_owned(), money)
}

/// Returns a count with its thousands apart.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            // A thin space that does not break.
            shown.push('\u{202f}');
        }
        shown.push(digit);
    }
    shown
}

/// Returns a share as a percentage.
pub(super) fn percent(rate: f64) -> String {
    let percent = rate.clamp(0.0, 1.0) * 100.0;
    if percent > 0.0 && percent < 10.0 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

/// Returns "1 run", "2 runs".
pub(super) fn counted(number: u64, one: &str, many: &str) -> String {
    let word = if number == 1 { one } else { many };
    format!("{} {word}", count(number))
}

/// Returns a count that the database says with a sign.
pub(super) fn whole(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// Returns the first characters of a name that is a UUID, enough to tell it by.
pub(super) fn short(id: &str) -> String {
    // Names begin with the time: what tells two of one second apart is at the end.
    match id.char_indices().rev().nth(7) {
        Some((start, _)) if id.len() == 36 => id.get(start..).unwrap_or(id).to_owned(),
        _ => super::text::line(id, 24),
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case(0 => "0"; "none")]
    #[test_case(999 => "999"; "below a thousand")]
    #[test_case(1_234_567 => "1\u{202f}234\u{202f}567"; "millions")]
    fn thousands_stand_apart(number: u64) -> String {
        count(number)
    }

    #[test_case(-5 => "0 ms"; "a clock that went back")]
    #[test_case(999 => "999 ms"; "below a second")]
    #[test_case(1_260 => "1.2 s"; "seconds")]
    #[test_case(61_000 => "1 min 1 s"; "minutes")]
    #[test_case(7_380_000 => "2 h 3 min"; "hours")]
    fn spans_have_the_unit_that_says_most(ms: i64) -> String {
        span(ms)
    }

    #[test_case(0.0 => "$0"; "nothing")]
    #[test_case(0.000_01 => "< $0.0001"; "hardly anything")]
    #[test_case(0.012_34 => "$0.0123"; "cents")]
    #[test_case(12.5 => "$12.50"; "dollars")]
    fn money_keeps_the_digits_that_matter(usd: f64) -> String {
        money(Cost::from_usd(usd).unwrap())
    }

    #[test]
    fn ages_are_told_in_the_largest_unit_that_fits() {
        let now = 1_790_000_000_000;
        let told = |age: i64| age_of(now - age, now);
        assert_eq!(told(-9), "just now");
        assert_eq!(told(59_000), "59 s ago");
        assert_eq!(told(3 * HOUR), "3 h ago");
        assert_eq!(told(30 * DAY), "2026-08-22");
    }

    fn age_of(at_ms: i64, now_ms: i64) -> String {
        age(at_ms, now_ms)
    }

    #[test]
    fn a_share_is_shown_to_the_digit_that_counts() {
        assert_eq!([0.0, 0.012, 0.5, 1.0].map(percent), ["0 %", "1.2 %", "50 %", "100 %"]);
    }
}
