//! Links to agents by gRPC over mutual TLS: all of this end that knows a socket.
//!
//! Each link is one call: messages down as its requests, messages up as its answers. A thread of
//! its own runs them all, with bounded queues in both directions.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use candor_plan::PathText;
use http::uri::PathAndQuery;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tonic::client::Grpc;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};
use tonic_prost::ProstCodec;

use crate::identity::Identity;
use crate::message::{PROTOCOL, ToAgent, host_of};
use crate::network::{Arrival, Broken};
use crate::priority;
use crate::reason::Reason;
use crate::wire::{self, FRAME_MAX, Frame};

/// Path of the call that runs a run.
pub const PATH: &str = "/candor.Agent/Run";
/// Path of the call that ends an agent.
pub const QUIT_PATH: &str = "/candor.Agent/Quit";
/// Path of the call that ends an agent's run.
pub const INTERRUPT_PATH: &str = "/candor.Agent/Interrupt";
/// Header with the version of the messages.
pub const PROTOCOL_HEADER: &str = "candor-protocol";
/// Header with the version of candor.
pub const VERSION_HEADER: &str = "candor-version";
/// Header with the name of the run, for logs.
pub const RUN_HEADER: &str = "candor-run";
/// Header with the number of the run, the same in all calls of one try to join.
pub const RUN_ID_HEADER: &str = "candor-run-id";
/// Header with the address by which an agent is called.
pub const ADDRESS_HEADER: &str = "candor-address";
/// Longest name of a run, in bytes.
pub const NAME_MAX: usize = 200;
/// Variable of the process of a run: the coordinator's address and the name of the run.
pub const RUN_VARIABLE: &str = "CANDOR_RUN_FOR";
/// Variable of the process of a run: the number of the run.
pub const RUN_ID_VARIABLE: &str = "CANDOR_RUN_ID";
/// Port of an agent, unless another is named.
pub const PORT: u16 = 4730;

/// Longest time to reach an agent, and for its answer to a chore.
const CONNECT_MAX: Duration = Duration::from_secs(5);
/// Time between two tries to reach an agent that is not there yet.
const CONNECT_AGAIN: Duration = Duration::from_millis(200);
/// Messages that wait to be sent over one link.
const DOWN_MAX: usize = 256;
/// Messages of all links that have arrived and wait.
const UP_MAX: usize = 1024;

/// A message that has arrived; dropped, it makes room for another.
pub struct Arrived {
    /// Number of the link.
    pub child: usize,
    /// The message.
    pub arrival: Arrival,
    _room: Option<OwnedSemaphorePermit>,
}

enum Command {
    Connect { child: usize, address: String, wait_ms: u64 },
    Send { child: usize, message: Box<ToAgent> },
    Close { child: usize },
}

/// Links to the children of a node. Dropped, all are closed.
pub struct Links {
    commands: mpsc::UnboundedSender<Command>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Links {
    /// No link yet; `take` gets what arrives, on the thread of the links.
    ///
    /// # Errors
    /// The kernel has no thread or no descriptor left.
    pub fn new(
        identity: Identity,
        take: impl Fn(Arrived) + Clone + Send + Sync + 'static,
    ) -> std::io::Result<Links> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (commands, received) = mpsc::unbounded_channel();
        let body = move || {
            priority::raise();
            runtime.block_on(serve(&identity, received, take));
        };
        let thread = thread::Builder::new().name("candor/links".into()).spawn(body)?;
        Ok(Links { commands, thread: Some(thread) })
    }

    /// Opens a link.
    pub fn connect(&self, child: usize, address: &str, wait_ms: u64) {
        self.command(Command::Connect { child, address: address.to_owned(), wait_ms });
    }

    /// Sends a message over a link.
    pub fn send(&self, child: usize, message: ToAgent) {
        self.command(Command::Send { child, message: Box::new(message) });
    }

    /// Closes a link.
    pub fn close(&self, child: usize) {
        self.command(Command::Close { child });
    }

    fn command(&self, command: Command) {
        // The thread ends when this is dropped, not before.
        let _ = self.commands.send(command);
    }
}

impl Drop for Links {
    fn drop(&mut self) {
        // Without a sender, the thread closes all links.
        self.commands = mpsc::unbounded_channel().0;
        let _ = self.thread.take().map(thread::JoinHandle::join);
    }
}

/// Address with a port.
pub fn with_port(address: &str) -> String {
    let is_bare_v6 = address.matches(':').count() > 1 && !address.contains(']');
    match () {
        () if is_bare_v6 => format!("[{address}]:{PORT}"),
        () if address.rsplit(']').next().is_some_and(|end| end.contains(':')) => address.into(),
        () => format!("{address}:{PORT}"),
    }
}

