//! Every setting there is: its name in a file, its variable, what it may be, and who may set it.

/// A setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Key {
    Model,
    Via,
    HarnessPath,
    HarnessArguments,
    HarnessEnvironment,
    BaseUrl,
    Mode,
    System,
    TrustedProjects,
    AnthropicBaseUrl,
    AnthropicKeyEnv,
    OpenaiBaseUrl,
    OpenaiKeyEnv,
    GeminiBaseUrl,
    GeminiKeyEnv,
    CompatibleBaseUrl,
    CompatibleKeyEnv,
    Reasks,
    Strict,
    MaxTurns,
    MaxOutputTokens,
    Temperature,
    MaxWallTime,
    MaxToolCalls,
    MaxTokensTotal,
    MaxCost,
    Rungs,
    Extractor,
    Critical,
    ApprovalMode,
    Allow,
    Exclude,
    CoreTools,
    Sandbox,
    RetryAttempts,
    RetryMaxDelay,
    ConnectTimeout,
    HeadTimeout,
    IdleTimeout,
    TotalTimeout,
    OutputFormat,
    OutputRaw,
    OutputPartial,
    Record,
    Store,
    Database,
    StoreLevel,
    StoreKeep,
    ReviewRules,
    ReviewIgnore,
    ReviewIgnoreSeverities,
    ReviewBaseline,
    ReviewPartTokens,
    ReviewFailOn,
    McpServers,
    Hooks,
}

/// What a setting may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// Any text.
    Text,
    /// An `http` or `https` URL without a password.
    Url,
    /// The name of an environment variable.
    Variable,
    /// One of these.
    Choice(&'static [&'static str]),
    /// A whole number within these bounds.
    Whole(u64, u64),
    /// A number within these bounds.
    Decimal(f64, f64),
    /// `true` or `false`.
    Switch,
    /// `90`, `30s`, `5m`, `1.5h`.
    Duration,
    /// `12h`, `90d`, `6w`.
    Period,
    /// Several texts.
    List,
    /// Several of these, or none.
    Choices(&'static [&'static str]),
    /// A table that its own reader understands.
    Table,
}

/// What becomes of weaker values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Merge {
    /// The strongest value counts.
    Replace,
    /// All values count.
    Append,
}

/// What the `airtight.toml` of a project may set, which whoever wrote the repository controls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Harmless: it may.
    Anyone,
    /// It could run programs, widen permissions or send keys elsewhere: only in trusted projects.
    Trusted,
    /// Only the user.
    User,
}

/// Everything there is to know of a setting.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spec {
    pub(crate) key: Key,
    /// Its dotted name in a file; absent for what makes sense for one run only.
    pub(crate) name: Option<&'static str>,
    /// Environment variables, first come first served.
    pub(crate) variables: &'static [&'static str],
    pub(crate) kind: Kind,
    pub(crate) merge: Merge,
    pub(crate) reach: Reach,
    pub(crate) about: &'static str,
}

impl Key {
    /// Returns everything there is to know of it.
    pub(crate) fn spec(self) -> &'static Spec {
        // The test below shows that every key is found; the first stands in for what cannot be.
        TABLE.iter().find(|spec| spec.key == self).unwrap_or(&FIRST)
    }

    /// Returns what it is called in reports.
    pub(crate) fn name(self) -> &'static str {
        let spec = self.spec();
        spec.name.or(spec.variables.first().copied()).unwrap_or_default()
    }
}

const LARGE: u64 = 1_000_000_000_000;

const fn spec(
    key: Key,
    name: &'static str,
    variables: &'static [&'static str],
    kind: Kind,
    about: &'static str,
) -> Spec {
    let merge = Merge::Replace;
    Spec { key, name: Some(name), variables, kind, merge, reach: Reach::Anyone, about }
}

impl Spec {
    const fn trusted(mut self) -> Self {
        self.reach = Reach::Trusted;
        self
    }

    const fn appended(mut self) -> Self {
        self.merge = Merge::Append;
        self
    }
}

/// The severities of findings, the worst first.
const SEVERITIES: &[&str] = &["critical", "warning", "info"];

const FIRST: Spec =
    spec(Key::Model, "model", &["AIRTIGHT_MODEL"], Kind::Text, "the model, as `provider:name`");

const MODES: &[&str] = &["auto", "native", "tool", "prompt"];
const APPROVALS: &[&str] = &["plan", "default", "auto-edit", "yolo"];
const PROGRAMS: &[&str] = &["claude", "codex", "qwen", "gemini", "opencode"];
const RUNGS: &[&str] = &["text", "repair"];
const FORMATS: &[&str] = &["text", "json", "stream-json"];
const LEVELS: &[&str] = &["full", "masked", "metadata"];

