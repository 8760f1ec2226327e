//! Keeps `docs/reference/cli.md` in step with what can be typed.

use std::fmt::Write;
use std::path::Path;

use clap::CommandFactory;

use super::Cli;

const PAGE: &str = "../../docs/reference/cli.md";

const INTRODUCTION: &str = "\
# Commands

Generated from the command line itself; `AIRTIGHT_BLESS=1 cargo test -p airtight reference` writes
it anew. What the exit codes mean is in [exit-codes.md](exit-codes.md).
";

fn page() -> String {
    let mut root = Cli::command().term_width(100);
    root.build();
    let mut page = INTRODUCTION.to_owned();
    let mut section = |command: &mut clap::Command| {
        let name = command.get_bin_name().unwrap_or("airtight").to_owned();
        let help = command.render_long_help().to_string();
        let help: Vec<&str> = help.lines().map(str::trim_end).collect();
        write!(page, "\n## {name}\n\n```text\n{}\n```\n", help.join("\n")).unwrap();
    };
    section(&mut root);
    root.get_subcommands_mut().filter(|command| !command.is_hide_set()).for_each(section);
    page
}

#[test]
fn every_command_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn reference_page_matches_the_command_line() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    if std::env::var_os("AIRTIGHT_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, page()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(written, page(), "run `AIRTIGHT_BLESS=1 cargo test -p airtight reference`");
}
