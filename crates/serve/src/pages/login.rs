//! Where a person shows the token.

use axum::extract::State;
use axum::response::Html;
use maud::html;

use super::{Pages, Visit, layout};
use crate::login::local;

/// Shows the form; whoever sends it is answered elsewhere.
pub(super) async fn show(State(_): State<Pages>, visit: Visit) -> Html<String> {
    let next = local(visit.said("next").unwrap_or_default());
    let problem = visit.said("problem").map(|code| match code {
        "rate_limited" => "Too many wrong tokens. Wait a second, and try again.",
        _ => "That is not the token.",
    });
    let main = html! {
        div.center.stack {
            h1 { "Log in" }
            p.quiet { "To decide, write and delete, show the token that " code { "airtight serve" } " names when it starts. Where others can reach the server, reading needs it, too." }
            @if let Some(problem) = problem { p.notice.bad role="alert" { (problem) } }
            @if visit.may_change() { p.notice.good role="status" { "You are logged in. " a href="/" { "Overview" } } }
            section.panel aria-label="The token" {
                div.body {
                    form method="post" action="/login" {
                        input type="hidden" name="next" value=(next);
                        div.field { label for="token" { "Token" } input #token name="token" type="password" required autocomplete="current-password" autofocus; }
                        div.field.row { button.primary type="submit" { "Log in" } a.button href=(next) { "Back" } }
                    }
                }
            }
            p.small.quiet { "It is in a file: " code { "~/.local/share/airtight/serve.token" } ", unless the server was started with another." }
        }
    };
    Html(layout::bare("Log in", &main).into_string())
}
