//! Points in time as people write and read them: UTC, and no calendar but the usual one.

use std::time::Duration;

use airtight_core::calendar::{civil, days_before};

use crate::config::period::{self, PeriodError};

const DAY_MS: i64 = 86_400_000;

/// A point in time as it was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// So long before now.
    Ago(Duration),
    /// The beginning of a day, in Unix milliseconds.
    Day(i64),
}

/// Why a point in time cannot be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WhenError {
    /// It is neither a period nor a day.
    #[error("expected a period such as `12h` or `7d`, or a day such as `2026-11-16`")]
    Malformed,
    /// There is no such period.
    #[error(transparent)]
    Period(PeriodError),
}

impl When {
    /// Returns the point in Unix milliseconds.
    pub(crate) fn at_ms(self, now_ms: i64) -> i64 {
        match self {
            Self::Ago(period) => {
                now_ms.saturating_sub(i64::try_from(period.as_millis()).unwrap_or(i64::MAX))
            }
            Self::Day(at_ms) => at_ms,
        }
    }
}

/// Reads a period before now, or a day.
pub(crate) fn parse(text: &str) -> Result<When, WhenError> {
    match period::parse(text) {
        Ok(period) => Ok(When::Ago(period)),
        Err(PeriodError::Malformed) => day(text).map(When::Day).ok_or(WhenError::Malformed),
        Err(error) => Err(WhenError::Period(error)),
    }
}

fn day(text: &str) -> Option<i64> {
    let mut parts = text.trim().splitn(3, '-');
    let mut number = |digits: usize| -> Option<i64> {
        let part = parts.next()?;
        let is_plain = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        is_plain.then(|| part.parse().ok())?
    };
    let (year, month, day) = (number(4)?, number(2)?, number(2)?);
    let at_ms = days_before(year, month, day) * DAY_MS;
    // A day that does not exist reads as another one.
    (date(at_ms) == text.trim()).then_some(at_ms)
}

/// Writes a day.
pub(crate) fn date(at_ms: i64) -> String {
    let (year, month, day) = civil(at_ms.div_euclid(DAY_MS));
    format!("{year:04}-{month:02}-{day:02}")
}

/// Writes a day and a time, to the second.
pub(crate) fn write(at_ms: i64) -> String {
    let seconds = at_ms.rem_euclid(DAY_MS) / 1_000;
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{} {hour:02}:{minute:02}:{second:02}", date(at_ms))
}

/// Writes how long something took.
pub(crate) fn took(ms: i64) -> String {
    match ms {
        ..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        60_000..3_600_000 => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
        _ => format!("{} h {} min", ms / 3_600_000, ms % 3_600_000 / 60_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_as_they_are_written() {
        for days in (-200_000..200_000).step_by(37) {
            let at_ms = days * DAY_MS;
            let written = date(at_ms);
            assert_eq!(parse(&written), Ok(When::Day(at_ms)), "{written}");
        }
        assert_eq!(write(1_794_870_245_123), "2026-11-16 23:04:05");
        assert_eq!(write(0), "1970-01-01 00:00:00");
    }

    #[test]
    fn what_is_no_point_in_time_is_refused() {
        for wrong in ["", "yesterday", "2026-02-30", "2026-13-01", "2026-1-1", "26-01-01", "7"] {
            assert_eq!(parse(wrong), Err(WhenError::Malformed), "{wrong}");
        }
        assert_eq!(parse("7d").map(|when| when.at_ms(7 * DAY_MS + 1)), Ok(1));
        assert!(matches!(parse("0d"), Err(WhenError::Period(_))));
    }

    #[test]
    fn times_are_as_long_as_people_care_for() {
        let shown = [0, 999, 1_250, 59_999, 61_000, 3_661_000].map(took);
        assert_eq!(shown, ["0 ms", "999 ms", "1.2 s", "59.9 s", "1 min 1 s", "1 h 1 min"]);
    }
}
