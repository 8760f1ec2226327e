//! Times as people say them: `4 h`, `1 h 30 min`, `10 min`.

/// Returns a time in its largest units, rounded up to minutes, or to seconds below one.
pub(super) fn span(ms: i64) -> String {
    let seconds = ms.max(0).saturating_add(999) / 1_000;
    if seconds < 60 {
        return format!("{seconds} s");
    }
    let minutes = seconds.saturating_add(59) / 60;
    let (days, hours, minutes) = (minutes / 1_440, minutes / 60 % 24, minutes % 60);
    let parts = [(days, "d"), (hours, "h"), (minutes, "min")];
    let told = parts.into_iter().filter(|(count, _)| *count > 0).take(2);
    told.map(|(count, unit)| format!("{count} {unit}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::span;

    #[test_case(0 => "0 s")]
    #[test_case(-5 => "0 s"; "the past")]
    #[test_case(1 => "1 s"; "rounded up")]
    #[test_case(600_000 => "10 min")]
    #[test_case(4 * 3_600_000 => "4 h")]
    #[test_case(24 * 3_600_000 => "1 d")]
    #[test_case(5_400_001 => "1 h 31 min")]
    #[test_case(90_061_000 => "1 d 1 h"; "two units at most")]
    fn times_are_told_in_two_units(ms: i64) -> String {
        span(ms)
    }
}
