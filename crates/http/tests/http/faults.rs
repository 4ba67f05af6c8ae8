//! Faults, and servers that close kept connections.

use std::net::TcpListener;
use std::sync::mpsc;
use std::time::Duration;

use candor_http::{Answer, FaultKind, Into, NoBuffers, Piece, Request, Settings};

use crate::requests::{OneBuffer, client, get, put, settings};
use crate::server::{Server, reset};

const EMPTY: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// The answer to a request on a new client.
fn answer_to(server: &Server, request: &Request) -> Answer {
    client(settings(&server.url), 1).exchange(request, &mut NoBuffers).clone()
}

fn check_fault(answer: &Answer, kind: FaultKind, text: &str) {
    let fault = answer.fault.as_ref().expect("a fault");
    assert!(fault.kind == kind && fault.message.contains(text), "{fault:?}");
}

#[test]
fn answers_that_violate_http_are_faults() {
    for (answer, kind, text) in [
        ("SSH-2.0-OpenSSH\r\n", FaultKind::Malformed, "begins with"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi", FaultKind::ShortBody, "2 of 9 bytes"),
        ("HTTP/1.1 200 OK\r\nConten", FaultKind::Reset, "within the answer's head"),
        ("", FaultKind::Reset, "before the answer"),
    ] {
        let server = Server::answers(vec![vec![answer]]);
        check_fault(&answer_to(&server, &get("/")), kind, text);
    }
}

#[test]
fn a_reset_has_its_error_number() {
    let server = Server::run(|listener| {
        let mut peer = listener.accept();
        peer.request();
        reset(peer);
    });
    let answer = answer_to(&server, &get("/"));
    check_fault(&answer, FaultKind::Reset, "receive: Connection reset");
    assert_eq!(answer.fault.unwrap().errno, Some(libc::ECONNRESET));
    assert_eq!(answer.reconnects, 0);
}

#[test]
fn a_refused_connect_names_the_address() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let mut client = client(settings(&format!("http://{address}")), 1);
    let connected = client.connect_all().remove(0);
    let fault = connected.fault.unwrap();
    assert_eq!((fault.kind, fault.errno), (FaultKind::Connect, Some(libc::ECONNREFUSED)));
    assert!(fault.message.contains(&address.to_string()), "{fault:?}");
    let answer = client.exchange(&get("/"), &mut NoBuffers);
    check_fault(answer, FaultKind::Connect, "refused");
}

#[test]
fn a_name_without_an_address_is_a_lookup_fault() {
    let mut client = client(settings("http://bad..name"), 2);
    for connected in client.connect_all() {
        assert_eq!(connected.fault.unwrap().kind, FaultKind::Lookup);
    }
}

#[test]
fn a_silent_server_is_a_timeout() {
    let (end, is_over) = mpsc::channel::<()>();
    let server = Server::run(move |listener| {
        let mut peer = listener.accept();
        peer.request();
        peer.send("HTTP/1.1 100 Continue\r\n\r\n");
        let _ = is_over.recv();
    });
    let timeout = Duration::from_millis(30);
    let mut client = client(Settings { answer_timeout: timeout, ..settings(&server.url) }, 1);
    let answer = client.exchange(&get("/"), &mut NoBuffers);
    check_fault(answer, FaultKind::Timeout, "no answer arrived within 30ms");
    assert!(answer.moments.end_ns >= 30_000_000);
    drop(end);
}

#[test]
fn a_server_that_does_not_read_is_a_timeout() {
    let (end, is_over) = mpsc::channel::<()>();
    let server = Server::run(move |listener| {
        let _peer = listener.accept();
        let _ = is_over.recv();
    });
    let timeout = Duration::from_millis(100);
    let mut client = client(Settings { answer_timeout: timeout, ..settings(&server.url) }, 1);
    let body = vec![0; 64 << 20];
    let request = put(vec![Piece::Slot(0..body.len())], b"");
    let answer = client.exchange(&request, &mut OneBuffer(body));
    check_fault(
        answer,
        FaultKind::Timeout,
        "the server took no further byte of the request within 100ms",
    );
    drop(end);
}

#[test]
fn a_listener_with_a_full_queue_is_a_connect_timeout() {
    let listener = rustix::net::socket(
        rustix::net::AddressFamily::INET,
        rustix::net::SocketType::STREAM,
        None,
    )
    .unwrap();
    let any: std::net::SocketAddr = "127.0.0.1:0".parse().unwrap();
    rustix::net::bind(&listener, &any).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let address = TcpListener::from(listener);
    let url = format!("http://{}", address.local_addr().unwrap());
    let timeout = Duration::from_millis(50);
    // A queue of length 0 takes one or two connections.
    let mut client = client(Settings { connect_timeout: timeout, ..settings(&url) }, 4);
    let connected = client.connect_all();
    let fault = connected[3].fault.as_ref().expect("the queue is full");
    assert_eq!((fault.kind, fault.errno), (FaultKind::Connect, Some(libc::ETIMEDOUT)));
}

