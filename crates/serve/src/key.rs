//! What makes a second request the same: the header `Idempotency-Key`, by one rule for every door.

use axum::http::HeaderMap;

use crate::problem::Problem;

/// The longest key.
const LIMIT: usize = 255;

/// Returns the key of a request, if the client gives one.
pub(crate) fn of(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let is_plain = |key: &&str| key.bytes().all(|byte| byte.is_ascii_graphic());
    match value.to_str().ok().filter(is_plain) {
        Some(key) if (1..=LIMIT).contains(&key.len()) => Ok(Some(key.to_owned())),
        Some(_) | None => {
            let message =
                format!("`Idempotency-Key` has 1 to {LIMIT} characters of ASCII, and no spaces");
            Err(Problem::request(message))
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_key_is_a_word_of_ascii_within_limits() {
        let read = |value: &[u8]| {
            let value = HeaderValue::from_bytes(value).unwrap();
            of(&[("idempotency-key".parse().unwrap(), value)].into_iter().collect())
        };
        assert_eq!(of(&HeaderMap::new()), Ok(None));
        assert_eq!(read(b"a-1/%"), Ok(Some("a-1/%".to_owned())));
        assert_eq!(read(&[b'k'; LIMIT]), Ok(Some("k".repeat(LIMIT))));
        for refused in [b"".as_slice(), b"a b", b"a\tb", b"\xff", &[b'k'; LIMIT + 1]] {
            assert!(read(refused).is_err(), "{refused:?}");
        }
    }
}
