//! The API of our own.

use airtight_core::watch::Trust;
use airtight_fake::Turn;
use airtight_store::{
    Check, Minutes, NewAction, NewEscalation, NewSession, NewWatchEvent, Service,
};
use serde_json::{Value, json};
use std::time::Duration;
use test_case::test_case;

use crate::stage::{Answer, BAD, Stage, TOKEN, block_on, chat, good};

const JSON: &str = "Content-Type: application/json\r\n";

fn asked(stage: &Stage) -> String {
    let answer = stage.post("/v1/chat/completions", &chat("airtight"));
    let run = answer.header("airtight-run").map(str::to_owned);
    run.unwrap_or_else(|| answer.body["error"]["run"].as_str().unwrap().to_owned())
}

/// Puts into the ledger what a watch would.
fn watched(stage: &Stage) {
    block_on(async {
        let ledger = stage.ledger().await;
        let lead = ledger.lead(Duration::from_mins(1)).await.unwrap().unwrap();
        let at_ms = ledger.now_ms();
        let text = |text: &str| text.to_owned();
        let minutes = Minutes {
            at_ms,
            chain: Some(airtight_store::ChainState {
                id: text("c1"),
                cause: text("manual"),
                machine: text("{}"),
                started_at: at_ms,
                ended_at: None,
            }),
            begun: Some(NewSession {
                id: text("s1"),
                chain: text("c1"),
                tier: 1,
                cause: text("manual"),
                driver: text("api"),
                model: text("m"),
                ..NewSession::default()
            }),
            events: vec![NewWatchEvent {
                origin: text("watch"),
                level: text("critical"),
                message: text("<img src=x onerror=alert(1)>"),
                ..NewWatchEvent::default()
            }],
            escalations: vec![NewEscalation {
                session: text("s1"),
                chain: text("c1"),
                tier: 2,
                affected: vec![text("caddy")],
                ..NewEscalation::default()
            }],
            services: vec![Service {
                name: text("caddy"),
                status: text("healthy"),
                ..Service::default()
            }],
            checks: vec![Check {
                service: text("caddy"),
                status: text("healthy"),
                ..Check::default()
            }],
            ..Minutes::default()
        };
        ledger.minute(lead, minutes).await.unwrap();
        let action = NewAction {
            service: text("caddy"),
            kind: text("restart"),
            tier: 2,
            ..NewAction::default()
        };
        ledger.reserve(lead, vec![action], 0, at_ms).await.unwrap();
        ledger.resign().await.unwrap();
        ledger.close().await;
    });
}

fn items(answer: &Answer) -> &Vec<Value> {
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body["items"].as_array().unwrap()
}

