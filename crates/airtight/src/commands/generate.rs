//! `airtight generate`: what else a contract can be.

mod destination;
mod orphan;

use std::collections::HashMap;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use airtight_core::batch::estimated_tokens;
use airtight_core::contract::{Contract, Options, Patterns, Wrap};
use airtight_core::generate::{GenerateError, Generated, Order, Prompt, Target, generate};
use serde_json::{Value, json};

use crate::cli::{Format, GenerateArgs};
use crate::commands::{COMMAND_LIMIT_BYTES, check_command, explain_hint, load};
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::explain;
use crate::printer::{Printer, Span, Tone};
use crate::shell_word::shell_word;
use crate::source::ContractSource;
use destination::{Destination, Staleness};

/// The version of the document, which changes when a field changes its meaning.
const VERSION: u32 = 1;

/// What was generated of one contract.
struct Made {
    /// As it was typed.
    typed: String,
    /// What it is called.
    called: String,
    source: ContractSource,
    contract: Contract,
    generated: Generated,
}

/// Generates what was typed.
pub(super) fn run(
    args: &GenerateArgs,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    refuse_nonsense(args)?;
    let mut all = Vec::new();
    for argument in &args.contracts {
        all.push(make(argument, args, environment)?);
    }
    for made in &all {
        warn(made, args, printer);
    }
    let Some(output) = &args.output else {
        return print(&all, args, printer);
    };
    let output = environment.resolve(output);
    let destination = Destination::find(&output, args.contracts.len())?;
    let paths: Vec<PathBuf> =
        all.iter().map(|made| destination.path(args.target, &made.called)).collect();
    refuse_collisions(&all, &paths)?;
    let launched = environment.launch_directory();
    let orphans = orphans(&all, &paths, &destination, args)?;
    let orphans: Vec<String> = orphans.iter().map(|path| shown(path, launched)).collect();
    if args.check {
        return check(&all, &paths, &orphans, args, launched);
    }
    for (made, path) in all.iter().zip(&paths) {
        destination::refuse_input(path, &made.source)?;
    }
    for (made, path) in all.iter().zip(&paths) {
        destination::write(path, made.generated.text.as_bytes())?;
    }
    orphan::tell(&orphans, printer);
    Ok(Outcome::Met)
}

/// Returns the files in the folder that are of none of the contracts any more.
fn orphans(
    all: &[Made],
    paths: &[PathBuf],
    destination: &Destination,
    args: &GenerateArgs,
) -> Result<Vec<PathBuf>, Error> {
    // With `--name` each contract takes a command of its own, which knows nothing of the others.
    let first = all.first().filter(|_| args.target.has_types() && args.name.is_none());
    match (destination, first) {
        (Destination::Folder(folder), Some(made)) => {
            orphan::find(folder, &made.generated.text, paths)
        }
        (Destination::Folder(_), None) | (Destination::File(_), _) => Ok(Vec::new()),
    }
}

/// Returns a path as its reader would type it.
fn shown(path: &Path, launched: &Path) -> String {
    path.strip_prefix(launched).unwrap_or(path).display().to_string()
}

/// Refuses arguments that mean nothing together.
fn refuse_nonsense(args: &GenerateArgs) -> Result<(), Error> {
    let usage = |message: &str| Error::new(Outcome::Usage, message);
    let target = args.target.name();
    if args.contracts.iter().filter(|argument| argument.trim() == "-").count() > 1 {
        return Err(usage("only one contract can come from stdin"));
    }
    if args.dialect.is_some() && args.target != Target::JsonSchema {
        let message = format!("`--dialect` means nothing for `{target}`: only a schema has one");
        return Err(
            usage(&message).hint("type `airtight generate json-schema CONTRACT --dialect NAME`")
        );
    }
    if args.name.is_some() && !args.target.has_types() {
        let message = format!("`--name` means nothing for `{target}`: there is no type in it");
        return Err(usage(&message).hint("leave it out"));
    }
    if args.name.is_some() && args.contracts.len() > 1 {
        return Err(
            usage("`--name` takes one contract").hint("leave it out, or type one command for each")
        );
    }
    if args.contracts.len() > 1 && args.output.is_none() && args.format == Format::Text {
        return Err(usage("several contracts do not go to stdout")
            .hint("name a folder by `--output`, or ask for `--format json`"));
    }
    Ok(())
}

/// Refuses contracts of which one would be written over the other.
fn refuse_collisions(all: &[Made], paths: &[PathBuf]) -> Result<(), Error> {
    let mut seen: HashMap<&Path, &Made> = HashMap::new();
    for (made, path) in all.iter().zip(paths) {
        if let Some(other) = seen.insert(path, made) {
            let message = format!(
                "`{}` and `{}` would both be written to `{}`",
                other.typed,
                made.typed,
                path.display()
            );
            let hint = "type one command for each, with a file of its own as `--output`";
            return Err(Error::new(Outcome::Usage, message).hint(hint));
        }
    }
    Ok(())
}

fn make(argument: &str, args: &GenerateArgs, environment: &Environment) -> Result<Made, Error> {
    let source = ContractSource::find(argument, args.folder.folder.as_deref(), environment)?;
    let patterns = if args.patterns.look_around { Patterns::LookAround } else { Patterns::Linear };
    let command = check_command(argument, &args.folder, &args.patterns, Wrap::Allowed);
    let contract = load(&source, &Options { patterns, ..Options::default() }, &command)?;
    let called = contract.name().map_or_else(|| source.file_stem(), str::to_owned);
    let order = Order {
        target: args.target,
        contract: &called,
        root: args.name.as_deref(),
        dialect: args.dialect,
    };
    let generated =
        generate(&contract, &order).map_err(|error| refusal(&source, error, &command))?;
    Ok(Made { typed: argument.to_owned(), called, source, contract, generated })
}

