//! What can be typed after `run`.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{ArgAction, Args, ValueEnum};

use super::{Again, FolderArgs, PatternArgs};
use crate::config::{Entry, Key, Trust, Value};

/// Have a model do a job and answer by a contract
///
/// Drives a model turn by turn, with tools, until it delivers an answer that satisfies the
/// contract, or fails clearly. Only the original contract decides; every change made to what the
/// model said is listed. In a pipe, stdout has the compact JSON and nothing else.
///
/// The prompt is the argument, `-p`, `@FILE`, or stdin; with a prompt, what is piped in is added to
/// it as context. Settings come from `airtight.toml` (project, then user), the contract of a role
/// (`NAME.toml`), the environment (`AIRTIGHT_MODEL`, `ANTHROPIC_API_KEY`, …) and flags, in rising
/// strength: `airtight doctor` shows what is in force.
///
/// Every run is put on record (`airtight runs list`), unless `--no-store`.
///
/// Ends with 0 if the contract is met, 1 if no answer can be accepted, 3 if the provider fails, 4
/// if the answer is printed and could not be recorded, 41 if the provider refuses the key, 42
/// without a prompt, 44 without the sandbox, 52 if contract or settings are refused, 53 at the turn
/// cap, 55 out of budget, 130 if interrupted.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  airtight run --json-schema triage 'ERROR [payments] charge failed: card declined'
  airtight run --json-schema @review.json --model anthropic:claude-sonnet-4-5 'Review HEAD'
  git diff | airtight run --json-schema review --model openai:gpt-5 -p 'Review this change'
  airtight run --json-schema triage --no-tools --model gemini:gemini-2.5-flash @ticket.txt
  airtight run --json-schema triage --model openai-compatible:qwen3 \\
    --base-url http://localhost:11434/v1 'Sort these' < tickets.txt
  airtight run --json-schema review --allow-tool 'run_shell_command(git *)' \\
    --max-turns 20 --max-wall-time 5m --max-cost 0.50 'Review HEAD'
  airtight run --via claude --json-schema review 'Review HEAD'
  airtight run --contract blog-writer 'Write about onboarding emails'
  airtight run --json-schema review --output-format stream-json 'Review HEAD' | jq .type")]
pub(crate) struct RunArgs {
    /// Contract: inline JSON, `@path`, `-` for stdin, a name, or a path; a name or path may be that of
    /// a role: `NAME.toml`, with a prompt and a policy beside the schema
    #[arg(long = "json-schema", visible_alias = "contract", value_name = "CONTRACT")]
    pub(crate) contract: String,

    #[command(flatten)]
    pub(crate) folder: FolderArgs,

    /// Job for the model; `@FILE` reads it from a file
    #[arg(value_name = "PROMPT", conflicts_with = "prompt_flag")]
    pub(crate) prompt: Option<String>,

    /// Same as the argument
    #[arg(short = 'p', long = "prompt", value_name = "PROMPT")]
    pub(crate) prompt_flag: Option<String>,

    /// Text that strings marked `x-grounded` must be quoted from
    #[arg(long, value_name = "FILE")]
    pub(crate) source: Option<String>,

    #[command(flatten)]
    pub(crate) model: ModelArgs,

    #[command(flatten)]
    pub(crate) program: ProgramArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) tools: ToolArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) store: StoreArgs,

    /// Refuse contracts whose root cannot be an object, instead of wrapping them
    #[arg(long)]
    pub(crate) no_wrap: bool,

    #[command(flatten)]
    pub(crate) patterns: PatternArgs,

    /// Fetch the weights of an embedded model without asking
    #[arg(long, short)]
    pub(crate) yes: bool,

    #[command(flatten)]
    pub(crate) trust: TrustArgs,

    /// The run on record that is done again.
    #[arg(skip)]
    pub(crate) again: Option<Again>,
}

