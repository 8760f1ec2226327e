//! The pages without a browser: what they answer, to whom, and under which headers.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use airtight_fake::Turn;
use airtight_store::{Begun, Finish, Minutes, NewRun, Service};
use serde_json::json;
use test_case::test_case;

use crate::stage::{BAD, Stage, TOKEN, block_on, chat, good};

/// What a browser says of itself when somebody follows a link.
const BROWSER: &str = "Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8\r\n";

/// Returns the status, the head and the text of an answer.
fn read(stage: &Stage, request: &str) -> (u16, String, String) {
    let mut stream = stage.connect();
    stream.write_all(request.as_bytes()).unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    let (head, body) = said.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head.to_ascii_lowercase(), body.to_owned())
}

fn page(stage: &Stage, path: &str, headers: &str) -> (u16, String, String) {
    let host = stage.address;
    read(
        stage,
        &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n"),
    )
}

fn form(stage: &Stage, path: &str, headers: &str, body: &str) -> (u16, String, String) {
    let kind = "Content-Type: application/x-www-form-urlencoded\r\n";
    read(stage, &stage.posting(path, &format!("{BROWSER}{kind}{headers}"), body))
}

/// CO-100, CO-102: every page is there before anything has happened, and says what to type.
#[test]
fn every_page_answers_on_an_empty_ledger() {
    let stage = Stage::new(Vec::<Turn>::new());
    for path in [
        "/",
        "/runs",
        "/queue",
        "/events",
        "/memories",
        "/services",
        "/sessions",
        "/cooldowns",
        "/stats",
        "/contracts",
        "/settings",
        "/login",
    ] {
        let (status, head, text) = page(&stage, path, BROWSER);
        assert_eq!(status, 200, "{path}");
        assert!(head.contains("content-type: text/html; charset=utf-8"), "{path}: {head}");
        assert!(head.contains("content-security-policy: default-src 'self';"), "{path}: {head}");
        assert!(text.contains("<main") && text.contains("</html>"), "{path}");
        assert!(!text.contains("<style") && !text.contains(" style="), "{path}");
        assert!(!text.contains("=\"http"), "{path} leads elsewhere");
    }
}

#[test_case("/nowhere", 404; "nothing is there")]
#[test_case("/runs/0000", 404; "no such run")]
#[test_case("/sessions/..%2f..%2fetc", 404; "no such session")]
#[test_case("/contracts/%00", 404; "no such contract")]
#[test_case("/runs?after=-1", 400; "a number that is none")]
#[test_case("/runs?state=%3Cscript%3E", 400; "a word that is none")]
#[test_case("/runs?outcome=banana", 400; "no outcome")]
#[test_case("/events?level=banana", 400; "no level")]
#[test_case("/sessions?status=banana", 400; "no status")]
#[test_case("/services/nobody", 404; "no such service")]
fn problems_are_pages_for_browsers_and_json_for_programs(path: &str, expected: u16) {
    let stage = Stage::new(Vec::<Turn>::new());
    let (status, head, text) = page(&stage, path, BROWSER);
    assert_eq!(status, expected);
    assert!(head.contains("content-type: text/html"), "{head}");
    assert!(text.contains("<h1>") && !text.contains("<script>"), "{text}");
    let answer = stage.get(path, "Accept: */*\r\n");
    assert_eq!(answer.status, expected);
    assert!(answer.body["error"]["code"].is_string(), "{answer:?}");
}

/// A list by name goes on behind the last one shown, and comes back to the first.
#[test]
fn services_are_pages_of_fifty() {
    let stage = Stage::new(Vec::<Turn>::new());
    block_on(async {
        let ledger = stage.ledger().await;
        let lead = ledger.lead(Duration::from_mins(1)).await.unwrap().unwrap();
        let service = |number: usize| Service {
            name: format!("service-{number:02}"),
            status: if number == 50 { "down" } else { "healthy" }.to_owned(),
            ..Service::default()
        };
        let services = (0..=50).map(service).collect();
        let minutes = Minutes { at_ms: ledger.now_ms(), services, ..Minutes::default() };
        ledger.minute(lead, minutes).await.unwrap();
        ledger.resign().await.unwrap();
        ledger.close().await;
    });
    let (_, _, first) = page(&stage, "/services", BROWSER);
    assert!(first.contains("1 of 51 are not healthy"), "{first}");
    assert!(first.contains(">service-49<") && !first.contains(">service-50<"), "{first}");
    assert!(first.contains("href=\"/services?after=service-49\"") && !first.contains("« First"));
    let (_, _, second) = page(&stage, "/services?after=service-49", BROWSER);
    assert!(second.contains(">service-50<") && !second.contains(">service-49<"), "{second}");
    assert!(second.contains("« First") && !second.contains("Next »"), "{second}");
    let (status, _, beyond) = page(&stage, "/services?after=z", BROWSER);
    assert!(status == 200 && beyond.contains("No service comes after that"), "{beyond}");
}

