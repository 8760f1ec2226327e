//! Keeps `docs/reference/config.md` in step with the settings.

use std::fmt::Write;
use std::path::Path;

use super::key::{Kind, Merge, Reach, Spec, TABLE};

const INTRODUCTION: &str = "\
# Settings

Generated from the table of settings; `AIRTIGHT_BLESS=1 cargo test -p airtight settings` writes it
anew. `airtight doctor` shows what is in force and where each value comes from.

In rising strength:

1. `airtight.toml` of the project: the nearest one, from the folder where the command is launched up
   to the root of its git repository (without a repository, only that folder counts);
2. `airtight.toml` of the user, in `$XDG_CONFIG_HOME/airtight` or `~/.config/airtight`;
3. `NAME.toml` of the contract, for the run of a [role](../guide/roles.md); only `model`, `via`, `mode`
   and what is under `[policy]` can stand there;
4. environment variables;
5. flags.

Your own file is stronger than that of the project, because a repository may be anybody's. For the
same reason settings marked *trusted* count in a project's file only if you trust it, by
`--trust-project` or by naming its folder in `trusted_projects` of your own file. The same holds for
a contract's file, unless it is in the `contracts` of your own configuration folder: without your trust
it is weaker than your own file, and must not set what is marked *trusted*.

What is under `review` can also stand in `.airtight/review.toml` of the project, without that word: see
[reviews](../guide/review.md).

An unknown key is an error. Keys of providers do not belong in files: they are read from
`AIRTIGHT_API_KEY`, from the variable that `api_key_env` names, or from the vendors' own variables
(`ANTHROPIC_API_KEY`, `ANTHROPIC_AUTH_TOKEN`, `OPENAI_API_KEY`, `GEMINI_API_KEY`, `GOOGLE_API_KEY`).

```toml
model = \"anthropic:claude-sonnet-4-5\"

[policy]
max_turns = 30
max_wall_time = \"10m\"

[permissions]
allow = [\"run_shell_command(git *)\"]
exclude = [\"web_fetch\"]

[providers.openai-compatible]
base_url = \"http://localhost:11434/v1\"

[mcpServers.files]
command = \"mcp-files\"
args = [\".\"]

[[hooks.PreToolUse]]
matcher = \"run_shell_command\"
command = \"./scripts/guard\"
timeout = \"10s\"
```

| setting | variable | value | |
|---|---|---|---|
";

const TELEMETRY: &str = "
## Telemetry

Spans are exported as OpenTelemetry's own variables say, in programs built with the feature `otlp`, as
releases are. No file can set them, so that a project cannot send spans anywhere.

| variable | |
|---|---|
| `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` | where the collector is; without one nothing is exported. To the first `/v1/traces` is added |
| `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_EXPORTER_OTLP_TRACES_HEADERS` | headers for it, as `name=value,…`; masked like a key |
| `OTEL_EXPORTER_OTLP_TIMEOUT`, `OTEL_EXPORTER_OTLP_TRACES_TIMEOUT` | milliseconds that one export may take while a run goes on |
| `OTEL_SDK_DISABLED` | `true` exports nothing |
| `OTEL_TRACES_EXPORTER` | `none` exports nothing; the only exporter is `otlp` |
| `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES` | who exports; `airtight` unless named |
| `OTEL_TRACES_SAMPLER`, `OTEL_TRACES_SAMPLER_ARG` | which runs are exported |
| `OTEL_BSP_SCHEDULE_DELAY`, `OTEL_BSP_MAX_QUEUE_SIZE`, `OTEL_BSP_MAX_EXPORT_BATCH_SIZE` | how spans are gathered |

The protocol is `http/protobuf`, without compression.
";

fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    for spec in &TABLE {
        let variables: Vec<String> =
            spec.variables.iter().map(|name| format!("`{name}`")).collect();
        let name = spec.name.map(|name| format!("`{name}`")).unwrap_or_default();
        let remarks = remarks(spec);
        writeln!(
            page,
            "| {name} | {} | {} | {}{remarks} |",
            variables.join(", "),
            kind(spec.kind),
            spec.about
        )
        .unwrap();
    }
    page.push_str(TELEMETRY);
    page
}

fn remarks(spec: &Spec) -> String {
    let mut remarks = String::new();
    match spec.reach {
        Reach::Anyone => {}
        Reach::Trusted => remarks.push_str("; *trusted*"),
        Reach::User => remarks.push_str("; not in a project's file"),
    }
    if spec.merge == Merge::Append {
        remarks.push_str("; all layers add up");
    }
    remarks
}

fn kind(kind: Kind) -> String {
    match kind {
        Kind::Text => "text".to_owned(),
        Kind::Url => "URL".to_owned(),
        Kind::Variable => "name of a variable".to_owned(),
        Kind::Choice(choices) => choices.join(", "),
        Kind::Whole(least, most) => format!("{least} to {most}"),
        Kind::Decimal(least, most) => format!("{least} to {most}"),
        Kind::Switch => "true, false".to_owned(),
        Kind::Duration => "duration: `90`, `30s`, `5m`, `1.5h`".to_owned(),
        Kind::Period => "period: `12h`, `90d`, `6w`".to_owned(),
        Kind::List => "list of texts".to_owned(),
        Kind::Choices(choices) => format!("list of {}", choices.join(", ")),
        Kind::Table => "table".to_owned(),
    }
}

#[test]
fn the_page_of_settings_matches_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/config.md");
    if std::env::var_os("AIRTIGHT_BLESS").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(written, page(), "run `AIRTIGHT_BLESS=1 cargo test -p airtight settings`");
}
