//! What clap repeats of what was typed, without what is secret in it.

use airtight_core::redact::{MASK, mask_tokens};

/// Returns `text` with its secrets masked, if it holds any: logins of URLs, and whatever has the shape
/// of a credential.
pub(super) fn discreet(text: &str) -> Option<String> {
    let lines: String = text.split_inclusive('\n').map(without_login).collect();
    let masked = mask_tokens(&lines);
    (masked != text).then(|| masked.into_owned())
}

/// Masks the login of a URL, up to the last `@` of the line: a password that was typed may have any
/// character, and a host that is masked with it can be found where it was typed.
fn without_login(line: &str) -> String {
    let login = line.split_once("://").and_then(|(scheme, rest)| {
        let (_, host) = rest.rsplit_once('@')?;
        Some(format!("{scheme}://{MASK}@{host}"))
    });
    login.unwrap_or_else(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("'http://ada:pw@host:1/v1' for '--base-url <URL>'\n\nmore" => Some("'http://[masked]@host:1/v1' for '--base-url <URL>'\n\nmore".to_owned()); "a password")]
    #[test_case("'http://token@host'" => Some("'http://[masked]@host'".to_owned()); "a user alone")]
    #[test_case("'http://ada:a/b?c#d@e f@host'" => Some("'http://[masked]@host'".to_owned()); "any character")]
    #[test_case("'sk-ant-0123456789abcdef' for" => Some("'[masked]' for".to_owned()); "a key in its place")]
    #[test_case("'ftp://host/path' for '--base-url <URL>'\nada@host" => None; "no login")]
    fn secrets_are_not_repeated(text: &str) -> Option<String> {
        discreet(text)
    }
}
