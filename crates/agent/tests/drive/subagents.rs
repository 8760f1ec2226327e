//! Subagents: their own conversation, their own contract, the parent's purse.

use airtight_agent::Subagents;
use airtight_agent::provider::Vendor;
use airtight_core::codec::{Delta, Usage};
use airtight_core::price::{LongPrice, Price};
use airtight_core::run::{EventKind, Outcome};
use airtight_fake::{Fake, Request, Turn};
use serde_json::{Value, json};

use crate::rig::{Finished, PRICE, Rig, Running};

/// What only a subagent is told.
const MARK: &str = "You are a subagent";

fn parent(turn: Turn) -> Turn {
    turn.when_lacks(MARK)
}

fn child(turn: Turn) -> Turn {
    turn.when_contains(MARK)
}

fn send(id: &str, more: Value) -> Turn {
    let mut arguments = json!({ "description": "count files", "prompt": "Count the files." });
    let Value::Object(more) = more else { panic!("more arguments are an object") };
    arguments.as_object_mut().unwrap().extend(more);
    parent(Turn::call("agent", arguments).id(id).usage(10, 1))
}

fn answer() -> Turn {
    parent(Turn::call("structured_output", json!({ "ok": true, "why": "tested" })).usage(100, 2))
}

async fn rig(turns: Vec<Turn>) -> Rig {
    let mut rig = Rig::new(Vendor::Anthropic, turns).await;
    rig.agent.subagents = Some(Subagents::default());
    rig.job.tools = rig.agent.specs();
    rig
}

async fn perform(turns: Vec<Turn>) -> (Fake, Finished) {
    let (fake, done) = rig(turns).await.finish().await;
    assert_eq!(done.report.outcome, Outcome::Met, "{}", done.error());
    (fake, done)
}

fn is_childs(request: &Request) -> bool {
    request.body["system"].to_string().contains(MARK)
}

fn tool_names(request: &Request) -> Vec<&str> {
    let tools = request.body["tools"].as_array();
    tools.into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect()
}

/// Returns what the parent's last request says that the tool answered.
fn told(fake: &Fake) -> String {
    let requests = fake.requests();
    let last = requests.iter().rfind(|request| !is_childs(request)).unwrap();
    let messages = last.body["messages"].as_array().unwrap();
    let blocks = messages.iter().filter_map(|message| message["content"].as_array()).flatten();
    let results: Vec<&Value> = blocks.filter(|block| block["type"] == "tool_result").collect();
    let content = &results.last().unwrap()["content"];
    content.as_str().or_else(|| content[0]["text"].as_str()).unwrap().to_owned()
}

#[tokio::test]
async fn a_subagent_answers_in_text_and_never_sees_the_terminal_tool() {
    let turns =
        vec![send("call-1", json!({})), child(Turn::text("There are 7.").usage(1000, 5)), answer()];
    let (fake, done) = perform(turns).await;
    assert_eq!(told(&fake), "There are 7.");
    let requests = fake.requests();
    let sent: Vec<&Request> = requests.iter().filter(|request| is_childs(request)).collect();
    assert_eq!(sent.len(), 1);
    assert_eq!(tool_names(sent[0]), [""; 0]);
    assert_eq!(tool_names(&requests[0]), ["agent", "structured_output"]);
    assert!(!sent[0].body.to_string().contains("Is it all right?"), "it has its own conversation");
    assert_eq!(done.report.usage.input_tokens, Some(1110));
    assert_eq!(done.report.usage.output_tokens, Some(8));
}

#[tokio::test]
async fn a_subagent_answers_within_the_bounds_of_the_run_that_sends_it() {
    let turns = vec![send("call-1", json!({})), child(Turn::text("There are 7.")), answer()];
    let mut rig = rig(turns).await;
    rig.job.policy.max_output_tokens = Some(321);
    rig.job.policy.temperature = Some(0.25);
    rig.agent.subagents = rig.agent.subagents.map(|subagents| subagents.like(&rig.job.policy));
    let (fake, _done) = rig.finish().await;
    let bounds = |request: &Request| {
        (request.body["max_tokens"].clone(), request.body["temperature"].clone())
    };
    let requests = fake.requests();
    assert_eq!(requests.iter().map(bounds).collect::<Vec<_>>(), vec![(json!(321), json!(0.25)); 3]);
}

#[tokio::test]
async fn events_of_a_subagent_name_the_call_that_sent_it() {
    let turns = vec![send("call-1", json!({})), child(Turn::text("There are 7.")), answer()];
    let (_fake, done) = perform(turns).await;
    let said = done.events.iter().filter_map(|event| {
        let EventKind::Said { reply, .. } = &event.kind else { return None };
        Some((event.parent_call_id.as_deref(), reply.text()))
    });
    let said: Vec<(Option<&str>, String)> = said.collect();
    let nothing = String::new();
    let expected =
        [(None, nothing.clone()), (Some("call-1"), "There are 7.".to_owned()), (None, nothing)];
    assert_eq!(said, expected);
}

