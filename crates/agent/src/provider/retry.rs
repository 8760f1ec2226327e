//! When a failed request is sent again, and when not. Pure: randomness and time are arguments.

use std::time::{Duration, SystemTime};

use airtight_core::codec::ProviderFailure;

/// How failed requests are sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    /// How often; the first request does not count.
    pub limit: u32,
    /// The longest first pause; each further one may be twice as long.
    pub first: Duration,
    /// The longest pause of our own choice.
    pub cap: Duration,
    /// The longest pause that a provider may ask for.
    pub asked_cap: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            // With pauses up to 0.5, 1, 2 and 4 s this outlasts a restart behind a load balancer.
            limit: 4,
            first: Duration::from_millis(500),
            cap: Duration::from_secs(8),
            // Limits per minute are over after 60 s; who wants more has a limit per hour or day.
            asked_cap: Duration::from_secs(90),
        }
    }
}

/// What a provider calls a failure that waiting does not mend.
const HOPELESS: [&str; 3] = ["insufficient_quota", "billing_hard_limit_reached", "invalid_api_key"];

impl Retries {
    /// Returns how long to wait before the request is sent again, or `None` if it is not.
    ///
    /// `retries` were made already; `chance` is random in 0..=1; `left` is what remains of the
    /// wall time. A pause is never shorter than what the provider asked for.
    pub fn pause(
        &self,
        retries: u32,
        failure: &ProviderFailure,
        chance: f64,
        left: Option<Duration>,
    ) -> Option<Duration> {
        let is_hopeless = failure.code.as_deref().is_some_and(|code| HOPELESS.contains(&code));
        if retries >= self.limit || !failure.kind.is_retryable() || is_hopeless {
            return None;
        }
        let doubled = self.first.saturating_mul(1_u32.checked_shl(retries).unwrap_or(u32::MAX));
        // Full jitter: clients that failed together must not come back together.
        let own = doubled.min(self.cap).mul_f64(chance.clamp(0.0, 1.0));
        let asked = failure.retry_after.unwrap_or(Duration::ZERO);
        let pause = own.max(asked);
        let is_in_time = left.is_none_or(|left| pause < left);
        (asked <= self.asked_cap && is_in_time).then_some(pause)
    }
}

/// Reads `Retry-After`: seconds, or an HTTP date.
pub fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use airtight_core::codec::FailureKind;
    use test_case::test_case;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn failure(kind: FailureKind, asked: Option<Duration>) -> ProviderFailure {
        let message = String::new();
        ProviderFailure { kind, status: None, code: None, message, retry_after: asked }
    }

    fn pause(retries: u32, chance: f64) -> Option<Duration> {
        Retries::default().pause(retries, &failure(FailureKind::Overload, None), chance, None)
    }

    #[test]
    fn pauses_double_up_to_the_cap_and_the_limit() {
        let retries = Retries { limit: 7, ..Retries::default() };
        let failure = failure(FailureKind::Network, None);
        let pauses: Vec<Option<u64>> = (0..8)
            .map(|n| retries.pause(n, &failure, 1.0, None))
            .map(|pause| pause.map(|pause| u64::try_from(pause.as_millis()).unwrap()))
            .collect();
        let expected = [500, 1000, 2000, 4000, 8000, 8000, 8000].map(Some);
        assert_eq!(pauses, [expected.as_slice(), &[None]].concat());
    }

    #[test]
    fn jitter_is_full() {
        assert_eq!(pause(2, 0.0), Some(Duration::ZERO));
        assert_eq!(pause(2, 0.5), Some(SECOND));
    }

    #[test_case(FailureKind::RateLimit, true)]
    #[test_case(FailureKind::Overload, true)]
    #[test_case(FailureKind::Unreachable, true)]
    #[test_case(FailureKind::Network, true)]
    #[test_case(FailureKind::Malformed, true)]
    #[test_case(FailureKind::Auth, false)]
    #[test_case(FailureKind::Request, false)]
    fn only_what_may_pass_is_sent_again(kind: FailureKind, again: bool) {
        let pause = Retries::default().pause(0, &failure(kind, None), 1.0, None);
        assert_eq!(pause.is_some(), again);
    }

    #[test]
    fn an_empty_account_is_not_asked_again() {
        let mut failure = failure(FailureKind::RateLimit, None);
        failure.code = Some("insufficient_quota".to_owned());
        assert_eq!(Retries::default().pause(0, &failure, 1.0, None), None);
    }

    #[test]
    fn a_pause_is_never_shorter_than_asked() {
        let asked = failure(FailureKind::RateLimit, Some(20 * SECOND));
        assert_eq!(Retries::default().pause(0, &asked, 0.0, None), Some(20 * SECOND));
    }

    #[test]
    fn a_pause_that_outlasts_reason_or_budget_is_not_made() {
        let hours = failure(FailureKind::RateLimit, Some(3600 * SECOND));
        assert_eq!(Retries::default().pause(0, &hours, 0.0, None), None);
        let asked = failure(FailureKind::RateLimit, Some(20 * SECOND));
        assert_eq!(Retries::default().pause(0, &asked, 0.0, Some(20 * SECOND)), None);
    }

    #[test_case("7" => Some(7 * SECOND))]
    #[test_case(" 0.5 " => Some(SECOND / 2))]
    #[test_case("Thu, 01 Jan 1970 00:01:00 GMT" => Some(30 * SECOND))]
    #[test_case("Thu, 01 Jan 1970 00:00:00 GMT" => Some(Duration::ZERO))]
    #[test_case("-1" => None)]
    #[test_case("1e300" => None)]
    #[test_case("NaN" => None)]
    #[test_case("soon" => None)]
    fn retry_after_is_seconds_or_a_date(value: &str) -> Option<Duration> {
        retry_after(value, SystemTime::UNIX_EPOCH + 30 * SECOND)
    }
}