async fn serve(
    identity: &Identity,
    mut commands: mpsc::UnboundedReceiver<Command>,
    take: impl Fn(Arrived) + Clone + Send + Sync + 'static,
) {
    let (room, run_id) = (Arc::new(Semaphore::new(UP_MAX)), run_id());
    let mut links: HashMap<usize, mpsc::Sender<Frame>> = HashMap::new();
    let mut tasks = tokio::task::JoinSet::new();
    let broken = |child: usize, why: String| {
        take(Arrived { child, arrival: Arrival::Broken(why.into()), _room: None });
    };
    while let Some(command) = commands.recv().await {
        match command {
            Command::Connect { child, address, wait_ms } => {
                let (sender, frames) = mpsc::channel(DOWN_MAX);
                links.insert(child, sender);
                let (identity, room, take) = (identity.clone(), room.clone(), take.clone());
                let run_id = run_id.clone();
                tasks.spawn(async move {
                    let link = Link { child, wait: Duration::from_millis(wait_ms), run_id };
                    let ended = link.follow(&identity, &address, frames, &room, &take).await;
                    let broken = ended.err().unwrap_or_else(|| "the agent ended the run".into());
                    take(Arrived { child, arrival: Arrival::Broken(broken), _room: None });
                });
            }
            Command::Send { child, message } => {
                let Some(link) = links.get(&child) else { continue };
                let sent = match wire::encode(&message) {
                    Ok(body) => link.try_send(Frame { body }).map_err(|error| match error {
                        mpsc::error::TrySendError::Full(_) => {
                            Some(format!("it takes no messages: {DOWN_MAX} wait"))
                        }
                        // Its end is told already.
                        mpsc::error::TrySendError::Closed(_) => None,
                    }),
                    Err(error) => Err(Some(error.to_string())),
                };
                if let Err(Some(why)) = sent {
                    links.remove(&child);
                    broken(child, why);
                }
            }
            Command::Close { child } => drop(links.remove(&child)),
        }
    }
    // Without their senders, the calls end; an agent that does not answer is not waited for.
    links.clear();
    let _ = tokio::time::timeout(Duration::from_millis(500), async {
        while tasks.join_next().await.is_some() {}
    })
    .await;
}

/// Something to do for an agent beside runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chore {
    /// End, and the run that goes on with it.
    Quit,
    /// End the run that goes on.
    Interrupt,
}

impl Chore {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Chore::Quit => "quit",
            Chore::Interrupt => "interrupt its run",
        }
    }
}

/// Has agents do something, one after another; those that did not, each with the reason.
pub fn tell(identity: &Identity, addresses: &[String], chore: Chore) -> Vec<(String, String)> {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return vec![("this host".into(), error.to_string())],
    };
    let told = addresses.iter().filter_map(|address| {
        let told = runtime.block_on(tell_one(identity, address, chore));
        told.err().map(|why| (address.clone(), why))
    });
    told.collect()
}

async fn tell_one(identity: &Identity, address: &str, chore: Chore) -> Result<(), String> {
    let mut grpc = connect(identity, address).await?;
    let path = PathAndQuery::from_static(match chore {
        Chore::Quit => QUIT_PATH,
        Chore::Interrupt => INTERRUPT_PATH,
    });
    let request = Request::new(tokio_stream::empty::<Frame>());
    let codec = ProstCodec::<Frame, Frame>::default();
    // One that is stopped still has connections.
    let told = tokio::time::timeout(CONNECT_MAX, grpc.streaming(request, path, codec)).await;
    told.map_err(|_| no_answer())?.map(drop).map_err(|status| said(&status).why)
}

fn no_answer() -> String {
    format!("no answer within {} s", CONNECT_MAX.as_secs())
}

/// A connection to an agent.
async fn connect(identity: &Identity, address: &str) -> Result<Grpc<Channel>, String> {
    let uri = format!("https://{}", with_port(address));
    let endpoint = Endpoint::from_shared(uri).map_err(|_| format!("`{address}` is no address"))?;
    let endpoint = endpoint
        .connect_timeout(CONNECT_MAX)
        .tcp_nodelay(true)
        .tls_config(identity.client())
        .map_err(|error| refusal(identity, address, &error))?;
    let channel = tokio::time::timeout(CONNECT_MAX, endpoint.connect()).await;
    let channel = channel.map_err(|_| no_answer())?;
    let channel = channel.map_err(|error| refusal(identity, address, &error))?;
    let mut grpc = Grpc::new(channel)
        .max_decoding_message_size(FRAME_MAX + 1024)
        .max_encoding_message_size(FRAME_MAX + 1024);
    grpc.ready().await.map_err(|error| refusal(identity, address, &error))?;
    Ok(grpc)
}