/// Who answers, and how the contract is put to it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelArgs {
    /// Model: anthropic:NAME, openai:NAME, gemini:NAME, openai-compatible:NAME, or embedded (a
    /// small one in this process, which is the default where no provider has a key), embedded:NAME
    /// or embedded:PATH
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub(crate) model: Option<String>,

    /// Where its provider is
    #[arg(long, value_name = "URL", value_parser = setting(Key::BaseUrl))]
    pub(crate) base_url: Option<Value>,

    /// How the contract is put to the model [default: auto]
    #[arg(long, value_enum)]
    pub(crate) mode: Option<Mode>,

    /// Standing instructions
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,

    /// Sampling temperature, from 0 to 2
    #[arg(long, value_name = "NUMBER", value_parser = setting(Key::Temperature))]
    pub(crate) temperature: Option<Value>,

    /// Most tokens of one answer
    #[arg(long, value_name = "COUNT", value_parser = setting(Key::MaxOutputTokens))]
    pub(crate) max_output_tokens: Option<Value>,

    /// Where chance begins for an embedded model with a temperature: the same seed, the same answer
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,

    /// Folder of worked examples for an embedded model: NAME.in.txt with what is asked,
    /// NAME.out.json with the right answer
    #[arg(long, value_name = "FOLDER")]
    pub(crate) examples: Option<String>,

    /// Accept an answer by tool or native structured output alone, never one found in text
    #[arg(long, conflicts_with = "extractor")]
    pub(crate) strict: bool,

    /// Model that looks for the answer in text without one; everything it finds must stand there
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub(crate) extractor: Option<String>,
}

/// Which agent CLI answers.
#[derive(Debug, Args)]
#[command(next_help_heading = "Agent CLI")]
pub(crate) struct ProgramArgs {
    /// Agent CLI that does the job, with its own tools and login: claude, codex, qwen, gemini or
    /// opencode; `--model` is then its own name of a model
    #[arg(long, value_name = "PROGRAM", value_parser = setting(Key::Via))]
    pub(crate) via: Option<Value>,

    /// Where it is [default: found in `PATH`]
    #[arg(long, value_name = "FILE", requires = "via")]
    pub(crate) via_path: Option<String>,

    /// One more argument for it; may be repeated
    #[arg(long, value_name = "ARGUMENT", action = ArgAction::Append, requires = "via",
        allow_hyphen_values = true)]
    pub(crate) via_arg: Vec<String>,

    /// One more variable that it gets of the environment; may be repeated
    #[arg(long, value_name = "NAME", action = ArgAction::Append, requires = "via")]
    pub(crate) via_env: Vec<String>,
}

/// When to stop.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Times a rejected answer is asked for again, from 0 to 5 [default: 2]
    #[arg(long, value_name = "COUNT", value_parser = setting(Key::Reasks))]
    pub(crate) reasks: Option<Value>,

    /// Most model calls; delivering the answer takes one of them
    #[arg(long, value_name = "COUNT", value_parser = setting(Key::MaxTurns))]
    pub(crate) max_turns: Option<Value>,

    /// Longest time, such as 90, 30s, 5m or 1.5h
    #[arg(long, value_name = "TIME", value_parser = setting(Key::MaxWallTime))]
    pub(crate) max_wall_time: Option<Value>,

    /// Most tool calls; 0 allows none
    #[arg(long, value_name = "COUNT", value_parser = setting(Key::MaxToolCalls))]
    pub(crate) max_tool_calls: Option<Value>,

    /// Most tokens of all answers, input and output
    #[arg(long, value_name = "COUNT", value_parser = setting(Key::MaxTokensTotal))]
    pub(crate) max_tokens_total: Option<Value>,

    /// Most dollars; a model of unknown price is refused
    #[arg(long, value_name = "DOLLARS", value_parser = setting(Key::MaxCost))]
    pub(crate) max_cost: Option<Value>,
}

