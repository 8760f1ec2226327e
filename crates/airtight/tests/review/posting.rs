//! Reviews on GitHub, which a server on loopback stands in for.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};
use test_case::test_case;

use crate::said::Said;
use crate::stage::{Stage, finding, found, leak};

const TOKEN: &str = "token-of-the-test-1234";

/// What the server does with each request.
#[derive(Clone, Copy)]
enum Manner {
    Answers(u16, &'static str),
    HangsUp,
}

/// A request as the server saw it.
struct Post {
    head: String,
    body: Value,
}

/// Starts a server; returns its address and what it is sent.
fn github(manner: Manner) -> (String, Receiver<Post>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/api/v3", listener.local_addr().unwrap());
    let (note, noted) = channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
            let (head, length) = loop {
                let count = stream.read(&mut piece).unwrap();
                bytes.extend_from_slice(&piece[..count]);
                let text = String::from_utf8_lossy(&bytes).into_owned();
                if let Some((head, _)) = text.split_once("\r\n\r\n") {
                    let length = head.to_lowercase();
                    let length = length.split("content-length: ").nth(1).unwrap();
                    let length: usize = length.split("\r\n").next().unwrap().parse().unwrap();
                    break (head.to_owned(), length);
                }
            };
            while bytes.len() < head.len() + 4 + length {
                let count = stream.read(&mut piece).unwrap();
                bytes.extend_from_slice(&piece[..count]);
            }
            let body = serde_json::from_slice(&bytes[head.len() + 4..]).unwrap();
            note.send(Post { head, body }).unwrap();
            if let Manner::Answers(status, body) = manner {
                let answer = format!(
                    "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                    body.len()
                );
                stream.write_all(answer.as_bytes()).unwrap();
            }
        }
    });
    (address, noted)
}

fn post(stage: &Stage, address: &str, arguments: &[&str]) -> Said {
    let typed = [&["review", "--post", "ada/engine#42", "--api-url", address], arguments].concat();
    stage.command(&typed).env("GITHUB_TOKEN", TOKEN).output().unwrap().into()
}

#[test]
fn a_review_is_posted_once_with_its_comments() {
    let about_none = finding("info", "src/auth.rs", -1, -1);
    let range = finding("warning", "src/auth.rs", 1, 2);
    let stage = Stage::changed([found(&json!([leak(), about_none, range]))]);
    let (address, posts) =
        github(Manner::Answers(200, r#"{"html_url":"https://github.com/ada/engine/pull/42#r1"}"#));
    let said = post(&stage, &address, &["--commit", "0123abc"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("posted: https://github.com/ada/engine/pull/42#r1"), "{said:?}");
    let Post { head, body } = posts.try_recv().unwrap();
    assert!(head.starts_with("POST /api/v3/repos/ada/engine/pulls/42/reviews HTTP/1.1"), "{head}");
    assert!(head.contains(&format!("authorization: Bearer {TOKEN}")), "{head}");
    let places: Vec<_> = body["comments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["line"].clone(), it["start_line"].clone(), it["start_side"].clone()))
        .collect();
    assert_eq!(
        places,
        [(json!(3), Value::Null, Value::Null), (json!(2), json!(1), json!("RIGHT"))]
    );
    assert!(body["body"].as_str().unwrap().contains("### info: `src/auth.rs`"), "{body}");
    assert_eq!(body["commit_id"], "0123abc");
    assert!(posts.try_recv().is_err());
    assert!(!format!("{said:?}").contains(TOKEN));
}

#[test_case(401, r#"{"message":"Bad credentials"}"#, 41, "set another one in `GITHUB_TOKEN`")]
#[test_case(
    403,
    r#"{"message":"Resource not accessible by integration"}"#,
    41,
    "pull-requests: write"
)]
#[test_case(404, r#"{"message":"Not Found"}"#, 41, "there is no ada/engine#42")]
#[test_case(
    422,
    r#"{"message":"Unprocessable Entity","errors":["Line must be part of the diff"]}"#,
    3,
    "push first"
)]
#[test_case(500, "<html>", 3, "it may have been posted")]
#[test_case(302, "", 3, "try again later")]
fn what_github_refuses_is_told_with_what_to_do(
    status: u16,
    body: &'static str,
    code: i32,
    hint: &str,
) {
    let stage = Stage::changed([found(&json!([leak()]))]);
    let (address, posts) = github(Manner::Answers(status, body));
    let said = post(&stage, &address, &[]);
    assert_eq!(said.code, code, "{said:?}");
    assert!(
        said.stderr.contains(hint) && said.stderr.contains("the review was not posted"),
        "{said:?}"
    );
    // What was found is printed all the same, and nothing is posted twice.
    assert!(said.stdout.contains("src/auth.rs"), "{said:?}");
    assert!(posts.try_recv().is_ok() && posts.try_recv().is_err());
}

#[test]
fn a_post_that_may_have_arrived_is_not_repeated() {
    let stage = Stage::changed([found(&json!([leak()]))]);
    let (address, posts) = github(Manner::HangsUp);
    let said = post(&stage, &address, &[]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.stderr.contains("it may have been posted: look at ada/engine#42"), "{said:?}");
    assert!(posts.try_recv().is_ok() && posts.try_recv().is_err());
}

#[test]
fn what_cannot_be_posted_is_refused_before_anything_is_spent() {
    let stage = Stage::changed([]);
    let said = stage.review(&["--post", "ada/engine#42"]);
    assert_eq!(said.code, 41, "{said:?}");
    assert!(said.stderr.contains("export GITHUB_TOKEN"), "{said:?}");
    for named in ["ada", "ada/engine", "ada/engine#x"] {
        let mut command = stage.command(&["review", "--post", named]);
        let said: Said = command.env("GITHUB_TOKEN", TOKEN).output().unwrap().into();
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.stderr.contains("OWNER/REPO#NUMBER"), "{said:?}");
    }
    let mut command = stage.command(&["review", "--post"]);
    let said: Said = command.env("GITHUB_TOKEN", TOKEN).output().unwrap().into();
    assert_eq!(said.code, 2, "{said:?}");
    assert_eq!(stage.fake.requests().len(), 0);
}

#[test]
fn in_github_actions_everything_is_known() {
    let stage = Stage::changed([found(&json!([leak()]))]);
    let (address, posts) = github(Manner::Answers(200, "{}"));
    let mut command = stage.command(&["review", "--post"]);
    command
        .env("GITHUB_TOKEN", TOKEN)
        .env("GITHUB_API_URL", &address)
        .env("GITHUB_REPOSITORY", "ada/engine")
        .env("GITHUB_REF", "refs/pull/7/merge")
        .env("GITHUB_BASE_REF", "main");
    let said: Said = command.output().unwrap().into();
    assert_eq!(said.code, 0, "{said:?}");
    assert!(posts.try_recv().unwrap().head.contains("/repos/ada/engine/pulls/7/reviews"));
}

#[test]
fn a_review_that_did_not_come_to_its_end_is_not_posted() {
    let stage = Stage::changed([airtight_fake::Turn::status(401)]);
    let (address, posts) = github(Manner::Answers(200, "{}"));
    let said = post(&stage, &address, &[]);
    assert_eq!(said.code, 41, "{said:?}");
    assert!(said.stderr.contains("nothing is posted"), "{said:?}");
    assert!(posts.try_recv().is_err());
}
