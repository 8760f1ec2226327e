//! Large files over HTTP: what is there of one is kept, and continued.
//!
//! A server that knows its file by a strong `ETag` is asked for the rest only, on condition that
//! the file is still the same; any other file, and that of any other address, begins anew. Nothing
//! here says that a file is the right one: that is for a checksum.

mod origin;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::header::{CONTENT_RANGE, HeaderMap, IF_RANGE, RANGE};
use reqwest::{Client, Response, StatusCode, Url, redirect};
use tokio::fs::{self, File, OpenOptions};
use tokio::io::AsyncWriteExt as _;

use origin::Origin;

/// How long a server may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a server may be silent.
const IDLE: Duration = Duration::from_mins(1);
/// How often it is tried again although nothing came.
const FRUITLESS_LIMIT: u32 = 2;
/// How long to wait before it is tried again although nothing came; twice as long the second time.
const PAUSE: Duration = Duration::from_secs(1);
/// How long a download may take, all in all: the largest file on a line of 3 MB/s.
const TIME_LIMIT: Duration = Duration::from_hours(24);
/// How often a file may move.
const REDIRECT_LIMIT: usize = 10;
/// The largest file: more than any weights that fit into a machine.
const LIMIT_BYTES: u64 = 1 << 38;

/// Why a file was not fetched. What came of it is kept.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    /// The address is none.
    #[error("the address must begin with https:// or http://")]
    Address,
    /// The server cannot be reached, or the connection broke.
    #[error("the connection failed")]
    Connection(#[source] reqwest::Error),
    /// The server sends on to where nothing can be fetched, or on and on.
    #[error("the server sends on to where nothing can be fetched")]
    Redirect(#[source] reqwest::Error),
    /// The server says no.
    #[error("the server answered {status}")]
    Status {
        /// The HTTP status.
        status: u16,
    },
    /// The answer ended before the file did.
    #[error("the connection ended after {bytes} of {total} bytes")]
    Cut {
        /// How much is there.
        bytes: u64,
        /// How much there should be.
        total: u64,
    },
    /// It takes too long, all in all.
    #[error("the download took more than {} hours", TIME_LIMIT.as_secs() / 3600)]
    TimedOut,
    /// The file is too large.
    #[error("the file is over the limit of {LIMIT_BYTES} bytes")]
    TooLarge,
    /// The file cannot be written; a full disk shows here.
    #[error("cannot write `{}`", path.display())]
    Disk {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
}

impl DownloadError {
    /// Claims that going on may help.
    fn may_pass(&self) -> bool {
        match self {
            Self::Connection(_) | Self::Cut { .. } => true,
            // Without the origin, which is forgotten after 206 and 416, the next request is for the
            // whole.
            Self::Status { status } => *status >= 500 || matches!(status, 206 | 416),
            Self::Address
            | Self::Redirect(_)
            | Self::TimedOut
            | Self::TooLarge
            | Self::Disk { .. } => false,
        }
    }

    /// Claims that the same address would be refused again.
    pub fn blames_address(&self) -> bool {
        match self {
            Self::Address | Self::Redirect(_) | Self::TooLarge => true,
            // Of those, only too many requests and a timeout pass by themselves.
            Self::Status { status } => *status < 500 && !matches!(status, 206 | 408 | 416 | 429),
            Self::Connection(_) | Self::Cut { .. } | Self::TimedOut | Self::Disk { .. } => false,
        }
    }
}

/// Fetches `url` into `target`, going on with what is there; `watch` hears how many bytes are there,
/// and how many there will be if the server says so.
pub async fn download(
    url: &str,
    target: &Path,
    watch: &mut (dyn FnMut(u64, Option<u64>) + Send),
) -> Result<(), DownloadError> {
    let url = Url::parse(url.trim()).map_err(|_| DownloadError::Address)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(DownloadError::Address);
    }
    let client = client(&url)?;
    let fetched = tokio::time::timeout(TIME_LIMIT, persist(&client, &url, target, watch));
    fetched.await.unwrap_or(Err(DownloadError::TimedOut))
}

/// Tries again as long as that may help.
async fn persist(
    client: &Client,
    url: &Url,
    target: &Path,
    watch: &mut (dyn FnMut(u64, Option<u64>) + Send),
) -> Result<(), DownloadError> {
    let mut fruitless = 0;
    loop {
        let before = length(target).await;
        match attempt(client, url, target, watch).await {
            Err(error) if error.may_pass() => {
                fruitless = if length(target).await > before { 0 } else { fruitless + 1 };
                if fruitless > FRUITLESS_LIMIT {
                    return Err(error);
                }
            }
            ended => return ended,
        }
        tokio::time::sleep(PAUSE * fruitless).await;
    }
}

fn client(url: &Url) -> Result<Client, DownloadError> {
    let builder = Client::builder()
        .user_agent(concat!("airtight/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::limited(REDIRECT_LIMIT))
        .https_only(url.scheme() == "https")
        .connect_timeout(CONNECT)
        .read_timeout(IDLE);
    builder.build().map_err(DownloadError::Connection)
}

async fn attempt(
    client: &Client,
    url: &Url,
    target: &Path,
    watch: &mut (dyn FnMut(u64, Option<u64>) + Send),
) -> Result<(), DownloadError> {
    let there = length(target).await;
    let known = Origin::recall(url, target).await.filter(|_| there > 0);
    let mut request = client.get(url.clone());
    if let Some(origin) = &known {
        request = request.header(RANGE, format!("bytes={there}-")).header(IF_RANGE, origin.tag());
    }
    let response = request.send().await.map_err(connection)?;
    let (headers, told) = (response.headers(), Origin::told(url, response.headers()));
    match response.status() {
        StatusCode::PARTIAL_CONTENT
            if known.is_some() && told == known && begins_at(headers, there) =>
        {
            let file = OpenOptions::new().append(true).open(target).await;
            receive(response, Partial { file: file.map_err(disk(target))?, target, there }, watch)
                .await
        }
        StatusCode::OK => {
            let file = begin(target, told.as_ref()).await.map_err(disk(target))?;
            receive(response, Partial { file, target, there: 0 }, watch).await
        }
        // Few servers say which file it is that has no more.
        StatusCode::RANGE_NOT_SATISFIABLE
            if known.is_some() && (told.is_none() || told == known) && ends_at(headers, there) =>
        {
            Ok(())
        }
        status => {
            // The server does not continue what is there; any other status says nothing about it.
            if matches!(status, StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE) {
                Origin::forget(target).await.map_err(disk(target))?;
            }
            Err(DownloadError::Status { status: status.as_u16() })
        }
    }
}

/// Begins a file anew. At no time is there something of one file with the origin of another.
async fn begin(target: &Path, origin: Option<&Origin>) -> io::Result<File> {
    Origin::forget(target).await?;
    let file = File::create(target).await?;
    if let Some(origin) = origin {
        origin.keep(target).await?;
    }
    Ok(file)
}

/// A file that is not whole yet.
struct Partial<'a> {
    file: File,
    target: &'a Path,
    there: u64,
}

async fn receive(
    mut response: Response,
    mut partial: Partial<'_>,
    watch: &mut (dyn FnMut(u64, Option<u64>) + Send),
) -> Result<(), DownloadError> {
    let total = response.content_length().map(|rest| partial.there.saturating_add(rest));
    if total.is_some_and(|total| total > LIMIT_BYTES) {
        return Err(DownloadError::TooLarge);
    }
    let Partial { file, target, there } = &mut partial;
    let received = loop {
        match response.chunk().await {
            Ok(Some(bytes)) => {
                *there = there.saturating_add(bytes.len() as u64);
                if *there > LIMIT_BYTES {
                    break Err(DownloadError::TooLarge);
                }
                file.write_all(&bytes).await.map_err(disk(target))?;
                watch(*there, total);
            }
            Ok(None) => break Ok(()),
            Err(error) => break Err(connection(error)),
        }
    };
    // Also what came before a failure counts.
    file.flush().await.map_err(disk(target))?;
    file.sync_all().await.map_err(disk(target))?;
    match (received, total) {
        (Ok(()), Some(total)) if *there < total => Err(DownloadError::Cut { bytes: *there, total }),
        (received, _) => received,
    }
}

/// Claims that a partial answer goes on where the file ends.
fn begins_at(headers: &HeaderMap, there: u64) -> bool {
    range(headers).is_some_and(|range| range.starts_with(&format!("bytes {there}-")))
}

/// Claims that nothing is missing.
fn ends_at(headers: &HeaderMap, there: u64) -> bool {
    range(headers).is_some_and(|range| range == format!("bytes */{there}"))
}

fn range(headers: &HeaderMap) -> Option<&str> {
    headers.get(CONTENT_RANGE)?.to_str().ok()
}

async fn length(path: &Path) -> u64 {
    fs::metadata(path).await.map_or(0, |metadata| metadata.len())
}

/// Leaves the URL out: it may hold a key.
fn connection(error: reqwest::Error) -> DownloadError {
    // To another scheme is a bad request of our own, by the client's account.
    let is_redirect = error.is_redirect() || error.is_builder();
    let error = error.without_url();
    if is_redirect { DownloadError::Redirect(error) } else { DownloadError::Connection(error) }
}

fn disk(path: &Path) -> impl Fn(io::Error) -> DownloadError {
    move |source| DownloadError::Disk { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests;
