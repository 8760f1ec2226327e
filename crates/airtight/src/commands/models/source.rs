//! Where weights come from, as it was typed.

use airtight_agent::provider::Weights;

use crate::error::{Error, Outcome};
use crate::shell_word::shell_word;

/// Where weights come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// They are known, and those that are used if none are named.
    Usual,
    /// They are known by this name.
    Named(String),
    /// This file, as it was typed.
    File(String),
    /// This URL.
    Url(String),
}

impl Source {
    /// Reads what was typed, if anything was.
    pub(super) fn parse(typed: Option<&str>) -> Result<Self, Error> {
        let Some(typed) = typed.map(str::trim) else { return Ok(Self::Usual) };
        match scheme(typed).as_deref() {
            Some("https" | "http") => return Ok(Self::Url(typed.to_owned())),
            Some("file") => return Err(unfetchable().hint(path_hint(typed))),
            Some(_) => {
                let hint = "fetch the file by other means, then type `airtight models pull FILE`";
                return Err(unfetchable().hint(hint));
            }
            None => {}
        }
        match Weights::parse(typed) {
            Ok(Weights::File(path)) => Ok(Self::File(path)),
            Ok(Weights::Named(name)) => Ok(Self::Named(name)),
            Ok(Weights::Usual) => Ok(Self::Usual),
            Err(_) => Err(Error::new(Outcome::Usage, "the name of the weights is empty")
                .hint("leave it out for the default ones: `airtight models pull`")
                .hint("`airtight models list` shows what is here and what can be had")),
        }
    }
}

/// Returns the name of the file that a URL ends in, if it ends in one.
pub(super) fn file_of(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let (_, path) = rest.split(['?', '#']).next()?.split_once('/')?;
    path.rsplit('/').next().filter(|file| !file.is_empty())
}

/// Returns the scheme of a URL, in small letters.
fn scheme(typed: &str) -> Option<String> {
    let (scheme, rest) = typed.split_once(':')?;
    let is_scheme =
        scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let scheme = scheme.to_ascii_lowercase();
    // A path may hold a colon, but hardly anybody has a folder called `file:`.
    (is_scheme && (rest.starts_with("//") || scheme == "file")).then_some(scheme)
}

fn unfetchable() -> Error {
    let message = "weights are fetched from `https://` and `http://` alone";
    Error::new(Outcome::Usage, message)
}

fn path_hint(url: &str) -> String {
    let (_, rest) = url.split_once(':').unwrap_or_default();
    let path = rest.strip_prefix("//localhost").or(rest.strip_prefix("//")).unwrap_or(rest);
    format!("give the path alone: `airtight models pull {}`", shell_word(path))
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case(None => Source::Usual)]
    #[test_case(Some("smollm2-135m") => Source::Named("smollm2-135m".to_owned()))]
    #[test_case(Some("HTTPS://a/b.gguf") => Source::Url("HTTPS://a/b.gguf".to_owned()))]
    #[test_case(Some("./b.gguf") => Source::File("./b.gguf".to_owned()))]
    #[test_case(Some("/a:b/c") => Source::File("/a:b/c".to_owned()); "a path with a colon")]
    fn a_source_is_known_by_its_form(typed: Option<&str>) -> Source {
        Source::parse(typed).unwrap()
    }

    #[test_case("" => "leave it out for the default ones: `airtight models pull`")]
    #[test_case("file:///a b.gguf" => "give the path alone: `airtight models pull '/a b.gguf'`")]
    #[test_case("FILE:m.gguf" => "give the path alone: `airtight models pull m.gguf`")]
    #[test_case("ftp://a/b.gguf" => "fetch the file by other means, then type `airtight models pull FILE`")]
    fn what_cannot_be_had_is_refused_with_what_to_type(typed: &str) -> String {
        let error = Source::parse(Some(typed)).unwrap_err();
        assert_eq!(error.kind, Outcome::Usage);
        error.hints[0].clone()
    }

    #[test_case("https://a/b/c.gguf?download=true" => Some("c.gguf"))]
    #[test_case("https://a/?file=/b.gguf" => None; "only a query")]
    #[test_case("https://a/" => None; "only a slash")]
    #[test_case("https://a" => None; "only a host")]
    fn the_file_of_a_url_is_the_end_of_its_path(url: &str) -> Option<&str> {
        file_of(url)
    }
}