fn refusal(source: &ContractSource, error: GenerateError, command: &str) -> Error {
    let message = format!("nothing can be generated of `{}`", source.label());
    Error::new(Outcome::Contract, message).caused_by(error).hint(explain_hint(command))
}

/// Tells what the text itself has no place for.
fn warn(made: &Made, args: &GenerateArgs, printer: &mut Printer) {
    let mut warning = |tone: &str, text: String| {
        printer.note(&[Span::new(Tone::Warning, tone), Span::plain(format!(" {text}"))]);
    };
    if let Some(error) = &made.generated.without_example {
        warning("warning:", format!("there is no example in it: {error}"));
    }
    if args.format == Format::Json {
        return;
    }
    if args.target == Target::JsonSchema {
        for loss in &made.generated.losses {
            warning("loss:", explain::loss(loss));
        }
        for narrowing in &made.generated.narrowings {
            warning("narrowing:", explain::narrowing(narrowing));
        }
    }
    if args.target == Target::Prompt && io::stderr().is_terminal() {
        let (all, schema) = tokens(made);
        let text = format!(
            "about {all} tokens, {schema} of them for the schema; the model's own count differs"
        );
        printer.note(&[Span::new(Tone::Dim, text)]);
    }
}

/// Returns about how many tokens a text has, and the schema in a prompt.
fn tokens(made: &Made) -> (u64, u64) {
    let schema = Prompt::of(&made.contract, None).schema().len();
    let estimated = |bytes: usize| estimated_tokens(bytes as u64);
    (estimated(made.generated.text.trim_end().len()), estimated(schema))
}

fn print(all: &[Made], args: &GenerateArgs, printer: &mut Printer) -> Result<Outcome, Error> {
    if args.format == Format::Json {
        let generated: Value = all.iter().map(|made| document(made, args)).collect();
        let document =
            json!({ "version": VERSION, "target": args.target.name(), "generated": generated });
        printer.json(&document.to_string())?;
        return Ok(Outcome::Met);
    }
    for made in all {
        let text = &made.generated.text;
        match args.target {
            // They may hold anything that a contract says, so a terminal gets it spelt out.
            Target::Prompt | Target::Example | Target::JsonSchema => {
                printer.json(text.trim_end_matches('\n'))?;
            }
            Target::Markdown | Target::Rust | Target::Typescript | Target::Python | Target::Go => {
                printer.verbatim(text.as_bytes())?;
            }
        }
    }
    Ok(Outcome::Met)
}

/// Returns what is told to programs; `docs/guide/generate.md` describes its shape.
fn document(made: &Made, args: &GenerateArgs) -> Value {
    let (all, schema) = tokens(made);
    json!({
        "contract": made.typed,
        "name": made.contract.name(),
        "version": made.contract.version().map(ToString::to_string),
        "fingerprint": made.contract.fingerprint(),
        "file": args.target.file_name(&made.called),
        "estimated_tokens": all,
        "estimated_schema_tokens": schema,
        "not_checked": made.generated.losses,
        "refused": made.generated.narrowings,
        "text": made.generated.text,
    })
}

/// Compares what is there with what would be written.
fn check(
    all: &[Made],
    paths: &[PathBuf],
    orphans: &[String],
    args: &GenerateArgs,
    launched: &Path,
) -> Result<Outcome, Error> {
    let mut findings = Vec::new();
    let mut stale = Vec::new();
    for (made, path) in all.iter().zip(paths) {
        let staleness = destination::compare(path, made.generated.text.as_bytes())?;
        let what = match staleness {
            Staleness::Current => continue,
            Staleness::Missing => "is not there".to_owned(),
            Staleness::Differs { line } => format!("differs from line {line} on"),
        };
        findings.push(format!("{}: {what}", shown(path, launched)));
        stale.push(made.typed.as_str());
    }
    findings.extend(orphans.iter().map(|path| orphan::finding(path)));
    if findings.is_empty() {
        return Ok(Outcome::Met);
    }
    let (found, files) = (findings.len(), all.len() + orphans.len());
    let message = format!("{found} of {files} files are not what their contracts give");
    let mut error = Error::new(Outcome::Stale, message).with_findings(findings);
    if !stale.is_empty() {
        error = error.hint(refresh(args, &stale));
    }
    if !orphans.is_empty() {
        error = error.hint(orphan::advice(orphans));
    }
    Err(error)
}

/// Returns the command that writes what is stale.
fn refresh(args: &GenerateArgs, stale: &[&str]) -> String {
    let contracts: Vec<String> = stale.iter().map(|typed| shell_word(typed)).collect();
    let mut command = format!("airtight generate {} {}", args.target.name(), contracts.join(" "));
    let values = [
        ("--contracts", args.folder.folder.as_ref().map(|folder| folder.to_string_lossy())),
        ("--dialect", args.dialect.map(|dialect| dialect.name().into())),
        ("--name", args.name.as_deref().map(Into::into)),
        ("-o", args.output.as_deref().map(Into::into)),
    ];
    for (flag, value) in values {
        command.extend(value.map(|value| format!(" {flag} {}", shell_word(&value))));
    }
    if args.patterns.look_around {
        command.push_str(" --look-around");
    }
    let is_typed_again =
        stale.iter().all(|typed| typed.trim() != "-") && command.len() <= COMMAND_LIMIT_BYTES;
    if is_typed_again {
        format!("run `{command}`")
    } else {
        "run it again without `--check`".to_owned()
    }
}
