//! Agents behind real handshakes.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Instant;

use tonic::client;
use tonic::transport::Endpoint;

use super::*;
use crate::link::{Links, tell};
use crate::message::ToAgent;
use crate::network::Arrival;
use crate::secret::{Secret, UserKey};

/// A secret of these tests.
const SECRET: [u8; 32] = [7; 32];
/// Longest wait for anything.
const LIMIT: Duration = Duration::from_secs(10);

/// An agent on a thread, whose runs do nothing until they end.
struct Served {
    address: String,
    lines: Arc<Mutex<Vec<String>>>,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    fn begin() -> Served {
        Served::of(keys(), None)
    }

    fn of(identity: Identity, user_key: Option<UserKey>) -> Served {
        let listening = Listening::on(([127, 0, 0, 1], 0).into()).expect("a port");
        let address = format!("127.0.0.1:{}", listening.port());
        let words = ["-c", "cat > /dev/null"].map(OsString::from).into();
        let session = SessionCommand { program: "/bin/sh".into(), words, ..Default::default() };
        let lines = Arc::<Mutex<Vec<String>>>::default();
        let log = {
            let lines = lines.clone();
            move |line: &str| lines.lock().expect("no panic").push(line.to_owned())
        };
        let thread = std::thread::spawn(move || {
            let allowed = Allowed::default();
            let options = Options { session, allowed, once: false, user_key };
            serve(listening, &identity, options, log).expect("it serves");
        });
        Served { address, lines, thread: Some(thread) }
    }