#[test]
fn runs_are_pages_and_one_is_shown_with_all_that_happened() {
    let stage = Stage::new([good().forever()]);
    let runs: Vec<String> = (0..3).map(|_| asked(&stage)).collect();
    let first = stage.get("/api/v1/runs?limit=2", "");
    let ids: Vec<&Value> = items(&first).iter().map(|run| &run["id"]).collect();
    assert_eq!(ids, [&json!(runs[2]), &json!(runs[1])]);
    let next = first.body["next"].as_i64().unwrap();
    let second = stage.get(&format!("/api/v1/runs?limit=2&after={next}"), "");
    assert_eq!((items(&second).len(), &second.body["next"]), (1, &Value::Null));
    for (query, count) in [
        ("contract=review", 3),
        ("contract=nobody", 0),
        ("state=done&valid=true&order=oldest", 3),
        ("valid=false", 0),
        ("review=flagged", 0),
        ("provider=anthropic&outcome=met", 3),
        ("model=%00", 0),
    ] {
        assert_eq!(items(&stage.get(&format!("/api/v1/runs?{query}"), "")).len(), count, "{query}");
    }
    let shown = stage.get(&format!("/api/v1/runs/{}", runs[0]), "").body;
    assert_eq!(shown["run"]["outcome"], "met");
    assert_eq!(shown["prompt"], "Review this change.");
    assert_eq!(shown["output"], r#"{"summary":"fine","score":9}"#);
    assert_eq!(shown["requests"][0]["ending"], "accepted");
    assert_eq!(shown["decisions"], json!([]));
    let contract = stage.get("/api/v1/contracts/review", "").body;
    assert_eq!(contract["schema"]["properties"]["score"]["maximum"], 10);
    assert_eq!(contract["versions"][0]["fingerprint"], contract["fingerprint"]);
    assert_eq!(items(&stage.get("/api/v1/contracts", "")).len(), 1);
    let stats = stage.get("/api/v1/stats?by=provider,outcome", "").body;
    assert_eq!(stats["items"][0]["group"], json!({ "provider": "anthropic", "outcome": "met" }));
    assert_eq!(stats["items"][0]["runs"], 3);
}

#[test_case("/api/v1/runs?limit=0"; "no rows")]
#[test_case("/api/v1/runs?limit=-1"; "fewer than none")]
#[test_case("/api/v1/runs?limit=1001"; "too many")]
#[test_case("/api/v1/runs?limit=99999999999999999999"; "absurdly many")]
#[test_case("/api/v1/runs?after=-5"; "below all")]
#[test_case("/api/v1/runs?state=gone"; "no state")]
#[test_case("/api/v1/runs?mood=good"; "unknown")]
#[test_case("/api/v1/runs?limit=1&limit=2"; "twice")]
#[test_case("/api/v1/events?since=yesterday"; "no time")]
#[test_case("/api/v1/stats?by=mood"; "no group")]
#[test_case("/api/v1/contracts?after=x"; "no place")]
#[test_case("/api/v1/memories?trust=no"; "no trust")]
#[test_case("/api/v1/sessions?tier=-1"; "no tier")]
#[test_case("/api/v1/cooldowns?limit=x"; "no limit")]
#[test_case("/api/v1/services?limit=0"; "no services")]
#[test_case("/api/v1/services?order=newest"; "names have no age")]
#[test_case("/api/v1/runs/%ff"; "no text")]
fn what_makes_no_sense_is_refused(path: &str) {
    let stage = Stage::new([]);
    let refused = stage.get(path, "");
    assert_eq!(refused.problem(), (400, "invalid_request"));
    assert_eq!(refused.header("content-type"), Some("application/json"));
}

#[test_case("limit=x", "limit: it is a whole number from 1 to 1000")]
#[test_case("limit=2.5", "limit: it is a whole number from 1 to 1000"; "a part of a row")]
#[test_case("after=99999999999999999999", "after: it is a whole number from 0 to 9007199254740991"; "too large")]
fn a_wrong_number_is_told_with_those_that_are_right(query: &str, told: &str) {
    let refused = Stage::new([]).get(&format!("/api/v1/runs?{query}"), "");
    assert!(refused.body["error"]["message"].as_str().unwrap().ends_with(told), "{}", refused.body);
}

/// A word that nothing can be filed under is told with those that there are, and the document has the same.
#[test_case("runs", "outcome", &["met", "no_answer", "attempts_exhausted", "refused", "truncated",
    "degenerate", "loop", "provider", "harness", "auth", "sandbox", "config", "turn_cap", "budget",
    "interrupted"]; "how a run ended")]
#[test_case("runs", "rung", &["native", "tool", "grammar", "text", "repair", "re-ask", "extract", "human"];
    "how a value was obtained")]
#[test_case("events", "level", &["info", "warning", "critical"]; "how much an event matters")]
#[test_case("sessions", "status", &["running", "completed", "failed", "stopped", "timed_out", "escalated"];
    "where a session stands")]
fn a_word_that_is_none_is_refused_with_those_that_there_are(
    list: &str,
    parameter: &str,
    words: &[&str],
) {
    let stage = Stage::new([]);
    let refused = stage.get(&format!("/api/v1/{list}?{parameter}=banana"), "");
    assert_eq!(refused.problem(), (400, "invalid_request"));
    let message = refused.body["error"]["message"].as_str().unwrap();
    assert!(message.contains(parameter) && message.contains("banana"), "{message}");
    let document = stage.get("/api/v1/openapi.json", "").body;
    let parameters = document["paths"][format!("/api/v1/{list}")]["get"]["parameters"].as_array();
    let described = parameters.unwrap().iter().find(|it| it["name"] == parameter).unwrap();
    assert_eq!(described["schema"]["enum"], json!(words));
    for word in words {
        assert!(message.contains(&format!("`{word}`")), "{message}");
        let found = stage.get(&format!("/api/v1/{list}?{parameter}={word}"), "");
        assert_eq!(items(&found).len(), 0, "{word}");
    }
}

