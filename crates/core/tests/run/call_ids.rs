//! Ids of calls: unique in a run and its subagents, and paired on every wire.

use std::collections::BTreeSet;
use std::time::Duration;

use airtight_core::codec::{Delta, Reply, Request, Wire};
use airtight_core::message::Block;
use airtight_core::run::{EventKind, Job, Run, Step};
use serde_json::Value;
use test_case::test_case;

use crate::support::*;

/// Two calls with these ids, whose arguments differ from those of other turns.
fn work(ids: [&str; 2], turn: usize) -> Reply {
    calls(ids.map(|id| call(id, "write_file", &format!("{{\"n\":{turn}}}"))).to_vec())
}

fn last_request(ids: [&str; 2]) -> Request {
    let mut replies: Vec<Reply> = (0..3).map(|turn| work(ids, turn)).collect();
    replies.push(calls(vec![answer("done", GOOD)]));
    play(job(review()), replies).requests.pop().unwrap()
}

/// Returns every value of `key` in `body`, in order.
fn values<'b>(body: &'b Value, key: &str, found: &mut Vec<&'b str>) {
    match body {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(text) if name == key => found.push(text),
                    _ => values(member, key, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| values(item, key, found)),
        _ => {}
    }
}

fn ids<'b>(body: &'b Value, key: &str) -> Vec<&'b str> {
    let mut found = Vec::new();
    values(body, key, &mut found);
    found
}

#[test_case(["call_0", "call_1"]; "made up for each answer")]
#[test_case(["toolu_a", "toolu_b"]; "repeated by the server")]
fn calls_and_results_are_paired_by_ids_that_never_repeat(said: [&str; 2]) {
    let request = last_request(said);
    let is_unique = |ids: &[&str]| ids.iter().collect::<BTreeSet<_>>().len() == ids.len();
    let anthropic = Wire::Anthropic.encode(&request).body;
    let answered = ids(&anthropic, "tool_use_id");
    let asked: Vec<&str> =
        ids(&anthropic, "id").into_iter().filter(|id| answered.contains(id)).collect();
    assert_eq!(asked, answered);
    assert!(answered.len() == 6 && is_unique(&answered), "{answered:?}");

    let chat = Wire::Chat.encode(&request).body;
    let answered = ids(&chat, "tool_call_id");
    assert_eq!(ids(&chat, "id"), answered);
    assert!(answered.len() == 6 && is_unique(&answered), "{answered:?}");

    let responses = Wire::Responses.encode(&request).body;
    let pairs = ids(&responses, "call_id");
    assert_eq!(pairs.len(), 12);
    assert_eq!(pairs.iter().collect::<BTreeSet<_>>().len(), 6);
    for turn in pairs.chunks(4) {
        assert_eq!(turn[..2], turn[2..], "results follow their calls");
    }
}

#[test_case(["call_0", "call_1"], 0; "that were made up are left out")]
#[test_case(["fc_a", "fc_b"], 6; "that it gave are unique")]
fn gemini_gets_back_ids(said: [&str; 2], expected: usize) {
    let body = Wire::Gemini.encode(&last_request(said)).body;
    let contents = body["contents"].as_array().unwrap();
    let of = |kind: &str| -> Vec<Value> {
        let parts = contents.iter().flat_map(|content| content["parts"].as_array().unwrap());
        parts.filter_map(|part| part.get(kind)).map(|it| it["id"].clone()).collect()
    };
    let (asked, answered) = (of("functionCall"), of("functionResponse"));
    assert_eq!((asked.len(), &asked), (6, &answered));
    let given: BTreeSet<&str> = asked.iter().filter_map(Value::as_str).collect();
    assert_eq!(given.len(), expected);
}

fn started(id: &str) -> Delta {
    let (id, name) = (id.to_owned(), "write_file".to_owned());
    Delta::CallStarted { index: 0, id, name, signature: None }
}

fn said_ids(run: &mut Run) -> Vec<String> {
    let said = run.take_events().into_iter().filter_map(|event| match event {
        EventKind::Said { reply, .. } => Some(reply),
        _ => None,
    });
    said.flat_map(|reply| reply.calls().map(|call| call.id.clone()).collect::<Vec<_>>()).collect()
}

#[test]
fn events_and_pieces_have_the_id_that_the_call_has() {
    let mut run = Run::new(job(review())).unwrap();
    for (turn, expected) in ["call_0", "call_0_2", "call_0_3"].into_iter().enumerate() {
        assert!(matches!(run.step(), Step::CallModel(_)));
        assert_eq!(run.identify(started("call_0")), started(expected));
        run.answered(calls(vec![call("call_0", "write_file", &turn.to_string())]));
        let Step::CallTools(calls) = run.step() else { panic!("tools") };
        assert_eq!(calls[0].id, expected);
        assert_eq!(said_ids(&mut run), [expected]);
        run.tools_returned(calls.iter().map(done).collect());
    }
}

#[test]
fn subagents_take_no_id_of_the_run_or_of_each_other() {
    let mut run = Run::new(job(review())).unwrap();
    run.step();
    run.answered(calls(vec![call("call_0", "agent", "{}")]));
    let errand = || Job { contract: None, ..job(review()) };
    let mut children: Vec<Run> =
        (0..2).map(|_| Run::within(&run.household(), errand()).unwrap()).collect();
    // Both stream at the same time, and end in the other order.
    let pieces: Vec<Delta> = children
        .iter_mut()
        .map(|child| {
            child.step();
            child.identify(started("call_0"))
        })
        .collect();
    assert_eq!(pieces, [started("call_0_2"), started("call_0_3")]);
    for (child, id) in children.iter_mut().zip(["call_0_2", "call_0_3"]).rev() {
        child.answered(calls(vec![call("call_0", "write_file", "{}")]));
        assert_eq!(said_ids(child), [id]);
    }
}

#[test]
fn hooks_hear_of_an_answer_by_the_id_that_it_will_have() {
    let mut run = Run::new(job(review())).unwrap();
    run.step();
    run.answered(calls(vec![answer("call_0", BAD)]));
    run.take_events();
    run.step();
    let reply = calls(vec![call("call_1", "write_file", "{}"), answer("call_0", GOOD)]);
    let calls = run.terminal_calls(&reply);
    assert_eq!(
        calls.iter().map(|(at, call)| (*at, call.id.as_str())).collect::<Vec<_>>(),
        [(1, "call_0_2")]
    );
    run.answered(reply);
    assert_eq!(said_ids(&mut run), ["call_1", "call_0_2"]);
    assert!(run.finish(Duration::ZERO).value.is_some());
}

#[test]
fn a_long_id_that_repeats_stays_within_what_providers_take() {
    let long = "x".repeat(64);
    let replies = (0..2).map(|turn| work([&long, "other"], turn));
    let played = play(job(review()), replies.chain([calls(vec![answer("1", GOOD)])]).collect());
    let messages = &played.requests.last().unwrap().messages;
    let ids = messages.iter().flat_map(|message| &message.blocks).filter_map(|block| match block {
        Block::Call(call) => Some(call.id.len()),
        _ => None,
    });
    assert!(ids.clone().count() == 4 && ids.max() <= Some(64));
}
