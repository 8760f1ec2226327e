//! The stylesheet and the script: part of the program, so that a page needs nothing from elsewhere.
//!
//! Their addresses hold a digest of what they are, so browsers may keep them for ever.

use std::sync::LazyLock;

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use sha2::{Digest as _, Sha256};

use crate::problem::Problem;

use super::Failed;

/// One file.
pub(super) struct Asset {
    name: String,
    kind: &'static str,
    text: &'static str,
}

/// The stylesheet.
pub(super) static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new(
        "airtight",
        "css",
        "text/css; charset=utf-8",
        include_str!("../../assets/airtight.css"),
    )
});

/// The script.
pub(super) static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    let kind = "text/javascript; charset=utf-8";
    Asset::new("airtight", "js", kind, include_str!("../../assets/airtight.js"))
});

/// The picture in the tab of a browser.
pub(super) static ICON: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new("airtight", "svg", "image/svg+xml", include_str!("../../assets/airtight.svg"))
});

impl Asset {
    fn new(stem: &str, extension: &str, kind: &'static str, text: &'static str) -> Self {
        let digest = Sha256::digest(text.as_bytes());
        let digits: Vec<String> = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        Self { name: format!("{stem}.{}.{extension}", digits.concat()), kind, text }
    }

    /// Returns where it is.
    pub(super) fn address(&self) -> String {
        format!("/assets/{}", self.name)
    }
}

/// Sends a file.
pub(super) async fn send(
    axum::extract::Path(name): axum::extract::Path<String>,
) -> Result<Response, Failed> {
    let all = [&STYLE, &SCRIPT, &ICON];
    let Some(asset) = all.iter().find(|asset| asset.name == name) else {
        let message = "there is no such file; read the page again";
        return Err(Problem::new(StatusCode::NOT_FOUND, "not_found", message).into());
    };
    let keep = HeaderValue::from_static("public, max-age=31536000, immutable");
    let headers = [(CACHE_CONTROL, keep), (CONTENT_TYPE, HeaderValue::from_static(asset.kind))];
    Ok((headers, asset.text).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_comes_from_elsewhere() {
        for asset in [&STYLE, &SCRIPT] {
            assert!(!asset.text.contains("http://") && !asset.text.contains("https://"));
            assert!(!asset.text.contains("@import") && !asset.text.contains("eval("));
        }
        assert!(STYLE.address().starts_with("/assets/airtight.") && STYLE.name.len() == 25);
    }
}
