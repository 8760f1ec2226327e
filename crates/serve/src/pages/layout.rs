//! What all pages share: the frame, the menu, and how they stay fresh.

use axum::response::Html;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::assets::{ICON, SCRIPT, STYLE};
use super::visit::{Visit, address};
use super::{Failed, Pages};

/// How often a page is read again where scripts are off, in seconds. CO-100: 5 and 10.
const REFRESH_SECONDS: u32 = 10;

/// Whether a page shows what changes by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Freshness {
    /// It shows what is, until somebody reads it again: somebody may be writing in it.
    Still,
    /// It is replaced when something happens.
    Fresh,
    /// It is about a run that goes on, whose rows are added.
    Live,
}

/// Which page of the menu this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Here {
    Overview,
    Runs,
    Queue,
    Sessions,
    Services,
    Events,
    Memories,
    Cooldowns,
    Contracts,
    Stats,
    Settings,
}

impl Here {
    fn address(self) -> &'static str {
        match self {
            Self::Overview => "/",
            Self::Runs => "/runs",
            Self::Queue => "/queue",
            Self::Sessions => "/sessions",
            Self::Services => "/services",
            Self::Events => "/events",
            Self::Memories => "/memories",
            Self::Cooldowns => "/cooldowns",
            Self::Contracts => "/contracts",
            Self::Stats => "/stats",
            Self::Settings => "/settings",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Runs => "Runs",
            Self::Queue => "Review queue",
            Self::Sessions => "Sessions",
            Self::Services => "Services",
            Self::Events => "Events",
            Self::Memories => "Memories",
            Self::Cooldowns => "Cooldowns",
            Self::Contracts => "Contracts",
            Self::Stats => "Statistics",
            Self::Settings => "Settings",
        }
    }
}

/// The menu: what belongs together stands together.
const MENU: [(&str, &[Here]); 3] = [
    ("Work", &[Here::Overview, Here::Runs, Here::Queue]),
    ("Watch", &[Here::Sessions, Here::Services, Here::Events, Here::Memories, Here::Cooldowns]),
    ("Knowledge", &[Here::Contracts, Here::Stats, Here::Settings]),
];

/// The mark of the program: a check between braces.
const MARK: &str = r#"<svg width="22" height="22" viewBox="0 0 22 22" fill="none" stroke="currentColor" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="M7 4C5.3 4 4.6 4.9 4.6 6.4v2.2C4.6 10 4 10.8 2.8 11c1.2.2 1.8 1 1.8 2.4v2.2C4.600 17.100 5.300 18 7 18M15 4c1.700 0 2.400.9 2.400 2.400v2.200c0 1.400.6 2.200 1.800 2.400-1.200.2-1.800 1-1.800 2.400v2.200c0 1.500-.7 2.400-2.400 2.400" stroke-width="1.600"/><path d="m8.200 11.200 2 2 3.700-4.300" stroke-width="1.900"/></svg>"#;

/// Puts a page into its frame.
pub(super) async fn layout(
    pages: &Pages,
    visit: &Visit,
    (here, title): (Here, &str),
    freshness: Freshness,
    main: &Markup,
) -> Result<Html<String>, Failed> {
    let waiting = pages.waiting().await?;
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            (head(title, freshness))
            body {
                a.skip href="#main" { "Skip to content" }
                div.frame {
                    header.side {
                        a.brand href="/" { (PreEscaped(MARK)) "Airtight" }
                        input.menu-switch #menu-switch type="checkbox" aria-controls="menu";
                        label.menu-label for="menu-switch" { "Menu" }
                        (menu(here, waiting))
                        (foot(visit, freshness))
                    }
                    main #main tabindex="-1" data-fresh[freshness == Freshness::Fresh] { (main) }
                }
                script src=(SCRIPT.address()) defer {}
            }
        }
    };
    Ok(Html(markup.into_string()))
}

/// Renders a page that stands alone: there may be nobody to ask what the menu counts.
pub(super) fn bare(title: &str, main: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(title, Freshness::Still))
            body {
                main #main { a.brand href="/" { (PreEscaped(MARK)) "Airtight" } (main) }
            }
        }
    }
}

fn head(title: &str, freshness: Freshness) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (title) " · Airtight" }
            link rel="stylesheet" href=(STYLE.address());
            link rel="icon" type="image/svg+xml" href=(ICON.address());
            @if freshness != Freshness::Still {
                noscript { meta http-equiv="refresh" content=(REFRESH_SECONDS); }
            }
        }
    }
}

fn menu(here: Here, waiting: usize) -> Markup {
    html! {
        nav.menu #menu aria-label="Pages" {
            @for (heading, entries) in MENU {
                div {
                    h2 { (heading) }
                    ul {
                        @for entry in entries {
                            li {
                                a href=(entry.address()) aria-current=[(*entry == here).then_some("page")] {
                                    (entry.name())
                                    @if *entry == Here::Queue && waiting > 0 {
                                        span.count { (counted(waiting)) span.unseen { " waiting" } }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn counted(waiting: usize) -> String {
    if waiting > 99 { "99+".to_owned() } else { waiting.to_string() }
}

fn foot(visit: &Visit, freshness: Freshness) -> Markup {
    html! {
        div.side-foot {
            @if freshness != Freshness::Still { span.pulse role="status" { "every 10 s" } }
            @if visit.may_change() {
                form method="post" action="/logout" { button type="submit" { "Log out" } }
            } @else {
                a href=(login(visit)) { "Log in to change things" }
            }
            span { "airtight " (env!("CARGO_PKG_VERSION")) }
        }
    }
}

/// Returns where to log in, and come back from.
pub(super) fn login(visit: &Visit) -> String {
    address("/login", [("next", visit.path.as_str())])
}
