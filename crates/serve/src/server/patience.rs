//! Clients that take their time, leave early, and are more than there are seats. The clock is set, not waited
//! for.

use std::net::Ipv4Addr;

use airtight_store::Location;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex, split};
use tokio::task::JoinHandle;
use tokio::time::{Instant, pause};

use super::*;
use crate::desk::nobody::Nobody;
use crate::settings::Limits;
use crate::token::Token;

const TOKEN: &str = "token-of-the-test-0123456789";
const SECOND: Duration = Duration::from_secs(1);

fn settings(connections: usize) -> Settings {
    Settings {
        bind: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        token: Token::new(TOKEN).unwrap(),
        hosts: Vec::new(),
        alert_model: None,
        limits: Limits { connections, ..Limits::default() },
    }
}

async fn ledger() -> (Ledger, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let place = Location::Sqlite(folder.path().join("ledger.db"));
    (Ledger::open(&place).await.unwrap(), folder)
}

/// A connection to a server, with a clock that goes on only while everybody waits.
async fn connected() -> (DuplexStream, JoinHandle<()>, TempDir) {
    connected_with_room(1 << 20).await
}

/// The same, with room for so many bytes on the way.
async fn connected_with_room(bytes: usize) -> (DuplexStream, JoinHandle<()>, TempDir) {
    let (ledger, folder) = ledger().await;
    let server = Server::bind(settings(1), ledger, Arc::new(Nobody)).await.unwrap();
    pause();
    let (client, side) = duplex(bytes);
    (client, tokio::spawn(serve(side, server.router, CancellationToken::new())), folder)
}

#[tokio::test]
async fn a_head_that_comes_in_drops_is_not_waited_for() {
    let (mut client, serving, _folder) = connected().await;
    let begun = Instant::now();
    client.write_all(b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n").await.unwrap();
    while client.write_all(b"X-Drop: 1\r\n").await.is_ok() {
        sleep(SECOND).await;
    }
    serving.await.unwrap();
    let waited = begun.elapsed();
    assert!(waited >= HEAD_PATIENCE && waited <= HEAD_PATIENCE + 2 * SECOND, "{waited:?}");
}

#[tokio::test]
async fn a_client_that_says_nothing_is_not_waited_for() {
    let (mut client, serving, _folder) = connected().await;
    let begun = Instant::now();
    let mut said = Vec::new();
    client.read_to_end(&mut said).await.unwrap();
    serving.await.unwrap();
    assert_eq!(begun.elapsed().as_secs(), HEAD_PATIENCE.as_secs());
}

#[tokio::test]
async fn a_body_that_comes_in_drops_is_told_to_be_too_slow() {
    let (client, _serving, _folder) = connected().await;
    let (mut hears, mut says) = split(client);
    let begun = Instant::now();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \
         {TOKEN}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
    );
    says.write_all(head.as_bytes()).await.unwrap();
    let dripping = tokio::spawn(async move {
        while says.write_all(b" ").await.is_ok() {
            sleep(SECOND).await;
        }
    });
    let mut said = String::new();
    hears.read_to_string(&mut said).await.unwrap();
    assert!(said.starts_with("HTTP/1.1 408 ") && said.contains("\"too_slow\""), "{said}");
    assert!(begun.elapsed() <= 2 * Duration::from_secs(30), "{:?}", begun.elapsed());
    dripping.abort();
}

/// Asks for something long, over a connection that holds little of it.
async fn asked_much() -> (DuplexStream, JoinHandle<()>, TempDir) {
    let (mut client, serving, folder) = connected_with_room(1024).await;
    let asked = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
    client.write_all(asked).await.unwrap();
    (client, serving, folder)
}

#[tokio::test]
async fn a_client_that_does_not_read_is_not_waited_for() {
    let (client, serving, _folder) = asked_much().await;
    let begun = Instant::now();
    serving.await.unwrap();
    assert_eq!(begun.elapsed().as_secs(), outgoing::PATIENCE.as_secs());
    drop(client);
}

#[tokio::test]
async fn a_client_that_reads_slowly_is_waited_for() {
    let (mut client, serving, _folder) = asked_much().await;
    let mut some = [0; 512];
    for _ in 0..8 {
        sleep(outgoing::PATIENCE.saturating_sub(SECOND)).await;
        assert!(client.read(&mut some).await.unwrap() > 0);
    }
    assert!(!serving.is_finished());
}

/// Asks for the health of the server and reads the answer, but does not leave.
async fn ask(client: &mut TcpStream) -> String {
    client.write_all(b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut said = vec![0; 4096];
    let length = client.read(&mut said).await.unwrap();
    String::from_utf8_lossy(&said[..length]).into_owned()
}

#[tokio::test]
async fn whoever_finds_no_seat_waits_until_one_is_free() {
    let (ledger, _folder) = ledger().await;
    let server = Server::bind(settings(2), ledger, Arc::new(Nobody)).await.unwrap();
    let address = server.address();
    let stop = CancellationToken::new();
    let running = tokio::spawn(server.run(stop.clone()));
    pause();
    let begun = Instant::now();
    let mut seated = Vec::new();
    for _ in 0..2 {
        let mut client = TcpStream::connect(address).await.unwrap();
        assert!(ask(&mut client).await.starts_with("HTTP/1.1 200 OK"));
        seated.push(client);
    }
    assert_eq!(begun.elapsed(), Duration::ZERO);
    let mut late = TcpStream::connect(address).await.unwrap();
    assert!(ask(&mut late).await.starts_with("HTTP/1.1 200 OK"));
    // Those who have a seat and want nothing keep it only so long.
    assert!(begun.elapsed() >= HEAD_PATIENCE, "{:?}", begun.elapsed());
    stop.cancel();
    running.await.unwrap();
}

/// Asks the watch for a look.
fn wish() -> String {
    let body = r#"{"model": "watch", "messages": [{"role": "user", "content": "Look."}]}"#;
    format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \
         {TOKEN}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[tokio::test]
async fn the_server_does_not_end_before_what_was_asked_of_the_watch_is_taken_back() {
    let (ledger, _folder) = ledger().await;
    ledger.lead(Duration::from_hours(1)).await.unwrap().unwrap();
    let server = Server::bind(settings(1), ledger.clone(), Arc::new(Nobody)).await.unwrap();
    let address = server.address();
    let stop = CancellationToken::new();
    let running = tokio::spawn(server.run(stop.clone()));
    let mut client = TcpStream::connect(address).await.unwrap();
    client.write_all(wish().as_bytes()).await.unwrap();
    while ledger.next_wish().await.unwrap().is_none() {
        tokio::task::yield_now().await;
    }
    drop(client);
    stop.cancel();
    running.await.unwrap();
    assert_eq!(ledger.next_wish().await.unwrap(), None);
}
