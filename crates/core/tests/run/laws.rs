//! Laws of the machine, over scripts that no model would think of.

use std::collections::BTreeSet;
use std::time::Duration;

use airtight_core::codec::{FailureKind, ProviderFailure, Reply, Request, Stop};
use airtight_core::message::{Block, Message, Role};
use airtight_core::run::{
    Attempt, Budget, CallFailure, Ending, EventKind, Job, Mode, Outcome, RepairRung, Report, Run,
    RunError, Step, TERMINAL_TOOL, Terminal, TextRung,
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
    (mode, 0u8..=5, prop::option::of(1u32..8), budget, any::<[bool; 5]>()).prop_map(
        |(mode, reasks, max_turns, (tool_calls, tokens), switches)| {
            let [contract, denied, refused, alone, extracts] = switches;
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
                job.policy.repair = RepairRung::Refused;
            }
            if alone {
                job.tools.clear();
            }
            if extracts {
                job.extractor = Some(extractor());
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
    let mut all = BTreeSet::new();
    let mut last = Role::Assistant;
    for message in &request.messages {
        let (calls, results) = ids(message);
        if message.role == last || message.blocks.is_empty() {
            return Err(format!("turns do not alternate: {:?}", request.messages));
        }
        if results != open {
            return Err(format!("results {results:?} for calls {open:?}"));
        }
        if !calls.iter().all(|id| all.insert(id.clone())) {
            return Err(format!("ids repeat: {:?}", request.messages));
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

/// What the world sees of one run.
#[derive(Debug, Default)]
struct World {
    turns: Vec<Turn>,
    tasks: Vec<String>,
    model_calls: u32,
    tool_calls: u32,
    fresh: usize,
}

impl World {
    /// Performs `run` to its end, or gives up on it.
    fn perform(&mut self, run: &mut Run) -> Result<(), String> {
        self.tasks.iter().for_each(|task| run.background_began(task));
        for _ in 0..10_000 {
            match run.step() {
                Step::CallModel(request) => {
                    is_well_formed(&request)?;
                    self.answer(run);
                }
                Step::CallTools(calls) if calls.is_empty() => {
                    return Err("no tools are called".to_owned());
                }
                Step::CallTools(calls) => {
                    self.tool_calls += u32::try_from(calls.len()).unwrap();
                    run.tools_returned(calls.iter().map(done).collect());
                }
                Step::Extract(_) => {
                    let error = RunError::new(Outcome::Provider, "nobody is there");
                    run.extracted(Err(error));
                }
                Step::Wait => {
                    let task = self.tasks.pop().ok_or("there is nothing to wait for")?;
                    run.notified(notification(&task, "ready"));
                }
                Step::Done if matches!(run.step(), Step::Done) => return Ok(()),
                Step::Done => return Err("the end is not the end".to_owned()),
            }
        }
        Err("the run does not end".to_owned())
    }

    /// Says the next turn; after the last one, the first again.
    fn answer(&mut self, run: &mut Run) {
        let at = usize::try_from(self.model_calls).unwrap() % self.turns.len();
        self.model_calls += 1;
        match self.turns[at].clone() {
            Turn::Reply(mut reply) => {
                self.freshen(&mut reply);
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

    /// Changes arguments now and then, so that not every run is a loop.
    fn freshen(&mut self, reply: &mut Reply) {
        for block in &mut reply.blocks {
            if let Block::Call(call) = block
                && call.name != TERMINAL_TOOL
            {
                self.fresh += 1;
                call.arguments = format!("{}{}", call.arguments, self.fresh / 2);
            }
        }
    }
}

/// Claims that the report of a run says what the world saw of it.
fn is_faithful(report: &Report, world: &World, asked: Asked) -> Result<(), String> {
    let is_met = report.outcome == Outcome::Met;
    let is_answered = is_met && asked == Asked::ByContract;
    let accepted = |attempt: &&Attempt| attempt.ending == Ending::Accepted;
    let claims = [
        report.turns == world.model_calls,
        report.tool_calls == world.tool_calls,
        report.error.is_none() == is_met,
        report.value.is_some() == is_answered,
        report.rung.is_some() == is_answered,
        report.attempts.iter().filter(accepted).count() == usize::from(is_answered),
        report.usage.output_tokens.unwrap_or(0) == 2 * u64::from(world.model_calls),
    ];
    match claims.iter().position(|holds| !holds) {
        Some(broken) => Err(format!("claim {broken}: {report:?} of {world:?}")),
        None => Ok(()),
    }
}

/// How an answer is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    ByContract,
    InText,
}

proptest! {
    #[test]
    fn every_run_ends_within_its_bounds_with_one_outcome(
        job in jobs(),
        turns in vec(turn(), 1..12),
        tasks in 0u8..3,
    ) {
        let policy = job.policy.clone();
        let asked = if job.contract.is_some() { Asked::ByContract } else { Asked::InText };
        let Ok(mut run) = Run::new(job) else { return Ok(()) };
        let tasks = (0..tasks).map(|task| task.to_string()).collect();
        let mut world = World { turns, tasks, ..World::default() };
        world.perform(&mut run).map_err(TestCaseError::fail)?;
        is_paired(&run.take_events()).map_err(TestCaseError::fail)?;
        let report = run.finish(Duration::ZERO);
        is_faithful(&report, &world, asked).map_err(TestCaseError::fail)?;
        prop_assert!(policy.max_turns.is_none_or(|most| world.model_calls <= most));
        prop_assert!(policy.budget.tool_calls.is_none_or(|most| world.tool_calls <= most));
    }
}
