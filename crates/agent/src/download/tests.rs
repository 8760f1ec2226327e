use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap as Headers;
use axum::response::{IntoResponse, Redirect, Response as Answer};
use axum::routing::get;
use reqwest::header::{ETAG, HeaderValue};
use tempfile::TempDir;
use test_case::test_case;

use super::*;

/// The whole file; what is there of it before is its first half.
const CONTENT: &str = "weights, more or less";
const HALF: usize = 10;

/// What the server says first, by which tag it knows the file now, and what it was asked for.
#[derive(Clone)]
struct Shop {
    first: Option<Refusal>,
    tag: &'static str,
    asked: Arc<Mutex<Vec<Asked>>>,
}

/// The range and the condition of a request.
type Asked = (Option<String>, Option<String>);

/// A status and a range that do not continue the file.
#[derive(Clone, Copy)]
struct Refusal(u16, &'static str);

async fn serve(State(shop): State<Shop>, headers: Headers) -> Answer {
    let header = |name| headers.get(name).map(|value| value.to_str().unwrap().to_owned());
    let (range, condition) = (header("range"), header("if-range"));
    let count = {
        let mut asked = shop.asked.lock().unwrap();
        asked.push((range.clone(), condition));
        asked.len()
    };
    if let (1, Some(Refusal(status, range))) = (count, shop.first) {
        let status = StatusCode::from_u16(status).unwrap();
        return (status, [("content-range", range)], "?").into_response();
    }
    if range.is_none() {
        return ([("etag", shop.tag)], CONTENT).into_response();
    }
    // Whatever the condition is: some servers do not know it.
    let rest = format!("bytes {HALF}-{}/{}", CONTENT.len() - 1, CONTENT.len());
    let headers = [("content-range", rest.as_str()), ("etag", shop.tag)];
    (StatusCode::PARTIAL_CONTENT, headers, &CONTENT[HALF..]).into_response()
}

/// Serves a shop at `/file`, and returns its address.
async fn open(shop: &Shop) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let away = || async { Redirect::temporary("/away") };
    let router = Router::new()
        .route("/file", get(serve))
        .route("/away", get(away))
        .route("/ftp", get(|| async { Redirect::temporary("ftp://127.0.0.1/file") }))
        .with_state(shop.clone());
    drop(tokio::spawn(axum::serve(listener, router).into_future()));
    address
}

/// Puts the first half of `content` into a folder, as it came from `url` under the tag `"v1"`.
async fn half_of(content: &str, url: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("download");
    std::fs::write(&target, &content[..HALF]).unwrap();
    let headers = HeaderMap::from_iter([(ETAG, HeaderValue::from_static("\"v1\""))]);
    let origin = Origin::told(&Url::parse(url).unwrap(), &headers).unwrap();
    origin.keep(&target).await.unwrap();
    (folder, target)
}

fn continued() -> Asked {
    (Some(format!("bytes={HALF}-")), Some("\"v1\"".to_owned()))
}

const ANEW: Asked = (None, None);

#[test_case(None, &[continued()]; "nothing")]
#[test_case(Some(Refusal(503, "")), &[continued(), continued()]; "a server that is busy")]
#[test_case(Some(Refusal(416, "bytes */5")), &[continued(), ANEW]; "a shorter file")]
#[test_case(Some(Refusal(206, "bytes 0-5/21")), &[continued(), ANEW]; "another range")]
#[tokio::test]
async fn what_is_there_is_continued_unless_the_server_says_it_cannot_be(
    first: Option<Refusal>,
    expected: &[Asked],
) {
    let shop = Shop { first, tag: "\"v1\"", asked: Arc::default() };
    let url = format!("{}/file?key=1", open(&shop).await);
    let (_folder, target) = half_of(CONTENT, &url.replace("key=1", "key=2")).await;
    download(&url, &target, &mut |_, _| {}).await.unwrap();
    assert_eq!(*shop.asked.lock().unwrap(), expected);
    assert_eq!(std::fs::read_to_string(&target).unwrap(), CONTENT);
}

#[test_case("/other", "\"v1\"", &[ANEW]; "another address")]
#[test_case("/file", "\"v2\"", &[continued(), ANEW]; "another content, of a server that does not look")]
#[test_case("/file", "W/\"v1\"", &[continued(), ANEW]; "a content that is only alike")]
#[tokio::test]
async fn what_is_there_of_another_file_is_not_continued(
    path: &str,
    tag: &'static str,
    expected: &[Asked],
) {
    let shop = Shop { first: None, tag, asked: Arc::default() };
    let address = open(&shop).await;
    let (_folder, target) =
        half_of("something else, quite long", &format!("{address}{path}")).await;
    download(&format!("{address}/file"), &target, &mut |_, _| {}).await.unwrap();
    assert_eq!(*shop.asked.lock().unwrap(), expected);
    assert_eq!(std::fs::read_to_string(&target).unwrap(), CONTENT);
}

#[test_case("/nowhere" => "the server answered 404")]
#[test_case("/away" => "the server sends on to where nothing can be fetched"; "in circles")]
#[test_case("/ftp" => "the server sends on to where nothing can be fetched"; "to another scheme")]
#[tokio::test]
async fn an_address_that_leads_nowhere_is_to_blame(path: &str) -> String {
    let shop = Shop { first: None, tag: "\"v1\"", asked: Arc::default() };
    let url = format!("{}{path}", open(&shop).await);
    let folder = tempfile::tempdir().unwrap();
    let error = download(&url, &folder.path().join("download"), &mut |_, _| {}).await.unwrap_err();
    assert!(error.blames_address(), "{error:?}");
    error.to_string()
}
