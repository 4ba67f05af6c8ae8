//! An agent's server: lets in who has keys, one run at a time, each in a process of its own.
//!
//! The server knows nothing of runs. It passes frames between a call and the process of the run,
//! ends that process when the call ends, and ends the call when the process does.

use std::convert::Infallible;
use std::ffi::OsString;
use std::future::{Future, ready};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use candor_compute::Descendants;
use candor_plan::Plan;
use candor_run::Control;
use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, waitpgid};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{Mutex, Notify, OwnedMutexGuard, Semaphore, mpsc};
use tokio_rustls::TlsAcceptor;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tonic::body::Body;
use tonic::server::{Grpc, StreamingService};
use tonic::transport::Server;
use tonic::{Code, Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;

use crate::allow::Allowed;
use crate::caller::{Called, Caller, Log};
use crate::identity::{Identity, KeyError};
use crate::link::{Chore, INTERRUPT_PATH, PATH, PROTOCOL_HEADER, QUIT_PATH, VERSION_HEADER};
use crate::message::{self, PROTOCOL, ToAgent};
use crate::wire::{self, FRAME_MAX, Frame};

/// Handshakes at a time; whoever comes meanwhile waits in the kernel's queue.
const HANDSHAKES_MAX: usize = 64;
/// Longest time for a handshake.
const HANDSHAKE_MAX: Duration = Duration::from_secs(5);
/// Frames that wait for one end of a call.
const QUEUE_MAX: usize = 256;
/// Time that the process of a run has to end without using a CPU, once nobody leads it: one that
/// removes many files uses it.
const IDLE_MAX: Duration = Duration::from_secs(6);
/// Time that it has in all.
const CLEAN_UP_MAX: Duration = Duration::from_secs(600);

/// Longest time for processes to end that programs of jobs have left behind.
const DESCENDANTS_MAX: Duration = Duration::from_secs(2);

/// Options of an agent.
pub struct Options {
    /// Program and words of the process of a run.
    pub session: SessionCommand,
    /// Paths that it serves: where a run's process was killed, its files are removed there.
    pub allowed: Allowed,
    /// Ends with its first run.
    pub once: bool,
}

/// The process of a run.
#[derive(Clone, Debug, Default)]
pub struct SessionCommand {
    /// Program.
    pub program: PathBuf,
    /// Words behind the program.
    pub words: Vec<OsString>,
    /// Variables that are set for it.
    pub variables: Vec<(OsString, OsString)>,
}

/// Why an agent cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// No usable keys.
    #[error(transparent)]
    Keys(#[from] KeyError),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {cause}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The kernel's answer.
        cause: io::Error,
    },
    /// The kernel has no thread or no descriptor left.
    #[error("cannot serve: {0}")]
    Runtime(io::Error),
}

/// A socket on which an agent waits for coordinators.
pub struct Listening(std::net::TcpListener);

impl Listening {
    /// Listens on an address; port 0 takes a free one.
    ///
    /// # Errors
    /// It is taken, or none of this host.
    pub fn on(address: SocketAddr) -> Result<Listening, ServeError> {
        let listen = |cause| ServeError::Listen { address, cause };
        let listener = std::net::TcpListener::bind(address).map_err(listen)?;
        listener.set_nonblocking(true).map_err(listen)?;
        Ok(Listening(listener))
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.0.local_addr().map_or(0, |address| address.port())
    }
}