/// Why there is no connection, and the way to one.
fn refusal(
    identity: &Identity,
    address: &str,
    error: &(dyn std::error::Error + 'static),
) -> String {
    let host = host_of(address);
    match Reason::of(error) {
        Reason::OtherKey if identity.is_of_user() => format!(
            "it does not have your key: another user started it, or the key is not on that host, \
             or its candor has another version; `candor fleet keys --to {host}` copies the key \
             there"
        ),
        Reason::OtherKey => "it has other keys; give both ends the same --keys, --token-file, \
                             CANDOR_TOKEN or --svcpwfile, and the same version of candor"
            .into(),
        Reason::Other(why) => why,
    }
}

/// Name of this run for logs of agents: the command, its user and its host; of a run that another
/// host has begun, that one.
fn run_name() -> String {
    let name = std::env::var(RUN_VARIABLE).unwrap_or_else(|_| {
        let mut words: Vec<String> = std::env::args_os().map(|word| word.text()).collect();
        if let Some(program) = words.first_mut() {
            *program = program.rsplit('/').next().unwrap_or_default().to_owned();
        }
        let user = rustix::process::getuid().as_raw();
        let node = rustix::system::uname();
        let host = node.nodename().to_string_lossy();
        format!("`{}` of user {user} on {host}", words.join(" "))
    });
    // Headers take visible characters only.
    name.escape_default().take(NAME_MAX).collect()
}

/// Number of this run for agents; of a run that another host has begun, that one.
fn run_id() -> String {
    std::env::var(RUN_ID_VARIABLE)
        .unwrap_or_else(|_| format!("{:016x}", RandomState::new().build_hasher().finish()))
}

/// A link that is to be made.
struct Link {
    child: usize,
    wait: Duration,
    run_id: String,
}

impl Link {
    /// The connection, once the agent is there.
    async fn connect(&self, identity: &Identity, address: &str) -> Result<Grpc<Channel>, String> {
        let began = Instant::now();
        loop {
            match connect(identity, address).await {
                Err(_) if began.elapsed() < self.wait => tokio::time::sleep(CONNECT_AGAIN).await,
                connected => return connected,
            }
        }
    }

    /// One call, from the connection to its end.
    async fn follow(
        self,
        identity: &Identity,
        address: &str,
        frames: mpsc::Receiver<Frame>,
        room: &Arc<Semaphore>,
        take: &impl Fn(Arrived),
    ) -> Result<(), Broken> {
        let mut grpc = self.connect(identity, address).await?;
        let child = self.child;
        let mut request = Request::new(ReceiverStream::new(frames));
        let headers = request.metadata_mut();
        let mut insert =
            |name, value| headers.insert(name, MetadataValue::<Ascii>::from_static(value));
        insert(PROTOCOL_HEADER, PROTOCOL);
        insert(VERSION_HEADER, env!("CARGO_PKG_VERSION"));
        let names = [
            (RUN_HEADER, run_name()),
            (RUN_ID_HEADER, self.run_id),
            (ADDRESS_HEADER, address.into()),
        ];
        for (header, name) in names {
            if let Ok(name) = MetadataValue::try_from(name) {
                headers.insert(header, name);
            }
        }
        let path = PathAndQuery::from_static(PATH);
        let codec = ProstCodec::<Frame, Frame>::default();
        let answered =
            grpc.streaming(request, path, codec).await.map_err(|status| said(&status))?;
        let mut answers = answered.into_inner();
        while let Some(frame) = answers.next().await {
            let frame = frame.map_err(|status| said(&status))?;
            let message = wire::decode(&frame.body).map_err(|error| error.to_string())?;
            let permit = room.clone().acquire_owned().await.ok();
            let arrival = Arrival::Message(message);
            take(Arrived { child, arrival, _room: permit });
        }
        Ok(())
    }
}

/// The agent's own sentence, or what became of the connection.
fn said(status: &Status) -> Broken {
    match std::error::Error::source(status) {
        Some(source) => format!("the connection broke: {}", Reason::of(source).text()).into(),
        None if status.message().is_empty() => {
            format!("the connection broke ({})", status.code()).into()
        }
        None => {
            let is_busy = status.code() == Code::ResourceExhausted;
            Broken { why: status.message().to_owned(), is_busy }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_get_the_port_where_they_name_none() {
        let cases = [
            ("node1", "node1:4730"),
            ("node1:1611", "node1:1611"),
            ("10.0.0.2", "10.0.0.2:4730"),
            ("fe80::1", "[fe80::1]:4730"),
            ("[fe80::1]", "[fe80::1]:4730"),
            ("[fe80::1]:1611", "[fe80::1]:1611"),
        ];
        for (address, expected) in cases {
            assert_eq!(with_port(address), expected);
        }
    }
}
