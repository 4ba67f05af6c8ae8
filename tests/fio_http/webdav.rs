//! A responder to PUT, GET and DELETE, with a login.

use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

/// Objects by their targets.
type Objects = Arc<Mutex<HashMap<String, Vec<u8>>>>;

/// A running responder; serves until the test ends.
pub struct Webdav {
    address: SocketAddr,
    objects: Objects,
}

/// A request as it arrived.
struct Request {
    method: String,
    target: String,
    body: Vec<u8>,
    has_login: bool,
}

impl Webdav {
    /// Starts a responder that requires a line in each head.
    pub fn start(login: &str) -> Webdav {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let (objects, login) = (Objects::default(), login.to_owned());
        let of_server = objects.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (objects, login) = (of_server.clone(), login.clone());
                std::thread::spawn(move || serve(&client, &objects, &login));
            }
        });
        Webdav { address, objects }
    }

    /// Address of the responder.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Targets of all objects.
    pub fn names(&self) -> BTreeSet<String> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }
}

/// Serves a connection until its end.
fn serve(client: &TcpStream, objects: &Objects, login: &str) {
    let mut reader = BufReader::new(client);
    while let Some(request) = next(&mut reader, login) {
        let (status, body) = answer(request, objects);
        let head = format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\n\r\n", body.len());
        let mut client = client;
        if client.write_all(&[head.as_bytes(), &body].concat()).is_err() {
            return;
        }
    }
}

/// The next request of a connection; none at its end.
fn next(reader: &mut BufReader<&TcpStream>, login: &str) -> Option<Request> {
    let mut start = String::new();
    reader.read_line(&mut start).ok().filter(|bytes| *bytes > 0)?;
    let mut words = start.split(' ').map(str::to_owned);
    let (method, target) = (words.next()?, words.next()?);
    let (mut length, mut has_login) = (0, false);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        has_login |= line.eq_ignore_ascii_case(login) && line.ends_with(&login[login.len() - 4..]);
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { method, target, body, has_login })
}

/// Status and body of the answer.
fn answer(request: Request, objects: &Objects) -> (u16, Vec<u8>) {
    let Request { method, target, body, has_login } = request;
    let mut objects = objects.lock().unwrap_or_else(PoisonError::into_inner);
    match method.as_str() {
        _ if !has_login => (401, Vec::new()),
        "PUT" => {
            objects.insert(target, body);
            (201, Vec::new())
        }
        "GET" => objects.get(&target).map_or((404, Vec::new()), |body| (200, body.clone())),
        "DELETE" => objects.remove(&target).map_or((404, Vec::new()), |_| (204, Vec::new())),
        _ => (405, Vec::new()),
    }
}
