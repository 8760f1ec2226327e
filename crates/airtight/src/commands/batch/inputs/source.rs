//! Where inputs come from: files of lines, tables, files that are one input each, folders, stdin.

use std::io::{self, IsTerminal as _, Read};
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::file;

/// How inputs are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// One JSON string or object a line
    Jsonl,
    /// A table whose first row names its columns
    Csv,
    /// Each file is one input
    Text,
}

/// One place that inputs come from.
#[derive(Debug)]
pub(crate) struct Source {
    /// As people know it.
    pub(super) label: String,
    pub(super) form: Form,
    place: SourcePlace,
}

#[derive(Debug)]
enum SourcePlace {
    File { path: PathBuf, size: u64 },
    Stdin,
}

impl Source {
    /// Returns how many bytes it has, unless it is a pipe.
    pub(super) fn size(&self) -> Option<u64> {
        match &self.place {
            SourcePlace::File { size, .. } => Some(*size),
            SourcePlace::Stdin => None,
        }
    }

    /// Returns the file that it is, unless it is a pipe.
    pub(super) fn path(&self) -> Option<&Path> {
        match &self.place {
            SourcePlace::File { path, .. } => Some(path),
            SourcePlace::Stdin => None,
        }
    }

    /// Returns what stands between the fields of a table.
    pub(super) fn separator(&self) -> u8 {
        match &self.place {
            SourcePlace::File { path, .. } if ending(path) == "tsv" => b'\t',
            SourcePlace::File { .. } | SourcePlace::Stdin => b',',
        }
    }

    /// Returns the name of the file without its folder.
    pub(super) fn name(&self) -> String {
        match &self.place {
            SourcePlace::File { path, .. } => {
                path.file_name().unwrap_or_default().to_string_lossy().into_owned()
            }
            SourcePlace::Stdin => self.label.clone(),
        }
    }

    /// Starts to read it.
    pub(super) fn open(&self) -> Result<Box<dyn Read + Send>, String> {
        match &self.place {
            SourcePlace::Stdin => Ok(Box::new(io::stdin())),
            SourcePlace::File { path, .. } => match file::open(path) {
                Ok(file) => Ok(Box::new(file)),
                Err(error) => Err(error.to_string()),
            },
        }
    }
}

/// Finds everything that `arguments` name. A folder stands for the files in it, by name; those that
/// begin with a dot are left out, as shells do.
pub(super) fn find(
    arguments: &[String],
    form: Option<Form>,
    environment: &Environment,
) -> Result<Vec<Source>, Error> {
    if arguments.iter().filter(|argument| *argument == "-").count() > 1 {
        return Err(Error::new(Outcome::Usage, "stdin can be read once"));
    }
    let mut sources = Vec::new();
    for argument in arguments {
        if argument == "-" {
            sources.push(stdin(form)?);
            continue;
        }
        if argument.is_empty() {
            return Err(Error::new(Outcome::Usage, "an input has no name")
                .hint("name files, or `.` for all files of this folder"));
        }
        let path = environment.resolve(argument);
        let metadata = std::fs::metadata(&path).map_err(|error| unreadable(argument, error))?;
        if metadata.is_dir() {
            sources.extend(folder(argument, &path, form)?);
        } else {
            let form = form.unwrap_or_else(|| form_of(&path));
            let place = SourcePlace::File { path, size: metadata.len() };
            sources.push(Source { label: argument.clone(), form, place });
        }
    }
    Ok(sources)
}

fn stdin(form: Option<Form>) -> Result<Source, Error> {
    if io::stdin().is_terminal() {
        return Err(Error::new(Outcome::Input, "nothing is piped in")
            .hint("name files, or pipe inputs in: `… | airtight batch CONTRACT -`"));
    }
    let label = "(stdin)".to_owned();
    Ok(Source { label, form: form.unwrap_or(Form::Jsonl), place: SourcePlace::Stdin })
}

/// Returns the files of a folder. Their form is that of a document unless they are said to be other:
/// a folder of lines is rare, and a folder of documents is usual.
fn folder(argument: &str, path: &Path, form: Option<Form>) -> Result<Vec<Source>, Error> {
    let listed = path.read_dir().map_err(|error| unreadable(argument, error))?;
    let mut sources = Vec::new();
    for entry in listed {
        let path = entry.map_err(|error| unreadable(argument, error))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(metadata) = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file)
        else {
            continue;
        };
        if name.starts_with('.') {
            continue;
        }
        let label = format!("{}/{name}", argument.trim_end_matches('/'));
        let form = form.unwrap_or(Form::Text);
        sources.push(Source {
            label,
            form,
            place: SourcePlace::File { path, size: metadata.len() },
        });
    }
    sources.sort_by(|one, other| one.label.cmp(&other.label));
    Ok(sources)
}

fn form_of(path: &Path) -> Form {
    match ending(path).as_str() {
        "jsonl" | "ndjson" => Form::Jsonl,
        "csv" | "tsv" => Form::Csv,
        _ => Form::Text,
    }
}

fn ending(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

fn unreadable(argument: &str, error: io::Error) -> Error {
    Error::new(Outcome::Input, format!("could not read inputs: `{argument}`")).caused_by(error)
}
