//! What a hostile page, program or network may try.

use serde_json::json;

use crate::stage::{Answer, Backstage, Stage, TOKEN, chat, good};

const CHAT: &str = "/v1/chat/completions";
const JSON: &str = "Content-Type: application/json\r\n";

#[test]
fn names_that_are_not_the_servers_are_refused() {
    let stage = Stage::new([]);
    let port = stage.address.port();
    let with_host = |host: &str| {
        let text = format!("GET /api/v1/health HTTP/1.1\r\n{host}Connection: close\r\n\r\n");
        stage.send(&text).status
    };
    // DNS rebinding: the name is the attacker's, the address is ours.
    for host in ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "", "10.0.0.1"]
    {
        assert_eq!(with_host(&format!("Host: {host}:{port}\r\n")), 421, "{host}");
    }
    assert_eq!(with_host("Host: localhost\r\nHost: evil.example\r\n"), 421);
    let absolute = "GET http://evil.example/api/v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert_eq!(stage.send(absolute).status, 421);
    assert_eq!(with_host(""), 421);
    for host in ["localhost", "127.0.0.1", "[::1]", "LOCALHOST"] {
        assert_eq!(with_host(&format!("Host: {host}:{port}\r\n")), 200, "{host}");
    }
}

#[test]
fn a_name_that_was_allowed_is_answered() {
    let arguments = ["serve", "--bind", "127.0.0.1:0", "--allow-host", "runs.example.org"];
    let stage = Backstage::new([]).serve(&arguments);
    let text = "GET /api/v1/health HTTP/1.1\r\nHost: runs.example.org\r\nConnection: close\r\n\r\n";
    assert_eq!(stage.send(text).status, 200);
}

#[test]
fn pages_of_other_sites_read_nothing_and_start_nothing() {
    let stage = Stage::new([good().forever()]);
    let own = format!("http://{}", stage.address);
    for headers in [
        "Origin: http://evil.example\r\n".to_owned(),
        "Origin: null\r\n".to_owned(),
        format!("Origin: {own}\r\nOrigin: http://evil.example\r\n"),
        format!("Origin: {own}.evil.example\r\n"),
        "Sec-Fetch-Site: cross-site\r\n".to_owned(),
        "Sec-Fetch-Site: same-site\r\n".to_owned(),
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image\r\n"
            .to_owned(),
    ] {
        let read = stage.get("/v1/models", &headers);
        assert_eq!(read.problem(), (403, "foreign_origin"), "{headers}");
        assert_eq!(read.header("access-control-allow-origin"), None);
        // Even with the token: a page must not learn whether it has the right one.
        let posted = stage.post_with(CHAT, &headers, &chat("airtight"));
        assert_eq!(posted.problem(), (403, "foreign_origin"), "{headers}");
    }
    assert_eq!(stage.fake.requests().len(), 0);
    assert_eq!(stage.get("/v1/models", &format!("Origin: {own}\r\n")).status, 200);
    assert_eq!(stage.get("/v1/models", "Sec-Fetch-Site: same-origin\r\n").status, 200);
}

#[test]
fn a_link_may_lead_here_and_a_form_may_not() {
    let stage = Stage::new([good().forever()]);
    let visit =
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n";
    assert_eq!(stage.get("/v1/models", visit).status, 200);
    assert_eq!(stage.post_with(CHAT, visit, &chat("airtight")).problem(), (403, "foreign_origin"));
}

#[test]
fn no_request_is_simple_enough_to_come_from_a_page() {
    let stage = Stage::new([good().forever()]);
    let body = chat("airtight").to_string();
    for kind in
        ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a"]
    {
        let headers = format!("Authorization: Bearer {TOKEN}\r\nContent-Type: {kind}\r\n");
        let answer = stage.send(&stage.posting(CHAT, &headers, &body));
        assert_eq!(answer.problem(), (415, "not_json"), "{kind}");
    }
    let headers = format!("Authorization: Bearer {TOKEN}\r\n");
    assert_eq!(stage.send(&stage.posting(CHAT, &headers, &body)).problem(), (415, "not_json"));
    assert_eq!(stage.fake.requests().len(), 0);
}