/// What the model may do.
#[derive(Debug, Args)]
#[command(next_help_heading = "Tools")]
pub(crate) struct ToolArgs {
    /// Offer no tools; answers that break the contract are still asked for again
    #[arg(long, conflicts_with_all = [
        "approval_mode", "allow_tool", "core_tools", "sandbox", "mcp_config",
    ])]
    pub(crate) no_tools: bool,

    /// What tools may do without asking: plan (read), default (read), auto-edit, yolo (anything)
    #[arg(long, value_name = "MODE", value_parser = setting(Key::ApprovalMode))]
    pub(crate) approval_mode: Option<Value>,

    /// Allow a tool, or calls of it: `run_shell_command(git diff *)`; may be repeated
    #[arg(long, value_name = "PATTERN", action = ArgAction::Append)]
    pub(crate) allow_tool: Vec<String>,

    /// Deny a tool, or calls of it, whatever else allows it; may be repeated
    #[arg(long, value_name = "PATTERN", action = ArgAction::Append)]
    pub(crate) exclude_tool: Vec<String>,

    /// Tell the model of these tools alone, separated by commas
    #[arg(long, value_name = "NAMES", value_parser = setting(Key::CoreTools))]
    pub(crate) core_tools: Option<Value>,

    /// Run shell commands read-only outside the workspace, or not at all
    #[arg(long)]
    pub(crate) sandbox: bool,

    /// Folder that tools are confined to [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,

    /// MCP servers: a JSON file with `mcpServers`
    #[arg(long, value_name = "FILE")]
    pub(crate) mcp_config: Option<String>,
}

/// What is told of the run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "flags as typed; the command makes enums of them"
)]
pub(crate) struct OutputArgs {
    /// The answer alone, one document of everything, or one line for each event [default: text]
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) output_format: Option<OutputFormat>,

    /// Tell pieces of answers as they come in, unmasked; needs `--output-format stream-json`
    #[arg(long)]
    pub(crate) include_partial_messages: bool,

    /// Leave the last answer of a failed run out of its result and of its error
    #[arg(long)]
    pub(crate) no_raw: bool,

    /// Keep no transcript
    #[arg(long)]
    pub(crate) no_record: bool,

    /// Show no progress and no notes on stderr
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// What is put on record.
#[derive(Debug, Args)]
#[command(next_help_heading = "Ledger")]
pub(crate) struct StoreArgs {
    /// Ledger to record the run in: a path, or `postgres://…` [default: in the user's data folder]
    #[arg(long, value_name = "PATH|URL", conflicts_with = "no_store")]
    pub(crate) database: Option<String>,

    /// Keep no record of the run
    #[arg(long)]
    pub(crate) no_store: bool,

    /// How much of the run is recorded: full, masked (without secrets) or metadata (no texts)
    #[arg(long, value_name = "LEVEL", value_parser = setting(Key::StoreLevel), conflicts_with = "no_store")]
    pub(crate) store_level: Option<Value>,

    /// How long the record is kept, such as 12h or 90d [default: for ever]
    #[arg(long, value_name = "PERIOD", value_parser = setting(Key::StoreKeep), conflicts_with = "no_store")]
    pub(crate) store_keep: Option<Value>,

    /// Name of this job: with an answer on record, that is printed again and nothing is asked
    #[arg(long, value_name = "KEY", value_parser = NonEmptyStringValueParser::new(), conflicts_with = "no_store")]
    pub(crate) idempotency_key: Option<String>,
}

/// Whom to believe.
#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// Let the project's settings, its contracts, and what it sets for agent CLIs, run programs, widen
    /// permissions and move keys
    #[arg(long)]
    pub(crate) trust_project: bool,
}

impl TrustArgs {
    /// Returns how far the project's file is believed.
    pub(crate) fn trust(&self) -> Trust {
        if self.trust_project { Trust::Given } else { Trust::AsConfigured }
    }
}

/// How the contract is put to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// The strongest that fits the job
    Auto,
    /// The provider's structured output
    Native,
    /// A tool that takes the answer
    Tool,
    /// Words alone
    Prompt,
}

/// The form of what is told of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// The answer alone; nothing on failure
    #[default]
    Text,
    /// One array of everything that happened, the result last
    Json,
    /// One object a line as it happens, the result last
    StreamJson,
}

impl OutputFormat {
    /// Returns the format called `name`.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::from_str(name, false).ok()
    }
}

/// Parses a flag as the setting of the same meaning is parsed in a file.
pub(super) fn setting(
    key: Key,
) -> impl Fn(&str) -> Result<Value, String> + Clone + Send + Sync + 'static {
    move |text| Value::from_text(key.spec().kind, text).map_err(|error| error.to_string())
}

