//! A server that follows a script, on a thread.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A scripted server. The script runs once; dropping the server waits for its end.
pub struct Server {
    /// URL of the listener, such as `http://127.0.0.1:40000`.
    pub url: String,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Runs a script on its own thread.
    pub fn run(script: impl FnOnce(Listener) + Send + 'static) -> Server {
        Server::at("127.0.0.1:0", script)
    }

    /// Runs like [`Server::run`], with an address.
    pub fn at(address: &str, script: impl FnOnce(Listener) + Send + 'static) -> Server {
        let listener = TcpListener::bind(address).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let thread = thread::spawn(move || script(Listener { listener }));
        Server { url, thread: Some(thread) }
    }

    /// Answers each request of each connection in turn; one connection per list.
    pub fn answers(connections: Vec<Vec<&'static str>>) -> Server {
        Server::run(move |listener| {
            for answers in connections {
                let mut peer = listener.accept();
                for answer in answers {
                    peer.request();
                    peer.send(answer);
                }
            }
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let result = self.thread.take().unwrap().join();
        if !thread::panicking() {
            result.unwrap();
        }
    }
}

/// Accepts connections.
pub struct Listener {
    listener: TcpListener,
}

impl Listener {
    /// The next connection.
    pub fn accept(&self) -> Peer<TcpStream> {
        Peer { stream: self.listener.accept().unwrap().0 }
    }
}

/// One connection of a client.
pub struct Peer<S> {
    /// The stream.
    pub stream: S,
}

/// A request that arrived.
pub struct Received {
    /// Request line and headers.
    pub head: String,
    /// Body of the announced length.
    pub body: Vec<u8>,
}

impl<S: Read + Write> Peer<S> {
    /// Reads a head.
    pub fn head(&mut self) -> String {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            self.stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        String::from_utf8(head).unwrap()
    }

    /// Reads a request.
    pub fn request(&mut self) -> Received {
        let head = self.head();
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
        let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        self.stream.read_exact(&mut body).unwrap();
        Received { head, body }
    }

    /// Sends text.
    pub fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).unwrap();
        self.stream.flush().unwrap();
    }

    /// Waits until the client closes the connection.
    pub fn wait_for_close(&mut self) {
        let mut rest = Vec::new();
        // A reset is an end as well.
        let _ = self.stream.read_to_end(&mut rest);
    }
}

/// Closes a connection with a reset.
pub fn reset(peer: Peer<TcpStream>) {
    rustix::net::sockopt::set_socket_linger(&peer.stream, Some(Duration::ZERO)).unwrap();
    drop(peer);
}
