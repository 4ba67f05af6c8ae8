//! Plain HTTP: answers, connections, faults.

use std::time::Duration;

use candor_http::{Client, Into, Moments, NoBuffers, Piece, Request, Settings, Transport};

use crate::requests::{OneBuffer, client, get, put, settings};
use crate::server::Server;

#[test]
fn a_connection_serves_several_requests() {
    let server = Server::run(|listener| {
        let mut peer = listener.accept();
        for i in 0..3 {
            let received = peer.request();
            assert_eq!(received.head, format!("GET /{i} HTTP/1.1\r\nHost: store\r\n\r\n"));
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: y\r\n\r\nhi");
        }
    });
    let mut client = client(settings(&server.url), 1);
    for i in 0..3 {
        let answer = client.exchange(&get(&format!("/{i}")), &mut NoBuffers);
        assert_eq!((answer.status, answer.body.as_slice()), (200, b"hi".as_slice()));
        assert_eq!((answer.fault.clone(), answer.earlier_requests), (None, i));
        assert_eq!(answer.head, b"Content-Length: 2\r\nX: y\r\n\r\n");
        assert_eq!(answer.header("x"), Some("y"));
        assert_eq!(answer.moments.connect_ns.is_some(), i == 0);
        assert_eq!(answer.moments.ready_ns == 0, i > 0);
    }
    assert_eq!(client.stats(0).connects, 1);
}

#[test]
fn a_body_leaves_in_the_order_of_its_pieces() {
    let server = Server::run(|listener| {
        let mut peer = listener.accept();
        assert_eq!(peer.request().body, b"4;\r\nlot \r\n");
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    });
    let request = put(vec![Piece::Own(0..4), Piece::Slot(1..5), Piece::Own(2..4)], b"4;\r\n");
    let mut client = client(settings(&server.url), 1);
    let answer = client.exchange(&request, &mut OneBuffer(b"slot s".to_vec()));
    assert_eq!((answer.status, answer.fault.clone()), (200, None));
    assert_eq!(answer.sent_bytes, 10 + "PUT /key HTTP/1.1\r\nHost: store\r\n".len() as u64 + 22);
}

