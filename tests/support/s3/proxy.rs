//! A proxy between a client and a server, which injects faults by a script and records requests.
//!
//! Requests and answers are read in full before they are sent on. Each request has a connection of
//! its own to the server.

use std::io::{self, BufReader, ErrorKind, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;

use super::fault::{Answer, Fault};
use super::wire::{Body, Framing, Head};

/// No server of a test takes longer for an answer.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// A running proxy. Ends its connections when dropped.
pub struct FaultProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

/// A request that the proxy received.
#[derive(Clone, Debug)]
pub struct Request {
    /// Number of the request, from 1.
    pub number: usize,
    /// Number of the client's connection, from 1.
    pub connection: usize,
    /// Method.
    pub method: String,
    /// Path and query, as they arrived.
    pub target: String,
    /// First line and headers.
    pub head: Head,
    /// Body without a transfer coding; empty while the script decides.
    pub body: Vec<u8>,
    /// Decision of the script; [`Fault::Pass`] while it decides.
    pub fault: Fault,
}

type Script = Box<dyn FnMut(&Request) -> Fault + Send>;

struct Shared {
    upstream: SocketAddr,
    script: Mutex<Script>,
    numbers: AtomicUsize,
    requests: Mutex<Vec<Request>>,
    clients: Mutex<Clients>,
}

#[derive(Default)]
struct Clients {
    connections: Vec<Weak<TcpStream>>,
    stopped: bool,
}

/// Fate of a client's connection after an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    Keep,
    Close,
}

impl FaultProxy {
    /// Starts a proxy of a server. The script decides once the head of a request has arrived.
    pub fn start(
        upstream: SocketAddr,
        script: impl FnMut(&Request) -> Fault + Send + 'static,
    ) -> FaultProxy {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared {
            upstream,
            script: Mutex::new(Box::new(script)),
            numbers: AtomicUsize::new(0),
            requests: Mutex::default(),
            clients: Mutex::default(),
        });
        let of_acceptor = Arc::clone(&shared);
        let acceptor = std::thread::spawn(move || of_acceptor.accept(&listener));
        FaultProxy { address, shared, acceptor: Some(acceptor) }
    }

    /// URL of the proxy.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Address of the proxy.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Requests until now, in the order of their ends.
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared.requests).clone()
    }

    /// Number of requests until now that were not passed.
    pub fn faults(&self) -> usize {
        let requests = lock(&self.shared.requests);
        requests.iter().filter(|request| request.fault != Fault::Pass).count()
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        let mut clients = lock(&self.shared.clients);
        clients.stopped = true;
        for connection in clients.connections.iter().filter_map(Weak::upgrade) {
            // A client may have ended the connection.
            let _ = connection.shutdown(Shutdown::Both);
        }
        drop(clients);
        // A connection wakes the acceptor, which then ends.
        let _ = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

/// A lock that the panic of a script does not take away from the test.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn accept(&self, listener: &TcpListener) {
        std::thread::scope(|scope| {
            for (earlier, stream) in listener.incoming().flatten().map(Arc::new).enumerate() {
                let mut clients = lock(&self.clients);
                if clients.stopped {
                    break;
                }
                clients.connections.push(Arc::downgrade(&stream));
                scope.spawn(move || {
                    if let Err(error) = self.serve(earlier + 1, &stream) {
                        println!("connection {} of the proxy: {error}", earlier + 1);
                    }
                });
            }
        });
    }

    /// Serves a connection until its end.
    fn serve(&self, connection: usize, stream: &TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream);
        while let Some(head) = Head::read(&mut reader)? {
            let mut request = self.decide(connection, head)?;
            send_interim(stream, &request)?;
            let body = Body::read(&mut reader, request.head.request_framing())?;
            request.body.clone_from(&body.content);
            lock(&self.requests).push(request.clone());
            let mut answer = match request.fault.own_answer() {
                Some(answer) => answer,
                None => ask(self.upstream, &request, &body)?,
            };
            if request.method == "HEAD" {
                answer.body = Body::default();
            }
            request.fault.change(&mut answer);
            if deliver(stream, &request, &answer)? == After::Close {
                break;
            }
        }
        Ok(())
    }

    /// Numbers a request, and lets the script decide on it.
    fn decide(&self, connection: usize, head: Head) -> io::Result<Request> {
        let mut words = head.start.split(' ').map(str::to_owned);
        let (Some(method), Some(target)) = (words.next(), words.next()) else {
            return Err(io::Error::other(format!("no request: {:?}", head.start)));
        };
        let number = self.numbers.fetch_add(1, Ordering::Relaxed) + 1;
        let (body, fault) = (Vec::new(), Fault::Pass);
        let mut request = Request { number, connection, method, target, head, body, fault };
        request.fault = lock(&self.script)(&request);
        Ok(request)
    }
}

/// Sends the interim answers that the client expects, or the fault's.
fn send_interim(mut stream: &TcpStream, request: &Request) -> io::Result<()> {
    match request.fault {
        Fault::Continues { count } => {
            for _ in 0..count {
                stream.write_all(b"HTTP/1.1 100 \r\n\r\n")?;
            }
        }
        _ if request.head.header("expect").is_some() => {
            stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        _ => {}
    }
    Ok(())
}

/// Sends a request to the server, and reads its answer.
fn ask(upstream: SocketAddr, request: &Request, body: &Body) -> io::Result<Answer> {
    let mut stream = TcpStream::connect(upstream)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(ANSWER_MAX))?;
    let message = [request.head.wire().as_slice(), &body.wire].concat();
    // A server that refuses a request may not read it to its end.
    let sent = stream.write_all(&message);
    let mut reader = BufReader::new(&stream);
    loop {
        let Some(mut head) = Head::read(&mut reader)? else {
            sent?;
            return Err(ErrorKind::UnexpectedEof.into());
        };
        if (100..200).contains(&head.status()) {
            continue;
        }
        let framing = head.answer_framing(&request.method);
        let body = Body::read(&mut reader, framing)?;
        if framing == Framing::UntilClose {
            head.set("Connection", "close");
        }
        return Ok(Answer { head, body });
    }
}

/// Sends an answer to the client in the way of the fault.
fn deliver(mut stream: &TcpStream, request: &Request, answer: &Answer) -> io::Result<After> {
    let Answer { head, body: Body { wire: body, .. } } = answer;
    let whole = [head.wire().as_slice(), body].concat();
    match request.fault {
        Fault::ResetBeforeAnswer => return reset(stream),
        Fault::ResetInBody => {
            stream.write_all(&whole[..whole.len() - body.len().div_ceil(2)])?;
            return reset(stream);
        }
        Fault::ShortBody { missing } => {
            stream.write_all(&whole[..whole.len() - missing.min(body.len())])?;
            return Ok(After::Close);
        }
        Fault::TwoWrites => {
            stream.set_nodelay(false)?;
            stream.write_all(&head.wire())?;
            stream.write_all(body)?;
            stream.set_nodelay(true)?;
        }
        Fault::LateFirstByte { delay } => {
            std::thread::sleep(delay);
            stream.write_all(&whole)?;
        }
        _ => stream.write_all(&whole)?,
    }
    let closes = request.fault == Fault::CloseAfter || head.closes() || request.head.closes();
    Ok(if closes { After::Close } else { After::Keep })
}

/// Lets the end of the connection be a reset, once its last handle is dropped.
fn reset(stream: &TcpStream) -> io::Result<After> {
    set_socket_linger(stream, Some(Duration::ZERO))?;
    Ok(After::Close)
}
