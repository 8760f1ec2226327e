//! What is in force here, and where it was said. Secrets are no settings: none is shown.

use axum::extract::State;
use axum::response::Html;
use maud::html;

use super::{Failed, Freshness, Here, Pages, Visit, layout, list, text};

/// Shows the page.
pub(super) async fn show(State(pages): State<Pages>, visit: Visit) -> Result<Html<String>, Failed> {
    let settings = pages.desk.settings();
    let main = html! {
        (list::head("Settings", "What is in force for this server, and where it was said"))
        section.panel aria-label="Settings" {
            @if settings.is_empty() {
                (list::empty("Nothing is set", "Everything is as it is by default. A file of settings is found in the project, then in your own folder:", Some("airtight doctor")))
            } @else {
                table.cards {
                    thead { tr { th { "Setting" } th { "Value" } th { "Where" } } }
                    tbody {
                        @for setting in &settings {
                            tr {
                                td { span.cell-main.mono { (text::line(&setting.name, 60)) } div.cell-sub { (text::line(&setting.about, 200)) } }
                                td.fill data-label="Value" { code { (text::line(&setting.value, 300)) } }
                                td data-label="Where" {
                                    span.tag { (text::line(&setting.origin, 200)) }
                                    @if !setting.overruled.is_empty() { div.cell-sub { "overrules " (text::line(&setting.overruled.join(", "), 200)) } }
                                }
                            }
                        }
                    }
                }
            }
        }
        p.small.quiet { "Files are read when the server starts. Keys are never shown. To change something, edit the place that is named and start the server again." }
    };
    layout(&pages, &visit, (Here::Settings, "Settings"), Freshness::Still, &main).await
}