#[test]
fn a_large_body_arrives_in_the_slot() {
    let body: Vec<u8> = (0..5_000_000_u32).map(|i| (i / 3) as u8).collect();
    let sent = body.clone();
    let server = Server::run(move |listener| {
        let mut peer = listener.accept();
        peer.request();
        peer.send(&format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", sent.len()));
        std::io::Write::write_all(&mut peer.stream, &sent).unwrap();
    });
    let mut buffer = OneBuffer(vec![0; body.len()]);
    let request = Request { into: Into::Slot, ..get("/") };
    let mut client = client(settings(&server.url), 1);
    let answer = client.exchange(&request, &mut buffer);
    assert_eq!((answer.fault.clone(), answer.body_bytes), (None, body.len() as u64));
    assert!(buffer.0 == body, "the bytes differ");
}

#[test]
fn a_body_is_dropped_within_the_kernel_and_counted() {
    let server = Server::run(|listener| {
        let mut peer = listener.accept();
        for _ in 0..2 {
            peer.request();
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n");
            peer.send(&"x".repeat(3_000_000));
        }
    });
    let mut client = client(settings(&server.url), 1);
    for _ in 0..2 {
        let request = Request { into: Into::Nothing, ..get("/") };
        let answer = client.exchange(&request, &mut NoBuffers);
        assert_eq!((answer.fault.clone(), answer.body_bytes), (None, 3_000_000));
        assert!(answer.body.is_empty());
    }
    assert_eq!(client.stats(0).connects, 1);
}

#[test]
fn a_chunked_body_arrives_in_the_slot() {
    let server = Server::run(|listener| {
        let mut peer = listener.accept();
        peer.request();
        peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        for letter in ["a", "b", "c"] {
            peer.send(&format!("{:x}\r\n{}\r\n", 100_000, letter.repeat(100_000)));
        }
        peer.send("0\r\nX-Sum: 1\r\n\r\n");
    });
    let mut buffer = OneBuffer(vec![0; 300_001]);
    let request = Request { into: Into::Slot, ..get("/") };
    let mut client = client(settings(&server.url), 1);
    let answer = client.exchange(&request, &mut buffer);
    assert_eq!((answer.fault.clone(), answer.body_bytes), (None, 300_000));
    let expected = [vec![b'a'; 100_000], vec![b'b'; 100_000], vec![b'c'; 100_000], vec![0]];
    assert!(buffer.0 == expected.concat());
}

#[test]
fn a_large_body_leaves_while_the_server_reads_slowly() {
    let body: Vec<u8> = (0..6_000_000_u32).map(|i| (i / 7) as u8).collect();
    let expected = body.clone();
    let server = Server::run(move |listener| {
        let mut peer = listener.accept();
        assert!(peer.request().body == expected);
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    });
    let settings = Settings { send_buffer_bytes: Some(100_000), ..settings(&server.url) };
    let mut client = client(settings, 1);
    let request = put(vec![Piece::Slot(0..body.len())], b"");
    let answer = client.exchange(&request, &mut OneBuffer(body));
    assert_eq!((answer.status, answer.fault.clone()), (200, None));
    let moments = answer.moments;
    assert!(moments.head_sent_ns.unwrap() < moments.body_sent_ns.unwrap());
}

#[test]
fn moments_are_in_order() {
    let server = Server::answers(vec![vec!["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"]]);
    let mut client = client(settings(&server.url), 1);
    let answer = client.exchange(&put(vec![Piece::Own(0..4)], b"body"), &mut NoBuffers);
    let moments = answer.moments;
    let times = [
        moments.lookup_ns.unwrap(),
        moments.connect_ns.unwrap(),
        moments.ready_ns,
        moments.head_sent_ns.unwrap(),
        moments.body_sent_ns.unwrap(),
        moments.first_byte_ns.unwrap(),
        moments.head_ns.unwrap(),
        moments.first_body_ns.unwrap(),
        moments.end_ns,
    ];
    assert!(times.is_sorted(), "{moments:?}");
    assert_eq!(moments.tls_ns, None);
}

#[test]
fn a_request_without_a_body_has_no_time_of_its_body() {
    let server = Server::answers(vec![vec!["HTTP/1.1 204 No Content\r\n\r\n"]]);
    let mut client = client(settings(&server.url), 1);
    let moments = client.exchange(&get("/"), &mut NoBuffers).moments;
    assert!(moments.head_sent_ns.is_some() && moments.body_sent_ns.is_none());
    assert_eq!(moments.first_body_ns, None);
}

#[test]
fn interim_answers_release_the_body() {
    let server = Server::run(|listener| {
        let mut peer = listener.accept();
        let head = peer.head();
        assert!(head.contains("Expect: 100-continue"));
        assert_eq!(rustix::io::ioctl_fionread(&peer.stream), Ok(0));
        peer.send("HTTP/1.1 100 \r\n\r\nHTTP/1.1 100 Continue\r\n\r\n");
        let mut body = [0; 4];
        std::io::Read::read_exact(&mut peer.stream, &mut body).unwrap();
        assert_eq!(&body, b"body");
        peer.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    });
    let mut request = put(vec![Piece::Own(0..4)], b"body");
    request.header("Expect", "100-continue");
    let mut client = client(settings(&server.url), 1);
    let answer = client.exchange(&request, &mut NoBuffers);
    assert_eq!((answer.status, answer.fault.clone()), (200, None));
    assert!(answer.moments.body_sent_ns < answer.moments.first_byte_ns);
}

#[test]
fn a_server_that_ignores_the_expectation_gets_the_body() {
    let server = Server::answers(vec![vec!["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"]]);
    let mut request = put(vec![Piece::Own(0..4)], b"body");
    request.header("Expect", "100-continue");
    let mut client = client(settings(&server.url), 1);
    let answer = client.exchange(&request, &mut NoBuffers);
    assert_eq!((answer.status, answer.fault.clone()), (200, None));
    assert!(answer.moments.body_sent_ns.unwrap() >= 1_000_000_000);
}

#[test]
fn a_refusal_before_the_body_keeps_it_here() {
    let server = Server::run(|listener| {
        let mut peer = listener.accept();
        peer.head();
        peer.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
        peer.wait_for_close();
    });
    let mut request = put(vec![Piece::Own(0..4)], b"body");
    request.header("Expect", "100-continue");
    let mut client = client(settings(&server.url), 1);
    let answer = client.exchange(&request, &mut NoBuffers);
    assert_eq!((answer.status, answer.body.as_slice()), (403, b"no".as_slice()));
    assert_eq!((answer.fault.clone(), answer.moments.body_sent_ns), (None, None));
}

#[test]
fn slots_work_at_the_same_time() {
    let server = Server::run(|listener| {
        // All requests arrive before the first answer.
        let mut peers: Vec<_> = (0..4).map(|_| listener.accept()).collect();
        for peer in &mut peers {
            peer.request();
        }
        for peer in &mut peers {
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
        }
    });
    let mut client = client(settings(&server.url), 4);
    assert!(client.connect_all().iter().all(|connected| connected.fault.is_none()));
    for slot in 0..4 {
        *client.request(slot) = get("/");
        client.start(slot, &mut NoBuffers);
    }
    assert_eq!(client.in_flight(), 4);
    let mut done = Vec::new();
    while client.in_flight() > 0 {
        client.turn(&mut NoBuffers, 1, None, &mut done);
    }
    done.sort_unstable();
    assert_eq!(done, [0, 1, 2, 3]);
    for slot in 0..4 {
        let answer = client.answer(slot);
        assert_eq!((answer.status, answer.moments.ready_ns), (200, 0));
    }
}

#[test]
fn connections_are_dealt_over_endpoints() {
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    let first = Server::answers(vec![vec![answer]]);
    let second = Server::answers(vec![vec![answer]]);
    let endpoints = vec![first.url.parse().unwrap(), second.url.parse().unwrap()];
    let transport = Transport::new(Settings { endpoints, ..Settings::default() }).unwrap();
    let mut client = Client::new(&transport, 2, 7).unwrap();
    assert_eq!(client.endpoint_of(0).to_string(), second.url);
    assert_eq!(client.endpoint_of(1).to_string(), first.url);
    for slot in 0..2 {
        *client.request(slot) = get("/");
        client.start(slot, &mut NoBuffers);
    }
    let mut done = Vec::new();
    client.turn(&mut NoBuffers, 2, None, &mut done);
    assert_eq!(format!("http://{}", client.answer(0).peer.unwrap()), second.url);
    let peers = transport.peers();
    assert_eq!(peers[1].clone().unwrap(), [client.answer(0).peer.unwrap()]);
}

#[test]
fn without_keep_alive_each_request_has_a_connection() {
    let server = Server::run(|listener| {
        for _ in 0..2 {
            let mut peer = listener.accept();
            assert!(peer.request().head.ends_with("\r\nConnection: close\r\n\r\n"));
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
            peer.wait_for_close();
        }
    });
    let mut client = client(Settings { keep_alive: false, ..settings(&server.url) }, 1);
    for _ in 0..2 {
        let answer = client.exchange(&get("/"), &mut NoBuffers);
        assert_eq!((answer.fault.clone(), answer.reconnects), (None, 0));
        assert!(answer.moments.connect_ns.is_some());
    }
    let stats = client.stats(0);
    assert_eq!((stats.connects, stats.requests, stats.closed_by_server), (2, 2, 0));
}

#[test]
fn a_turn_without_time_returns_at_once() {
    let (answer_now, may_answer) = std::sync::mpsc::channel();
    let server = Server::run(move |listener| {
        let mut peer = listener.accept();
        peer.request();
        may_answer.recv().unwrap();
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    });
    let mut client = client(Settings { quick_ack: true, ..settings(&server.url) }, 1);
    *client.request(0) = get("/");
    client.start(0, &mut NoBuffers);
    let mut done = Vec::new();
    client.turn(&mut NoBuffers, 1, Some(Duration::ZERO), &mut done);
    client.turn(&mut NoBuffers, 1, Some(Duration::from_micros(100)), &mut done);
    assert_eq!((done.len(), client.in_flight()), (0, 1));
    answer_now.send(()).unwrap();
    client.turn(&mut NoBuffers, 1, None, &mut done);
    assert_eq!((done.as_slice(), client.in_flight()), ([0].as_slice(), 0));
    client.turn(&mut NoBuffers, 1, None, &mut done);
    assert_eq!(done, [0]);
}

#[test]
fn ipv6_addresses_work() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        println!("skipped: the host has no IPv6 loopback address");
        return;
    }
    let server = Server::at("[::1]:0", |listener| {
        let mut peer = listener.accept();
        peer.request();
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    });
    let mut client = client(settings(&server.url), 1);
    let answer = client.exchange(&get("/"), &mut NoBuffers);
    assert_eq!((answer.status, answer.fault.clone()), (200, None));
    assert!(answer.peer.unwrap().is_ipv6());
}

