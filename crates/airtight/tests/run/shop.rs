//! A server of one file, whose first answer ends too early.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Response, StatusCode, header};
use axum::routing::get;

/// The file, and the ranges of it that were asked for.
#[derive(Clone)]
pub(crate) struct Shop {
    content: Arc<Vec<u8>>,
    asked: Arc<Mutex<Vec<Option<String>>>>,
}

impl Shop {
    /// Serves `content`, and returns its address.
    pub(crate) fn open(content: Vec<u8>) -> (Self, String) {
        let shop = Self { content: Arc::new(content), asked: Arc::default() };
        let router = Router::new().route("/tiny.gguf", get(serve)).with_state(shop.clone());
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}/tiny.gguf", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                axum::serve(listener, router).await.unwrap();
            });
        });
        (shop, url)
    }

    /// Returns the ranges that were asked for.
    pub(crate) fn asked(&self) -> Vec<Option<String>> {
        self.asked.lock().unwrap().clone()
    }
}

async fn serve(State(shop): State<Shop>, headers: HeaderMap) -> Response<Body> {
    let range = headers.get(header::RANGE).map(|range| range.to_str().unwrap().to_owned());
    let is_first = {
        let mut asked = shop.asked.lock().unwrap();
        asked.push(range.clone());
        asked.len() == 1
    };
    let total = shop.content.len();
    let start: usize = range.map_or(0, |range| {
        range.strip_prefix("bytes=").unwrap().strip_suffix('-').unwrap().parse().unwrap()
    });
    let rest = shop.content[start..].to_vec();
    let builder = Response::builder().header(header::ETAG, "\"v1\"");
    if is_first {
        let pieces = [Ok(rest[..total / 2].to_vec()), Err(std::io::Error::other("cut"))];
        let body = Body::from_stream(futures_util::stream::iter(pieces));
        return builder.header(header::CONTENT_LENGTH, total).body(body).unwrap();
    }
    let builder = match start {
        0 => builder,
        _ => builder
            .status(StatusCode::PARTIAL_CONTENT)
            .header(header::CONTENT_RANGE, format!("bytes {start}-{}/{total}", total - 1)),
    };
    builder.body(Body::from(rest)).unwrap()
}
