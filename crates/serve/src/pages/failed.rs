//! What a visitor sees that cannot have a page.

use airtight_store::StoreError;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use maud::{Markup, html};

use super::layout;
use crate::door::Door;
use crate::problem::Problem;

/// Why there is no page.
#[derive(Debug)]
pub(super) struct Failed(Problem);

impl From<Problem> for Failed {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self(Problem::from(error))
    }
}

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        let mut response = self.0.response(Door::Api);
        response.extensions_mut().insert(self.0);
        response
    }
}

/// Gives problems the shape that the visitor reads.
pub(super) async fn dress(request: Request, next: Next) -> Response {
    let door = Door::of(request.uri().path(), request.headers());
    let mut response = next.run(request).await;
    match response.extensions_mut().remove::<Problem>() {
        Some(problem) => problem.response(door),
        None => response,
    }
}

/// Renders a problem for people.
pub(crate) fn page(problem: &Problem) -> Response {
    let title = match problem.status {
        StatusCode::NOT_FOUND => "Not here",
        StatusCode::UNAUTHORIZED => "The token is needed",
        StatusCode::FORBIDDEN | StatusCode::MISDIRECTED_REQUEST => "Refused",
        StatusCode::TOO_MANY_REQUESTS => "Too many requests",
        status if status.is_client_error() => "That does not work",
        _ => "Something is wrong",
    };
    let markup = layout::bare(title, &words(title, problem));
    (problem.status, Html(markup.into_string())).into_response()
}

fn words(title: &str, problem: &Problem) -> Markup {
    html! {
        div.center.stack {
            p.fault { (problem.status.as_u16()) }
            h1 { (title) }
            p { (super::text::line(&problem.message, 1_000)) }
            p.row {
                @if problem.status == StatusCode::UNAUTHORIZED {
                    a.button.primary href="/login" { "Log in" }
                }
                a.button href="/" { "Overview" }
                a.button href="/runs" { "Runs" }
            }
        }
    }
}