    fn has_said(&self, text: &str) -> bool {
        let began = Instant::now();
        while began.elapsed() < LIMIT {
            if self.lines.lock().expect("no panic").iter().any(|line| line.contains(text)) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // A test may have ended it.
        let left = tell(&keys(), std::slice::from_ref(&self.address), Chore::Quit);
        let thread = self.thread.take().filter(is_finished);
        let ended = thread.map(JoinHandle::join);
        if !std::thread::panicking() {
            assert!(ended.is_some_and(|ended| ended.is_ok()), "{left:?}");
        }
    }
}

fn is_finished(thread: &JoinHandle<()>) -> bool {
    let began = Instant::now();
    while !thread.is_finished() && began.elapsed() < LIMIT {
        std::thread::sleep(Duration::from_millis(5));
    }
    thread.is_finished()
}

fn keys() -> Identity {
    Identity::of_secret(&Secret::of(SECRET)).expect("keys")
}

/// A link with these keys, and how it ends.
fn linked(identity: Identity, address: &str) -> (Links, Receiver<String>) {
    let (sender, ended) = channel();
    let links = Links::new(identity, move |arrived| {
        if let Arrival::Broken(broken) = arrived.arrival {
            // The test may have ended.
            let _ = sender.send(broken.why);
        }
    });
    let links = links.expect("a thread");
    links.connect(0, address, 0);
    (links, ended)
}

#[test]
fn keys_of_others_and_of_yesterday_do_not_get_past_the_handshake() {
    let served = Served::begin();
    let other = Secret::random().expect("random");
    let cases = [
        (Identity::of_secret(&other).expect("keys"), "it has other keys", "it has another key"),
        (Identity::of_user(&other).expect("keys"), "--to 127.0.0.1`", "it has another key"),
        (Identity::expired(&Secret::of(SECRET)), "the keys have", "the keys have expired"),
    ];
    for (identity, why, line) in cases {
        let (_links, ended) = linked(identity, &served.address);
        let told = ended.recv_timeout(LIMIT).expect("the link ends");
        assert!(told.contains(why), "{told}");
        assert!(served.has_said(&format!(": {line}")), "{told}");
    }
    let lines = served.lines.lock().expect("no panic").clone();
    assert!(!lines.iter().any(|line| line.contains("run begun")), "{lines:?}");
}

#[test]
fn one_run_goes_on_at_a_time() {
    let served = Served::begin();
    let (first, first_ended) = linked(keys(), &served.address);
    first.send(0, ToAgent::Discard);
    assert!(served.has_said("run begun, process "));
    let (second, ended) = linked(keys(), &served.address);
    let why = ended.recv_timeout(LIMIT).expect("the link ends");
    assert!(why.starts_with("this agent has another run, led by 127.0.0.1:"), "{why}");
    assert!(why.ends_with(" s; wait for its end"), "{why}");
    drop((first, first_ended, second));
    assert!(served.has_said("run ended: the coordinator has ended it; exit status: 0"));
    let lines = served.lines.lock().expect("no panic").clone();
    let of_runs = lines.iter().filter(|line| line.contains("run begun") || line.contains("ended"));
    for line in of_runs {
        assert!(line.contains("for 127.0.0.1:") && line.contains(" of user "), "{line}");
    }
    let (third, ended) = linked(keys(), &served.address);
    third.send(0, ToAgent::Discard);
    assert!(ended.recv_timeout(Duration::from_millis(300)).is_err(), "it is served");
}

#[test]
fn an_agent_of_two_names_is_refused_at_once() {
    let served = Served::begin();
    let (links, ended) = linked(keys(), &served.address);
    links.send(0, ToAgent::Discard);
    assert!(served.has_said("run begun, process "));
    links.connect(1, &served.address.replace("127.0.0.1", "localhost"), 60_000);
    let why = ended.recv_timeout(LIMIT).expect("the link ends");
    let named = format!("this agent is host {} of the run already; name it once", served.address);
    assert_eq!(why, named);
}

/// The answer to a call with this version of the messages and a frame of so many bytes.
async fn called(address: &str, protocol: &str, bytes: usize) -> Result<(), Status> {
    let endpoint = Endpoint::from_shared(format!("https://{address}")).expect("an address");
    let endpoint = endpoint.tls_config(keys().client()).expect("keys");
    let channel = endpoint.connect().await.expect("a connection");
    let mut grpc = client::Grpc::new(channel).max_encoding_message_size(usize::MAX);
    grpc.ready().await.expect("ready");
    let frame = Frame { body: vec![7; bytes].into() };
    let frames = tokio_stream::iter([frame]).chain(tokio_stream::pending());
    let mut request = Request::new(frames);
    let version = protocol.parse().expect("a header");
    request.metadata_mut().insert(PROTOCOL_HEADER, version);
    request.metadata_mut().insert(VERSION_HEADER, "7.7".parse().expect("a header"));
    let codec = ProstCodec::<Frame, Frame>::default();
    let path = http::uri::PathAndQuery::from_static(PATH);
    let mut answers = grpc.streaming(request, path, codec).await?.into_inner();
    while let Some(answer) = answers.next().await {
        answer?;
    }
    Ok(())
}

#[test]
fn another_version_is_told_and_a_long_message_ends_its_run() {
    let served = Served::begin();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let other = runtime.block_on(called(&served.address, "99", 1)).expect_err("refused");
    let own = env!("CARGO_PKG_VERSION");
    assert_eq!(
        other.message(),
        format!(
            "this agent is of candor {own} and speaks version {PROTOCOL} of the protocol, the \
             coordinator is of candor 7.7 and speaks 99; install the same build on all hosts"
        )
    );
    assert!(served.has_said(": this agent is of candor"));
    let _ = runtime.block_on(called(&served.address, PROTOCOL, FRAME_MAX + 4096));
    assert!(served.has_said("message length too large"), "{:?}", served.lines.lock());
    let (link, ended) = linked(keys(), &served.address);
    link.send(0, ToAgent::Discard);
    assert!(ended.recv_timeout(Duration::from_millis(300)).is_err(), "it serves on");
}

#[test]
fn idle_connections_of_a_stranger_keep_no_coordinator_out() {
    let served = Served::begin();
    let idle: Vec<_> = (0..400)
        .map(|_| std::net::TcpStream::connect(&served.address).expect("a connection"))
        .collect();
    let (link, ended) = linked(keys(), &served.address);
    link.send(0, ToAgent::Discard);
    assert!(served.has_said("run begun, process "), "{:?}", ended.try_recv());
    drop(idle);
    let lines = served.lines.lock().expect("no panic").len();
    assert!(lines < 10, "{lines} lines for one stranger");
}

#[test]
fn a_new_key_of_the_user_counts_from_then_on() {
    let home = tempfile::tempdir().expect("a folder");
    let key = UserKey::below(home.path());
    let identity = |secret: &Secret| Identity::of_user(secret).expect("keys");
    let first = identity(&key.read_or_make().expect("a key"));
    let served = Served::of(first.clone(), Some(key.clone()));
    let before = door::state(&key);
    let second = loop {
        std::fs::remove_file(&key.path).expect("removed");
        let secret = key.read_or_make().expect("a key");
        // Within one tick of the clock, a new file may have the number and time of the earlier one.
        if door::state(&key) != before {
            break identity(&secret);
        }
    };
    let tell_quit =
        |identity: &Identity| tell(identity, std::slice::from_ref(&served.address), Chore::Quit);
    assert_eq!(tell_quit(&first).len(), 1, "the earlier key counts no more");
    assert!(tell_quit(&second).is_empty());
}
