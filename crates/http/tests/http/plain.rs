//! Plain HTTP: answers, connections, faults.

use candor_http::{
    Answer, Buffers, Client, FaultKind, Into, Method, NoBuffers, Piece, Request, Settings,
    Transport,
};

use crate::server::Server;

pub fn settings(url: &str) -> Settings {
    Settings { endpoints: vec![url.parse().unwrap()], ..Settings::default() }
}

pub fn client(settings: Settings, slots: usize) -> Client {
    Client::new(&Transport::new(settings).unwrap(), slots, 0).unwrap()
}

pub fn get(target: &str) -> Request {
    let mut request = Request { target: target.to_owned(), ..Request::default() };
    request.header("Host", "store");
    request
}

pub fn put(pieces: Vec<Piece>, own: &[u8]) -> Request {
    let mut request = Request { method: Method::Put, pieces, own: own.to_vec(), ..get("/key") };
    let length = request.length().to_string();
    request.header("Content-Length", &length);
    request
}

pub struct OneBuffer(pub Vec<u8>);

impl Buffers for OneBuffer {
    fn bytes(&self, _slot: usize) -> &[u8] {
        &self.0
    }

    fn room(&mut self, _slot: usize) -> &mut [u8] {
        &mut self.0
    }
}

/// The answer to one request on a new client.
fn answer_to(request: &Request, server: &Server) -> Answer {
    client(settings(&server.url), 1).exchange(request, &mut NoBuffers).clone()
}

fn kind(answer: &Answer) -> Option<FaultKind> {
    answer.fault.as_ref().map(|fault| fault.kind)
}

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
fn garbage_is_malformed() {
    let server = Server::answers(vec![vec!["SSH-2.0-OpenSSH\r\n"]]);
    let answer = answer_to(&get("/"), &server);
    assert_eq!(kind(&answer), Some(FaultKind::Malformed));
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
