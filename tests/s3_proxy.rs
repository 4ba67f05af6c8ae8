//! The proxy that injects faults into S3: each fault, as a plain client sees it.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant, SystemTime};

use crate::support::s3::{Fault, FaultProxy};

/// Answer of the server that these tests have.
const ANSWER: &str = "HTTP/1.1 200 OK\r\n\
                      Content-Length: 10\r\n\
                      x-amz-checksum-crc32: AQIDBA==\r\n\
                      x-amz-checksum-type: FULL_OBJECT\r\n\
                      Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\n";
const BODY: &str = "0123456789";
const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const CHUNKS: &str = "4\r\n0123\r\n6;name=value\r\n456789\r\n0\r\nx-trailer: 1\r\n\r\n";

/// A server that gives this answer to each request, one per connection. Ends with the test
/// process.
fn server(answer: String) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap_or(0) > 0 {}
            // The proxy may have gone.
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address
}

fn plain_server() -> SocketAddr {
    server(format!("{ANSWER}{BODY}"))
}

/// A client's connection.
struct Client {
    stream: TcpStream,
}

impl Client {
    fn of(proxy: &FaultProxy) -> Client {
        let stream = TcpStream::connect(proxy.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Client { stream }
    }

    fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).unwrap();
    }

    /// Sends a GET.
    fn get(&mut self) {
        self.send("GET /bucket/key HTTP/1.1\r\nHost: x\r\n\r\n");
    }

    /// Reads so far that the text ends with these words.
    fn read_until(&mut self, end: &str) -> String {
        let mut text = Vec::new();
        while !text.ends_with(end.as_bytes()) {
            let mut byte = [0];
            self.stream.read_exact(&mut byte).unwrap_or_else(|error| {
                panic!("{error} after {}", String::from_utf8_lossy(&text));
            });
            text.push(byte[0]);
        }
        String::from_utf8(text).unwrap()
    }

    /// Reads to the end of the connection: the text, and its kind of error.
    fn read_to_end(&mut self) -> Ended {
        let mut bytes = Vec::new();
        let result = self.stream.read_to_end(&mut bytes);
        Ended {
            text: String::from_utf8_lossy(&bytes).into_owned(),
            error: result.err().map(|error: io::Error| error.kind()),
        }
    }
}

/// End of a connection.
struct Ended {
    text: String,
    error: Option<ErrorKind>,
}

/// The answer to a GET with this fault, where the connection is kept.
fn answered(fault: Fault, end: &str) -> String {
    let proxy = FaultProxy::start(plain_server(), move |_| fault);
    let mut client = Client::of(&proxy);
    client.get();
    let first = client.read_until(end);
    client.get();
    client.read_until(end);
    assert_eq!(proxy.faults(), 2, "{fault:?}");
    assert!(proxy.requests().iter().all(|request| request.connection == 1), "{fault:?}");
    first
}

/// The answer to a GET with this fault, which ends the connection.
fn ended(fault: Fault) -> Ended {
    let proxy = FaultProxy::start(plain_server(), move |_| fault);
    let mut client = Client::of(&proxy);
    client.get();
    let ended = client.read_to_end();
    assert_eq!(proxy.faults(), 1, "{fault:?}");
    ended
}

#[test]
fn requests_pass_and_are_recorded() {
    let proxy = FaultProxy::start(plain_server(), |_| Fault::Pass);
    let mut client = Client::of(&proxy);
    client.send("PUT /a?b=c HTTP/1.1\r\nHost: x\r\nX-Own:  1 \r\nContent-Length: 3\r\n\r\nabc");
    assert_eq!(client.read_until(BODY), format!("{ANSWER}{BODY}"));
    client.send("POST /d HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nxy\r\n0\r\n\r\n");
    client.read_until(BODY);
    let mut other = Client::of(&proxy);
    other.send("HEAD /e HTTP/1.1\r\nConnection: close\r\n\r\n");
    assert_eq!(other.read_to_end().text, ANSWER);

    let requests = proxy.requests();
    let seen: Vec<_> = requests
        .iter()
        .map(|request| {
            let body = String::from_utf8_lossy(&request.body);
            format!(
                "{} {} {} {} {body}",
                request.number, request.connection, request.method, request.target
            )
        })
        .collect();
    assert_eq!(seen, ["1 1 PUT /a?b=c abc", "2 1 POST /d xy", "3 2 HEAD /e "]);
    assert_eq!(requests[0].head.header("x-own"), Some("1"));
    assert_eq!(proxy.faults(), 0);
}