#[test]
fn nothing_is_spent_without_the_token() {
    let stage = Stage::new([good().forever()]);
    let body = chat("airtight").to_string();
    for path in [CHAT, "/v1/responses", "/v1/messages", "/v1/nothing"] {
        let answer = stage.send(&stage.posting(path, JSON, &body));
        assert_eq!(answer.problem(), (401, "unauthorized"), "{path}");
    }
    let wrong = format!("{JSON}X-Api-Key: {}\r\n", TOKEN.replace('9', "8"));
    let answer = stage.send(&stage.posting(CHAT, &wrong, &body));
    assert_eq!(answer.problem(), (401, "unauthorized"));
    // Also the cookie of a browser is no token where a page could have sent it.
    assert_eq!(stage.fake.requests().len(), 0);
}

#[test]
fn wrong_tokens_are_told_to_slow_down_and_the_right_one_is_never_locked_out() {
    let stage = Stage::new([good().forever()]);
    let wrong = format!("{JSON}Authorization: Bearer wrong-wrong-wrong-wrong\r\n");
    let guess = |_| stage.send(&stage.posting(CHAT, &wrong, "{}"));
    let answers: Vec<Answer> = (0..40).map(guess).collect();
    for answer in &answers {
        let pause = (answer.status == 429).then_some("1");
        assert_eq!(answer.header("retry-after"), pause, "{answer:?}");
    }
    assert!(answers.iter().any(|answer| answer.problem() == (429, "rate_limited")), "{answers:?}");
    assert_eq!(stage.post(CHAT, &chat("airtight")).status, 200);
}

#[test]
fn nothing_happens_by_reading() {
    let stage = Stage::new([good().forever()]);
    for path in [CHAT, "/v1/responses", "/v1/messages"] {
        assert_eq!(stage.get(path, "").problem(), (405, "method_not_allowed"), "{path}");
    }
    assert_eq!(stage.fake.requests().len(), 0);
}

#[test]
fn browsers_are_told_to_trust_nothing_with_every_answer() {
    let stage = Stage::new([]);
    for path in ["/api/v1/health", "/nothing", CHAT] {
        let answer = stage.get(path, "");
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'self'"), "{path}");
        assert!(policy.contains("frame-ancestors 'none'"), "{path}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("x-frame-options"), Some("DENY"), "{path}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
    }
}

#[test]
fn a_request_has_a_largest_size() {
    let stage = Stage::new([]);
    let large = json!({ "model": "airtight", "messages": "x".repeat(9 * 1024 * 1024) });
    assert_eq!(stage.post(CHAT, &large).problem(), (413, "too_large"));
    let cookie = format!("Cookie: {}\r\n", "x".repeat(100_000));
    assert_eq!(stage.get("/api/v1/health", &cookie).status, 431);
}

#[test]
fn others_can_reach_it_only_with_a_token_that_was_named() {
    let backstage = Backstage::new([]);
    let output = backstage.command(&["serve", "--bind", "0.0.0.0:0"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("others can reach `0.0.0.0:0`, and no token was named"), "{stderr}");
    assert!(stderr.contains("--token-file"), "{stderr}");
}

#[test]
fn what_others_can_reach_needs_the_token_for_reading_too() {
    let arguments = ["serve", "--bind", "0.0.0.0:0", "--token-file", "token.txt"];
    let stage = Backstage::new([]).serve(&arguments);
    assert_eq!(stage.get("/v1/models", "").problem(), (401, "unauthorized"));
    let token = format!("Authorization: Bearer {TOKEN}\r\n");
    assert_eq!(stage.get("/v1/models", &token).status, 200);
    assert_eq!(stage.get("/api/v1/health", "").status, 200);
}
