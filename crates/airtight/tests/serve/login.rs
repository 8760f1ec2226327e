//! How a browser comes by its cookie.

use std::io::{Read as _, Write as _};

use crate::stage::{Answer, Backstage, Stage, TOKEN, chat, good};

const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";

fn show(stage: &Stage, headers: &str, body: &str) -> Answer {
    stage.send(&stage.posting("/login", &format!("{FORM}{headers}"), body))
}

#[test]
fn the_token_buys_a_cookie_that_changes_things_from_our_own_pages_alone() {
    let stage = Stage::new([good().forever()]);
    let own = format!("Origin: http://{}\r\n", stage.address);
    let shown = show(&stage, &own, &format!("token={TOKEN}&next=%2Fruns%3Fstate%3Dopen"));
    assert_eq!((shown.status, shown.header("location")), (303, Some("/runs?state=open")));
    let cookie = shown.header("set-cookie").unwrap().to_owned();
    for word in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(word), "{cookie}");
    }
    assert!(!cookie.contains(TOKEN) && !cookie.contains("Secure"), "{cookie}");
    let pair = cookie.split(';').next().unwrap();
    let ask = |headers: &str| {
        let headers = format!("Cookie: {pair}\r\nContent-Type: application/json\r\n{headers}");
        let text = stage.posting("/v1/chat/completions", &headers, &chat("airtight").to_string());
        stage.send(&text).status
    };
    assert_eq!((ask(&own), ask("")), (200, 401));
    let text = stage.posting("/logout", &format!("Cookie: {pair}\r\n{own}"), "");
    let left = stage.send(&text);
    assert_eq!(left.status, 303);
    assert!(left.header("set-cookie").unwrap().contains("Max-Age=0"));
}

#[test]
fn a_wrong_token_buys_nothing_and_soon_not_even_an_answer() {
    let stage = Stage::new([]);
    let own = format!("Origin: http://{}\r\n", stage.address);
    let wrong = || {
        let answer = show(&stage, &own, "token=wrong&next=//evil.example");
        assert_eq!((answer.status, answer.header("set-cookie")), (303, None));
        answer.header("location").unwrap().to_owned()
    };
    assert_eq!(wrong(), "/login?problem=unauthorized&next=/");
    assert!((0..500).any(|_| wrong() == "/login?problem=rate_limited&next=/"));
}

/// Returns a page as it is written.
fn page(stage: &Stage, path: &str) -> String {
    let mut stream = stage.connect();
    let text =
        format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", stage.address);
    stream.write_all(text.as_bytes()).unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    said
}

#[test]
fn the_page_leads_nobody_to_another_server() {
    let stage = Stage::new([]);
    for next in ["//evil.example", "/%5Cevil.example", "https://evil.example", "/%09/evil.example"]
    {
        let shown = page(&stage, &format!("/login?next={next}"));
        assert!(shown.contains("Log in") && !shown.contains("evil.example"), "{next}: {shown}");
    }
    assert!(page(&stage, "/login?next=/runs").contains(r#"href="/runs""#));
}

#[test]
fn nobody_logs_in_from_elsewhere() {
    let stage = Stage::new([]);
    let body = format!("token={TOKEN}");
    for headers in ["", "Origin: http://evil.example\r\n", "Sec-Fetch-Site: cross-site\r\n"] {
        assert_eq!(show(&stage, headers, &body).problem(), (403, "foreign_origin"), "{headers}");
    }
    let own = format!("Origin: http://{}\r\n", stage.address);
    assert_eq!(show(&stage, &own, &format!("token={}", "x".repeat(10_000))).status, 413);
    let json = stage.posting("/login", &format!("{own}Content-Type: application/json\r\n"), "{}");
    assert_eq!(stage.send(&json).status, 415);
}

#[test]
fn a_person_who_may_not_read_yet_is_led_to_where_the_token_is_shown() {
    let arguments = ["serve", "--bind", "0.0.0.0:0", "--token-file", "token.txt"];
    let stage = Backstage::new([]).serve(&arguments);
    let host = format!("127.0.0.1:{}", stage.address.port());
    let ask = |path: &str, accept: &str| {
        let text = format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAccept: {accept}\r\n\r\n"
        );
        let answer = stage.send(&text);
        (answer.status, answer.header("location").unwrap_or_default().to_owned())
    };
    assert_eq!(ask("/runs?a=b", "text/html"), (303, "/login?next=/runs%3Fa%3Db".to_owned()));
    assert_eq!(ask("/api/v1/runs", "text/html"), (401, String::new()));
    assert_eq!(ask("/api/v1/runs", "*/*").0, 401);
}
