//! Targets, good and bad.

use std::path::Path;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;

fn courier(folder: &Path) -> Courier {
    Courier::new(
        folder.to_owned(),
        Environment::without_secrets([("PATH".into(), "/usr/bin:/bin".into())]),
    )
}

fn webhook(url: String) -> Address {
    Address::Webhook { url: url.into(), form: Form::Json }
}

/// Answers one request with `status`, and returns what it was told.
async fn server(status: &'static str) -> (String, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook/s3cret", listener.local_addr().unwrap());
    let told = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut text = Vec::new();
        while !String::from_utf8_lossy(&text).ends_with('}') {
            let mut buffer = [0; 4096];
            let count = stream.read(&mut buffer).await.unwrap();
            text.extend_from_slice(&buffer[..count]);
        }
        let answer = format!("HTTP/1.1 {status}\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n");
        stream.write_all(answer.as_bytes()).await.unwrap();
        String::from_utf8_lossy(&text).into_owned()
    });
    (url, told)
}

#[tokio::test]
async fn a_webhook_takes_json() {
    let folder = tempfile::tempdir().unwrap();
    let (url, told) = server("204 No Content").await;
    courier(folder.path()).deliver(&webhook(url), &json!({ "title": "x" })).await.unwrap();
    let told = told.await.unwrap();
    assert!(told.starts_with("POST /hook/s3cret HTTP/1.1"), "{told}");
    assert!(told.ends_with("{\"title\":\"x\"}"), "{told}");
}

#[tokio::test]
async fn what_a_webhook_refuses_is_told_without_its_address() {
    let folder = tempfile::tempdir().unwrap();
    for status in ["500 Oh", "302 Found"] {
        let (url, _told) = server(status).await;
        let error = courier(folder.path()).deliver(&webhook(url), &json!({ "a": 1 })).await;
        let code = status.split_once(' ').unwrap().0;
        assert_eq!(error.unwrap_err().to_string(), format!("it answers with HTTP {code}"));
    }
    let nobody = webhook("http://127.0.0.1:1/s3cret".to_owned());
    let error = courier(folder.path()).deliver(&nobody, &json!({})).await.unwrap_err().to_string();
    assert!(error.starts_with("it cannot be reached"), "{error}");
    assert!(!error.contains("s3cret"), "{error}");
    let nowhere = courier(folder.path()).deliver(&webhook("ftp://x".to_owned()), &json!({})).await;
    assert!(matches!(nowhere, Err(Undelivered::NoUrl)));
    assert!(!format!("{nobody:?}").contains("s3cret"));
}

#[tokio::test]
async fn a_command_gets_the_object_on_stdin() {
    let folder = tempfile::tempdir().unwrap();
    let courier = courier(folder.path());
    let told = Address::Command("cat > told.json".to_owned());
    courier.deliver(&told, &json!({ "title": "x" })).await.unwrap();
    let text = std::fs::read_to_string(folder.path().join("told.json")).unwrap();
    assert_eq!(text, "{\"title\":\"x\"}");
    let failing = Address::Command("echo no >&2; exit 3".to_owned());
    let error = courier.deliver(&failing, &json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "its command failed: exit 3 no");
}
