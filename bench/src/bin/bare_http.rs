//! Bare HTTP loop over `hyper`: `bare_http URL BUCKET get|put BYTES DEPTH SECONDS KEYS`.
//!
//! DEPTH connections on one thread, one request in flight on each. All requests are signed before
//! the clock starts and repeated in turn, so the loop builds, signs and checks nothing.

use std::cell::RefCell;
use std::convert::Infallible;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{SystemTime, UNIX_EPOCH};

use candor_bench::Meter;
use candor_http::{Endpoint, Method};
use candor_s3::requests::{Object, get, put};
use candor_s3::{Addressing, Credentials, Headers, Integrity, Login, Site};
use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::LocalSet;

/// A body of one piece, or none.
struct Once(Option<Bytes>);

impl Body for Once {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}

/// Requests that are signed already.
struct Prepared {
    method: hyper::Method,
    requests: Vec<(hyper::Uri, hyper::HeaderMap)>,
    body: Option<Bytes>,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, bucket, method, bytes, depth, seconds, keys] = &words[..] else {
        eprintln!("usage: bare_http URL BUCKET get|put BYTES DEPTH SECONDS KEYS");
        std::process::exit(2);
    };
    let endpoint: Endpoint = url.parse().expect("a URL");
    let bytes: usize = bytes.parse().expect("a number of bytes");
    let keys = keys.parse().expect("a number of keys");
    let prepared = Rc::new(prepare(&endpoint, bucket, method == "put", bytes, keys));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
    let depth: usize = depth.parse().expect("a depth");
    let seconds: f64 = seconds.parse().expect("a number of seconds");
    let address = format!("{}:{}", endpoint.host, endpoint.port);
    let tasks = LocalSet::new();
    tasks.block_on(&runtime.expect("a runtime"), async move {
        let mut connections = Vec::new();
        for _ in 0..depth {
            connections.push(connect(&address).await);
        }
        let meter = Rc::new(RefCell::new(Meter::start(seconds)));
        let each = connections.into_iter().enumerate().map(|(first, connection)| {
            tokio::task::spawn_local(work(connection, prepared.clone(), first, meter.clone()))
        });
        for task in each.collect::<Vec<_>>() {
            task.await.expect("a task that ends");
        }
        Rc::into_inner(meter).expect("the only user").into_inner().finish();
    });
}

async fn connect(address: &str) -> SendRequest<Once> {
    let stream = TcpStream::connect(address).await.expect("a connection");
    stream.set_nodelay(true).expect("TCP_NODELAY");
    let (sender, connection) = handshake(TokioIo::new(stream)).await.expect("HTTP/1.1");
    tokio::task::spawn_local(connection);
    sender
}

fn prepare(endpoint: &Endpoint, bucket: &str, puts: bool, bytes: usize, keys: u64) -> Prepared {
    let site = Site::new(&endpoint.authority(), "us-east-1", Addressing::Path).expect("a site");
    let place = site.bucket(bucket).expect("a bucket");
    let variable = |name| std::env::var(name).expect("AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY");
    let (key, secret) = (variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY"));
    let user = Credentials::new("environment", &key, &secret, None).expect("keys");
    let mut login = Login::s3(Some(user), &site);
    let unix_s = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_secs();
    let (none, data) = (Headers::new(), vec![7; bytes]);
    let mut requests = Vec::new();
    for number in 0..keys {
        let key = format!("f{number}");
        let object = Object { place: &place, key: &key, version: None };
        let mut request = candor_http::Request::default();
        if puts {
            put(&mut request, &object, &none);
            login.upload(&mut request, &place, &Integrity::default(), &data, unix_s);
        } else {
            get(&mut request, &object, &none);
            login.finish(&mut request, &place, unix_s);
        }
        assert_eq!(request.method == Method::Put, puts);
        request.header("host", &place.host);
        let mut headers = hyper::HeaderMap::new();
        for (name, value) in request.headers.lines().filter_map(|line| line.split_once(": ")) {
            let name = hyper::header::HeaderName::try_from(name).expect("a name");
            headers.insert(name, hyper::header::HeaderValue::try_from(value).expect("a value"));
        }
        requests.push((request.target.parse().expect("a target"), headers));
    }
    Prepared {
        method: if puts { hyper::Method::PUT } else { hyper::Method::GET },
        requests,
        body: puts.then(|| Bytes::from(data)),
    }
}

async fn work(
    mut connection: SendRequest<Once>,
    prepared: Rc<Prepared>,
    first: usize,
    meter: Rc<RefCell<Meter>>,
) {
    let mut turn = first;
    loop {
        let began = Meter::now();
        if began >= meter.borrow().deadline {
            return;
        }
        let (uri, headers) = &prepared.requests[turn % prepared.requests.len()];
        let mut request = hyper::Request::new(Once(prepared.body.clone()));
        *request.method_mut() = prepared.method.clone();
        *request.uri_mut() = uri.clone();
        *request.headers_mut() = headers.clone();
        connection.ready().await.expect("a connection that stays");
        let answer = connection.send_request(request).await.expect("an answer");
        assert!(answer.status().is_success(), "{}", answer.status());
        let mut body = answer.into_body();
        while let Some(frame) = next(&mut body).await {
            frame.expect("a whole body");
        }
        meter.borrow_mut().record(Meter::now() - began);
        turn += 1;
    }
}

/// The next frame of a body.
async fn next(body: &mut hyper::body::Incoming) -> Option<hyper::Result<Frame<Bytes>>> {
    std::future::poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await
}
