//! Where a request comes from, as far as browsers say.

use axum::extract::Request;
use axum::http::header::ORIGIN;
use axum::http::{HeaderMap, Method, StatusCode};

use crate::problem::Problem;

/// Where a request comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Provenance {
    /// A page of this server: the browser says so.
    OwnPage,
    /// A program, or a person who typed the address.
    Unsaid,
}

/// Refuses what pages of others send; `host` is what this server was called by.
pub(super) fn admit(request: &Request, host: &str) -> Result<Provenance, Problem> {
    let headers = request.headers();
    let said = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let is_visit = *request.method() == Method::GET
        && said("sec-fetch-mode") == Some("navigate")
        && said("sec-fetch-dest") == Some("document");
    let own_site = match said("sec-fetch-site") {
        Some("same-origin") => Provenance::OwnPage,
        Some("none") | None => Provenance::Unsaid,
        // A link to a page may stand anywhere.
        Some(_) if is_visit => Provenance::Unsaid,
        Some(_) => return Err(foreign()),
    };
    match origins(headers).as_slice() {
        [] => Ok(own_site),
        [origin] if is_own(origin, host) => Ok(Provenance::OwnPage),
        _ => Err(foreign()),
    }
}

fn origins(headers: &HeaderMap) -> Vec<&str> {
    headers.get_all(ORIGIN).iter().map(|value| value.to_str().unwrap_or("?")).collect()
}

fn is_own(origin: &str, host: &str) -> bool {
    let rest = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    rest.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
}

pub(super) fn foreign() -> Problem {
    let message = "a web page of another site must not ask this";
    Problem::new(StatusCode::FORBIDDEN, "foreign_origin", message)
}