#[test]
fn an_early_error_ends_the_request_and_the_connection() {
    let server = Server::run(|listener| {
        let mut peer = listener.accept();
        peer.head();
        peer.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
        // The rest of the body is never read, so the close is a reset.
        drop(peer);
        let mut peer = listener.accept();
        peer.request();
        peer.send(EMPTY);
    });
    let mut client = client(settings(&server.url), 1);
    let body = vec![0; 64 << 20];
    let request = put(vec![Piece::Slot(0..body.len())], b"");
    let answer = client.exchange(&request, &mut OneBuffer(body));
    assert_eq!((answer.status, answer.body.as_slice()), (403, b"no".as_slice()));
    assert_eq!((answer.fault.clone(), answer.moments.body_sent_ns), (None, None));
    let answer = client.exchange(&get("/"), &mut NoBuffers);
    assert_eq!((answer.status, answer.reconnects, answer.earlier_requests), (200, 0, 0));
}

#[test]
fn a_kept_connection_that_closes_is_replaced_once() {
    let (closed, is_closed) = mpsc::channel();
    let server = Server::run(move |listener| {
        let mut peer = listener.accept();
        peer.request();
        peer.send(EMPTY);
        drop(peer);
        closed.send(()).unwrap();
        let mut peer = listener.accept();
        assert_eq!(peer.request().body, b"body");
        peer.send(EMPTY);
    });
    let mut client = client(settings(&server.url), 1);
    client.exchange(&get("/"), &mut NoBuffers);
    is_closed.recv().unwrap();
    let answer = client.exchange(&put(vec![Piece::Own(0..4)], b"body"), &mut NoBuffers);
    assert_eq!((answer.status, answer.fault.clone()), (200, None));
    assert_eq!((answer.reconnects, answer.earlier_requests), (1, 0));
    assert!(answer.moments.connect_ns.is_some());
    let stats = client.stats(0);
    assert_eq!((stats.connects, stats.requests, stats.closed_by_server), (2, 2, 1));
}

#[test]
fn a_kept_connection_that_closes_after_the_request_is_replaced_once() {
    for resets in [false, true] {
        let server = Server::run(move |listener| {
            let mut peer = listener.accept();
            peer.request();
            peer.send(EMPTY);
            peer.request();
            if resets {
                reset(peer);
            } else {
                drop(peer);
            }
            let mut peer = listener.accept();
            peer.request();
            drop(peer);
        });
        let mut client = client(settings(&server.url), 1);
        client.exchange(&get("/"), &mut NoBuffers);
        let answer = client.exchange(&get("/"), &mut NoBuffers);
        check_fault(answer, FaultKind::Reset, "before the answer");
        assert_eq!(answer.reconnects, 1);
    }
}

#[test]
fn a_connection_that_was_made_before_and_closes_is_replaced() {
    let (closed, is_closed) = mpsc::channel();
    let server = Server::run(move |listener| {
        drop(listener.accept());
        closed.send(()).unwrap();
        let mut peer = listener.accept();
        peer.request();
        peer.send(EMPTY);
    });
    let mut client = client(settings(&server.url), 1);
    assert_eq!(client.connect_all()[0].fault, None);
    is_closed.recv().unwrap();
    let answer = client.exchange(&get("/"), &mut NoBuffers);
    assert_eq!((answer.status, answer.reconnects), (200, 1));
}

#[test]
fn an_announced_close_is_no_reconnect() {
    for head in ["HTTP/1.1 200 OK\r\nConnection: close\r\n", "HTTP/1.0 200 OK\r\n"] {
        let server = Server::run(move |listener| {
            for _ in 0..2 {
                let mut peer = listener.accept();
                peer.request();
                peer.send(&format!("{head}Content-Length: 2\r\n\r\nhi"));
                peer.wait_for_close();
            }
        });
        let mut client = client(settings(&server.url), 1);
        for _ in 0..2 {
            let answer = client.exchange(&get("/"), &mut NoBuffers);
            assert_eq!((answer.fault.clone(), answer.reconnects), (None, 0));
        }
        let stats = client.stats(0);
        assert_eq!((stats.connects, stats.closed_by_server), (2, 2));
    }
}

#[test]
fn bytes_after_an_answer_cost_the_connection() {
    let server = Server::run(|listener| {
        let mut peer = listener.accept();
        peer.request();
        peer.send(&format!("{EMPTY}HTTP/1.1 500 Not yours\r\nContent-Length: 0\r\n\r\n"));
        peer.wait_for_close();
        let mut peer = listener.accept();
        peer.request();
        peer.send(EMPTY);
    });
    let mut client = client(settings(&server.url), 1);
    for _ in 0..2 {
        assert_eq!(client.exchange(&get("/"), &mut NoBuffers).status, 200);
    }
}

#[test]
fn a_body_longer_than_the_slot_is_a_fault() {
    let server =
        Server::answers(vec![vec!["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n123456789"]]);
    let mut client = client(settings(&server.url), 1);
    let request = Request { into: Into::Slot, ..get("/") };
    let answer = client.exchange(&request, &mut OneBuffer(vec![0; 8]));
    check_fault(answer, FaultKind::Malformed, "9 bytes; its destination holds 8");
}

#[test]
fn a_cancelled_request_is_not_reported() {
    let server = Server::run(|listener| {
        let mut peer = listener.accept();
        peer.request();
        peer.wait_for_close();
        let mut peer = listener.accept();
        peer.request();
        peer.send(EMPTY);
    });
    let mut client = client(settings(&server.url), 1);
    client.connect_all();
    *client.request(0) = get("/");
    client.start(0, &mut NoBuffers);
    client.cancel(0);
    assert_eq!(client.in_flight(), 0);
    let answer = client.exchange(&get("/"), &mut NoBuffers);
    assert_eq!((answer.status, answer.reconnects), (200, 0));
}
