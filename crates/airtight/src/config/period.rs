//! Periods as people write them: `12h`, `90d`, `6w`.

use std::time::Duration;

/// How many seconds each unit has.
const UNITS: [(&str, u64); 5] =
    [("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400), ("w", 7 * 86_400)];

/// The longest: a hundred years, beyond which somebody means for ever.
const LONGEST: Duration = Duration::from_hours(36_525 * 24);

/// Why a period cannot be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PeriodError {
    /// It is not a whole number with a unit.
    #[error("expected a whole number with `s`, `m`, `h`, `d` or `w`, such as `12h` or `90d`")]
    Malformed,
    /// It is nothing, or longer than anybody lives.
    #[error("must be between 1s and 36525d")]
    OutOfRange,
}

/// Reads a period.
pub(crate) fn parse(text: &str) -> Result<Duration, PeriodError> {
    let text = text.trim();
    let unit = UNITS.iter().find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, *scale)));
    let (number, scale) = unit.ok_or(PeriodError::Malformed)?;
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(PeriodError::Malformed);
    }
    let number: u64 = number.parse().map_err(|_| PeriodError::OutOfRange)?;
    let seconds = number.checked_mul(scale).ok_or(PeriodError::OutOfRange)?;
    let period = Duration::from_secs(seconds);
    if period.is_zero() || period > LONGEST { Err(PeriodError::OutOfRange) } else { Ok(period) }
}

/// Writes a period as it could be typed.
pub(crate) fn write(period: Duration) -> String {
    let seconds = period.as_secs();
    let fits = |(_, scale): &&(&str, u64)| seconds.is_multiple_of(*scale);
    // Weeks are written as days, which people compare.
    let (unit, scale) = UNITS.iter().rev().skip(1).find(fits).unwrap_or(&("s", 1));
    format!("{}{unit}", seconds / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_whole_numbers_with_a_unit() {
        let read = |text| parse(text).map(|period| period.as_secs());
        assert_eq!(read("90d"), Ok(90 * 86_400));
        assert_eq!(read(" 6w "), Ok(42 * 86_400));
        assert_eq!(read("12h"), Ok(43_200));
        for malformed in ["", "90", "d", "-1d", "1.5d", "1 d", "1y", "ninety"] {
            assert_eq!(read(malformed), Err(PeriodError::Malformed), "{malformed}");
        }
        for outside in ["0d", "36526d", "99999999999999999999d"] {
            assert_eq!(read(outside), Err(PeriodError::OutOfRange), "{outside}");
        }
    }

    #[test]
    fn what_is_written_reads_the_same() {
        for text in ["90d", "42d", "12h", "90m", "1s"] {
            assert_eq!(write(parse(text).unwrap()), text);
        }
    }
}
