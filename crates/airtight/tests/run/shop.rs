//! A server of one file, whose first answer ends too early, or never.
//!
//! By hand, because servers are careful not to promise more than they send.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// The ranges of the file that were asked for.
pub(crate) struct Shop(Arc<Mutex<Vec<Option<usize>>>>);

/// What becomes of the first answer after its first half.
#[derive(Clone, Copy)]
enum Half {
    /// It ends.
    Cut,
    /// Nothing, for as long as the other side listens.
    Silent,
}

impl Shop {
    /// Serves `content`, the first time half of it, and returns its address.
    pub(crate) fn open(content: Vec<u8>) -> (Self, String) {
        Self::serve(content, Half::Cut)
    }

    /// Serves `content`, the first time half of it and then nothing, and returns its address.
    pub(crate) fn open_slowly(content: Vec<u8>) -> (Self, String) {
        Self::serve(content, Half::Silent)
    }

    fn serve(content: Vec<u8>, half: Half) -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/tiny.gguf", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let shop = Self(Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                serve(stream.unwrap(), &content, half, &asked);
            }
        });
        (shop, url)
    }

    /// Returns where each request wanted the file to begin, if it said so.
    pub(crate) fn asked(&self) -> Vec<Option<usize>> {
        self.0.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, content: &[u8], half: Half, asked: &Mutex<Vec<Option<usize>>>) {
    let reader = BufReader::new(stream.try_clone().unwrap());
    let head: Vec<String> =
        reader.lines().map(Result::unwrap).take_while(|line| !line.is_empty()).collect();
    if !head[0].contains("/tiny.gguf ") {
        stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n").unwrap();
        return;
    }
    let range = head.iter().find_map(|line| {
        let range = line.to_ascii_lowercase();
        range.strip_prefix("range: bytes=")?.strip_suffix('-')?.parse::<usize>().ok()
    });
    let is_first = {
        let mut asked = asked.lock().unwrap();
        asked.push(range);
        asked.len() == 1
    };
    let (start, total) = (range.unwrap_or(0), content.len());
    let status = match range {
        Some(_) => format!(
            "206 Partial Content\r\ncontent-range: bytes {start}-{}/{total}",
            total.saturating_sub(1)
        ),
        None => "200 OK".to_owned(),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\netag: \"v1\"\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        total - start
    );
    let end = if is_first { total / 2 } else { total };
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&content[start..end]).unwrap();
    if is_first && matches!(half, Half::Silent) {
        // Until the other side goes away.
        drop(stream.read(&mut [0]));
    }
}
