//! The one secret: whoever has it may spend money and change things.

use axum::http::header::{AUTHORIZATION, COOKIE};
use axum::http::{HeaderMap, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// The fewest characters of a token: 16 random ones are beyond guessing, even at full speed, and nothing
/// else stands in the way of who guesses.
const SHORTEST: usize = 16;

/// The header that Anthropic's clients carry their key in.
const API_KEY: &str = "x-api-key";

/// The cookie of a browser that has shown the token.
pub(crate) const COOKIE_NAME: &str = "airtight_session";

/// What the cookie's value is derived with, so that it is not the token.
const COOKIE_PURPOSE: &[u8] = b"airtight serve session\n";

/// Whoever has it may spend money and change things.
#[derive(Debug, Clone)]
pub struct Token(SecretString);

/// Why a text is no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It could be guessed.
    #[error("the token has {length} characters, and needs {SHORTEST}")]
    Short {
        /// How many it has.
        length: usize,
    },
    /// No header can carry it.
    #[error("the token must be of printable ASCII, without spaces")]
    Unprintable,
}

/// What a request shows of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Nothing.
    Nothing,
    /// The token, in a header that no web page of others can set.
    Token,
    /// The cookie, which a browser adds by itself.
    Cookie,
    /// Something else.
    Wrong,
}

impl Token {
    /// Takes `text` for the token; spaces and line ends around it do not count.
    pub fn new(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::Unprintable);
        }
        if text.len() < SHORTEST {
            return Err(TokenError::Short { length: text.len() });
        }
        Ok(Self(SecretString::from(text.to_owned())))
    }

    /// Returns the text, for whoever must keep it from showing.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// Claims that `typed` is the token; spaces around it do not count.
    pub(crate) fn is(&self, typed: &str) -> bool {
        same(typed.trim().as_bytes(), self.expose().as_bytes())
    }

    /// Says what a request shows of itself.
    pub(crate) fn shown_by(&self, headers: &HeaderMap) -> Shown {
        let bearer = headers.get(AUTHORIZATION).and_then(|value| bearer(value.as_bytes()));
        let key = || headers.get(API_KEY).map(HeaderValue::as_bytes);
        if let Some(given) = bearer.or_else(key) {
            let is_it = same(given, self.expose().as_bytes());
            return if is_it { Shown::Token } else { Shown::Wrong };
        }
        match cookie(headers) {
            None => Shown::Nothing,
            Some(value) if same(value.as_bytes(), self.session().as_bytes()) => Shown::Cookie,
            // A browser keeps the cookie of a token that was changed; that is nobody's mistake.
            Some(_) => Shown::Nothing,
        }
    }

    /// Returns what the cookie of a browser holds that has shown the token.
    pub(crate) fn session(&self) -> String {
        let digest = Sha256::new().chain_update(COOKIE_PURPOSE).chain_update(self.expose());
        let digits = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>();
        digits.concat()
    }
}

/// Compares in a time that says nothing of how much fits: digests have one length.
fn same(given: &[u8], known: &[u8]) -> bool {
    let (given, known) = (Sha256::digest(given), Sha256::digest(known));
    given.as_slice().ct_eq(known.as_slice()).into()
}

/// Returns what is shown as a token, with or without the word for it. Other schemes are for others: a proxy
/// before the server may want a password of its own.
fn bearer(value: &[u8]) -> Option<&[u8]> {
    const SCHEME: &[u8] = b"bearer ";
    match value.split_at_checked(SCHEME.len()) {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case(SCHEME) => Some(token.trim_ascii()),
        // No token holds a space.
        _ => (!value.contains(&b' ')).then_some(value),
    }
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let pairs = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = pairs.flat_map(|value| value.split(';')).filter_map(|it| it.split_once('='));
    pairs.find(|(name, _)| name.trim() == COOKIE_NAME).map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;

    use super::*;

    const TEXT: &str = "0123456789abcdef";

    fn shown(name: &'static str, value: &str) -> Shown {
        let headers = HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())]);
        Token::new(TEXT).unwrap().shown_by(&headers)
    }

    #[test]
    fn a_token_that_could_be_guessed_is_refused() {
        assert_eq!(Token::new(" short\n").unwrap_err(), TokenError::Short { length: 5 });
        assert_eq!(Token::new("with a space in it").unwrap_err(), TokenError::Unprintable);
        assert_eq!(Token::new(&format!("{TEXT}\n")).unwrap().expose(), TEXT);
    }

    #[test]
    fn a_token_never_shows_in_debug_output() {
        assert!(!format!("{:?}", Token::new(TEXT).unwrap()).contains(TEXT));
    }

    #[test]
    fn the_token_counts_in_the_headers_of_both_vendors_and_the_cookie_is_not_the_token() {
        let session = Token::new(TEXT).unwrap().session();
        assert_ne!(session, TEXT);
        assert_eq!(Token::new(TEXT).unwrap().shown_by(&HeaderMap::new()), Shown::Nothing);
        assert_eq!(shown("authorization", &format!("Bearer {TEXT}")), Shown::Token);
        assert_eq!(shown("authorization", &format!("bearer {TEXT}")), Shown::Token);
        assert_eq!(shown("x-api-key", TEXT), Shown::Token);
        assert_eq!(shown("authorization", "Bearer 0123456789abcdeg"), Shown::Wrong);
        assert_eq!(shown("authorization", ""), Shown::Wrong);
        assert_eq!(shown("authorization", &format!("Bearer {session}")), Shown::Wrong);
        assert_eq!(shown("cookie", &format!("a=b; {COOKIE_NAME}={session}")), Shown::Cookie);
        assert_eq!(shown("cookie", &format!("{COOKIE_NAME}={TEXT}")), Shown::Nothing);
    }

    #[test]
    fn a_password_for_a_proxy_is_no_wrong_token() {
        let token = Token::new(TEXT).unwrap();
        let cookie = format!("{COOKIE_NAME}={}", token.session());
        for (name, value, expected) in [
            ("cookie", cookie.as_str(), Shown::Cookie),
            ("x-api-key", TEXT, Shown::Token),
            ("x-api-key", "wrong-wrong-wrong", Shown::Wrong),
            ("accept", "*/*", Shown::Nothing),
        ] {
            let headers = [("authorization", "Basic dXNlcjpwYXNzd29yZA=="), (name, value)];
            let headers = headers.map(|(name, value)| {
                (name.parse::<HeaderName>().unwrap(), value.parse::<HeaderValue>().unwrap())
            });
            assert_eq!(token.shown_by(&HeaderMap::from_iter(headers)), expected, "{name}");
        }
    }
}
