//! Of which file a beginning is there: its address, and the server's own word for its content.
//!
//! Both are kept beside the beginning, which is continued only if both are the same again.

use std::io;
use std::path::{Path, PathBuf};

use reqwest::Url;
use reqwest::header::{ETAG, HeaderMap};
use tokio::fs;

/// Which file it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    /// The address without user, query and fragment: they may hold keys, which change.
    address: String,
    /// The strong `ETag`: another content has another one.
    tag: String,
}

impl Origin {
    /// Says which file the answer to a request for `url` holds, if the server knows it.
    pub(super) fn told(url: &Url, headers: &HeaderMap) -> Option<Self> {
        let tag = headers.get(ETAG)?.to_str().ok()?;
        let is_strong = tag.starts_with('"');
        is_strong.then(|| Self { address: address(url), tag: tag.to_owned() })
    }

    /// Returns what was kept beside `target`, if it came from `url`.
    pub(super) async fn recall(url: &Url, target: &Path) -> Option<Self> {
        let kept = fs::read_to_string(beside(target)).await.ok()?;
        let (from, tag) = kept.split_once('\n')?;
        (from == address(url)).then(|| Self { address: from.to_owned(), tag: tag.to_owned() })
    }

    /// Returns the server's word for the content.
    pub(super) fn tag(&self) -> &str {
        &self.tag
    }

    /// Keeps it beside `target`, whole or not at all.
    pub(super) async fn keep(&self, target: &Path) -> io::Result<()> {
        let new = target.with_extension("origin.new");
        fs::write(&new, format!("{}\n{}", self.address, self.tag)).await?;
        fs::rename(&new, beside(target)).await
    }

    /// Removes what was kept beside `target`.
    pub(super) async fn forget(target: &Path) -> io::Result<()> {
        match fs::remove_file(beside(target)).await {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

fn beside(target: &Path) -> PathBuf {
    target.with_extension("origin")
}

fn address(url: &Url) -> String {
    format!("{}{}", url.origin().ascii_serialization(), url.path())
}
