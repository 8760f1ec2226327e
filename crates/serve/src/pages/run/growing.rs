//! The value of a run that goes on, as far as it has come in.

use std::sync::{Arc, LazyLock};

use airtight_core::contract::Contract;
use airtight_core::{Follower, Plan};
use maud::{Markup, html};
use serde_json::json;

use super::super::{text, tree};

/// Follows any value: what it must be like is for the verdict to say, at its end.
static ANY: LazyLock<Option<Arc<Plan>>> = LazyLock::new(|| {
    let schema = json!({ "type": ["object", "array"] });
    Contract::compile(schema).ok().map(|contract| contract.plan())
});

/// Renders what was said so far: as a tree once it is a value, else as it stands.
pub(super) fn panel(draft: Option<&str>) -> Markup {
    html! {
        section.panel data-growing aria-labelledby="growing" {
            header { h2 #growing { "So far" } span.note { "not judged yet" } }
            div.body {
                @match draft.map(str::trim).filter(|it| !it.is_empty()) {
                    None => p.quiet { "The model has said nothing that is kept here." },
                    Some(draft) => (said(draft)),
                }
            }
        }
    }
}

fn said(draft: &str) -> Markup {
    match value(draft) {
        Some(value) => tree::tree(&value),
        None => text::block(draft, text::BLOCK_LIMIT, None),
    }
}

/// Returns the value so far, if what was said begins as one.
fn value(draft: &str) -> Option<String> {
    if !draft.starts_with(['{', '[']) {
        return None;
    }
    let mut follower = Follower::new(Arc::clone(ANY.as_ref()?));
    follower.push(draft.as_bytes());
    follower.growing().to_value().map(|value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_drawn_as_far_as_it_has_come_in() {
        let drawn = panel(Some(r#" {"summary": "all is <b>", "score"#)).into_string();
        assert!(drawn.contains("class=\"tree\"") && drawn.contains("summary"), "{drawn}");
        assert!(drawn.contains("all is &lt;b&gt;"), "{drawn}");
        let drawn = panel(Some("Here you are: <b>")).into_string();
        assert!(drawn.contains("Here you are: &lt;b&gt;"), "{drawn}");
        assert!(panel(None).into_string().contains("nothing that is kept"));
    }
}