#[test]
fn an_address_without_a_listener_is_passed_over() {
    // "localhost" has often an IPv6 address as well, on which the server does not listen.
    let server = Server::answers(vec![vec!["HTTP/1.1 204 No Content\r\n\r\n"]; 2]);
    let url = server.url.replace("127.0.0.1", "localhost");
    let mut client = client(settings(&url), 2);
    for slot in 0..2 {
        *client.request(slot) = get("/");
        client.start(slot, &mut NoBuffers);
    }
    let mut done = Vec::new();
    client.turn(&mut NoBuffers, 2, None, &mut done);
    for slot in 0..2 {
        let answer = client.answer(slot);
        assert_eq!((answer.status, answer.fault.clone()), (204, None));
    }
}

#[test]
fn kept_connections_are_not_made_again() {
    let server = Server::answers(vec![vec!["HTTP/1.1 204 No Content\r\n\r\n"]]);
    let mut client = client(settings(&server.url), 1);
    let first = client.connect_all().remove(0);
    assert!(first.moments.connect_ns.is_some() && first.moments.end_ns > 0);
    let again = client.connect_all().remove(0);
    assert_eq!((again.fault, again.moments), (None, Moments::default()));
    assert_eq!(again.peer, first.peer);
    assert_eq!(client.exchange(&get("/"), &mut NoBuffers).status, 204);
    assert_eq!(client.stats(0).connects, 1);
}
