//! A proxy in front of a server that cuts the line at the worst moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// A proxy on a loopback port.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    cuts: Arc<AtomicU32>,
}

impl Proxy {
    pub(crate) async fn before(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let cuts = Arc::new(AtomicU32::new(0));
        let shared = Arc::clone(&cuts);
        drop(tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(("127.0.0.1", server)).await.unwrap();
                drop(tokio::spawn(relay(client, server, Arc::clone(&shared))));
            }
        }));
        Self { port, cuts }
    }

    /// Lets so many commits reach the server, and cuts the line before their answers come back.
    pub(crate) fn cut_after_commits(&self, count: u32) {
        self.cuts.store(count, Ordering::SeqCst);
    }

    pub(crate) fn cuts_left(&self) -> u32 {
        self.cuts.load(Ordering::SeqCst)
    }
}

/// Returns a future that relays until one side ends, or the line is cut.
async fn relay(mut client: TcpStream, mut server: TcpStream, cuts: Arc<AtomicU32>) {
    let (mut sent, mut answered) = (vec![0; 65536], vec![0; 65536]);
    let mut committing = false;
    loop {
        tokio::select! {
            read = client.read(&mut sent) => {
                let Ok(read @ 1..) = read else { return };
                committing = is_commit(&sent[..read]);
                if server.write_all(&sent[..read]).await.is_err() { return }
            }
            read = server.read(&mut answered) => {
                let Ok(read @ 1..) = read else { return };
                let cut = committing && cuts.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).is_ok();
                // The server has committed, and nobody will hear of it.
                if cut { return }
                if client.write_all(&answered[..read]).await.is_err() { return }
            }
        }
    }
}

/// Claims that the client asks for a commit.
fn is_commit(sent: &[u8]) -> bool {
    sent.windows(6).any(|window| window == b"COMMIT")
}