#[test]
fn assets_are_named_by_their_content_and_kept() {
    let stage = Stage::new(Vec::<Turn>::new());
    let (_, _, text) = page(&stage, "/", BROWSER);
    let addresses: Vec<&str> = text.split('"').filter(|it| it.starts_with("/assets/")).collect();
    assert_eq!(addresses.len(), 3, "{addresses:?}");
    for address in addresses {
        let (status, head, _) = page(&stage, address, "");
        assert_eq!(status, 200, "{address}");
        assert!(head.contains("cache-control: public, max-age=31536000, immutable"), "{head}");
        assert!(head.contains("x-content-type-options: nosniff"), "{head}");
    }
    assert_eq!(page(&stage, "/assets/airtight.000000000000.css", "").0, 404);
}

#[test]
fn what_changes_something_needs_the_token() {
    let stage = Stage::new(Vec::<Turn>::new());
    let memory = "service=web&category=timing&observation=slow&confidence=0.7";
    let own = format!("Origin: http://{}\r\n", stage.address);
    assert_eq!(form(&stage, "/memories", &own, memory).0, 401);
    assert_eq!(form(&stage, "/memories", "Origin: http://evil.example\r\n", memory).0, 403);
    let known = format!("{own}Authorization: Bearer {TOKEN}\r\n");
    let (status, head, _) = form(&stage, "/memories", &known, memory);
    assert!(status == 303 && head.contains("location: /memories"), "{head}");
    let (_, _, text) = page(&stage, "/memories", BROWSER);
    assert!(text.contains("slow") && text.contains("0.70"), "{text}");
    let (status, _, text) = form(&stage, "/memories", &known, "category=nonsense&observation=x");
    assert!(status == 200 && text.contains("role=\"alert\""), "{text}");
}

/// CO-13, CO-104: what a model said is on the page of its run, and whole as plain text.
#[test]
fn a_run_tells_what_was_said_and_a_person_settles_it() {
    let stage = Stage::new([good(), Turn::text(BAD), Turn::text(BAD), Turn::text(BAD)]);
    assert_eq!(stage.post("/v1/chat/completions", &chat("airtight")).status, 200);
    let failed = stage.post("/v1/chat/completions", &chat("airtight"));
    assert_eq!(failed.status, 422);
    let id = failed.body["error"]["run"].as_str().unwrap();
    let (_, _, text) = page(&stage, "/runs", BROWSER);
    assert!(text.contains(">met<") && text.contains(">attempts_exhausted<"), "{text}");
    let (_, _, text) = page(&stage, &format!("/runs/{id}"), BROWSER);
    assert!(text.contains("Why there is no value") && text.contains("/score"), "{text}");
    let (status, head, text) = page(&stage, &format!("/runs/{id}/text/output"), "");
    assert_eq!((status, text.as_str()), (200, BAD));
    assert!(head.contains("content-type: text/plain; charset=utf-8"), "{head}");

    let known = format!("Origin: http://{}\r\nAuthorization: Bearer {TOKEN}\r\n", stage.address);
    let queue = format!("/queue/{id}");
    let value = |score: u32| {
        format!("do=accept&value=%7B%22summary%22%3A%22x%22%2C%22score%22%3A{score}%7D")
    };
    let (status, _, text) = form(&stage, &queue, &known, &value(11));
    assert!(status == 200 && text.contains("does not satisfy the contract"), "{text}");
    let (status, head, _) = form(&stage, &queue, &known, &value(4));
    assert!(status == 303 && head.contains(&format!("location: /runs/{id}")), "{head}");
    let run = stage.run(id);
    assert_eq!(run.parsed_output.as_deref(), Some(r#"{"summary":"x","score":4}"#));
    assert_eq!(run.summary.rung.as_deref(), Some("human"));
}

#[test]
fn what_nobody_could_look_up_of_an_extracted_value_is_told() {
    let stage = Stage::new(Vec::<Turn>::new());
    let store = async |rung: &str| {
        let ledger = stage.ledger().await;
        let Begun::Fresh(token) = ledger.begin(NewRun::default()).await.unwrap() else {
            panic!("it is new");
        };
        let finish = Finish {
            outcome: "met".to_owned(),
            rung: Some(rung.to_owned()),
            parsed: Some(r#"{"ok":true}"#.to_owned()),
            unchecked: Some(r#"["/ok"]"#.to_owned()),
            ..Finish::default()
        };
        ledger.finish(&token, finish).await.unwrap();
        ledger.close().await;
        token.id().to_string()
    };
    let [extracted, settled] = ["extract", "human"].map(|rung| block_on(store(rung)));
    let (_, _, text) = page(&stage, &format!("/runs/{extracted}"), BROWSER);
    assert!(text.contains("Not checked") && text.contains("<code>/ok</code>"), "{text}");
    let (_, _, text) = page(&stage, &format!("/runs/{settled}"), BROWSER);
    assert!(!text.contains("Not checked"), "{text}");
    let answer = stage.get(&format!("/api/v1/runs/{extracted}"), "");
    assert_eq!(answer.body["unchecked"], json!(["/ok"]), "{answer:?}");
}
