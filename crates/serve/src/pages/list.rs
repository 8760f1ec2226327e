//! What lists share: their heading, filters, the way to older rows, and what stands where nothing is.

use airtight_store::{Order, Page};
use maud::{Markup, html};

use super::Failed;
use super::visit::Visit;

/// How many rows one page has.
pub(super) const ROWS: usize = 50;

/// Returns the page that is asked for: one row more than is shown, which tells whether there are more.
pub(super) fn page(visit: &Visit) -> Result<Page, Failed> {
    let limit = u32::try_from(ROWS + 1).unwrap_or(u32::MAX);
    Ok(Page { limit, after: visit.number("after")?, order: Order::NewestFirst })
}

/// Renders the ways to the newest and to older rows; `last` is the number of the last row shown, if there
/// are more.
pub(super) fn pager(visit: &Visit, last: Option<i64>) -> Markup {
    let is_first = visit.said("after").is_none();
    html! {
        @if !is_first || last.is_some() {
            nav.pages aria-label="More" {
                @if !is_first { a href=(visit.with("after", "")) rel="first" { "« Newest" } }
                @if let Some(last) = last {
                    a.next href=(visit.with("after", &last.to_string())) rel="next" { "Older »" }
                }
            }
        }
    }
}

/// Renders the ways to the beginning and to what follows in a list by name; `last` is the name of the last
/// row shown, if there are more.
pub(super) fn pager_by_name(visit: &Visit, last: Option<&str>) -> Markup {
    let is_first = visit.after().is_none();
    html! {
        @if !is_first || last.is_some() {
            nav.pages aria-label="More" {
                @if !is_first { a href=(visit.with("after", "")) rel="first" { "« First" } }
                @if let Some(last) = last { a.next href=(visit.with("after", last)) rel="next" { "Next »" } }
            }
        }
    }
}

/// Parts the rows that are shown from the one that tells of more.
pub(super) fn shown<T>(rows: &[T], number: impl Fn(&T) -> i64) -> (&[T], Option<i64>) {
    match rows.get(..ROWS) {
        Some(shown) if rows.len() > ROWS => (shown, shown.last().map(number)),
        _ => (rows, None),
    }
}

/// Renders the heading of a page.
pub(super) fn head(title: &str, lead: &str) -> Markup {
    html! { div.head { h1 { (title) } p.lead { (lead) } } }
}

/// Renders what stands where nothing is: what it means, and what to type.
pub(super) fn empty(what: &str, why: &str, command: Option<&str>) -> Markup {
    html! {
        div.empty {
            strong { (what) }
            @if !why.is_empty() { p { (why) } }
            @if let Some(command) = command { code { (command) } }
        }
    }
}

/// Renders a field for text, with what it may be.
pub(super) fn field(visit: &Visit, name: &str, label: &str, known: &[String]) -> Markup {
    let list = format!("known-{name}");
    html! {
        div {
            label for={ "f-" (name) } { (label) }
            input id={ "f-" (name) } name=(name) value=[visit.said(name)] autocomplete="off"
                list=[(!known.is_empty()).then_some(&list)];
            @if !known.is_empty() {
                datalist id=(list) { @for word in known { option value=(word) {} } }
            }
        }
    }
}

/// Renders a field for one of several words.
pub(super) fn select(visit: &Visit, name: &str, label: &str, words: &[(&str, &str)]) -> Markup {
    let said = visit.said(name).unwrap_or_default();
    html! {
        div {
            label for={ "f-" (name) } { (label) }
            select id={ "f-" (name) } name=(name) {
                option value="" { "any" }
                @for (word, shown) in words {
                    option value=(word) selected[*word == said] { (shown) }
                }
            }
        }
    }
}

/// Renders the ends of a form that filters.
pub(super) fn ends(visit: &Visit, names: &[&str]) -> Markup {
    let path = visit.path.split('?').next().unwrap_or("/");
    html! {
        div.ends {
            button.primary type="submit" { "Filter" }
            @if visit.is_filtered(names) { a.button href=(path) { "Clear" } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_more_row_tells_of_more() {
        let rows: Vec<i64> = (0..51).rev().collect();
        let (shown_rows, last) = shown(&rows, |row| *row);
        assert_eq!((shown_rows.len(), last), (50, Some(1)));
        let (shown_rows, last) = shown(&rows[..50], |row| *row);
        assert_eq!((shown_rows.len(), last), (50, None));
    }
}