#[test]
fn services_are_pages_by_name() {
    let stage = Stage::new([]);
    block_on(async {
        let ledger = stage.ledger().await;
        let lead = ledger.lead(Duration::from_mins(1)).await.unwrap().unwrap();
        let named = |name: &str| Service { name: name.to_owned(), ..Service::default() };
        let services = ["web", "a&b=ü", "db"].map(named).to_vec();
        let minutes = Minutes { at_ms: ledger.now_ms(), services, ..Minutes::default() };
        ledger.minute(lead, minutes).await.unwrap();
        ledger.resign().await.unwrap();
        ledger.close().await;
    });
    let page = |query: &str| {
        let page = stage.get(&format!("/api/v1/services?limit=1{query}"), "");
        (items(&page)[0]["name"].clone(), page.body["next"].clone())
    };
    assert_eq!(page(""), (json!("a&b=ü"), json!("a&b=ü")));
    assert_eq!(page("&after=a%26b%3D%C3%BC"), (json!("db"), json!("db")));
    assert_eq!(page("&after=db"), (json!("web"), json!("web")));
    let last = stage.get("/api/v1/services?limit=1&after=web", "");
    assert_eq!((items(&last).len(), &last.body["next"]), (0, &Value::Null));
    let all = stage.get("/api/v1/services", "");
    assert_eq!((items(&all).len(), &all.body["next"]), (3, &Value::Null));
    assert_eq!(stage.get("/api/v1/services/db", "").body["service"]["name"], "db");
}

#[test]
fn what_is_not_there_is_not_found() {
    let stage = Stage::new([]);
    for path in ["runs", "contracts", "memories", "services", "sessions", "chains"] {
        let absent = stage.get(&format!("/api/v1/{path}/nobody%2F..%00"), "");
        assert_eq!(absent.problem(), (404, "not_found"), "{path}");
    }
    assert_eq!(stage.get("/api/v1/nothing", "").problem(), (404, "not_found"));
    assert_eq!(stage.change("PUT", "/api/v1/runs", &json!({})).status, 405);
}

#[test]
fn an_empty_ledger_has_empty_lists() {
    let stage = Stage::new([]);
    for path in [
        "runs",
        "reviews",
        "contracts",
        "events",
        "memories",
        "services",
        "cooldowns",
        "sessions",
        "chains",
        "escalations",
        "notifications",
        "stats",
    ] {
        assert_eq!(items(&stage.get(&format!("/api/v1/{path}"), "")).len(), 0, "{path}");
    }
    let settings = stage.get("/api/v1/settings", "").body;
    let model = settings["items"].as_array().unwrap().iter().find(|it| it["name"] == "model");
    assert_eq!(model.unwrap()["origin"], "$AIRTIGHT_MODEL");
}

#[test]
fn what_a_watch_has_on_record_is_shown() {
    let stage = Stage::new([]);
    watched(&stage);
    let events = stage.get("/api/v1/events?level=critical", "");
    assert_eq!(items(&events)[0]["message"], "<img src=x onerror=alert(1)>");
    assert_eq!(items(&stage.get("/api/v1/events?level=info", "")).len(), 0);
    let service = stage.get("/api/v1/services/caddy", "").body;
    assert_eq!(
        (&service["service"]["status"], service["checks"].as_array().unwrap().len()),
        (&json!("healthy"), 1)
    );
    assert_eq!(items(&stage.get("/api/v1/cooldowns", ""))[0]["state"], "reserved");
    let chain = stage.get("/api/v1/chains/c1", "").body;
    assert_eq!(chain["sessions"][0]["id"], "s1");
    let session = stage.get("/api/v1/sessions/s1", "").body;
    assert_eq!((&session["session"]["tier"], &session["chainCostUsd"]), (&json!(1), &Value::Null));
    let waiting = stage.get("/api/v1/escalations?state=proposed", "");
    let path = format!("/api/v1/escalations/{}", items(&waiting)[0]["id"].as_str().unwrap());
    // The members of a request have names.
    let listed = stage.post(&path, &json!(["approve"]));
    assert_eq!(listed.problem(), (400, "invalid_request"));
    assert_eq!(
        stage.post(&path, &json!({ "answer": "maybe" })).problem(),
        (400, "invalid_request")
    );
    let given = stage.post(&path, &json!({ "answer": "approve" }));
    assert_eq!((given.status, &given.body["state"]), (200, &json!("approved")));
    assert_eq!(stage.post(&path, &json!({ "answer": "decline" })).problem(), (409, "answered"));
    let nobody = stage.post("/api/v1/escalations/nobody", &json!({ "answer": "approve" }));
    assert_eq!(nobody.problem(), (404, "not_found"));
}

