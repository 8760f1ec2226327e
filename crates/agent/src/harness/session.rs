//! What one invocation of a program leaves for the next: it goes through the conversation, as a block
//! that only this driver reads.

use airtight_core::codec::{Request, Usage};
use airtight_core::message::{Block, Message, Role};
use airtight_core::price::Cost;
use airtight_core::transcript::{Program, Record};
use serde::{Deserialize, Serialize};

/// A session that can be resumed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Session {
    /// The program's id of it.
    pub(super) session_id: String,
    /// What the program has counted since its beginning, where it counts on when it is resumed.
    pub(super) counted: Counted,
}

/// What a program has counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Counted {
    usage: Usage,
    cost: Option<Cost>,
}

impl Session {
    /// Returns the session that `request` goes on with, if there is one.
    pub(super) fn of(request: &Request) -> Option<Self> {
        let said = request.messages.iter().rev().find(|it| it.role == Role::Assistant)?;
        said.blocks.iter().find_map(|block| match block {
            Block::Opaque(value) => serde_json::from_value(value.clone()).ok(),
            Block::Text(_) | Block::Thinking(_) | Block::Call(_) | Block::Result(_) => None,
        })
    }

    /// Returns the session of a program that has ended, as a block of what it said; `before` is what
    /// had been counted when it began.
    pub(super) fn block(before: Option<&Counted>, record: &Record) -> Option<Block> {
        let session_id = record.session_id.clone()?;
        let counted = Counted::after(before, record);
        serde_json::to_value(Self { session_id, counted }).ok().map(Block::Opaque)
    }
}

impl Counted {
    /// Returns what is counted after `record`. Without a result it tells of one call alone.
    fn after(before: Option<&Self>, record: &Record) -> Self {
        let before = before.copied().unwrap_or_default();
        let mut usage = record.usage;
        if record.num_results == 0 {
            usage.add(&before.usage);
        }
        Self { usage, cost: cost(record).or(before.cost) }
    }

    /// Returns what `record` adds to what was counted before.
    ///
    /// Codex and qwen count the tokens of a whole session in their results, and claude its cost.
    pub(super) fn since(before: Option<&Self>, record: &Record) -> (Usage, Option<Cost>) {
        let (mut usage, mut paid) = (record.usage, cost(record));
        let Some(before) = before else { return (usage, paid) };
        match record.program {
            Some(Program::Codex | Program::Qwen) if record.num_results > 0 => {
                usage = usage.less(&before.usage);
            }
            Some(Program::Claude) => {
                let earlier = before.cost.unwrap_or_default();
                paid = paid.map(|paid| paid.saturating_sub(earlier));
            }
            Some(Program::Codex | Program::Qwen | Program::Gemini | Program::Opencode) | None => {}
        }
        (usage, paid)
    }
}

/// Returns what a program says it cost.
fn cost(record: &Record) -> Option<Cost> {
    let dollars = record.total_cost_usd.as_ref().and_then(serde_json::Number::as_f64)?;
    let cost = Cost::from_usd(dollars)?;
    // Opencode counts nothing for a model whose price it does not know.
    let is_known = record.program != Some(Program::Opencode) || cost != Cost::default();
    is_known.then_some(cost)
}

/// Returns what was said to the model since it last spoke, or from the beginning.
pub(super) fn unanswered(messages: &[Message]) -> &[Message] {
    let last = messages.iter().rposition(|message| message.role == Role::Assistant);
    messages.get(last.map_or(0, |at| at + 1)..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(program: Program, input_tokens: u64, dollars: f64) -> Record {
        Record {
            program: Some(program),
            session_id: Some("s".to_owned()),
            usage: Usage { input_tokens: Some(input_tokens), ..Usage::default() },
            total_cost_usd: serde_json::Number::from_f64(dollars),
            num_results: 1,
            ..Record::default()
        }
    }

    /// Returns tokens and dollars of the second of two calls in one session.
    fn second(program: Program) -> (Option<u64>, Option<f64>) {
        let block = Session::block(None, &record(program, 10, 0.25)).unwrap();
        let messages = vec![
            Message::user("job"),
            Message { role: Role::Assistant, blocks: vec![block, Block::Text("no".into())] },
            Message::user("again"),
        ];
        let request = Request { messages, ..super::super::tests::request() };
        let session = Session::of(&request).unwrap();
        assert_eq!(session.session_id, "s");
        let later = record(program, 25, 0.75);
        let (usage, cost) = Counted::since(Some(&session.counted), &later);
        (usage.input_tokens, cost.map(Cost::usd))
    }

    #[test]
    fn what_a_session_has_counted_before_is_not_counted_again() {
        assert_eq!(second(Program::Claude), (Some(25), Some(0.5)));
        assert_eq!(second(Program::Codex).0, Some(15));
        assert_eq!(second(Program::Qwen).0, Some(15));
        assert_eq!(second(Program::Gemini), (Some(25), Some(0.75)));
    }

    #[test]
    fn a_call_without_a_result_tells_what_it_used_alone() {
        let before = Counted::after(None, &record(Program::Qwen, 10, 0.25));
        let cut = Record { num_results: 0, total_cost_usd: None, ..record(Program::Qwen, 7, 0.0) };
        let (usage, cost) = Counted::since(Some(&before), &cut);
        assert_eq!((usage.input_tokens, cost), (Some(7), None));
        let after = Counted::after(Some(&before), &cut);
        assert_eq!((after.usage.input_tokens, after.cost), (Some(17), before.cost));
    }
}
