//! HTTP for whoever scrapes, on a thread of its own.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hyper::body::Incoming;
use hyper::header::{ACCEPT, ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use prometheus_client::registry::Registry;
use tokio::sync::{Semaphore, oneshot};

use crate::text::Format;

/// Connections at a time; the others wait until one of these has ended.
const CONNECTIONS_MAX: usize = 64;
/// Time for a connection: a client that is slower is cut off.
const CONNECTION_TIME_MAX: Duration = Duration::from_secs(5);
/// Time until the next try where no connection could be accepted, as without a free descriptor.
const RETRY: Duration = Duration::from_millis(100);
/// How far the endpoint stands back behind workers that want the same CPU.
const NICE: i32 = 10;

/// Where to listen: `9500` is port 9500 of this host alone, any other address is written out.
///
/// # Errors
/// The text is neither.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    let loopback = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let own = text.strip_prefix("localhost:").unwrap_or(text);
    own.parse().map(loopback).or_else(|_| text.parse()).map_err(|_| {
        format!(
            "`{text}` is no address to listen on; write a port such as 9500, which listens on \
             127.0.0.1, or ADDRESS:PORT such as 0.0.0.0:9500, which listens on all networks"
        )
    })
}

/// An endpoint that answers until it is dropped.
#[derive(Debug)]
pub struct Endpoint {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    registry: Arc<Registry>,
    /// Nothing changes any more.
    is_final: AtomicBool,
    /// Someone has read what is final.
    final_was_read: AtomicBool,
}

impl Endpoint {
    /// Listens, and answers with these metrics.
    ///
    /// # Errors
    /// The address cannot be listened on.
    pub fn open(address: SocketAddr, registry: Arc<Registry>) -> Result<Endpoint, String> {
        let sentence = |error: io::Error| {
            format!(
                "metrics cannot be served at {address}: {error}; choose another port, or 0 for any \
                 that is free"
            )
        };
        let listener = TcpListener::bind(address).map_err(sentence)?;
        listener.set_nonblocking(true).map_err(sentence)?;
        let address = listener.local_addr().map_err(sentence)?;
        let shared = Arc::new(Shared {
            registry,
            is_final: AtomicBool::new(false),
            final_was_read: AtomicBool::new(false),
        });
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(sentence)?;
        let of_thread = Arc::clone(&shared);
        let thread = thread::Builder::new().name("candor/metrics".into()).spawn(move || {
            // Where this fails it only competes a little more.
            let _ = rustix::process::nice(NICE);
            runtime.block_on(async {
                tokio::spawn(accept(listener, of_thread));
                let _ = stopped.await;
            });
        });
        let thread = Some(thread.map_err(sentence)?);
        Ok(Endpoint { address, shared, stop: Some(stop), thread })
    }

    /// The address at which it answers.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stays until the metrics, which change no more, were read once, but no longer than that time
    /// and not once `is_over` says so.
    pub fn linger(&self, longest: Duration, is_over: impl Fn() -> bool) {
        self.shared.is_final.store(true, SeqCst);
        let begun = Instant::now();
        while begun.elapsed() < longest && !self.shared.final_was_read.load(SeqCst) && !is_over() {
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // A panic of it was told when it happened.
            let _ = thread.join();
        }
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(RETRY).await;
            continue;
        };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            serve(stream, &shared).await;
            drop(place);
        });
    }
}

/// Answers one request.
async fn serve(stream: tokio::net::TcpStream, shared: &Arc<Shared>) {
    let is_final = shared.is_final.load(SeqCst);
    let of_answer = Arc::clone(shared);
    let has_read = Arc::new(AtomicBool::new(false));
    let reads = Arc::clone(&has_read);
    let service = service_fn(move |request: Request<Incoming>| {
        let response = answer(&request, &of_answer.registry);
        reads.fetch_or(is_scrape(&request), SeqCst);
        std::future::ready(Ok::<_, Infallible>(response))
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    let served = tokio::time::timeout(CONNECTION_TIME_MAX, connection).await;
    // A client that went away has no answer.
    if is_final && matches!(served, Ok(Ok(()))) && has_read.load(SeqCst) {
        shared.final_was_read.store(true, SeqCst);
    }
}

fn is_scrape(request: &Request<Incoming>) -> bool {
    request.method() == Method::GET && request.uri().path() == "/metrics"
}

fn answer(request: &Request<Incoming>, registry: &Registry) -> Response<String> {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        let mut refusal = plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n");
        refusal.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refusal;
    }
    match request.uri().path() {
        "/metrics" => {
            let accept = request.headers().get_all(ACCEPT).iter();
            let accept: Vec<&str> = accept.filter_map(|value| value.to_str().ok()).collect();
            let format = Format::accepted(&accept.join(","));
            let mut response = Response::new(format.write(registry));
            let content_type = HeaderValue::from_static(format.content_type());
            response.headers_mut().insert(CONTENT_TYPE, content_type);
            response
        }
        "/" => plain(StatusCode::OK, "candor: metrics of this run are at /metrics\n"),
        _ => plain(StatusCode::NOT_FOUND, "nothing is here; metrics are at /metrics\n"),
    }
}

fn plain(status: StatusCode, text: &str) -> Response<String> {
    let mut response = Response::new(text.to_owned());
    *response.status_mut() = status;
    let content_type = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}

#[cfg(test)]
mod tests;