#[test]
fn memories_are_made_changed_and_deleted() {
    let stage = Stage::new([]);
    let new = json!({ "service": "caddy", "category": "timing", "observation": "starts slowly" });
    let made = stage.post("/api/v1/memories", &new);
    assert_eq!((made.status, &made.body["confidence"]), (201, &json!(0.7)));
    assert_eq!(made.body["trust"], Trust::Trusted.name());
    let path = format!("/api/v1/memories/{}", made.body["id"].as_str().unwrap());
    let changed = stage.change("PATCH", &path, &json!({ "service": null, "confidence": 0.2 }));
    assert_eq!((changed.status, &changed.body["service"]), (200, &Value::Null));
    assert_eq!(
        (&changed.body["active"], &changed.body["observation"]),
        (&json!(false), &json!("starts slowly"))
    );
    assert_eq!(stage.get(&path, "").body["confidenceNow"], json!(0.2));
    assert_eq!(items(&stage.get("/api/v1/memories?category=timing&trust=trusted", "")).len(), 1);
    for body in [
        json!({ "category": "mood", "observation": "a" }),
        json!({ "category": "timing", "observation": " " }),
        json!({ "category": "timing" }),
        json!({ "category": "timing", "observation": "a", "more": 1 }),
        json!([]),
    ] {
        let refused = stage.post("/api/v1/memories", &body);
        assert_eq!(refused.problem(), (400, "invalid_request"), "{body}");
    }
    assert_eq!(stage.change("DELETE", &path, &json!({})).status, 204);
    assert_eq!(stage.change("DELETE", &path, &json!({})).problem(), (404, "not_found"));
    assert_eq!(stage.change("PATCH", &path, &json!({})).problem(), (404, "not_found"));
}

#[test]
fn only_the_contract_of_the_run_decides_what_a_person_may_accept() {
    let stage = Stage::new([Turn::text(BAD).forever()]);
    let id = asked(&stage);
    let (path, check) = (format!("/api/v1/reviews/{id}"), format!("/api/v1/reviews/{id}/check"));
    let bad = json!({ "decision": "accept", "value": { "summary": "fine", "score": 11 } });
    let refused = stage.post(&path, &bad);
    assert_eq!(refused.problem(), (422, "not_met"));
    assert_eq!(refused.body["error"]["violations"][0]["pointer"], "/score");
    assert_eq!(stage.post(&path, &json!({ "decision": "accept" })).problem(), (422, "not_met"));
    assert_eq!(stage.post(&check, &json!({})).problem(), (422, "not_met"));
    let right = json!({ "summary": "mended", "score": 10 });
    let checked = stage.post(&check, &json!({ "value": right }));
    assert_eq!((checked.status, &checked.body["value"]), (200, &right));
    let decided = stage
        .post(&path, &json!({ "decision": "accept", "value": right, "by": "Ada", "note": "n" }));
    assert_eq!(decided.status, 200);
    assert_eq!(decided.body["parsedOutput"], right);
    assert_eq!(
        (&decided.body["run"]["rung"], &decided.body["run"]["review"]),
        (&json!("human"), &json!("accepted"))
    );
    assert_eq!(decided.body["decisions"][0]["who"], "Ada");
    let rejected = stage.post(&path, &json!({ "decision": "reject" }));
    assert_eq!(rejected.body["run"]["review"], "rejected");
    assert_eq!(
        stage.post("/api/v1/reviews/nobody", &json!({ "decision": "reject" })).problem(),
        (404, "not_found")
    );
    for value in [json!(1), Value::Null] {
        let both = stage.post(&path, &json!({ "decision": "reject", "value": value }));
        assert_eq!(both.problem(), (422, "value_unwanted"), "{value}");
    }
}

#[test]
fn null_is_a_value_and_not_the_lack_of_one() {
    let stage = Stage::new([good()]);
    let id = asked(&stage);
    let (path, check) = (format!("/api/v1/reviews/{id}"), format!("/api/v1/reviews/{id}/check"));
    assert_eq!(stage.post(&check, &json!({})).status, 200);
    assert_eq!(stage.post(&check, &json!({ "value": null })).problem(), (422, "not_met"));
    let accepted = stage.post(&path, &json!({ "decision": "accept", "value": null }));
    assert_eq!(accepted.problem(), (422, "not_met"));
}