impl RunArgs {
    /// Returns the settings among the flags.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let text = |text: &String| Value::Text(text.clone());
        let named = |name: Option<clap::builder::PossibleValue>| {
            name.map(|value| Value::Text(value.get_name().to_owned()))
        };
        let switch = |given: bool, value: bool| given.then_some(Value::Switch(value));
        let list = |items: &Vec<String>| (!items.is_empty()).then(|| Value::List(items.clone()));
        let (limits, tools, output, store) = (&self.limits, &self.tools, &self.output, &self.store);
        let flags = [
            (Key::Reasks, "--reasks", limits.reasks.clone()),
            (Key::MaxTurns, "--max-turns", limits.max_turns.clone()),
            (Key::MaxWallTime, "--max-wall-time", limits.max_wall_time.clone()),
            (Key::MaxToolCalls, "--max-tool-calls", limits.max_tool_calls.clone()),
            (Key::MaxTokensTotal, "--max-tokens-total", limits.max_tokens_total.clone()),
            (Key::MaxCost, "--max-cost", limits.max_cost.clone()),
            (Key::ApprovalMode, "--approval-mode", tools.approval_mode.clone()),
            (Key::Allow, "--allow-tool", list(&tools.allow_tool)),
            (Key::Exclude, "--exclude-tool", list(&tools.exclude_tool)),
            (Key::CoreTools, "--core-tools", tools.core_tools.clone()),
            (Key::Sandbox, "--sandbox", switch(tools.sandbox, true)),
            (
                Key::OutputFormat,
                "--output-format",
                named(output.output_format.and_then(|format| format.to_possible_value())),
            ),
            (
                Key::OutputPartial,
                "--include-partial-messages",
                switch(output.include_partial_messages, true),
            ),
            (Key::OutputRaw, "--no-raw", switch(output.no_raw, false)),
            (Key::Record, "--no-record", switch(output.no_record, false)),
            (Key::Store, "--no-store", switch(store.no_store, false)),
            (Key::Database, "--database", store.database.as_ref().map(text)),
            (Key::StoreLevel, "--store-level", store.store_level.clone()),
            (Key::StoreKeep, "--store-keep", store.store_keep.clone()),
        ];
        let mut entries = self.model.entries();
        entries.extend(self.program.entries());
        entries.extend(given(flags));
        entries
    }
}

/// Returns the settings among `flags` that were given.
pub(super) fn given(
    flags: impl IntoIterator<Item = (Key, &'static str, Option<Value>)>,
) -> impl Iterator<Item = Entry> {
    flags.into_iter().filter_map(|(key, flag, value)| Some(Entry::flag(key, flag, value?)))
}

impl ModelArgs {
    /// Returns the settings among the flags.
    pub(super) fn entries(&self) -> Vec<Entry> {
        let text = |text: &String| Value::Text(text.clone());
        let mode = self.mode.and_then(|mode| mode.to_possible_value());
        let mode = mode.map(|mode| Value::Text(mode.get_name().to_owned()));
        let flags = [
            (Key::Model, "--model", self.model.as_ref().map(text)),
            (Key::BaseUrl, "--base-url", self.base_url.clone()),
            (Key::Mode, "--mode", mode),
            (Key::System, "--system", self.system.as_ref().map(text)),
            (Key::Temperature, "--temperature", self.temperature.clone()),
            (Key::MaxOutputTokens, "--max-output-tokens", self.max_output_tokens.clone()),
            (Key::Strict, "--strict", self.strict.then_some(Value::Switch(true))),
            (Key::Extractor, "--extractor", self.extractor.as_ref().map(text)),
        ];
        given(flags).collect()
    }
}

impl ProgramArgs {
    /// Returns the settings among the flags.
    pub(super) fn entries(&self) -> Vec<Entry> {
        let list = |items: &Vec<String>| (!items.is_empty()).then(|| Value::List(items.clone()));
        let path = self.via_path.as_ref().map(|path| Value::Text(path.clone()));
        let flags = [
            (Key::Via, "--via", self.via.clone()),
            (Key::HarnessPath, "--via-path", path),
            (Key::HarnessArguments, "--via-arg", list(&self.via_arg)),
            (Key::HarnessEnvironment, "--via-env", list(&self.via_env)),
        ];
        given(flags).collect()
    }
}
