//! Each provider in each mode: the request as its documentation has it, and the answer.

use airtight_agent::provider::Vendor;
use airtight_core::run::{Mode, Outcome};
use airtight_fake::{Request, Turn};
use serde_json::{Value, json};
use test_case::test_case;

use crate::rig::{KEY, Rig};

fn turn(mode: Mode) -> Turn {
    let value = json!({ "ok": true, "why": "tested" });
    match mode {
        Mode::Tool => Turn::call("structured_output", value),
        Mode::Auto | Mode::Native | Mode::Prompt => Turn::text(value.to_string()),
    }
}

/// Where each vendor's documentation says that a request goes, and with which key.
fn assert_head(vendor: Vendor, request: &Request) {
    let (path, query, key, value) = match vendor {
        Vendor::Anthropic => ("/v1/messages", "", "x-api-key", KEY.to_owned()),
        Vendor::Openai => ("/v1/responses", "", "authorization", format!("Bearer {KEY}")),
        Vendor::OpenaiChat | Vendor::OpenaiCompatible => {
            ("/v1/chat/completions", "", "authorization", format!("Bearer {KEY}"))
        }
        Vendor::Gemini => (
            "/v1beta/models/model-1:streamGenerateContent",
            "alt=sse",
            "x-goog-api-key",
            KEY.to_owned(),
        ),
    };
    assert_eq!((request.path.as_str(), request.query.as_str()), (path, query));
    assert_eq!(request.header(key), Some(value.as_str()));
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("accept"), Some("text/event-stream"));
    assert!(request.header("user-agent").unwrap().starts_with("airtight/"));
    if vendor == Vendor::Anthropic {
        assert_eq!(request.header("anthropic-version"), Some("2023-06-01"));
    }
}

/// Returns where the format has the schema in this mode.
fn schema_at(vendor: Vendor, mode: Mode, body: &Value) -> Option<&Value> {
    let pointer = match (vendor, mode) {
        (_, Mode::Prompt | Mode::Auto) => return None,
        (Vendor::Anthropic, Mode::Native) => "/output_config/format/schema",
        (Vendor::Anthropic, Mode::Tool) => "/tools/0/input_schema",
        (Vendor::Openai, Mode::Native) => "/text/format/schema",
        (Vendor::Openai, Mode::Tool) => "/tools/0/parameters",
        (Vendor::OpenaiChat | Vendor::OpenaiCompatible, Mode::Native) => {
            "/response_format/json_schema/schema"
        }
        (Vendor::OpenaiChat | Vendor::OpenaiCompatible, Mode::Tool) => {
            "/tools/0/function/parameters"
        }
        (Vendor::Gemini, Mode::Native) => "/generationConfig/responseJsonSchema",
        (Vendor::Gemini, Mode::Tool) => "/tools/0/functionDeclarations/0/parametersJsonSchema",
    };
    body.pointer(pointer)
}

fn assert_body(vendor: Vendor, mode: Mode, body: &Value) {
    if vendor != Vendor::Gemini {
        assert_eq!((&body["model"], &body["stream"]), (&json!("model-1"), &json!(true)));
    }
    if let Some(schema) = schema_at(vendor, mode, body) {
        assert_eq!(schema["type"], "object", "{body:#}");
        assert_eq!(schema["properties"]["ok"]["type"], "boolean");
    } else {
        assert_eq!(mode, Mode::Prompt, "no schema in {body:#}");
        assert_eq!(body.get("tools"), None);
        assert!(body.to_string().contains("additionalProperties"), "the prompt has the schema");
    }
    assert!(body.to_string().contains("Is it all right?"));
}

#[test_case(Mode::Tool)]
#[test_case(Mode::Native)]
#[test_case(Mode::Prompt)]
#[tokio::test]
async fn every_vendor_is_asked_as_documented_and_understood(mode: Mode) {
    for vendor in Vendor::ALL {
        let rig = Rig::new(vendor, [turn(mode).usage(100, 20)]).await.mode(mode);
        let (fake, done) = rig.finish().await;
        assert_eq!(done.report.outcome, Outcome::Met, "{vendor:?}: {}", done.error());
        assert_eq!(done.value(), Some(json!({ "ok": true, "why": "tested" })));
        assert_eq!(done.report.usage.input_tokens, Some(100), "{vendor:?}");
        assert_eq!(done.report.usage.output_tokens, Some(20), "{vendor:?}");
        assert_eq!((done.report.turns, done.report.retries), (1, 0));
        let requests = fake.requests();
        assert_eq!(requests.len(), 1);
        assert_head(vendor, &requests[0]);
        assert_body(vendor, mode, &requests[0].body);
    }
}

#[tokio::test]
async fn a_rejected_answer_goes_back_with_its_violations() {
    for vendor in Vendor::ALL {
        let wrong = Turn::call("structured_output", json!({ "ok": true }));
        let rig = Rig::new(vendor, [wrong, turn(Mode::Tool)]).await;
        let (fake, done) = rig.finish().await;
        assert_eq!((done.report.outcome, done.report.turns), (Outcome::Met, 2), "{vendor:?}");
        let second = fake.requests()[1].body.to_string();
        assert!(second.contains("why"), "the violation names what is missing: {second}");
    }
}

#[tokio::test]
async fn arguments_that_no_machine_type_holds_are_an_answer_to_judge_not_a_failure() {
    for written in [r#"{"ok": 1e400, "why": ""}"#, r#"{"ok": true, "why": "\ud800"}"#] {
        let call = format!(r#"{{"name":"structured_output","args":{written}}}"#);
        let event = format!(
            "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"functionCall\":{call}}}]}},\
             \"finishReason\":\"STOP\"}}]}}\n\n"
        );
        let script = [Turn::raw([event]), turn(Mode::Tool)];
        let (fake, done) = Rig::new(Vendor::Gemini, script).await.finish().await;
        assert_eq!(done.report.outcome, Outcome::Met, "{}", done.error());
        assert_eq!((fake.requests().len(), done.report.retries), (2, 0));
        assert_eq!(done.report.attempts[0].raw, written);
    }
}
