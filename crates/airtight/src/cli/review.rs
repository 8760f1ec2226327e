//! What can be typed after `review`.

use clap::{ArgAction, Args, ValueEnum};

use super::PaceArgs;
use super::run::{ModelArgs, ProgramArgs, TrustArgs, given, setting};
use crate::config::{Entry, Key, Value};

/// Have a model review a change by the contract `code-review`
///
/// Takes a diff (what changed since the work left `--base`, a file, or stdin), cuts it into parts that
/// a model can read, has each part reviewed, and reports what was found, the worst first. Every finding
/// cites a file and lines that are in the diff: the verdict refuses others, and the model is asked
/// again. Suggestions that would fit any code are marked as low quality.
///
/// Each part is one run in the ledger. The same command again asks only for what is missing: parts that
/// were reviewed before, by the same model and the same rules, have their result.
///
/// `.airtight/review.toml` of the project has its rules: `rules`, `ignore`, `ignore_severities`,
/// `baseline`, `part_tokens`, `fail_on`.
///
/// Ends with 0 if everything was reviewed, whatever was found, or git finds that nothing changed; 1 if a
/// finding reaches `--fail-on` or a part has no answer; 2 if there is no commit `--base`; 3 if the provider
/// or GitHub fails, 4 if the ledger does, 41 if a key is refused, 42 if there is no diff (a file or stdin
/// that is empty is none) or a part of it cannot be read, 52 if settings are refused, 55 out of budget, 130
/// if interrupted.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  airtight review                          what changed since `main`
  airtight review --base origin/develop --model anthropic:claude-sonnet-4-5
  airtight review --diff change.patch --format markdown > review.md
  git show HEAD | airtight review -
  airtight review --fail-on critical --format sarif > review.sarif
  airtight review --baseline known.json --update-baseline
  airtight review --via claude --max-wall-time 10m
  airtight review --post ada/engine#42     needs GITHUB_TOKEN")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "flags as typed; the command makes enums of them"
)]
pub(crate) struct ReviewArgs {
    /// Read the diff from stdin
    #[arg(value_name = "-", value_parser = ["-"], conflicts_with_all = ["base", "diff"])]
    pub(crate) stdin: Option<String>,

    /// Commit that the work began from: a branch, a tag or a hash [default: the first of `main`,
    /// `master` and `origin/HEAD` that there is]
    #[arg(long, value_name = "COMMIT", conflicts_with = "diff")]
    pub(crate) base: Option<String>,

    /// File with the diff, as git or `diff -u` print it
    #[arg(long, value_name = "FILE")]
    pub(crate) diff: Option<String>,

    /// Form of the report [default: text on a terminal, json in a pipe]
    #[arg(long, value_name = "FORM", value_enum)]
    pub(crate) format: Option<ReviewFormat>,

    /// End with 1 if a finding is at least as bad: critical, warning or info
    #[arg(long, value_name = "SEVERITY", value_parser = setting(Key::ReviewFailOn))]
    pub(crate) fail_on: Option<Value>,

    /// File of findings that are known: only others are reported
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<String>,

    /// Write everything that was found into the baseline
    #[arg(long)]
    pub(crate) update_baseline: bool,

    /// Leave files out, by a pattern such as `*.lock` or `vendor/**`; may be repeated
    #[arg(long, value_name = "PATTERN", action = ArgAction::Append)]
    pub(crate) ignore: Vec<String>,

    /// Most tokens of the diff that one run reviews, by an estimate [default: 8000; 800 for an
    /// embedded model]
    #[arg(long, value_name = "COUNT", value_parser = setting(Key::ReviewPartTokens))]
    pub(crate) part_tokens: Option<Value>,

    /// Ask again for parts that were reviewed before
    #[arg(long)]
    pub(crate) fresh: bool,

    /// Show the parts and an estimate of the cost, and ask nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) post: PostArgs,

    #[command(flatten)]
    pub(crate) model: ModelArgs,

    #[command(flatten)]
    pub(crate) program: ProgramArgs,

    #[command(flatten)]
    pub(crate) limits: ReviewLimitArgs,

    #[command(flatten)]
    pub(crate) pace: PaceArgs,

    #[command(flatten)]
    pub(crate) store: ReviewStoreArgs,

    /// Show no progress and no notes on stderr
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Fetch the weights of an embedded model without asking
    #[arg(long, short)]
    pub(crate) yes: bool,

    #[command(flatten)]
    pub(crate) trust: TrustArgs,
}