/// Serves until a signal ends it; `log` gets one line for each thing that happens.
///
/// # Errors
/// Nothing can be served.
pub fn serve(
    listening: Listening,
    identity: &Identity,
    options: Options,
    log: impl Fn(&str) + Send + Sync + 'static,
) -> Result<(), ServeError> {
    let config = Arc::new(identity.server()?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(ServeError::Runtime)?;
    runtime.block_on(async {
        let listener = TcpListener::from_std(listening.0).map_err(ServeError::Runtime)?;
        let log: Log = Arc::new(log);
        if let Ok(at) = listener.local_addr() {
            log(&format!("candor agent {} listens on {at}", env!("CARGO_PKG_VERSION")));
        }
        let (connections, accepted) = mpsc::channel(1);
        tokio::spawn(accept(listener, TlsAcceptor::from(config), connections, log.clone()));
        let agent = Agent {
            options: Arc::new(options),
            log: log.clone(),
            busy: Arc::default(),
            ended: Arc::new(Semaphore::new(0)),
            interrupt: Arc::default(),
        };
        let ended = agent.ended.clone();
        let (busy, interrupt) = (agent.busy.clone(), agent.interrupt.clone());
        let told = log.clone();
        let stop = async move {
            let reason = tokio::select! {
                signal = signal() => signal,
                _ = ended.acquire() => "no more is to come",
            };
            told(&format!("candor agent ends: {reason}"));
        };
        let incoming = ReceiverStream::new(accepted);
        let server =
            Server::builder().max_concurrent_streams(4).concurrency_limit_per_connection(4);
        tokio::select! {
            // Connections that idle would keep a graceful end waiting.
            () = stop => {}
            _ = server.serve_with_incoming(agent, incoming) => {}
        }
        // Calls live as long as the runtime does; a run that goes on cleans up before that, and
        // what is left of one that was killed is removed for it.
        interrupt.notify_waiters();
        tokio::select! {
            _ = busy.lock() => {}
            reason = signal() => log(&format!("ends at once: {reason} again")),
        }
        Ok(())
    })
}

async fn signal() -> &'static str {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => "interrupted",
        _ = terminate.recv() => "terminated",
    }
}

/// Lets in whoever has keys, and logs one line for everyone else.
async fn accept(
    listener: TcpListener,
    tls: TlsAcceptor,
    connections: mpsc::Sender<io::Result<Caller>>,
    log: Log,
) {
    let room = Arc::new(Semaphore::new(HANDSHAKES_MAX));
    loop {
        let Ok(permit) = room.clone().acquire_owned().await else { return };
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                // Without descriptors, whoever waits is let in when others have left.
                log(&format!("cannot accept: {error}"));
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let (tls, connections, log) = (tls.clone(), connections.clone(), log.clone());
        tokio::spawn(async move {
            let _ = stream.set_nodelay(true);
            let shaken = tokio::time::timeout(HANDSHAKE_MAX, tls.accept(stream)).await;
            drop(permit);
            match shaken {
                Ok(Ok(stream)) => {
                    let caller = Caller::new(stream, peer, log);
                    drop(connections.send(Ok(caller)).await);
                }
                Ok(Err(error)) => log(&format!("refused {peer}: {error}")),
                Err(_) => log(&format!("refused {peer}: no handshake within 5 s")),
            }
        });
    }
}

/// The service: one call, [`PATH`].
#[derive(Clone)]
struct Agent {
    options: Arc<Options>,
    log: Log,
    /// Held by the run that goes on.
    busy: Arc<Mutex<()>>,
    /// Gets a permit when the agent is to end.
    ended: Arc<Semaphore>,
    /// Ends the run that goes on.
    interrupt: Arc<Notify>,
}

type Answers = ReceiverStream<Result<Frame, Status>>;

impl tower_service::Service<http::Request<Body>> for Agent {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        request.extensions().get::<Called>().into_iter().for_each(Called::set);
        let agent = self.clone();
        let chore = match request.uri().path() {
            QUIT_PATH => Some(Chore::Quit),
            INTERRUPT_PATH => Some(Chore::Interrupt),
            _ => None,
        };
        if let Some(chore) = chore {
            self.chore(chore);
            let answer = Status::ok("").into_http();
            return Box::pin(ready(Ok(answer)));
        }
        if request.uri().path() != PATH {
            (self.log)(&format!("refused a call of `{}`", request.uri().path()));
            let status = Status::unimplemented("an agent of candor has one call, candor.Agent/Run");
            return Box::pin(ready(Ok(status.into_http())));
        }
        Box::pin(async move {
            let mut grpc = Grpc::new(ProstCodec::<Frame, Frame>::default())
                .max_decoding_message_size(FRAME_MAX + 1024)
                .max_encoding_message_size(FRAME_MAX + 1024);
            Ok(grpc.streaming(agent, request).await)
        })
    }
}

impl StreamingService<Frame> for Agent {
    type Response = Frame;
    type ResponseStream = Answers;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Answers>, Status>> + Send>>;

