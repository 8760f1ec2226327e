//! Errors as the vendors document them.

use std::time::Duration;

use test_case::test_case;

use super::FailureKind::{Auth, Overload, RateLimit, Request};
use super::{FailureKind, ProviderFailure};

#[test_case(401, r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#, Auth, Some("authentication_error"), "invalid x-api-key"; "anthropic bad key")]
#[test_case(529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, Overload, Some("overloaded_error"), "Overloaded"; "anthropic overloaded")]
#[test_case(400, r#"{"type":"error","error":{"type":"invalid_request_error","message":"too long"}}"#, Request, Some("invalid_request_error"), "too long"; "anthropic bad request")]
#[test_case(429, r#"{"error":{"message":"slow","type":"tokens","param":null,"code":"rate_limit_exceeded"}}"#, RateLimit, Some("rate_limit_exceeded"), "slow"; "openai rate limit")]
#[test_case(429, r#"{"error":{"message":"pay","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#, Request, Some("insufficient_quota"), "pay"; "openai without quota")]
#[test_case(429, r#"{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}}"#, RateLimit, Some("RESOURCE_EXHAUSTED"), "slow"; "gemini rate limit")]
#[test_case(400, r#"{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#, Auth, Some("INVALID_ARGUMENT"), "no"; "gemini bad key")]
#[test_case(503, r#"[{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}]"#, Overload, Some("UNAVAILABLE"), "busy"; "gemini in an array")]
#[test_case(404, r#"{"error":"model not found"}"#, Request, None, "model not found"; "an error that is text")]
#[test_case(422, r#"{"detail":"bad body"}"#, Request, None, "bad body"; "a detail")]
#[test_case(408, "", Overload, None, "no message"; "no body")]
#[test_case(409, "{}", Overload, None, "no message"; "an empty object")]
#[test_case(502, "<html><head><style>a{b}</style><title>Bad gateway</title></head>\n<p>nginx</p></html>", Overload, None, "Bad gateway"; "a page with a title")]
#[test_case(502, "\u{feff} <!DOCTYPE html><HTML><TITLE>\n 502 Bad\nGateway </TITLE><p>nginx", Overload, None, "502 Bad Gateway"; "a page in capitals")]
#[test_case(503, "<html><style>a{b}</style><title></title><h1>Away</h1>\n<p>Back soon</html>", Overload, None, "Away Back soon"; "a page without a title")]
#[test_case(504, "<", Overload, None, "no message"; "a page that is none")]
#[test_case(500, "upstream\tdied\u{1b}[31m", Overload, None, "upstream died [31m"; "text")]
#[test_case(401, r#"{"error":{"message":"bad key: sk-proj-0123456789abcdef."}}"#, Auth, None, "bad key: [masked]."; "a key is not repeated")]
fn an_error_answer_is_read(
    status: u16,
    body: &str,
    kind: FailureKind,
    code: Option<&str>,
    message: &str,
) {
    let failure = ProviderFailure::from_response(status, body.as_bytes(), None);
    let expected = ProviderFailure {
        kind,
        status: Some(status),
        code: code.map(str::to_owned),
        message: message.to_owned(),
        retry_after: None,
    };
    assert_eq!(failure, expected);
}

#[test]
fn a_message_is_bounded() {
    let failure = ProviderFailure::from_response(500, "é ".repeat(100_000).as_bytes(), None);
    assert_eq!(failure.message.chars().count(), 2_000);
}

#[test]
fn a_page_is_one_short_line() {
    let page = format!("<html><body>{}</body></html>", "words and words ".repeat(1_000));
    let failure = ProviderFailure::from_response(502, page.as_bytes(), None);
    assert_eq!(failure.message.chars().count(), 121);
    assert!(failure.message.ends_with('…'), "{}", failure.message);
}

#[test_case(404, "", Some("check `--model` and `--base-url`"); "nobody has such a model")]
#[test_case(413, "", Some("send less: a smaller prompt, smaller files"); "too large")]
#[test_case(400, r#"{"error":{"code":"context_length_exceeded"}}"#, Some("send less: a smaller prompt, smaller files"); "too long")]
#[test_case(400, r#"{"error":{"message":"no such field"}}"#, None; "the provider says it")]
#[test_case(429, "", Some("the rate limit is reached; wait a minute, or ask less often"); "too often")]
#[test_case(429, r#"{"error":{"details":[{"retryDelay":"34.5s"}]}}"#, Some("the rate limit is reached; the provider asks for a pause of 35 s"); "too often, with a pause")]
#[test_case(429, r#"{"error":{"code":"insufficient_quota"}}"#, Some("the account has no credit left: see its billing"); "nobody pays")]
#[test_case(401, "", Some("check the API key of the provider"); "no key")]
#[test_case(500, "", Some("try again later"); "broken")]
fn a_failure_says_what_to_do(status: u16, body: &str, hint: Option<&str>) {
    let failure = ProviderFailure::from_response(status, body.as_bytes(), None);
    assert_eq!(failure.hint().as_deref(), hint);
}

#[test]
fn the_header_beats_the_delay_in_the_body() {
    let body = br#"{"error":{"code":429,"message":"slow","details":[{"retryDelay":"34.5s"}]}}"#;
    let delay = |header| ProviderFailure::from_response(429, body, header).retry_after;
    assert_eq!(delay(None), Some(Duration::from_millis(34_500)));
    assert_eq!(delay(Some(Duration::from_secs(2))), Some(Duration::from_secs(2)));
}