#[test]
fn chunks_pass_unless_the_answer_changes() {
    for (fault, start, end) in [
        (Fault::Pass, CHUNKED, CHUNKS),
        (Fault::FlippedByte, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n01234\u{fffd}6789", ""),
    ] {
        let upstream = server(format!("{CHUNKED}{CHUNKS}"));
        let proxy = FaultProxy::start(upstream, move |_| fault);
        let mut client = Client::of(&proxy);
        client.send("GET / HTTP/1.1\r\nConnection: close\r\n\r\n");
        assert_eq!(client.read_to_end().text, format!("{start}{end}"));
    }
}

#[test]
fn errors_replace_the_answer() {
    for (fault, status, code, header) in [
        (Fault::SlowDown { retry_after_s: None }, "503", "SlowDown", ""),
        (Fault::SlowDown { retry_after_s: Some(2) }, "503", "SlowDown", "Retry-After: 2\r\n"),
        (Fault::TooManyRequests, "429", "TooManyRequests", ""),
        (Fault::InternalError, "500", "InternalError", ""),
        (Fault::NotFound, "404", "NoSuchKey", ""),
        (
            Fault::Moved { region: "eu-west-1" },
            "301",
            "PermanentRedirect",
            "x-amz-bucket-region: eu-west-1\r\n",
        ),
        (Fault::ErrorInside200, "200", "InternalError", ""),
    ] {
        let text = answered(fault, "</Error>");
        assert!(text.starts_with(&format!("HTTP/1.1 {status} ")), "{text}");
        assert!(text.contains(&format!("<Code>{code}</Code>")), "{text}");
        assert!(text.contains(header), "{text}");
        assert_eq!(text.contains("Retry-After"), header.starts_with("Retry-After"), "{text}");
    }
}

#[test]
fn an_error_has_no_body_for_head() {
    let proxy = FaultProxy::start(plain_server(), |_| Fault::NotFound);
    let mut client = Client::of(&proxy);
    client.send("HEAD /a HTTP/1.1\r\nConnection: close\r\n\r\n");
    let text = client.read_to_end().text;
    assert!(text.starts_with("HTTP/1.1 404 ") && text.ends_with("\r\n\r\n"), "{text}");
}

#[test]
fn connections_end_in_each_way() {
    let before = ended(Fault::ResetBeforeAnswer);
    assert_eq!((before.text.as_str(), before.error), ("", Some(ErrorKind::ConnectionReset)));

    let within = ended(Fault::ResetInBody);
    assert_eq!(within.text, format!("{ANSWER}01234"));
    assert_eq!(within.error, Some(ErrorKind::ConnectionReset));

    let short = ended(Fault::ShortBody { missing: 3 });
    assert_eq!((short.text, short.error), (format!("{ANSWER}0123456"), None));

    let silent = ended(Fault::CloseAfter);
    assert_eq!((silent.text, silent.error), (format!("{ANSWER}{BODY}"), None));

    let announced = ended(Fault::AnnounceClose);
    assert!(announced.text.contains("\r\nConnection: close\r\n"), "{}", announced.text);
    assert!(announced.text.ends_with(BODY) && announced.error.is_none(), "{}", announced.text);
}

#[test]
fn a_script_decides_by_request() {
    let proxy = FaultProxy::start(plain_server(), |request| {
        match (request.number, request.method.as_str(), request.target.as_str()) {
            (2, _, _) => Fault::InternalError,
            (_, "DELETE", _) => Fault::NotFound,
            (_, _, "/slow") => Fault::TooManyRequests,
            _ => Fault::Pass,
        }
    });
    let mut statuses = Vec::new();
    for line in ["GET /a", "GET /a", "DELETE /a", "GET /slow", "GET /a"] {
        let mut client = Client::of(&proxy);
        client.send(&format!("{line} HTTP/1.1\r\nConnection: close\r\n\r\n"));
        statuses.push(client.read_to_end().text[9..12].to_owned());
    }
    assert_eq!(statuses, ["200", "500", "404", "429", "200"]);
    assert_eq!(proxy.faults(), 3);
}

#[test]
fn headers_and_bodies_are_wrong() {
    let wrong = answered(Fault::WrongChecksum, BODY);
    assert!(wrong.contains("x-amz-checksum-crc32: BQIDBA==\r\n"), "{wrong}");
    assert!(wrong.contains("x-amz-checksum-type: FULL_OBJECT\r\n"), "{wrong}");

    let cached = answered(Fault::Cached, BODY);
    for header in ["Via: 1.1 cache", "Age: 120", "X-Cache: HIT"] {
        assert!(cached.contains(&format!("\r\n{header}\r\n")), "{cached}");
    }

    let seconds = 3600;
    let late = answered(Fault::DateSkew { seconds }, BODY);
    let date = late.lines().find_map(|line| line.strip_prefix("Date: ")).expect("a date");
    let date = jiff::fmt::rfc2822::parse(date).expect("a date of RFC 2822").timestamp();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    let ahead = date.as_second() - i64::try_from(now).unwrap();
    assert!((seconds - 60..=seconds).contains(&ahead), "{ahead} s");
}

#[test]
fn a_checksum_is_added_where_none_is() {
    let upstream = server(format!("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{BODY}"));
    let proxy = FaultProxy::start(upstream, |_| Fault::WrongChecksum);
    let mut client = Client::of(&proxy);
    client.get();
    let text = client.read_until(BODY);
    assert!(text.contains("x-amz-checksum-crc32c: AAAAAA==\r\n"), "{text}");
}

#[test]
fn answers_come_late_and_in_pieces() {
    let delay = Duration::from_millis(50);
    let began = Instant::now();
    assert_eq!(answered(Fault::LateFirstByte { delay }, BODY), format!("{ANSWER}{BODY}"));
    assert!(began.elapsed() >= 2 * delay);
    assert_eq!(answered(Fault::TwoWrites, BODY), format!("{ANSWER}{BODY}"));
    let interim = "HTTP/1.1 100 \r\n\r\n".repeat(3);
    let text = answered(Fault::Continues { count: 3 }, BODY);
    assert_eq!(text, format!("{interim}{ANSWER}{BODY}"));
}

#[test]
fn a_body_waits_for_the_interim_answer() {
    let proxy = FaultProxy::start(plain_server(), |_| Fault::Pass);
    let mut client = Client::of(&proxy);
    client.send("PUT /a HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    assert_eq!(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("ok");
    client.read_until(BODY);
    assert_eq!(proxy.requests()[0].body, b"ok");
}

#[test]
fn idle_connections_end_with_the_proxy() {
    let proxy = FaultProxy::start(plain_server(), |_| Fault::Pass);
    let mut client = Client::of(&proxy);
    client.get();
    client.read_until(BODY);
    drop(proxy);
    assert_eq!(client.read_to_end().text, "");
}
