//! Who may ask what.
//!
//! A browser is a stranger's program on the user's machine: any page it shows can send requests to
//! loopback. So the name that the server is called by must be its own (DNS rebinding), what comes
//! from another site is refused (`Origin`, `Sec-Fetch-Site`), and what changes anything needs the token.

mod host;
mod origin;
mod rate;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::ACCEPT;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

use crate::door::Door;
use crate::login;
use crate::problem::Problem;
use crate::settings::Settings;
use crate::token::{Shown, Token};
use host::Hosts;
use origin::Provenance;
use rate::Rate;

/// Said to browsers with every answer.
const HEADERS: [(HeaderName, HeaderValue); 7] = [
    (
        HeaderName::from_static("content-security-policy"),
        HeaderValue::from_static(
            "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; \
             object-src 'none'",
        ),
    ),
    (HeaderName::from_static("x-content-type-options"), HeaderValue::from_static("nosniff")),
    (HeaderName::from_static("x-frame-options"), HeaderValue::from_static("DENY")),
    // Not `no-referrer`: browsers then send `Origin: null` with our own forms.
    (HeaderName::from_static("referrer-policy"), HeaderValue::from_static("same-origin")),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (HeaderName::from_static("cache-control"), HeaderValue::from_static("no-store")),
];

/// Who may read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Whoever reaches the server: it listens on loopback alone.
    Open,
    /// Whoever has the token.
    Closed,
}

/// Who may ask what.
#[derive(Debug)]
pub(crate) struct Guard {
    hosts: Hosts,
    token: Token,
    reading: Reading,
    requests: Rate,
    mistakes: Rate,
}

/// Where a browser shows the token, and forgets that it did.
pub(crate) const LOGIN: &str = "/login";
pub(crate) const LOGOUT: &str = "/logout";

/// Claims that everybody may read there: nothing of the ledger is told.
fn is_open(path: &str) -> bool {
    path == "/api/v1/health" || path == LOGIN || path.starts_with("/assets/")
}

impl Guard {
    pub(crate) fn new(settings: &Settings) -> Self {
        let is_loopback = settings.bind.ip().is_loopback();
        Self {
            hosts: Hosts::new(settings.bind.ip(), &settings.hosts),
            token: settings.token.clone(),
            reading: if is_loopback { Reading::Open } else { Reading::Closed },
            requests: Rate::new(settings.limits.requests_per_second),
            mistakes: Rate::new(settings.limits.mistakes_per_second),
        }
    }

    fn admit(&self, request: &Request) -> Result<(), Problem> {
        self.requests.take().map_err(|()| busy("too many requests; slow down"))?;
        let host = self.hosts.admit(request)?;
        let provenance = origin::admit(request, &host)?;
        let path = request.uri().path();
        if *request.method() == Method::POST && (path == LOGIN || path == LOGOUT) {
            // Who has nothing to show may log in, from our own page alone.
            return if provenance == Provenance::OwnPage { Ok(()) } else { Err(origin::foreign()) };
        }
        if is_open(path) && *request.method() != Method::POST {
            return Ok(());
        }
        let is_reading = matches!(*request.method(), Method::GET | Method::HEAD);
        match self.token.shown_by(request.headers()) {
            Shown::Token => Ok(()),
            Shown::Cookie if is_reading || provenance == Provenance::OwnPage => Ok(()),
            Shown::Nothing if is_reading && self.reading == Reading::Open => Ok(()),
            Shown::Cookie | Shown::Nothing => Err(unknown("this needs the token")),
            Shown::Wrong => match self.mistakes.take() {
                Ok(()) => Err(unknown("this is not the token")),
                Err(()) => Err(busy("too many wrong tokens; wait a second")),
            },
        }
    }
}

impl Guard {
    /// Returns what the cookie of a browser holds that shows `typed`, if that is the token.
    pub(crate) fn log_in(&self, typed: &str) -> Result<String, Problem> {
        if self.token.is(typed) {
            return Ok(self.token.session());
        }
        match self.mistakes.take() {
            Ok(()) => Err(unknown("this is not the token")),
            Err(()) => Err(busy("too many wrong tokens; wait a second")),
        }
    }
}

fn unknown(message: &str) -> Problem {
    let message = format!(
        "{message}: send it as `Authorization: Bearer TOKEN` (`api_key` of vendors' clients); \
         `airtight serve` says where it is"
    );
    Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
}

fn busy(message: &str) -> Problem {
    Problem::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message)
}

/// Claims that a person wants to see a page, whom an error in JSON would not help.
fn is_visit(request: &Request) -> bool {
    let accepted = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok());
    let is_program = ["/api/", "/v1/"].iter().any(|it| request.uri().path().starts_with(it));
    *request.method() == Method::GET
        && !is_program
        && accepted.is_some_and(|kinds| kinds.contains("text/html"))
}

/// Lets a request pass, or says why not; what browsers must heed goes with every answer.
pub(crate) async fn stand(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match guard.admit(&request) {
        Ok(()) => next.run(request).await,
        Err(problem) if problem.code == "unauthorized" && is_visit(&request) => {
            login::invitation(request.uri())
        }
        Err(problem) => problem.response(Door::of(request.uri().path(), request.headers())),
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.entry(name).or_insert(value);
    }
    response
}
