use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap as Headers;
use axum::response::{IntoResponse, Response as Answer};
use axum::routing::get;
use test_case::test_case;

use super::*;

/// The whole file; what is there of it before is its first half.
const CONTENT: &str = "weights, more or less";
const HALF: usize = 10;

/// What the server says first, and the ranges that it was asked for.
#[derive(Clone)]
struct Shop {
    first: Option<Refusal>,
    asked: Arc<Mutex<Vec<Option<String>>>>,
}

/// A status and a range that do not continue the file.
#[derive(Clone, Copy)]
struct Refusal(u16, &'static str);

async fn serve(State(shop): State<Shop>, headers: Headers) -> Answer {
    let range = headers.get("range").map(|range| range.to_str().unwrap().to_owned());
    let count = {
        let mut asked = shop.asked.lock().unwrap();
        asked.push(range.clone());
        asked.len()
    };
    if let (1, Some(Refusal(status, range))) = (count, shop.first) {
        let status = StatusCode::from_u16(status).unwrap();
        return (status, [("content-range", range)], "?").into_response();
    }
    if range.is_none() {
        return ([("etag", "\"v1\"")], CONTENT).into_response();
    }
    let rest = format!("bytes {HALF}-{}/{}", CONTENT.len() - 1, CONTENT.len());
    (StatusCode::PARTIAL_CONTENT, [("content-range", rest)], &CONTENT[HALF..]).into_response()
}

#[test_case(None, &[true]; "nothing")]
#[test_case(Some(Refusal(503, "")), &[true, true]; "a server that is busy")]
#[test_case(Some(Refusal(416, "bytes */5")), &[true, false]; "a shorter file")]
#[test_case(Some(Refusal(206, "bytes 0-5/21")), &[true, false]; "another range")]
#[tokio::test]
async fn what_is_there_is_continued_unless_the_server_says_it_cannot_be(
    first: Option<Refusal>,
    continued: &[bool],
) {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("download");
    std::fs::write(&target, &CONTENT[..HALF]).unwrap();
    std::fs::write(tag_of(&target), "\"v1\"").unwrap();
    let shop = Shop { first, asked: Arc::default() };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/file", listener.local_addr().unwrap());
    let router = Router::new().route("/file", get(serve)).with_state(shop.clone());
    let server = tokio::spawn(axum::serve(listener, router).into_future());
    download(&url, &target, &mut |_, _| {}).await.unwrap();
    server.abort();
    let wanted = |continues: &bool| continues.then(|| format!("bytes={HALF}-"));
    let expected: Vec<Option<String>> = continued.iter().map(wanted).collect();
    assert_eq!(*shop.asked.lock().unwrap(), expected);
    assert_eq!(std::fs::read_to_string(&target).unwrap(), CONTENT);
}