#[tokio::test]
async fn a_subagent_with_a_schema_has_a_terminal_tool_of_its_own() {
    let schema = json!({
        "type": "object",
        "properties": { "files": { "type": "integer" } },
        "required": ["files"]
    });
    let turns = vec![
        send("call-1", json!({ "schema": schema })),
        child(Turn::call("structured_output", json!({ "files": "many" }))),
        child(Turn::call("structured_output", json!({ "files": 7 }))),
        answer(),
    ];
    let (fake, _done) = perform(turns).await;
    assert_eq!(told(&fake), r#"{"files":7}"#);
    let requests = fake.requests();
    let sent: Vec<&Request> = requests.iter().filter(|request| is_childs(request)).collect();
    assert_eq!(tool_names(sent[0]), ["structured_output"]);
    let offered = &sent[0].body["tools"][0]["input_schema"]["properties"];
    assert!(offered.get("files").is_some() && offered.get("ok").is_none(), "{offered}");
}

fn counting() -> Value {
    json!({ "schema": { "type": "object", "properties": { "files": { "type": "integer" } },
        "required": ["files"] } })
}

#[tokio::test]
async fn the_third_rejected_answer_of_a_subagent_is_its_last() {
    let wrong = |text: &str| {
        child(Turn::call("structured_output", json!({ "files": text })).usage(1000, 5))
    };
    let turns =
        vec![send("call-1", counting()), wrong("a"), wrong("b"), wrong("c"), wrong("d"), answer()];
    let (fake, done) = perform(turns).await;
    let told = told(&fake);
    assert!(told.starts_with("Error: the subagent's answer was rejected 3 times: "), "{told}");
    assert_eq!(fake.requests().iter().filter(|request| is_childs(request)).count(), 3);
    assert_eq!(done.report.usage.input_tokens, Some(3110), "failures are counted too");
}

#[tokio::test]
async fn a_subagent_that_never_tried_is_told_apart() {
    let turns = vec![
        send("call-1", counting()),
        child(Turn::text("I would rather not count.").forever()),
        answer(),
    ];
    let (fake, _done) = perform(turns).await;
    let expected = "Error: the subagent ended without ever giving an answer that fits the schema";
    assert_eq!(told(&fake), expected);
}

#[tokio::test]
async fn a_subagent_whose_provider_fails_did_not_complete() {
    let turns = vec![
        send("call-1", json!({})),
        child(Turn::status(400).message("too many words")),
        answer(),
    ];
    let (fake, _done) = perform(turns).await;
    let told = told(&fake);
    assert!(told.starts_with("Error: the subagent did not complete: "), "{told}");
    assert!(told.contains("too many words"), "{told}");
}

#[tokio::test]
async fn a_wrong_errand_is_explained_and_nothing_is_sent() {
    let turns = vec![send("call-1", json!({ "tools": ["hammer"] })), answer()];
    let (fake, _done) = perform(turns).await;
    assert!(told(&fake).starts_with("Error: there is no tool `hammer`"), "{}", told(&fake));
    assert_eq!(fake.requests().len(), 2);
}

#[tokio::test]
async fn two_subagents_work_at_the_same_time() {
    let errand = |prompt: &str| json!({ "description": "d", "prompt": prompt });
    let both = Turn::call("agent", errand("Count apples.")).id("call-1");
    let both = both.then_call("agent", errand("Count pears.")).id("call-2");
    let counted =
        |what: &str, text: &str| child(Turn::text(text).when_contains(what)).gate(0, "both");
    let turns =
        vec![parent(both), counted("pears", "2 pears"), counted("apples", "1 apple"), answer()];
    let (fake, running) = rig(turns).await.start();
    fake.gate("both").reached_by(2).await;
    fake.gate("both").open();
    let done = running.finish().await;
    assert_eq!(done.report.outcome, Outcome::Met, "{}", done.error());
    let last = fake.requests().last().unwrap().body["messages"].to_string();
    let (apple, pear) = (last.find("1 apple").unwrap(), last.find("2 pears").unwrap());
    assert!(apple < pear, "results come in the order of the calls");
}

#[tokio::test]
async fn an_interrupt_reaches_a_subagent_and_wins() {
    let turns = vec![
        send("call-1", counting()),
        child(Turn::text("One, two, three, four").gate(1, "counting")),
    ];
    let (fake, running) = rig(turns).await.start();
    fake.gate("counting").reached().await;
    running.interrupt.cancel();
    let done = running.finish().await;
    assert_eq!(done.report.outcome, Outcome::Interrupted);
    assert_eq!(fake.next_cancel().await.request, 1);
}

/// Returns the notifications; the rig has checked that nothing follows the end.
fn notified(done: &Finished) -> Vec<(String, String)> {
    let notes = done.events.iter().filter_map(|event| {
        let EventKind::Notified(note) = &event.kind else { return None };
        Some((note.task_id.clone(), note.status.clone()))
    });
    notes.collect()
}

async fn in_background(then: Vec<Turn>) -> (Fake, Running) {
    let mut turns = vec![send("call-1", json!({ "background": true }))];
    turns.extend(then);
    turns.push(child(Turn::text("There are 7.").usage(1000, 5).gate(0, "background")));
    rig(turns).await.start()
}

#[tokio::test]
async fn a_background_subagent_returns_at_once_and_notifies_later() {
    let then = vec![parent(Turn::text("I wait for the count.")), answer()];
    let (fake, mut running) = in_background(then).await;
    let waits = |kind: &EventKind| matches!(kind, EventKind::Said { reply, .. } if reply.text() == "I wait for the count.");
    running.until(waits).await;
    fake.gate("background").open();
    let done = running.finish().await;
    assert_eq!(done.report.outcome, Outcome::Met, "{}", done.error());
    assert_eq!(notified(&done), [("agent-1".to_owned(), "completed".to_owned())]);
    assert!(told(&fake).starts_with("Started in the background as task `agent-1`"));
    let last = fake.requests().last().unwrap().body["messages"].to_string();
    assert!(last.contains("There are 7."), "the notification reaches the model: {last}");
    assert_eq!(done.report.usage.input_tokens, Some(1120));
}

#[tokio::test]
async fn an_accepted_answer_ends_background_work_whose_last_words_come_before_the_end() {
    let (fake, running) = in_background(vec![answer().gate(0, "answer")]).await;
    fake.gate("background").reached().await;
    fake.gate("answer").open();
    let done = running.finish().await;
    assert_eq!(done.report.outcome, Outcome::Met, "{}", done.error());
    assert_eq!(notified(&done), [("agent-1".to_owned(), "cancelled".to_owned())]);
    assert_eq!(done.report.usage.input_tokens, Some(1110), "what it had used is counted");
    fake.next_cancel().await;
}

#[tokio::test]
async fn a_run_costs_what_its_subagents_cost_at_their_own_price() {
    let long =
        LongPrice { above_input_tokens: 500, input: 11, output: 13, cache_read: 0, cache_write: 0 };
    let price = Price { long: Some(long), ..PRICE };
    let turns =
        vec![send("call-1", json!({})), child(Turn::text("There are 7.").usage(1000, 5)), answer()];
    let mut rig = rig(turns).await;
    rig.job.price = Some(PRICE);
    rig.agent.subagents = Some(Subagents { price: Some(price), ..Subagents::default() });
    let (_fake, done) = rig.finish().await;
    let used = |input, output| Usage {
        input_tokens: Some(input),
        output_tokens: Some(output),
        ..Usage::default()
    };
    let own = [used(10, 1), used(100, 2)].map(|usage| PRICE.cost(&usage));
    let expected = own.into_iter().chain([price.cost(&used(1000, 5))]).sum();
    assert_eq!(done.report.cost, Some(expected));
}

/// Sends three subagents in one answer.
fn send_three() -> Turn {
    let errand = |number: usize| json!({ "description": "d", "prompt": format!("Do {number}.") });
    let sent = (0..3).fold(Turn::say().usage(10, 1), |turn, number| {
        turn.then_call("agent", errand(number)).id(format!("call-{number}"))
    });
    parent(sent)
}

#[tokio::test]
async fn subagents_at_work_together_share_what_is_left() {
    // Each of them would go on for ever, and each request uses 100 tokens.
    let on = child(Turn::call("agent", json!({})).usage(90, 10)).forever();
    let mut rig = rig(vec![send_three(), on]).await;
    rig.job.policy.budget.tokens = Some(500);
    let (fake, done) = rig.finish().await;
    assert_eq!(done.report.outcome, Outcome::Budget, "{}", done.error());
    let sent = fake.requests().iter().filter(|request| is_childs(request)).count();
    assert!((5..5 + 3).contains(&sent), "{sent} requests of 100 tokens for 489");
    let used = done.report.usage.total();
    assert_eq!(used, 11 + 100 * u64::try_from(sent).unwrap());
}

#[tokio::test]
async fn a_subagent_that_was_stopped_is_counted_and_makes_the_cost_unknown() {
    let turns = vec![
        send("call-1", json!({})),
        child(Turn::text("One, two, three, four").usage(1000, 5).gate(1, "counting")),
    ];
    let mut rig = rig(turns).await;
    rig.job.price = Some(PRICE);
    rig.agent.subagents = Some(Subagents { price: Some(PRICE), ..Subagents::default() });
    let (_fake, mut running) = rig.start();
    running.until(|kind| matches!(kind, EventKind::Delta(Delta::Text(_)))).await;
    running.interrupt.cancel();
    let done = running.finish().await;
    assert_eq!(done.report.outcome, Outcome::Interrupted);
    assert_eq!((done.report.usage.input_tokens, done.report.cost), (Some(1010), None));
}
