//! How a browser comes by its cookie: it shows the token once, in a form of our own page.
//!
//! The cookie is derived from the token, so nothing is kept here. It is not `Secure`: the server speaks
//! plain HTTP, and a proxy that adds TLS may add that word, too.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::rejection::FormRejection;
use axum::extract::{DefaultBodyLimit, Form, FromRequest as _, Request, State};
use axum::http::header::{LOCATION, SET_COOKIE};
use axum::http::{HeaderName, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use serde::Deserialize;
use tokio::time::timeout;

use crate::door::Door;
use crate::guard::{Guard, LOGIN, LOGOUT};
use crate::problem::Problem;
use crate::token::COOKIE_NAME;

/// The longest form: a token and the place to go on at.
const FORM_LIMIT_BYTES: usize = 8 * 1024;

/// How long a form may take to come in.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest place to go on at.
const NEXT_LIMIT_BYTES: usize = 2048;

/// How long a browser stays logged in: a month, in seconds.
const COOKIE_SECONDS: u32 = 30 * 24 * 60 * 60;

/// What the form of the login page holds.
#[derive(Debug, Deserialize)]
struct Shown {
    #[serde(default)]
    token: String,
    #[serde(default)]
    next: String,
}

/// Returns where browsers log in and out; the page itself is not ours.
pub(crate) fn routes(guard: Arc<Guard>) -> Router {
    Router::new()
        .route(LOGIN, post(log_in))
        .route(LOGOUT, post(log_out))
        .layer(DefaultBodyLimit::max(FORM_LIMIT_BYTES))
        .with_state(guard)
}

/// Sends a browser that has not shown the token to where it can.
pub(crate) fn invitation(wanted: &Uri) -> Response {
    let wanted = wanted.path_and_query().map_or("/", |it| it.as_str());
    see(&format!("{LOGIN}?next={}", escaped(wanted)))
}

async fn log_in(State(guard): State<Arc<Guard>>, request: Request) -> Response {
    let reading = Form::<Shown>::from_request(request, &());
    let shown = match timeout(PATIENCE, reading).await {
        Ok(Ok(Form(shown))) => shown,
        Ok(Err(rejection)) => return unreadable(&rejection).response(Door::Api),
        Err(_) => {
            let message = "the form did not come in";
            let slow = Problem::new(StatusCode::REQUEST_TIMEOUT, "too_slow", message);
            return slow.response(Door::Api);
        }
    };
    let next = local(&shown.next);
    match guard.log_in(&shown.token) {
        Ok(session) => with_cookie(see(next), &session, COOKIE_SECONDS),
        // The page says it in words.
        Err(problem) => see(&format!("{LOGIN}?problem={}&next={}", problem.code, escaped(next))),
    }
}

async fn log_out() -> Response {
    with_cookie(see("/"), "", 0)
}

fn unreadable(rejection: &FormRejection) -> Problem {
    let status = rejection.status();
    let code = if status == StatusCode::PAYLOAD_TOO_LARGE { "too_large" } else { "no_form" };
    let message = "the form cannot be read: send `token` and `next`, form-encoded";
    Problem::new(status, code, message)
}

/// Returns `next` if it leads to a page of this server, else the first page.
pub(crate) fn local(next: &str) -> &str {
    // Browsers take `//host` and `/\host` for another server, and pass over line ends.
    let is_plain = next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let is_local = next.starts_with('/') && !next.starts_with("//");
    let is_short = next.len() <= NEXT_LIMIT_BYTES;
    if is_plain && is_local && is_short { next } else { "/" }
}

/// Returns `text` as the value in a query.
fn escaped(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte);
    let part = |byte: u8| match byte {
        byte if is_plain(byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(part).collect()
}

fn see(place: &str) -> Response {
    let place = HeaderValue::from_str(place).unwrap_or(HeaderValue::from_static("/"));
    (StatusCode::SEE_OTHER, [(LOCATION, place)]).into_response()
}

fn with_cookie(mut response: Response, value: &str, seconds: u32) -> Response {
    let cookie =
        format!("{COOKIE_NAME}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert::<HeaderName>(SET_COOKIE, cookie);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_led_to_another_server() {
        for next in ["/", "/runs?after=3&state=open", "/runs/%2e%2e"] {
            assert_eq!(local(next), next);
        }
        let long = format!("/{}", "a".repeat(NEXT_LIMIT_BYTES));
        for next in [
            "",
            "runs",
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "/\t/evil",
            "/a b",
            &long,
        ] {
            assert_eq!(local(next), "/", "{next:?}");
        }
    }

    #[test]
    fn a_place_to_go_on_at_is_one_value_of_a_query() {
        assert_eq!(escaped("/runs?a=b&c=#d%"), "/runs%3Fa%3Db%26c%3D%23d%25");
        let wanted = "/runs?a=b&next=//evil".parse::<Uri>().unwrap();
        let place = invitation(&wanted).headers()[LOCATION].to_str().unwrap().to_owned();
        assert_eq!(place, "/login?next=/runs%3Fa%3Db%26next%3D//evil");
    }
}
