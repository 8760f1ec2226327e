//! Durations as people write them: `90`, `30s`, `5m`, `1.5h`.

use std::time::Duration;

/// The longest: what fits into 31 bits of milliseconds, about 24 days.
const LONGEST: Duration = Duration::from_millis(2_147_483_647);

/// The shortest that can be meant.
const SHORTEST: Duration = Duration::from_secs(1);

/// Why a duration cannot be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DurationError {
    /// It is not a number with a unit.
    #[error("expected seconds, or a number with `s`, `m` or `h`, such as `90`, `30s` or `1.5h`")]
    Malformed,
    /// It is below the shortest or above the longest.
    #[error("must be between 1s and 596h")]
    OutOfRange,
}

/// Reads a duration.
pub(crate) fn parse(text: &str) -> Result<Duration, DurationError> {
    let text = text.trim();
    let units = [("s", 1.0), ("m", 60.0), ("h", 3_600.0)];
    let unit = units.iter().find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, *scale)));
    let (number, scale) = unit.unwrap_or((text, 1.0));
    let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if !is_plain || !number.starts_with(|first: char| first.is_ascii_digit()) {
        return Err(DurationError::Malformed);
    }
    let number: f64 = number.parse().map_err(|_| DurationError::Malformed)?;
    let duration = Duration::try_from_secs_f64(number * scale)
        .map_err(|_| DurationError::OutOfRange)
        .map(|duration| Duration::from_millis(u64::try_from(duration.as_millis()).unwrap_or(0)))?;
    if (SHORTEST..=LONGEST).contains(&duration) {
        Ok(duration)
    } else {
        Err(DurationError::OutOfRange)
    }
}

/// Writes a duration as it could be typed.
pub(crate) fn write(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match (duration.subsec_millis(), seconds % 3_600, seconds % 60) {
        (0, 0, _) if seconds > 0 => format!("{}h", seconds / 3_600),
        (0, _, 0) if seconds > 0 => format!("{}m", seconds / 60),
        _ => format!("{}s", duration.as_secs_f64()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_seconds_or_have_a_unit() {
        let read = |text| parse(text).map(|duration| duration.as_millis());
        assert_eq!(read("90"), Ok(90_000));
        assert_eq!(read("30s"), Ok(30_000));
        assert_eq!(read("5m"), Ok(300_000));
        assert_eq!(read("1.5h"), Ok(5_400_000));
        assert_eq!(read(" 1s "), Ok(1_000));
        for malformed in
            ["", "s", "m5", "-1", "+3s", "1e3", ".5h", "1.2.3", "5 m", "5d", "1ms", "NaN", "inf"]
        {
            assert_eq!(read(malformed), Err(DurationError::Malformed), "{malformed}");
        }
        for outside in ["0", "0.999", "0.5s", "597h", "99999999999999999999999h"] {
            assert_eq!(read(outside), Err(DurationError::OutOfRange), "{outside}");
        }
    }

    #[test]
    fn what_is_written_reads_the_same() {
        for text in ["90s", "5m", "2h", "1.5s", "59m", "36h"] {
            assert_eq!(write(parse(text).unwrap()), text);
        }
    }
}
