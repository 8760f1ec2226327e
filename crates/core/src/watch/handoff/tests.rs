//! Which handoffs are acted on.

use proptest::prelude::*;
use serde_json::{Value, json};
use test_case::test_case;

use super::*;

fn whole() -> Value {
    json!({
        "schema_version": 1,
        "recommended_tier": 3,
        "services_affected": ["jellyfin", " caddy "],
        "check_results": [
            { "service": "jellyfin", "check_type": "http", "status": "down", "error": "502", "response_time_ms": 31 },
            { "service": "caddy", "check_type": "dns", "status": "healthy", "error": null },
            { "service": "db", "status": "in_cooldown" },
        ],
        "investigation_findings": "disk full",
        "remediation_attempted": ["removed logs", "restarted"],
        "cooldown_state": { "services": { "jellyfin": { "restarts": [] } } },
    })
}

fn with(name: &str, value: Value) -> Value {
    let mut handoff = whole();
    handoff[name] = value;
    handoff
}

fn read(value: &Value, from: Tier) -> Result<Handoff, HandoffError> {
    Handoff::read(value.to_string().as_bytes(), from)
}

fn refusal(value: &Value, from: Tier) -> String {
    read(value, from).unwrap_err().to_string()
}

/// CO-75: all of it is read, also what the original ignored.
#[test]
fn co_75_a_handoff_is_read_whole() {
    let check = |name: &str, status, detail: Option<&str>| ServiceCheck {
        name: name.to_owned(),
        status,
        detail: detail.map(str::to_owned),
    };
    let expected = Handoff {
        recommended_tier: Tier::Remediate,
        services_affected: vec!["jellyfin".to_owned(), "caddy".to_owned()],
        check_results: vec![
            CheckResult {
                check: check("jellyfin", ServiceStatus::Down, Some("502")),
                check_type: Some("http".to_owned()),
                response_time_ms: Some("31".to_owned()),
            },
            CheckResult {
                check: check("caddy", ServiceStatus::Healthy, None),
                check_type: Some("dns".to_owned()),
                response_time_ms: None,
            },
            CheckResult {
                check: check("db", ServiceStatus::InCooldown, None),
                check_type: None,
                response_time_ms: None,
            },
        ],
        investigation_findings: Some("disk full".to_owned()),
        remediation_attempted: Some("removed logs\nrestarted".to_owned()),
        cooldown_state: Some(r#"{"services":{"jellyfin":{"restarts":[]}}}"#.to_owned()),
    };
    assert_eq!(read(&whole(), Tier::Investigate), Ok(expected));
}

/// CO-75: the version must be 1.
#[test_case(json!(0) => "its schema_version is 0, and only 1 is read")]
#[test_case(json!(2) => "its schema_version is 2, and only 1 is read")]
#[test_case(json!("1") => "`/schema_version` is not an integer")]
#[test_case(json!(null) => "`/schema_version` is not an integer")]
#[test_case(json!(1.5) => "`/schema_version` is not an integer")]
fn co_75_only_version_one_is_read(version: Value) -> String {
    refusal(&with("schema_version", version), Tier::Observe)
}

/// CO-75: tier 2 or 3, and higher than who recommends it.
#[test_case(json!(1), Tier::Observe => "`/recommended_tier` is not 2 or 3")]
#[test_case(json!(4), Tier::Observe => "`/recommended_tier` is not 2 or 3")]
#[test_case(json!(-1), Tier::Observe => "`/recommended_tier` is not 2 or 3"; "negative")]
#[test_case(json!("2"), Tier::Observe => "`/recommended_tier` is not 2 or 3"; "a text")]
#[test_case(json!(2), Tier::Investigate => "it recommends tier 2 to tier 2")]
#[test_case(json!(3), Tier::Remediate => "it recommends tier 3 to tier 3")]
fn co_75_a_higher_tier_is_recommended(tier: Value, from: Tier) -> String {
    refusal(&with("recommended_tier", tier), from)
}

/// CO-75: what is missing or of another kind is refused, also where the original did not look.
#[test_case("services_affected", json!([]) => "services_affected is empty")]
#[test_case("services_affected", json!("jellyfin") => "`/services_affected` is not an array of names"; "a text")]
#[test_case("services_affected", json!([" "]) => "`/services_affected/0` is not the name of a service"; "a blank")]
#[test_case("check_results", json!({}) => "`/check_results` is not an array")]
#[test_case("check_results", json!([{ "status": "down" }]) => "`/check_results/0/service` is not a name")]
#[test_case("check_results", json!([{ "service": "a", "status": "bad" }]) => "`/check_results/0/status` is not one of healthy, degraded, down, unreachable, in_cooldown")]
#[test_case("check_results", json!([{ "service": "a", "status": "down", "response_time_ms": "1" }]) => "`/check_results/0/response_time_ms` is not a number")]
#[test_case("investigation_findings", json!(" ") => "tier 3 needs investigation_findings"; "blank findings")]
#[test_case("remediation_attempted", json!(null) => "tier 3 needs remediation_attempted")]
#[test_case("investigation_findings", json!({}) => "`/investigation_findings` is not a text")]
#[test_case("cooldown_state", json!(3) => "`/cooldown_state` is not an object, an array or a text")]
fn co_75_what_is_malformed_is_refused(name: &str, value: Value) -> String {
    refusal(&with(name, value), Tier::Investigate)
}

/// CO-75: only tier 3 must be told what was found and tried.
#[test]
fn co_75_tier_two_needs_no_findings() {
    let plain = json!({ "schema_version": 1, "recommended_tier": 2, "services_affected": ["a"] });
    assert_eq!(read(&plain, Tier::Observe).unwrap().recommended_tier, Tier::Investigate);
}

#[test_case(b"" => "it is not JSON: no JSON at line 1, column 1"; "nothing")]
#[test_case(b"{" => "it is not JSON: unexpected end at line 1, column 2"; "cut")]
#[test_case(b"[]" => "`` is not an object"; "no object")]
#[test_case(b"\xff" => "it is not JSON: invalid UTF-8 at line 1, column 1"; "no text")]
#[test_case(br#"{"schema_version":1,"schema_version":2}"# => "`/schema_version` is there twice"; "twice")]
fn a_file_that_is_no_handoff_says_what_is_wrong(bytes: &[u8]) -> String {
    Handoff::read(bytes, Tier::Observe).unwrap_err().to_string()
}

#[test]
fn a_huge_file_is_not_read() {
    let bytes = vec![b' '; HANDOFF_LIMIT_BYTES + 1];
    let error = HandoffError::TooLarge { bytes: bytes.len() };
    assert_eq!(Handoff::read(&bytes, Tier::Observe), Err(error));
}

proptest! {
    #[test]
    fn any_bytes_are_read(bytes: Vec<u8>) {
        prop_assert!(Handoff::read(&bytes, Tier::Observe).is_err());
    }
}
