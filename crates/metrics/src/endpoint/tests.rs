use std::io::{Read, Write};
use std::net::TcpStream;

use prometheus_client::metrics::counter::Counter;

use super::*;

fn open() -> Endpoint {
    let mut registry = Registry::default();
    registry.register("made", "Things made", Counter::<u64>::default());
    Endpoint::open(address("0").expect("an address"), Arc::new(registry)).expect("a free port")
}

/// The answer to a request, or to half of one.
fn asked(endpoint: &Endpoint, request: &str) -> String {
    let mut stream = TcpStream::connect(endpoint.address()).expect("connected");
    stream.write_all(request.as_bytes()).expect("sent");
    let mut answer = String::new();
    // A connection that is cut off is an answer as well.
    let _ = stream.read_to_string(&mut answer);
    answer
}

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: here\r\n\r\n")
}

#[test]
fn ports_alone_are_of_this_host() {
    let of = |text| address(text).map(|address| address.to_string());
    assert_eq!(of("9500"), Ok("127.0.0.1:9500".into()));
    assert_eq!(of("localhost:9500"), Ok("127.0.0.1:9500".into()));
    assert_eq!(of("0.0.0.0:80"), Ok("0.0.0.0:80".into()));
    assert_eq!(of("[::1]:9500"), Ok("[::1]:9500".into()));
    for bad in ["", ":9500", "65536", "-1", "host:1", "1.2.3.4", "9500 "] {
        let sentence = of(bad).expect_err(bad);
        assert!(sentence.starts_with(&format!("`{bad}` is no address")), "{sentence}");
    }
}

#[test]
fn each_path_and_method_has_its_answer() {
    let endpoint = open();
    let answer = asked(&endpoint, &get("/metrics"));
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains("content-type: text/plain; version=0.0.4"), "{answer}");
    assert!(answer.ends_with("# TYPE made_total counter\nmade_total 0\n"), "{answer}");
    let open = "GET /metrics HTTP/1.1\r\nHost: here\r\nAccept: text/plain;q=0.5, \
                application/openmetrics-text;version=1.0.0\r\n\r\n";
    let answer = asked(&endpoint, open);
    assert!(answer.contains("content-type: application/openmetrics-text"), "{answer}");
    assert!(answer.ends_with("# TYPE made counter\nmade_total 0\n# EOF\n"), "{answer}");
    assert!(asked(&endpoint, &get("/")).contains("/metrics\n"));
    assert!(asked(&endpoint, &get("/other")).starts_with("HTTP/1.1 404"));
    let post = "POST /metrics HTTP/1.1\r\nHost: here\r\nContent-Length: 0\r\n\r\n";
    assert!(asked(&endpoint, post).starts_with("HTTP/1.1 405"));
    let head = asked(&endpoint, &get("/metrics").replace("GET", "HEAD"));
    assert!(head.starts_with("HTTP/1.1 200") && head.ends_with("\r\n\r\n"), "{head}");
}

#[test]
fn bad_requests_and_slow_clients_end_and_nobody_waits_for_them() {
    let endpoint = open();
    assert!(asked(&endpoint, "no HTTP at all\r\n\r\n").starts_with("HTTP/1.1 400"));
    let long = format!("GET /{} HTTP/1.1\r\n", "x".repeat(1 << 20));
    assert!(!asked(&endpoint, &long).contains("200"));
    let begun = Instant::now();
    let connect = |_| TcpStream::connect(endpoint.address()).expect("connected");
    // They say nothing, or stop in the middle.
    let mut idle: Vec<TcpStream> = (0..CONNECTIONS_MAX / 2).map(connect).collect();
    for stream in &mut idle[..10] {
        stream.write_all(b"GET /metrics HT").expect("sent");
    }
    assert!(asked(&endpoint, &get("/metrics")).starts_with("HTTP/1.1 200"));
    assert!(begun.elapsed() < CONNECTION_TIME_MAX);
    // More than it serves at a time: the next one waits until those were cut off.
    idle.extend((0..CONNECTIONS_MAX).map(connect));
    assert!(asked(&endpoint, &get("/metrics")).starts_with("HTTP/1.1 200"));
    assert!(begun.elapsed() < 3 * CONNECTION_TIME_MAX);
    let mut rest = String::new();
    // It was cut off, which some kernels call a reset.
    let _ = idle[0].read_to_string(&mut rest);
    assert!(!rest.contains("200"), "{rest}");
}

#[test]
fn clients_that_never_read_and_long_headers_hold_nobody_up() {
    let endpoint = open();
    let begun = Instant::now();
    let unread = |_| {
        let mut stream = TcpStream::connect(endpoint.address()).expect("connected");
        // Requests behind the first one have no answer: a connection is for one.
        stream.write_all(get("/metrics").repeat(20).as_bytes()).expect("sent");
        stream
    };
    let unread: Vec<TcpStream> = (0..3 * CONNECTIONS_MAX).map(unread).collect();
    let long = format!("GET /metrics HTTP/1.1\r\nHost: here\r\nX: {}\r\n\r\n", "y".repeat(1 << 20));
    let mut stream = TcpStream::connect(endpoint.address()).expect("connected");
    // It may be cut off while it sends.
    let _ = stream.write_all(long.as_bytes());
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert!(!answer.contains("200 OK"), "{answer}");
    assert!(asked(&endpoint, &get("/metrics")).starts_with("HTTP/1.1 200"));
    assert!(begun.elapsed() < CONNECTION_TIME_MAX, "{:?}", begun.elapsed());
    drop(unread);
}

#[test]
fn a_port_in_use_is_a_sentence_and_a_closed_endpoint_frees_it() {
    // An address that no other test listens on: one of them could get the port that is closed.
    let address = "127.0.0.9:0".parse().expect("an address");
    let endpoint = Endpoint::open(address, Arc::new(Registry::default())).expect("open");
    let at = endpoint.address();
    let sentence = Endpoint::open(at, Arc::new(Registry::default())).expect_err("in use");
    let begin = format!("metrics cannot be served at {at}: ");
    assert!(sentence.starts_with(&begin) && sentence.contains("in use"), "{sentence}");
    drop(endpoint);
    assert!(Endpoint::open(at, Arc::new(Registry::default())).is_ok(), "{at} is free again");
}

#[test]
fn it_stays_until_the_last_state_was_read() {
    let endpoint = open();
    let begun = Instant::now();
    asked(&endpoint, &get("/metrics"));
    endpoint.linger(Duration::from_millis(50), || false);
    assert!(begun.elapsed() >= Duration::from_millis(50), "the state before was none");
    let at = endpoint.address();
    let late = thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        let mut stream = TcpStream::connect(at).expect("connected");
        stream.write_all(get("/metrics").as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("all of it");
        answer
    });
    endpoint.linger(Duration::from_secs(60), || false);
    drop(endpoint);
    assert!(late.join().expect("no panic").contains("made_total 0"));
    assert!(begun.elapsed() < Duration::from_secs(30));
    let endpoint = open();
    endpoint.linger(Duration::from_secs(60), || true);
    assert!(begun.elapsed() < Duration::from_secs(30), "an interrupt ends it");
}
