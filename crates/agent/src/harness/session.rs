//! What one invocation of a program leaves for the next: it goes through the conversation, as a block
//! that only this driver reads.

use airtight_core::codec::{Request, Usage};
use airtight_core::message::{Block, Message, Role};
use airtight_core::price::Cost;
use airtight_core::transcript::{Program, Record};
use serde::{Deserialize, Serialize};

/// The longest name of a session; programs use 36 characters and fewer.
const SESSION_NAME_LIMIT_BYTES: usize = 256;

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
    /// What all models used in the session, where the program tells that besides.
    session: Usage,
    cost: Option<Cost>,
}

/// What the last invocation left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Left {
    /// A session that goes on.
    Session(Session),
    /// Work, and nothing to go on with: whoever is told everything again may do it again.
    Work {
        /// How many tools were called, besides the one for the answer.
        calls: u64,
    },
}

impl Left {
    /// Reads what the last invocation left for `request`, if it left anything.
    pub(super) fn of(request: &Request) -> Option<Self> {
        let said = request.messages.iter().rev().find(|it| it.role == Role::Assistant)?;
        said.blocks.iter().find_map(|block| match block {
            Block::Session(value) => Self::deserialize(value).ok(),
            Block::Text(_)
            | Block::Thinking(_)
            | Block::Opaque(_)
            | Block::Call(_)
            | Block::Result(_) => None,
        })
    }

    /// Returns what a program leaves that has ended after so many calls of tools, as a block of what
    /// it said; `before` is what had been counted when it began.
    pub(super) fn block(calls: u64, before: Option<&Counted>, record: &Record) -> Option<Block> {
        let left = match record.session_id.clone().filter(|name| is_name(name)) {
            Some(session_id) => {
                Self::Session(Session { session_id, counted: Counted::after(before, record) })
            }
            None if calls > 0 => Self::Work { calls },
            None => return None,
        };
        serde_json::to_value(left).ok().map(Block::Session)
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
        let mut session = before.session;
        session.replace(&record.session_usage);
        Self { usage, session, cost: cost(record).or(before.cost) }
    }

    /// Returns what `record` adds to what was counted before.
    ///
    /// Codex and qwen count the tokens of a whole session in their results, and claude its cost.
    pub(super) fn since(before: Option<&Self>, record: &Record) -> (Usage, Option<Cost>) {
        let (mut usage, mut paid) = (record.usage, cost(record));
        let earlier = before.map(|before| before.session).unwrap_or_default();
        let session = record.session_usage;
        let of_models =
            if session.total() < earlier.total() { session } else { session.less(&earlier) };
        // After a request that failed or was cut, results of claude tell less than its models used, or nothing.
        if of_models.total() > usage.total() {
            usage = of_models;
        }
        let Some(before) = before else { return (usage, paid) };
        match record.program {
            Some(Program::Codex | Program::Qwen) if record.num_results > 0 => {
                usage = usage.less(&before.usage);
            }
            Some(Program::Claude) => {
                let earlier = before.cost.unwrap_or_default();
                // One that counts anew has less than before.
                paid = paid
                    .map(|paid| if paid < earlier { paid } else { paid.saturating_sub(earlier) });
            }
            Some(Program::Codex | Program::Qwen | Program::Gemini | Program::Opencode) | None => {}
        }
        (usage, paid)
    }
}

/// Claims that a program can be asked for the session of this name, and takes it for nothing else: one that
/// begins with a dash would be a flag.
fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    let has_length = (1..=SESSION_NAME_LIMIT_BYTES).contains(&name.len());
    has_length && !name.starts_with('-') && name.bytes().all(is_letter)
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
    use test_case::test_case;

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
        let block = Left::block(0, None, &record(program, 10, 0.25)).unwrap();
        let messages = vec![
            Message::user("job"),
            Message { role: Role::Assistant, blocks: vec![block, Block::Text("no".into())] },
            Message::user("again"),
        ];
        let request = Request { messages, ..super::super::tests::request() };
        let Some(Left::Session(session)) = Left::of(&request) else { panic!("no session") };
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

    /// What a result of claude tells, and what models used in its session, of which 10 were used before.
    #[test_case(5, 15 => Some(5); "as told")]
    #[test_case(0, 15 => Some(5); "a request that failed")]
    #[test_case(5, 23 => Some(13); "requests that failed, and one that did not")]
    #[test_case(5, 5 => Some(5); "models that are counted anew")]
    #[test_case(5, 0 => Some(5); "models that are not told")]
    fn what_models_used_in_a_session_before_is_not_counted_again(
        told: u64,
        of_models: u64,
    ) -> Option<u64> {
        let used = |tokens| Usage { input_tokens: Some(tokens), ..Usage::default() };
        let said = |usage, session_usage| Record {
            usage,
            session_usage,
            ..record(Program::Claude, 0, 0.25)
        };
        let before = Counted::after(None, &said(used(10), used(10)));
        Counted::since(Some(&before), &said(used(told), used(of_models))).0.input_tokens
    }

    #[test_case("019a2b-7c" => true)]
    #[test_case("ses_01:a.b" => true)]
    #[test_case("" => false; "nothing")]
    #[test_case("--dangerously-skip-permissions" => false; "a flag")]
    #[test_case("a b" => false; "two words")]
    fn sessions_have_names_that_are_nothing_else(name: &str) -> bool {
        let named = Record { session_id: Some(name.to_owned()), ..Record::default() };
        assert!(Left::block(1, None, &named).is_some());
        Left::block(0, None, &named).is_some()
    }

    #[test]
    fn what_is_not_told_of_models_is_as_it_was() {
        let used = Usage { input_tokens: Some(10), ..Usage::default() };
        let told = Record { session_usage: used, ..record(Program::Claude, 10, 0.25) };
        let before = Counted::after(None, &told);
        let silent = Counted::after(Some(&before), &record(Program::Claude, 0, 0.25));
        assert_eq!(silent.session, used);
        // A session that was not found again is paid from its beginning.
        let (_, paid) = Counted::since(Some(&before), &record(Program::Claude, 0, 0.125));
        assert_eq!(paid.map(Cost::usd), Some(0.125));
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
