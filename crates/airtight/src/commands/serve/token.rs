//! Where the token of the server is: where it was said to be, else in a file of ours.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use airtight_serve::Token;

use crate::cli::ServeArgs;
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::file;

/// The longest file of a token; whoever names a larger one means another.
const LIMIT_BYTES: usize = 4096;

/// The file with the token in the folder for what we keep.
const FILE: &str = "serve.token";

/// How many random bytes a token has.
const RANDOM_BYTES: usize = 24;

/// A token, and where it is.
pub(super) struct Found {
    pub(super) token: Token,
    pub(super) place: String,
}

/// Finds the token; an address that others can reach is served only with one that was named.
pub(super) fn find(args: &ServeArgs, environment: &Environment) -> Result<Found, Error> {
    if let Some(typed) = &args.token_file {
        let path = environment.resolve(typed);
        return Ok(Found { token: read(&path)?, place: path.display().to_string() });
    }
    if let Some(name) = &args.token_env {
        let Some(text) = environment.variable(name) else {
            let message = format!("the variable of the token is not set: `{name}`");
            return Err(Error::new(Outcome::Contract, message)
                .hint(format!("type `export {name}=$(openssl rand -hex 24)`")));
        };
        let place = format!("in the variable `{name}`");
        return Ok(Found { token: taken(text, &place)?, place });
    }
    if !args.bind.ip().is_loopback() {
        let message = format!("others can reach `{}`, and no token was named", args.bind);
        return Err(Error::new(Outcome::Usage, message)
            .hint("type `openssl rand -hex 24 > token.txt`, then add `--token-file token.txt`")
            .hint("or serve this machine alone: leave `--bind` out"));
    }
    let folder = environment.data_folder().ok_or_else(|| {
        let message = "there is no place for a token: neither `HOME` nor `XDG_DATA_HOME` is set";
        Error::new(Outcome::Contract, message).hint("name a file by `--token-file`")
    })?;
    let path = folder.join(FILE);
    make(&folder, &path).map_err(|error| {
        let message = format!("no token can be kept in `{}`", path.display());
        Error::new(Outcome::Machine, message).caused_by(error).hint("name a file by `--token-file`")
    })?;
    Ok(Found { token: read(&path)?, place: path.display().to_string() })
}

fn read(path: &Path) -> Result<Token, Error> {
    let place = format!("in `{}`", path.display());
    let unreadable = || Error::new(Outcome::Contract, format!("the token {place} cannot be read"));
    let bytes = file::read(path, LIMIT_BYTES).map_err(|error| unreadable().caused_by(error))?;
    let text = String::from_utf8(bytes).map_err(|_| unreadable())?;
    taken(&text, &place)
}

fn taken(text: &str, place: &str) -> Result<Token, Error> {
    Token::new(text).map_err(|error| {
        Error::new(Outcome::Contract, format!("the token {place} is refused"))
            .caused_by(error)
            .hint("`openssl rand -hex 24` makes a good one")
    })
}

/// Makes a token for the user alone, unless there is one. Two servers that start at once have the same.
fn make(folder: &Path, path: &Path) -> io::Result<()> {
    if path.exists() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut random = [0u8; RANDOM_BYTES];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let text = random.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    // Whole or not at all, under its name: another server may read it at once.
    let draft = folder.join(format!("{FILE}.{}", std::process::id()));
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(&draft)?;
    let linked = writeln!(file, "{text}").and_then(|()| fs::hard_link(&draft, path));
    fs::remove_file(&draft)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
