//! Many slots at the same time, with bodies in both directions and in odd pieces.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::thread;

use candor_http::{Buffers, Client, Into, Method, Piece, Request, Settings};
use rustls::ServerConfig;

use crate::requests::{client, settings};
use crate::server::{Listener, Peer, Server};
use crate::tls::{Identity, encrypt};

const SLOTS: usize = 6;
const REQUESTS: usize = 60;
const LARGEST: usize = 400_000;

/// Small differences between requests, from their number.
fn scatter(number: usize) -> usize {
    number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 17
}

fn size(number: usize) -> usize {
    // Most bodies are small.
    scatter(number) % if number.is_multiple_of(4) { LARGEST } else { 3000 }
}

fn byte(number: usize, at: usize) -> u8 {
    (scatter(number) + at / 3) as u8
}

fn body(number: usize) -> Vec<u8> {
    (0..size(number)).map(|at| byte(number, at)).collect()
}

struct PerSlot(Vec<Vec<u8>>);

impl Buffers for PerSlot {
    fn bytes(&self, slot: usize) -> &[u8] {
        &self.0[slot]
    }

    fn room(&mut self, slot: usize) -> &mut [u8] {
        &mut self.0[slot]
    }
}

/// Answers uploads after a check, and downloads in one of three codings and in odd pieces.
fn serve<S: Read + Write>(mut peer: Peer<S>) {
    for _ in 0..REQUESTS {
        let received = peer.request();
        let target = received.head.split(' ').nth(1).unwrap();
        let number: usize = target.trim_start_matches('/').parse().unwrap();
        if received.head.starts_with("PUT") {
            assert!(received.body == body(number));
            peer.send("HTTP/1.1 100 \r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
            continue;
        }
        let piece = 1 + scatter(number + 1) % 50_000;
        let body = body(number);
        if number.is_multiple_of(3) {
            peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            for chunk in body.chunks(piece) {
                peer.send(&format!("{:x}\r\n", chunk.len()));
                peer.stream.write_all(chunk).unwrap();
                peer.send("\r\n");
            }
            peer.send("0\r\n\r\n");
        } else {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
            let whole = [head.as_bytes(), &body].concat();
            for piece in whole.chunks(piece) {
                peer.stream.write_all(piece).unwrap();
                peer.stream.flush().unwrap();
            }
        }
    }
}

fn accept_all(listener: &Listener, start: impl Fn(Peer<TcpStream>) + Send + Sync) {
    thread::scope(|threads| {
        for _ in 0..SLOTS {
            let peer = listener.accept();
            threads.spawn(|| start(peer));
        }
    });
}

fn fill(request: &mut Request, number: usize) {
    request.clear();
    request.target = format!("/{number}");
    if number.is_multiple_of(2) {
        request.method = Method::Put;
        let size = size(number);
        request.pieces = vec![Piece::Slot(0..size / 3), Piece::Slot(size / 3..size)];
        request.header("Content-Length", &size.to_string());
    } else {
        request.into = match number % 5 {
            0 => Into::Answer,
            1 => Into::Nothing,
            _ => Into::Slot,
        };
    }
}

fn check(client: &Client, slot: usize, number: usize, buffers: &PerSlot) {
    let answer = client.answer(slot);
    assert_eq!((answer.fault.clone(), answer.status, answer.reconnects), (None, 200, 0));
    if number.is_multiple_of(2) {
        return;
    }
    let body = body(number);
    assert_eq!(answer.body_bytes, body.len() as u64);
    match number % 5 {
        0 => assert!(answer.body == body),
        1 => assert!(answer.body.is_empty()),
        _ => assert!(buffers.0[slot][..body.len()] == body),
    }
}

/// Keeps all slots busy until each has done its requests.
fn run(client: &mut Client) {
    assert!(client.connect_all().iter().all(|connected| connected.fault.is_none()));
    let mut buffers = PerSlot(vec![vec![0; LARGEST]; SLOTS]);
    let mut numbers = [0; SLOTS];
    let mut done: Vec<usize> = (0..SLOTS).collect();
    let mut waiting = Vec::new();
    loop {
        for slot in done.drain(..) {
            let number = &mut numbers[slot];
            if *number > 0 {
                check(client, slot, *number - 1 + slot, &buffers);
            }
            if *number < REQUESTS {
                fill(client.request(slot), *number + slot);
                if (*number + slot).is_multiple_of(2) {
                    let body = body(*number + slot);
                    buffers.0[slot][..body.len()].copy_from_slice(&body);
                }
                *number += 1;
                waiting.push(slot);
            }
        }
        for slot in waiting.drain(..) {
            client.start(slot, &mut buffers);
        }
        if client.in_flight() == 0 {
            break;
        }
        client.turn(&mut buffers, 2, None, &mut done);
    }
    for slot in 0..SLOTS {
        let stats = client.stats(slot);
        assert_eq!((stats.connects, stats.requests), (1, REQUESTS as u64));
    }
}

#[test]
fn plain_answers_do_not_mix() {
    let server = Server::run(|listener| accept_all(&listener, serve));
    let settings = Settings { receive_buffer_bytes: Some(50_000), ..settings(&server.url) };
    run(&mut client(settings, SLOTS));
}

#[test]
fn encrypted_answers_do_not_mix() {
    let identity = Identity::new();
    let config: Arc<ServerConfig> = identity.config();
    let server = Server::run(move |listener| {
        accept_all(&listener, |peer| serve(encrypt(peer, Arc::clone(&config))));
    });
    run(&mut client(identity.settings(&server), SLOTS));
}