    fn call(&mut self, request: Request<Streaming<Frame>>) -> Self::Future {
        let agent = self.clone();
        Box::pin(async move {
            let begun = agent.begin(request).await;
            begun.map(Response::new).inspect_err(|status| {
                (agent.log)(&format!("refused a run: {}", status.message()));
            })
        })
    }
}

impl Agent {
    /// Does what a coordinator asks beside runs.
    fn chore(&self, chore: Chore) {
        (self.log)(&format!("told to {}", chore.word()));
        // Its call ends like that of a coordinator that is gone: the run cleans up.
        self.interrupt.notify_waiters();
        if chore == Chore::Quit {
            self.ended.add_permits(1);
        }
    }

    /// Starts the process of a run, where nothing speaks against it.
    async fn begin(&self, request: Request<Streaming<Frame>>) -> Result<Answers, Status> {
        let header = |name: &str| {
            let value = request.metadata().get(name);
            value.and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
        };
        let (protocol, version) = (header(PROTOCOL_HEADER), header(VERSION_HEADER));
        if protocol != PROTOCOL {
            let own = env!("CARGO_PKG_VERSION");
            return Err(Status::failed_precondition(format!(
                "this agent is of candor {own} and speaks version {PROTOCOL} of the protocol, the \
                 coordinator is of candor {version} and speaks {protocol}; install the same \
                 build on all hosts"
            )));
        }
        let Ok(busy) = self.busy.clone().try_lock_owned() else {
            return Err(Status::unavailable("this agent has another run; wait for its end"));
        };
        let SessionCommand { program, words, variables } = &self.options.session;
        let mut command = Command::new(program);
        let descendants = Descendants::adopt();
        command
            .envs(variables.iter().cloned())
            .env(descendants.variable().0, descendants.variable().1);
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        // A Ctrl-C in the agent's terminal is the agent's: it ends its run.
        command.process_group(0);
        let mut child = command.spawn().map_err(|error| {
            Status::internal(format!("cannot start `{}`: {error}", program.display()))
        })?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let Some((stdin, stdout)) = pipes else {
            return Err(Status::internal("the process of the run has no pipes"));
        };
        let pid = child.id().unwrap_or(0);
        (self.log)(&format!("run begun, process {pid}, coordinator of candor {version}"));
        let (answers, frames) = mpsc::channel(QUEUE_MAX);
        let run = Run { agent: self.clone(), _busy: busy, child, descendants, answers };
        tokio::spawn(run.supervise(request.into_inner(), stdin, stdout));
        Ok(ReceiverStream::new(frames))
    }
}

/// A run that goes on.
struct Run {
    agent: Agent,
    _busy: OwnedMutexGuard<()>,
    child: Child,
    /// Processes that programs of its jobs start.
    descendants: Descendants,
    answers: mpsc::Sender<Result<Frame, Status>>,
}

impl Run {
    /// Passes frames in both directions until one end is gone, then sees the other one off.
    async fn supervise(mut self, calls: Streaming<Frame>, stdin: ChildStdin, stdout: ChildStdout) {
        let mut plan = None;
        let (down, up) = (pass_down(calls, stdin, &mut plan), pass_up(stdout, &self.answers));
        let why = tokio::select! {
            ended = down => ended,
            ended = up => ended,
            () = self.agent.interrupt.notified() => Some("it was interrupted".into()),
        };
        // Its input is closed by now: it cleans up and ends.
        let how = self.end().await;
        let why = why.unwrap_or_else(|| how.clone());
        (self.agent.log)(&format!("run ended: {why}; {how}"));
        if !how.starts_with("exit status: 0") {
            let sentence = format!("the process of the run ended: {how}");
            // Nobody may be left to hear it.
            let _ = self.answers.try_send(Err(Status::new(Code::Aborted, sentence)));
        }
        if !how.starts_with("exit status") {
            self.remove_files(plan).await;
        }
        if self.agent.options.once {
            self.agent.ended.add_permits(1);
        }
    }
}