#[test]
fn contracts_without_a_name_are_no_versions_of_each_other() {
    let stage = Stage::new([good().forever()]);
    for score in [10, 11] {
        let mut nameless = chat("airtight");
        let named = &mut nameless["response_format"]["json_schema"];
        named.as_object_mut().unwrap().remove("name");
        named["schema"]["properties"]["score"]["maximum"] = json!(score);
        assert_eq!(stage.post("/v1/chat/completions", &nameless).status, 200);
    }
    let contracts = stage.get("/api/v1/contracts", "");
    assert_eq!(items(&contracts).len(), 2);
    for contract in items(&contracts) {
        assert_eq!(contract["name"], "");
        let fingerprint = contract["fingerprint"].as_str().unwrap();
        let shown = stage.get(&format!("/api/v1/contracts/{}", &fingerprint[..12]), "").body;
        assert_eq!(shown["fingerprint"], *fingerprint);
        assert_eq!(shown["versions"], json!([contract]));
    }
    let short = items(&contracts)[0]["fingerprint"].as_str().unwrap()[..11].to_owned();
    let absent = stage.get(&format!("/api/v1/contracts/{short}"), "");
    assert_eq!(absent.problem(), (404, "not_found"));
}

#[test]
fn a_change_with_a_key_is_made_once() {
    let stage = Stage::new([]);
    let new = json!({ "category": "timing", "observation": "a" });
    let key = "Idempotency-Key: k1\r\n";
    let first = stage.post_with("/api/v1/memories", key, &new);
    let second = stage.post_with("/api/v1/memories", key, &new);
    assert_eq!((first.status, second.status), (201, 201));
    assert_eq!(
        (first.body, second.header("airtight-repeated")),
        (second.body.clone(), Some("true"))
    );
    let other = json!({ "category": "timing", "observation": "b" });
    let taken = stage.post_with("/api/v1/memories", key, &other);
    assert_eq!(taken.problem(), (409, "key_of_another"));
    assert_eq!(items(&stage.get("/api/v1/memories", "")).len(), 1);
    // What was refused gives its key up.
    let refused = json!({ "category": "timing", "observation": " " });
    let free = "Idempotency-Key: k2\r\n";
    assert_eq!(stage.post_with("/api/v1/memories", free, &refused).status, 400);
    assert_eq!(stage.post_with("/api/v1/memories", free, &other).status, 201);
    let long = format!("Idempotency-Key: {}\r\n", "k".repeat(256));
    assert_eq!(stage.post_with("/api/v1/memories", &long, &new).status, 400);
}

#[test_case("POST", "/api/v1/memories")]
#[test_case("PATCH", "/api/v1/memories/x")]
#[test_case("DELETE", "/api/v1/memories/x")]
#[test_case("POST", "/api/v1/reviews/x")]
#[test_case("POST", "/api/v1/reviews/x/check")]
#[test_case("POST", "/api/v1/escalations/x")]
fn nothing_changes_without_the_token(method: &str, path: &str) {
    let stage = Stage::new([]);
    let send = |headers: &str| {
        let text = stage.posting(path, &format!("{JSON}{headers}"), "{}");
        stage.send(&text.replacen("POST", method, 1)).problem().0
    };
    assert_eq!(send(""), 401);
    assert_eq!(send("Authorization: Bearer token-of-the-test-012345678X\r\n"), 401);
    let token = format!("Authorization: Bearer {TOKEN}\r\n");
    assert!([400, 404].contains(&send(&token)));
    let foreign = format!("{token}Origin: http://evil.example\r\n");
    assert_eq!(send(&foreign), 403);
}

#[test]
fn bodies_are_json_and_say_so() {
    let stage = Stage::new([]);
    let token = format!("Authorization: Bearer {TOKEN}\r\n");
    let plain =
        stage.posting("/api/v1/memories", &format!("{token}Content-Type: text/plain\r\n"), "{}");
    assert_eq!(stage.send(&plain).problem(), (415, "not_json"));
    let broken = stage.posting("/api/v1/memories", &format!("{token}{JSON}"), "{");
    assert_eq!(stage.send(&broken).problem(), (400, "invalid_request"));
}

#[test]
fn the_document_describes_what_is_there() {
    let stage = Stage::new([]);
    let document = stage.get("/api/v1/openapi.json", "").body;
    assert!(document["openapi"].as_str().unwrap().starts_with("3."));
    for path in
        ["/api/v1/runs", "/api/v1/runs/{id}/events", "/api/v1/memories/{id}", "/api/v1/health"]
    {
        assert!(document["paths"][path]["get"].is_object(), "{path}");
    }
    let failure = &document["paths"]["/api/v1/runs"]["get"]["responses"]["400"];
    assert_eq!(
        failure["content"]["application/json"]["schema"]["$ref"],
        "#/components/schemas/Failure"
    );
}
