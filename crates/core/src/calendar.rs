//! The usual calendar, in UTC: days since 1970 and what people call them.

const DAY_MS: i64 = 86_400_000;

/// Returns year, month and day of the day that is so many after 1970-01-01, by Howard Hinnant's
/// `civil_from_days`: years begin in March, so that the leap day is the last.
pub fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// Returns how many days a date is after 1970-01-01.
pub fn days_before(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let shifted_month = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + of_era - 719_468
}

/// Writes a point in time, in Unix milliseconds, as RFC 3339 does.
pub fn rfc3339(at_ms: i64) -> String {
    let (year, month, day) = civil(at_ms.div_euclid(DAY_MS));
    let [hour, minute, second] = clock(at_ms);
    let ms = at_ms.rem_euclid(1_000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// Writes a point in time, in Unix milliseconds, for the name of a file: `20261116-230405`.
pub fn stamp(at_ms: i64) -> String {
    let (year, month, day) = civil(at_ms.div_euclid(DAY_MS));
    let [hour, minute, second] = clock(at_ms);
    format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
}

fn clock(at_ms: i64) -> [i64; 3] {
    let seconds = at_ms.rem_euclid(DAY_MS) / 1_000;
    [seconds / 3_600, seconds / 60 % 60, seconds % 60]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_are_each_other() {
        for days in (-200_000..200_000).step_by(37) {
            let (year, month, day) = civil(days);
            assert_eq!(days_before(year, month, day), days);
        }
    }

    #[test]
    fn times_are_written_in_utc() {
        assert_eq!(rfc3339(1_794_870_245_123), "2026-11-16T23:04:05.123Z");
        assert_eq!(stamp(1_794_870_245_123), "20261116-230405");
        assert_eq!(rfc3339(-1), "1969-12-31T23:59:59.999Z");
    }
}