/// Every setting, in the order of reports.
#[rustfmt::skip]
pub(crate) static TABLE: [Spec; 56] = [
    FIRST,
    spec(Key::Via, "via", &["AIRTIGHT_VIA"], Kind::Choice(PROGRAMS), "the agent CLI that answers").trusted(),
    spec(Key::HarnessPath, "harness.path", &["AIRTIGHT_VIA_PATH"], Kind::Text, "where the agent CLI is").trusted(),
    spec(Key::HarnessArguments, "harness.arguments", &[], Kind::List, "more arguments for the agent CLI").appended().trusted(),
    spec(Key::HarnessEnvironment, "harness.environment", &[], Kind::List, "more variables that the agent CLI gets").appended().trusted(),
    Spec {
        key: Key::BaseUrl, name: None, variables: &["AIRTIGHT_BASE_URL"], kind: Kind::Url,
        merge: Merge::Replace, reach: Reach::User, about: "where the provider of this run is",
    },
    spec(Key::Mode, "mode", &["AIRTIGHT_MODE"], Kind::Choice(MODES), "how the contract is put to the model"),
    spec(Key::System, "system", &[], Kind::Text, "standing instructions"),
    Spec {
        key: Key::TrustedProjects, name: Some("trusted_projects"), variables: &[], kind: Kind::List,
        merge: Merge::Append, reach: Reach::User, about: "projects whose settings, ours and those of agent CLIs, may run programs and move keys",
    },
    spec(Key::AnthropicBaseUrl, "providers.anthropic.base_url", &["ANTHROPIC_BASE_URL"], Kind::Url, "where Anthropic is").trusted(),
    spec(Key::AnthropicKeyEnv, "providers.anthropic.api_key_env", &[], Kind::Variable, "which variable holds the key").trusted(),
    spec(Key::OpenaiBaseUrl, "providers.openai.base_url", &["OPENAI_BASE_URL"], Kind::Url, "where OpenAI is").trusted(),
    spec(Key::OpenaiKeyEnv, "providers.openai.api_key_env", &[], Kind::Variable, "which variable holds the key").trusted(),
    spec(Key::GeminiBaseUrl, "providers.gemini.base_url", &["GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL"], Kind::Url, "where Gemini is").trusted(),
    spec(Key::GeminiKeyEnv, "providers.gemini.api_key_env", &[], Kind::Variable, "which variable holds the key").trusted(),
    spec(Key::CompatibleBaseUrl, "providers.openai-compatible.base_url", &[], Kind::Url, "where the compatible server is").trusted(),
    spec(Key::CompatibleKeyEnv, "providers.openai-compatible.api_key_env", &[], Kind::Variable, "which variable holds the key").trusted(),
    spec(Key::Reasks, "policy.reasks", &["AIRTIGHT_REASKS"], Kind::Whole(0, 5), "how often a rejected answer is asked for again"),
    spec(Key::Strict, "policy.strict", &["AIRTIGHT_STRICT"], Kind::Switch, "accept the tool or native rung alone"),
    spec(Key::MaxTurns, "policy.max_turns", &["AIRTIGHT_MAX_TURNS"], Kind::Whole(1, 100_000), "the most model calls"),
    spec(Key::MaxOutputTokens, "policy.max_output_tokens", &["AIRTIGHT_MAX_OUTPUT_TOKENS"], Kind::Whole(1, 10_000_000), "the most tokens of one answer"),
    spec(Key::Temperature, "policy.temperature", &["AIRTIGHT_TEMPERATURE"], Kind::Decimal(0.0, 2.0), "sampling temperature"),
    spec(Key::MaxWallTime, "policy.max_wall_time", &["AIRTIGHT_MAX_WALL_TIME"], Kind::Duration, "how long a run may take"),
    spec(Key::MaxToolCalls, "policy.max_tool_calls", &["AIRTIGHT_MAX_TOOL_CALLS"], Kind::Whole(0, 1_000_000), "the most tool calls; 0 allows none"),
    spec(Key::MaxTokensTotal, "policy.max_tokens_total", &["AIRTIGHT_MAX_TOKENS_TOTAL"], Kind::Whole(1, LARGE), "the most tokens of a run, input and output"),
    spec(Key::MaxCost, "policy.max_cost", &["AIRTIGHT_MAX_COST"], Kind::Decimal(0.0, 1_000_000.0), "the most dollars of a run"),
    spec(Key::Rungs, "policy.rungs", &[], Kind::Choices(RUNGS), "what counts besides the tool and native output as they stand"),
    spec(Key::Extractor, "policy.extractor", &["AIRTIGHT_EXTRACTOR"], Kind::Text, "the model that looks for the answer in text without one, as `provider:name`").trusted(),
    spec(Key::Critical, "policy.critical", &[], Kind::Switch, "nothing may go on without an answer: fail as loudly as can be"),
    spec(Key::ApprovalMode, "permissions.approval_mode", &["AIRTIGHT_APPROVAL_MODE"], Kind::Choice(APPROVALS), "what tools may do without asking").trusted(),
    spec(Key::Allow, "permissions.allow", &[], Kind::List, "tools, or patterns of their calls, that may always run").appended().trusted(),
    spec(Key::Exclude, "permissions.exclude", &[], Kind::List, "tools, or patterns of their calls, that never run").appended(),
    spec(Key::CoreTools, "permissions.core_tools", &[], Kind::List, "the only tools that the model is told of"),
    spec(Key::Sandbox, "sandbox.enabled", &["AIRTIGHT_SANDBOX"], Kind::Switch, "run shell commands read-only outside the workspace").trusted(),
    spec(Key::RetryAttempts, "retry.attempts", &["AIRTIGHT_RETRY_ATTEMPTS"], Kind::Whole(0, 20), "how often a failed request is sent again"),
    spec(Key::RetryMaxDelay, "retry.max_delay", &[], Kind::Duration, "the longest wait before a request is sent again"),
    spec(Key::ConnectTimeout, "timeouts.connect", &[], Kind::Duration, "how long connecting may take"),
    spec(Key::HeadTimeout, "timeouts.head", &[], Kind::Duration, "how long the first byte of an answer may take"),
    spec(Key::IdleTimeout, "timeouts.idle", &["AIRTIGHT_IDLE_TIMEOUT"], Kind::Duration, "how long a stream may be silent"),
    spec(Key::TotalTimeout, "timeouts.total", &[], Kind::Duration, "how long one answer may take"),
    spec(Key::OutputFormat, "output.format", &["AIRTIGHT_OUTPUT_FORMAT"], Kind::Choice(FORMATS), "the form of what is printed"),
    spec(Key::OutputRaw, "output.raw", &[], Kind::Switch, "keep the last answer of a failed run in its result"),
    spec(Key::OutputPartial, "output.partial_messages", &[], Kind::Switch, "tell pieces of answers in `stream-json`"),
    spec(Key::Record, "output.record", &["AIRTIGHT_RECORD"], Kind::Switch, "keep a transcript of every run"),
    spec(Key::Store, "store.enabled", &["AIRTIGHT_STORE"], Kind::Switch, "put every run on record in the ledger").trusted(),
    spec(Key::Database, "store.database", &["AIRTIGHT_DATABASE"], Kind::Text, "where the ledger is: a path, or `postgres://…`").trusted(),
    spec(Key::StoreLevel, "policy.store", &["AIRTIGHT_STORE_LEVEL"], Kind::Choice(LEVELS), "how much of a run the ledger keeps"),
    spec(Key::StoreKeep, "policy.keep", &["AIRTIGHT_STORE_KEEP"], Kind::Period, "how long the ledger keeps a run, such as `90d`; for ever if not set"),
    spec(Key::ReviewRules, "review.rules", &[], Kind::List, "what else reviewers look for, a sentence each").appended(),
    spec(Key::ReviewIgnore, "review.ignore", &[], Kind::List, "files that are not reviewed, as patterns: `*.lock`, `vendor/**`").appended(),
    spec(Key::ReviewIgnoreSeverities, "review.ignore_severities", &[], Kind::Choices(SEVERITIES), "findings that are counted and not reported").appended(),
    spec(Key::ReviewBaseline, "review.baseline", &[], Kind::Text, "the file of findings that are known; in a project's file it must be in the project"),
    spec(Key::ReviewPartTokens, "review.part_tokens", &[], Kind::Whole(100, 1_000_000), "how much of a diff one run reviews, by an estimate"),
    spec(Key::ReviewFailOn, "review.fail_on", &[], Kind::Choice(SEVERITIES), "end with exit code 1 if a finding is at least as bad"),
    spec(Key::McpServers, "mcpServers", &[], Kind::Table, "MCP servers, in the usual shape").trusted(),
    spec(Key::Hooks, "hooks", &[], Kind::Table, "commands that see tool calls").appended().trusted(),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_in_the_table_once() {
        for (index, spec) in TABLE.iter().enumerate() {
            assert_eq!(spec.key as usize, index, "{}", spec.key.name());
            assert_eq!(spec.key.spec().about, spec.about);
        }
        assert_eq!(TABLE.len() - 1, Key::Hooks as usize);
    }

    #[test]
    fn variables_name_one_setting() {
        let mut all: Vec<&str> = TABLE.iter().flat_map(|spec| spec.variables).copied().collect();
        all.sort_unstable();
        let count = all.len();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
