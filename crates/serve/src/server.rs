//! Sockets: accepted within limits, ended within seconds.

mod outgoing;
#[cfg(test)]
mod patience;

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use airtight_store::Ledger;
use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::api::{self, Api};
use crate::desk::Desk;
use crate::door::Door;
use crate::gateway::{self, Gateway};
use crate::guard::{self, Guard};
use crate::live::Hub;
use crate::login;
use crate::pages::{self, Pages};
use crate::problem::Problem;
use crate::settings::Settings;
use outgoing::Outgoing;

/// How long requests under way have to end once the server is told to.
pub const GRACE: Duration = Duration::from_secs(5);

/// How long a client may take to say what it wants, and how long it may stay without wanting anything.
const HEAD_PATIENCE: Duration = Duration::from_secs(15);

/// The largest head of a request: more than browsers and vendors' clients send, cookies included.
const HEAD_LIMIT_BYTES: usize = 32 * 1024;

/// How long to wait when the system has no more sockets to give.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(100);

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Nobody can listen there.
    #[error("cannot listen on {address}")]
    Bind {
        /// Where.
        address: SocketAddr,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    router: Router,
    seats: Arc<Semaphore>,
    /// Ends streams, which would go on for ever.
    ending: CancellationToken,
    /// Who follows what was asked of the watch, also for clients that are gone.
    followers: TaskTracker,
}

impl Server {
    /// Listens; nobody is answered yet. `desk` answers the questions of the gateway.
    pub async fn bind(
        settings: Settings,
        ledger: Ledger,
        desk: Arc<dyn Desk>,
    ) -> Result<Self, ServeError> {
        let address = settings.bind;
        let failed = |source| ServeError::Bind { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let seats = Arc::new(Semaphore::new(settings.limits.connections));
        let ending = CancellationToken::new();
        let hub = Hub::new(ledger.clone(), ending.clone());
        let api = Api {
            desk: Arc::clone(&desk),
            ledger: ledger.clone(),
            hub,
            alert_model: settings.alert_model.clone(),
        };
        let followers = TaskTracker::new();
        let gateway =
            Gateway { desk, ledger, ending: ending.clone(), followers: followers.clone() };
        let router = router(&settings, gateway, api);
        Ok(Self { listener, address, router, seats, ending, followers })
    }

    /// Returns where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop`; requests under way, and followers of the watch, have [`GRACE`] to end then.
    pub async fn run(self, stop: CancellationToken) {
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                accepted = self.accept() => accepted,
            };
            while connections.try_join_next().is_some() {}
            match accepted {
                Ok((stream, seat)) => {
                    let serving = serve(stream, self.router.clone(), stop.clone());
                    connections.spawn(async move {
                        serving.await;
                        drop(seat);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "no connection could be accepted");
                    sleep(EXHAUSTED_PAUSE).await;
                }
            }
        }
        drop(self.listener);
        self.ending.cancel();
        let followers = self.followers;
        followers.close();
        let all_ended = async {
            while connections.join_next().await.is_some() {}
            // Nobody is left who could begin another.
            followers.wait().await;
        };
        // Connections that are left are dropped with their set.
        drop(timeout(GRACE, all_ended).await);
    }

    async fn accept(&self) -> io::Result<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
        let seat = Arc::clone(&self.seats).acquire_owned().await.map_err(io::Error::other)?;
        let (stream, _) = self.listener.accept().await?;
        stream.set_nodelay(true)?;
        Ok((stream, seat))
    }
}

/// Answers one client until it leaves, or until `stop`.
async fn serve<S>(stream: S, router: Router, stop: CancellationToken)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let service = TowerToHyperService::new(router);
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .max_buf_size(HEAD_LIMIT_BYTES);
    let stream = TokioIo::new(Outgoing::new(stream));
    let mut connection = pin!(builder.serve_connection(stream, service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke");
    }
}

fn router(settings: &Settings, gateway: Gateway, api: Api) -> Router {
    let guard = Arc::new(Guard::new(settings));
    let pages = Pages {
        ledger: gateway.ledger.clone(),
        desk: Arc::clone(&gateway.desk),
        token: settings.token.clone(),
    };
    Router::new()
        .merge(pages::routes(pages))
        .merge(api::routes(api))
        .merge(gateway::routes(gateway))
        .merge(login::routes(Arc::clone(&guard)))
        .fallback(absent)
        .method_not_allowed_fallback(unsupported)
        .layer(from_fn_with_state(guard, guard::stand))
}

async fn absent(request: Request) -> Response {
    let problem = Problem::new(StatusCode::NOT_FOUND, "not_found", "there is nothing here");
    problem.response(Door::of(request.uri().path(), request.headers()))
}

async fn unsupported(request: Request) -> Response {
    let message = format!("`{}` is not done here", request.method());
    let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message);
    problem.response(Door::of(request.uri().path(), request.headers()))
}