impl Run {
    /// Waits for the end of the process, and ends what it started; how it ended.
    async fn end(&mut self) -> String {
        let group = self.child.id().and_then(|pid| Pid::from_raw(pid as i32));
        let (began, mut idle_since, mut used) = (Instant::now(), Instant::now(), None);
        let how = loop {
            match tokio::time::timeout(Duration::from_millis(500), self.child.wait()).await {
                Ok(Ok(status)) => break status.to_string(),
                Ok(Err(error)) => break error.to_string(),
                Err(_) => {}
            }
            let uses = group.and_then(cpu_ticks);
            if uses != std::mem::replace(&mut used, uses) {
                idle_since = Instant::now();
            }
            if idle_since.elapsed() >= IDLE_MAX || began.elapsed() >= CLEAN_UP_MAX {
                let _ = self.child.kill().await;
                break "killed, since it did not end".into();
            }
        };
        if let Some(group) = group {
            // Programs of jobs are of its group; most often there is none any more.
            let _ = kill_process_group(group, Signal::KILL);
            self.end_descendants(group).await;
        }
        how
    }

    /// Ends the processes that programs of jobs have left behind, also those that left the group of
    /// the run. This process is their parent by now.
    async fn end_descendants(&self, group: Pid) {
        let until = Instant::now() + DESCENDANTS_MAX;
        loop {
            let reaped = waitpgid(group, WaitOptions::NOHANG);
            // Those that end leave others, which are looked for last.
            let is_over = reaped.is_err() && self.descendants.kill(&[]);
            if is_over || Instant::now() >= until {
                return;
            }
            if matches!(reaped, Ok(Some(_))) {
                continue;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Removes the files that a killed process has left, as far as this agent serves their places.
    async fn remove_files(&self, plan: Option<Plan>) {
        let Some(mut plan) = plan else { return };
        let allowed = &self.agent.options.allowed;
        plan.targets.retain(|target| allowed.path(&target.path).is_ok());
        let removed = tokio::task::spawn_blocking(move || {
            candor_run::remove_leftovers(&plan, &Control::default())
        });
        for note in removed.await.unwrap_or_default() {
            (self.agent.log)(&format!("{}: {}; {}", note.asked, note.did, note.why));
        }
    }
}

/// CPU time of a process, in ticks; none where it has ended.
fn cpu_ticks(process: Pid) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Its name may have blanks.
    let (_, fields) = stat.rsplit_once(')')?;
    let (user, system) = (fields.split(' ').nth(12)?, fields.split(' ').nth(13)?);
    Some(user.parse::<u64>().ok()? + system.parse::<u64>().ok()?)
}

/// From the call to the process, noting the plan that passes; the reason of the end.
async fn pass_down(
    mut calls: Streaming<Frame>,
    mut stdin: ChildStdin,
    plan: &mut Option<Plan>,
) -> Option<String> {
    loop {
        let body = match calls.next().await {
            Some(Ok(frame)) => frame.body,
            Some(Err(status)) => return Some(format!("the call broke: {}", status.message())),
            None => return Some("the coordinator has ended it".into()),
        };
        let length = (body.len() as u32).to_le_bytes();
        if stdin.write_all(&length).await.is_err() || stdin.write_all(&body).await.is_err() {
            return None;
        }
        if let Ok(ToAgent::Request { request, .. }) = wire::decode(&body) {
            match request {
                message::Request::Open { plan: opened, .. } => *plan = Some(*opened),
                message::Request::Prepare { task, .. } => *plan = task.plan.or(plan.take()),
                _ => {}
            }
        }
    }
}

/// From the process to the call; the reason of the end.
async fn pass_up(
    stdout: ChildStdout,
    answers: &mpsc::Sender<Result<Frame, Status>>,
) -> Option<String> {
    let mut stdout = BufReader::new(stdout);
    loop {
        let length = stdout.read_u32_le().await.ok()? as usize;
        if length > FRAME_MAX {
            return Some(format!("its process sent a message of {length} bytes"));
        }
        let mut body = vec![0; length];
        stdout.read_exact(&mut body).await.ok()?;
        let sent = answers.send(Ok(Frame { body: body.into() })).await;
        if sent.is_err() {
            return Some("the coordinator is gone".into());
        }
    }
}

#[cfg(test)]
mod tests;
