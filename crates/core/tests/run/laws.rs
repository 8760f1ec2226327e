//! Laws of the machine, over scripts that no model would think of.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use airtight_core::codec::{FailureKind, ProviderFailure, Reply, Request, Stop};
use airtight_core::message::{Block, Message, Role};
use airtight_core::run::{
    Budget, CallFailure, Ending, EventKind, Job, Mode, Outcome, Run, Step, TERMINAL_TOOL, Terminal,
    TextRung,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::support::*;

/// What the world does next, whenever it is its turn.
#[derive(Debug, Clone)]
enum Turn {
    Reply(Box<Reply>),
    Fail,
}

fn block() -> impl Strategy<Value = Block> {
    let id = prop_oneof![Just("1"), Just("2"), Just("")];
    let said = prop_oneof![
        Just(GOOD),
        Just(BAD),
        Just(""),
        Just("{"),
        Just(r#"{"summary":"...","score":1}"#),
        Just("{}"),
    ];
    prop_oneof![
        2 => (id.clone(), said.clone()).prop_map(|(id, said)| answer(id, said)),
        3 => (id, said.clone()).prop_map(|(id, said)| call(id, "write_file", said)),
        1 => said.prop_map(|said| Block::Text(said.to_owned())),
        1 => Just(Block::Text("Hm.".to_owned())),
    ]
}

fn turn() -> impl Strategy<Value = Turn> {
    let stop = prop_oneof![
        4 => Just(Some(Stop::EndTurn)),
        4 => Just(Some(Stop::ToolUse)),
        2 => Just(Some(Stop::MaxTokens)),
        1 => Just(Some(Stop::Refusal)),
        1 => Just(None),
    ];
    let reply = (vec(block(), 0..4), stop).prop_map(|(blocks, stop)| {
        Turn::Reply(Box::new(Reply { blocks, stop, usage: usage(3, 2), ..Reply::default() }))
    });
    prop_oneof![20 => reply, 1 => Just(Turn::Fail)]
}

fn jobs() -> impl Strategy<Value = Job> {
    let mode =
        prop_oneof![Just(Mode::Auto), Just(Mode::Native), Just(Mode::Tool), Just(Mode::Prompt)];
    let budget = (prop::option::of(0u32..4), prop::option::of(0u64..60));
    (mode, 0u8..=5, prop::option::of(1u32..8), budget, any::<[bool; 4]>()).prop_map(
        |(mode, reasks, max_turns, (tool_calls, tokens), [contract, denied, refused, alone])| {
            let mut job = job(review());
            job.mode = mode;
            job.policy.reasks = reasks;
            job.policy.max_turns = max_turns;
            job.policy.budget = Budget { tool_calls, tokens, ..Budget::default() };
            if !contract {
                job.contract = None;
            }
            if denied {
                job.terminal = Terminal::Denied;
            }
            if refused {
                job.policy.text = TextRung::Refused;
            }
            if alone {
                job.tools.clear();
            }
            job
        },
    )
}

/// Claims that every call in the conversation has its one result in the next message, in order, and
/// that no two turns of one side follow each other.
fn is_well_formed(request: &Request) -> Result<(), String> {
    let ids = |message: &Message| -> (Vec<String>, Vec<String>) {
        let calls = message.blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(call.id.clone()),
            _ => None,
        });
        let results = message.blocks.iter().filter_map(|block| match block {
            Block::Result(result) => Some(result.call_id.clone()),
            _ => None,
        });
        (calls.collect(), results.collect())
    };
    let mut open = Vec::new();
    let mut last = Role::Assistant;
    for message in &request.messages {
        let (calls, results) = ids(message);
        if message.role == last || message.blocks.is_empty() {
            return Err(format!("turns do not alternate: {:?}", request.messages));
        }
        if results != open {
            return Err(format!("results {results:?} for calls {open:?}"));
        }
        if calls.iter().collect::<BTreeSet<_>>().len() != calls.len() {
            return Err(format!("ids repeat: {calls:?}"));
        }
        (open, last) = (calls, message.role);
    }
    if open.is_empty() && last == Role::User { Ok(()) } else { Err("nothing is asked".to_owned()) }
}