/// Where the review is posted.
#[derive(Debug, Args)]
#[command(next_help_heading = "GitHub")]
pub(crate) struct PostArgs {
    /// Post the review to a pull request, with the token in `GITHUB_TOKEN` [default in GitHub Actions:
    /// the pull request that they run for]
    #[arg(long, value_name = "OWNER/REPO#NUMBER", num_args = 0..=1, default_missing_value = "")]
    pub(crate) post: Option<String>,

    /// Where the API is [default: `GITHUB_API_URL`, else <https://api.github.com>]
    #[arg(long, value_name = "URL", value_parser = setting(Key::BaseUrl), requires = "post")]
    pub(crate) api_url: Option<Value>,

    /// Commit that the comments are about [default: the latest of the pull request]
    #[arg(long, value_name = "HASH", value_parser = hash)]
    pub(crate) commit: Option<String>,
}

/// When to stop.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct ReviewLimitArgs {
    /// Times a rejected answer is asked for again, from 0 to 5 [default: 2]
    #[arg(long, value_name = "COUNT", value_parser = setting(Key::Reasks))]
    pub(crate) reasks: Option<Value>,

    /// Longest time for the whole review, such as 90, 30s or 5m
    #[arg(long, value_name = "TIME", value_parser = setting(Key::MaxWallTime))]
    pub(crate) max_wall_time: Option<Value>,

    /// Most tokens of the whole review, input and output
    #[arg(long, value_name = "COUNT", value_parser = setting(Key::MaxTokensTotal))]
    pub(crate) max_tokens_total: Option<Value>,

    /// Most dollars of the whole review; a model of unknown price is refused
    #[arg(long, value_name = "DOLLARS", value_parser = setting(Key::MaxCost))]
    pub(crate) max_cost: Option<Value>,
}

/// What is put on record.
#[derive(Debug, Args)]
#[command(next_help_heading = "Ledger")]
pub(crate) struct ReviewStoreArgs {
    /// Ledger to record the runs in: a path, or `postgres://…` [default: in the user's data folder]
    #[arg(long, value_name = "PATH|URL", conflicts_with = "no_store")]
    pub(crate) database: Option<String>,

    /// Keep no record of the runs
    #[arg(long)]
    pub(crate) no_store: bool,

    /// How much of the runs is recorded: full, masked (without secrets) or metadata (no texts)
    #[arg(long, value_name = "LEVEL", value_parser = setting(Key::StoreLevel), conflicts_with = "no_store")]
    pub(crate) store_level: Option<Value>,

    /// How long the record is kept, such as 12h or 90d [default: for ever]
    #[arg(long, value_name = "PERIOD", value_parser = setting(Key::StoreKeep), conflicts_with = "no_store")]
    pub(crate) store_keep: Option<Value>,
}

/// The form of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReviewFormat {
    /// For people: each finding with the lines that it is about
    Text,
    /// For programs: one JSON document of everything
    Json,
    /// SARIF 2.1.0, for code scanning and editors
    Sarif,
    /// What is posted to a pull request on GitHub
    Github,
    /// GitLab's code quality report
    Gitlab,
    /// For a comment or a page
    Markdown,
}

/// Reads the hash of a commit.
fn hash(text: &str) -> Result<String, String> {
    let is_hash = (7..=64).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_hexdigit());
    if is_hash { Ok(text.to_owned()) } else { Err("expected the hash of a commit".to_owned()) }
}

impl ReviewArgs {
    /// Returns the settings among the flags.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let text = |text: &String| Value::Text(text.clone());
        let list = |items: &Vec<String>| (!items.is_empty()).then(|| Value::List(items.clone()));
        let (limits, store) = (&self.limits, &self.store);
        let flags = [
            (Key::Reasks, "--reasks", limits.reasks.clone()),
            (Key::MaxWallTime, "--max-wall-time", limits.max_wall_time.clone()),
            (Key::MaxTokensTotal, "--max-tokens-total", limits.max_tokens_total.clone()),
            (Key::MaxCost, "--max-cost", limits.max_cost.clone()),
            (Key::Store, "--no-store", store.no_store.then_some(Value::Switch(false))),
            (Key::Database, "--database", store.database.as_ref().map(text)),
            (Key::StoreLevel, "--store-level", store.store_level.clone()),
            (Key::StoreKeep, "--store-keep", store.store_keep.clone()),
            (Key::ReviewIgnore, "--ignore", list(&self.ignore)),
            (Key::ReviewBaseline, "--baseline", self.baseline.as_ref().map(text)),
            (Key::ReviewPartTokens, "--part-tokens", self.part_tokens.clone()),
            (Key::ReviewFailOn, "--fail-on", self.fail_on.clone()),
        ];
        let mut entries = self.model.entries();
        entries.extend(self.program.entries());
        entries.extend(given(flags));
        entries
    }
}
