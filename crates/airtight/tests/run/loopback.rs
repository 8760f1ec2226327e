//! Bare sockets on loopback: a server that always says the same, and a proxy that notes who comes by.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// Answers every request with `status` (such as `502 Bad Gateway`) and `body`.
pub(crate) fn server(status: &str, kind: &str, body: &str) -> SocketAddr {
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{body}"
    );
    listen(move |mut stream| {
        read_request(&mut stream);
        stream.write_all(answer.as_bytes()).unwrap();
    })
}

/// Starts a proxy that brings every request to `target`, and returns the first line of each.
pub(crate) fn proxy(target: SocketAddr) -> (SocketAddr, Receiver<String>) {
    let (note, noted) = channel();
    let address = listen(move |client| pass_on(client, target, &note));
    (address, noted)
}

/// Starts a proxy that lets nobody through, and returns the first line of each request.
pub(crate) fn closed_proxy() -> (SocketAddr, Receiver<String>) {
    let (note, noted) = channel();
    let address = listen(move |mut client| {
        note.send(first_line(&read_request(&mut client))).unwrap();
        client.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n").unwrap();
    });
    (address, noted)
}

fn listen(serve: impl Fn(TcpStream) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || listener.incoming().for_each(|stream| serve(stream.unwrap())));
    address
}

fn pass_on(mut client: TcpStream, target: SocketAddr, note: &Sender<String>) {
    let request = read_request(&mut client);
    note.send(first_line(&request)).unwrap();
    let mut server = TcpStream::connect(target).unwrap();
    server.write_all(&request).unwrap();
    let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    thread::spawn(move || {
        // Either side may hang up whenever it likes.
        drop(std::io::copy(&mut from, &mut to));
        drop(to.shutdown(Shutdown::Both));
    });
    thread::spawn(move || {
        drop(std::io::copy(&mut client, &mut server));
        drop(server.shutdown(Shutdown::Both));
    });
}

fn first_line(request: &[u8]) -> String {
    String::from_utf8_lossy(request).lines().next().unwrap_or_default().to_owned()
}

/// Reads a whole request: its head, and as much of a body as the head says.
fn read_request(stream: &mut TcpStream) -> Vec<u8> {
    let mut request = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&request).to_ascii_lowercase();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return request;
            }
        }
        match stream.read(&mut chunk).unwrap() {
            0 => return request,
            count => request.extend_from_slice(&chunk[..count]),
        }
    }
}