/// Claims that the calls of every turn are told something, before the next turn.
fn is_paired(events: &[EventKind]) -> Result<(), String> {
    let mut open = BTreeSet::new();
    for event in events {
        match event {
            EventKind::Said { reply, .. } if open.is_empty() => {
                open = reply.calls().map(|call| call.id.clone()).collect();
            }
            EventKind::Heard(results) => {
                let told: BTreeSet<_> = results.iter().map(|it| it.call_id.clone()).collect();
                if told != std::mem::take(&mut open) {
                    return Err(format!("{events:?}"));
                }
            }
            EventKind::Said { .. } => return Err(format!("{open:?} were told nothing")),
            _ => {}
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("{open:?} were told nothing")) }
}

proptest! {
    #[test]
    fn every_run_ends_within_its_bounds_with_one_outcome(
        job in jobs(),
        turns in vec(turn(), 1..12),
        tasks in any::<u8>(),
    ) {
        let policy = job.policy.clone();
        let has_contract = job.contract.is_some();
        let Ok(mut run) = Run::new(job) else { return Ok(()) };
        let mut turns = turns.into_iter().cycle();
        let (mut model_calls, mut tool_calls, mut fresh) = (0u32, 0u32, 0usize);
        let mut tasks: Vec<String> = (0..tasks % 3).map(|task| task.to_string()).collect();
        for task in &tasks {
            run.background_began(task);
        }
        let mut outcomes = BTreeMap::new();
        for _ in 0..10_000 {
            match run.step() {
                Step::CallModel(request) => {
                    prop_assert!(outcomes.is_empty(), "nothing is sent once the run is over");
                    is_well_formed(&request).map_err(TestCaseError::fail)?;
                    model_calls += 1;
                    match turns.next().unwrap() {
                        Turn::Reply(mut reply) => {
                            // Fresh arguments now and then, so that not every run is a loop.
                            for block in &mut reply.blocks {
                                if let Block::Call(call) = block && call.name != TERMINAL_TOOL {
                                    fresh += 1;
                                    call.arguments = format!("{}{}", call.arguments, fresh / 2);
                                }
                            }
                            run.answered(*reply);
                        }
                        Turn::Fail => run.failed(
                            Reply { usage: usage(3, 2), ..Reply::default() },
                            CallFailure::Provider(ProviderFailure {
                                kind: FailureKind::Network,
                                status: None,
                                code: None,
                                message: "cut".to_owned(),
                                retry_after: None,
                            }),
                        ),
                    }
                }
                Step::CallTools(calls) => {
                    prop_assert!(!calls.is_empty());
                    tool_calls += u32::try_from(calls.len()).unwrap();
                    run.tools_returned(calls.iter().map(done).collect());
                }
                Step::Wait => {
                    let task = tasks.pop().expect("an open task to wait for");
                    run.notified(notification(&task, "ready"));
                }
                Step::Done => {
                    *outcomes.entry("done").or_insert(0) += 1;
                    break;
                }
            }
        }
        prop_assert_eq!(outcomes.len(), 1, "the run does not end");
        is_paired(&run.take_events()).map_err(TestCaseError::fail)?;
        let report = run.finish(Duration::ZERO);
        prop_assert_eq!(report.turns, model_calls);
        prop_assert_eq!(report.tool_calls, tool_calls);
        prop_assert!(policy.max_turns.is_none_or(|most| model_calls <= most));
        prop_assert!(policy.budget.tool_calls.is_none_or(|most| tool_calls <= most));
        let is_met = report.outcome == Outcome::Met;
        prop_assert_eq!(report.error.is_none(), is_met);
        prop_assert_eq!(report.value.is_some(), is_met && has_contract);
        prop_assert_eq!(report.rung.is_some(), is_met && has_contract);
        let accepted =
            report.attempts.iter().filter(|attempt| attempt.ending == Ending::Accepted).count();
        prop_assert_eq!(accepted, usize::from(is_met && has_contract));
        let used = report.usage.output_tokens.unwrap_or(0);
        prop_assert_eq!(used, 2 * u64::from(model_calls));
    }
}
