//! An agent's server: lets in clients that have the keys, one run at a time, each in a process of
//! its own.
//!
//! The server knows nothing of runs. It passes frames between a call and the process of the run,
//! ends that process when the call ends, and ends the call when the process does.

use std::convert::Infallible;
use std::ffi::OsString;
use std::fmt;
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
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tonic::body::Body;
use tonic::server::{Grpc, StreamingService};
use tonic::transport::Server;
use tonic::{Code, Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;

use crate::allow::Allowed;
use crate::caller::Called;
use crate::identity::Identity;
use crate::link::{
    ADDRESS_HEADER, Chore, INTERRUPT_PATH, NAME_MAX, PATH, PROTOCOL_HEADER, QUIT_PATH, RUN_HEADER,
    RUN_ID_HEADER, RUN_ID_VARIABLE, RUN_VARIABLE, VERSION_HEADER,
};
use crate::message::{self, PROTOCOL, ToAgent};
use crate::priority;
use crate::secret::{KeyError, UserKey};
use crate::wire::{self, FRAME_MAX, Frame};

use crate::log::AgentLog;
use door::Keys;

pub mod door;

/// Time between two looks at refusals that repeat.
const FOLD_AGAIN: Duration = Duration::from_secs(5);
/// Frames that wait for one end of a call.
const QUEUE_MAX: usize = 256;
/// Time that the process of a run has to end without using a CPU, once nobody leads it: one that
/// removes many files uses it.
const IDLE_MAX: Duration = Duration::from_secs(6);
/// Time that it has in all.
const CLEAN_UP_MAX: Duration = Duration::from_secs(600);

/// Longest time for processes to end that outlive the programs of jobs.
const DESCENDANTS_MAX: Duration = Duration::from_secs(2);

/// Options of an agent.
pub struct Options {
    /// Program and words of the process of a run.
    pub session: SessionCommand,
    /// Paths that it serves: where a run's process was killed, its files are removed there.
    pub allowed: Allowed,
    /// Ends with its first run.
    pub once: bool,
    /// The file that the keys come from, where they belong to this user: a new key there counts
    /// from then on.
    pub user_key: Option<UserKey>,
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
    log: impl Fn(&str) + Send + 'static,
) -> Result<(), ServeError> {
    let keys = Keys::new(identity, options.user_key.clone())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(ServeError::Runtime)?;
    let (log, thread) = AgentLog::new(log).map_err(ServeError::Runtime)?;
    priority::raise();
    let served = runtime.block_on(serve_on(listening, keys, options, log.clone()));
    // Tasks that are left have clones of the log.
    drop(runtime);
    log.fold(true);
    drop(log);
    let _ = thread.join();
    served
}

async fn serve_on(
    listening: Listening,
    keys: Keys,
    options: Options,
    log: AgentLog,
) -> Result<(), ServeError> {
    let listener = TcpListener::from_std(listening.0).map_err(ServeError::Runtime)?;
    if let Ok(at) = listener.local_addr() {
        log.line(&format!("candor agent {} listens on {at}", env!("CARGO_PKG_VERSION")));
    }
    let (connections, accepted) = mpsc::channel(1);
    tokio::spawn(door::accept(listener, keys, connections, log.clone()));
    let agent = Agent {
        options: Arc::new(options),
        log: log.clone(),
        busy: Arc::default(),
        has: Arc::default(),
        ended: Arc::new(Semaphore::new(0)),
        interrupt: Arc::default(),
    };
    let ended = agent.ended.clone();
    let (busy, interrupt) = (agent.busy.clone(), agent.interrupt.clone());
    let stop = {
        let log = log.clone();
        async move {
            let reason = tokio::select! {
                signal = signal() => signal,
                _ = ended.acquire() => "no more is to come",
            };
            log.line(&format!("candor agent ends: {reason}"));
        }
    };
    let incoming = ReceiverStream::new(accepted);
    let server = Server::builder().max_concurrent_streams(4).concurrency_limit_per_connection(4);
    tokio::select! {
        // Connections that idle would keep a graceful end waiting.
        () = stop => {}
        () = fold(&log) => {}
        _ = server.serve_with_incoming(agent, incoming) => {}
    }
    // Calls live as long as the runtime does; a run in progress cleans up before that, and what is
    // left of one that was killed is removed for it.
    interrupt.notify_waiters();
    tokio::select! {
        _ = busy.lock() => {}
        reason = signal() => log.line(&format!("ends at once: {reason} again")),
    }
    Ok(())
}

/// Writes the counts of refusals that repeat, for ever.
async fn fold(log: &AgentLog) {
    loop {
        tokio::time::sleep(FOLD_AGAIN).await;
        log.fold(false);
    }
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

/// The service: one call, [`PATH`].
#[derive(Clone)]
struct Agent {
    options: Arc<Options>,
    log: AgentLog,
    /// Held by the run that goes on.
    busy: Arc<Mutex<()>>,
    /// The run in progress, and its start.
    has: Arc<std::sync::Mutex<Option<(RunName, Instant)>>>,
    /// Gets a permit when the agent is to end.
    ended: Arc<Semaphore>,
    /// Ends the run that goes on.
    interrupt: Arc<Notify>,
}

/// A run as the log names it.
#[derive(Clone, Debug)]
struct RunName {
    peer: SocketAddr,
    name: String,
    /// The same in all calls of one try to join.
    id: String,
    /// Address by which this agent was called.
    called: String,
}

/// Value of a header of a call.
fn header(request: &Request<Streaming<Frame>>, name: &str) -> String {
    let value = request.metadata().get(name);
    value.and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}, {}", self.peer, self.name)
    }
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
        let called = request.extensions().get::<Called>().cloned().unwrap_or_default();
        called.set();
        let agent = self.clone();
        let chore = match request.uri().path() {
            QUIT_PATH => Some(Chore::Quit),
            INTERRUPT_PATH => Some(Chore::Interrupt),
            _ => None,
        };
        if let Some(chore) = chore {
            self.chore(chore, called.peer());
            let answer = Status::ok("").into_http();
            return Box::pin(ready(Ok(answer)));
        }
        if request.uri().path() != PATH {
            let path = request.uri().path();
            self.log.refused(called.peer(), &format!("it called `{path}`"));
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
        let called = request.extensions().get::<Called>().cloned().unwrap_or_default();
        Box::pin(async move {
            let begun = agent.begin(request, called.peer());
            begun.map(Response::new).inspect_err(|status| {
                agent.log.refused(called.peer(), status.message());
            })
        })
    }
}

impl Agent {
    /// Does what a coordinator asks beside runs.
    fn chore(&self, chore: Chore, peer: SocketAddr) {
        self.log.line(&format!("told to {} by {peer}", chore.word()));
        // Its call ends like that of a coordinator that is gone: the run cleans up.
        self.interrupt.notify_waiters();
        if chore == Chore::Quit {
            self.ended.add_permits(1);
        }
    }

    /// Starts the process of a run, where nothing speaks against it.
    fn begin(
        &self,
        request: Request<Streaming<Frame>>,
        peer: SocketAddr,
    ) -> Result<Answers, Status> {
        let header = |name: &str| header(&request, name);
        let (protocol, version) = (header(PROTOCOL_HEADER), header(VERSION_HEADER));
        if protocol != PROTOCOL {
            let own = env!("CARGO_PKG_VERSION");
            return Err(Status::failed_precondition(format!(
                "this agent is of candor {own} and speaks version {PROTOCOL} of the protocol, the \
                 coordinator is of candor {version} and speaks {protocol}; install the same \
                 build on all hosts"
            )));
        }
        let short = |name: &str| {
            let mut text = header(name);
            text.truncate(text.floor_char_boundary(NAME_MAX));
            text
        };
        let id = short(RUN_ID_HEADER);
        let Ok(busy) = self.busy.clone().try_lock_owned() else {
            return Err(self.has_another(&id));
        };
        let (name, called) = (short(RUN_HEADER), short(ADDRESS_HEADER));
        let name = RunName { peer, name, id, called };
        let Started { child, stdin, stdout, descendants } = self.start(&name)?;
        let pid = child.id().unwrap_or(0);
        self.log.line(&format!("run begun, process {pid}, for {name}, candor {version}"));
        *self.has() = Some((name.clone(), Instant::now()));
        let (answers, frames) = mpsc::channel(QUEUE_MAX);
        let run = Run { agent: self.clone(), _busy: busy, name, child, descendants, answers };
        tokio::spawn(run.supervise(request.into_inner(), stdin, stdout));
        Ok(ReceiverStream::new(frames))
    }

    fn has(&self) -> std::sync::MutexGuard<'_, Option<(RunName, Instant)>> {
        self.has.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Refusal of a second run at a time, or of a second place in a run.
    fn has_another(&self, id: &str) -> Status {
        if let Some((run, _)) = &*self.has()
            && run.id == id
            && !id.is_empty()
        {
            let message =
                format!("this agent is host {} of the run already; name it once", run.called);
            return Status::already_exists(message);
        }
        let of = match &*self.has() {
            Some((name, since)) => {
                format!(", led by {name}, for {} s", since.elapsed().as_secs())
            }
            None => String::new(),
        };
        Status::resource_exhausted(format!("this agent has another run{of}; wait for its end"))
    }

    /// Starts the process of a run.
    fn start(&self, name: &RunName) -> Result<Started, Status> {
        let SessionCommand { program, words, variables } = &self.options.session;
        let mut command = Command::new(program);
        let descendants = Descendants::adopt();
        let (variable, value) = descendants.variable();
        command.envs(variables.iter().cloned()).env(variable, value);
        command.env(RUN_VARIABLE, name.to_string()).env(RUN_ID_VARIABLE, &name.id);
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
        Ok(Started { child, stdin, stdout, descendants })
    }
}

/// A process of a run that has started.
struct Started {
    child: Child,
    stdin: ChildStdin,
    stdout: ChildStdout,
    descendants: Descendants,
}

/// A run that goes on.
struct Run {
    agent: Agent,
    _busy: OwnedMutexGuard<()>,
    name: RunName,
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
        self.agent.log.line(&format!("run ended: {why}; {how}; for {}", self.name));
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

    /// Ends the processes that outlive the programs of jobs, also those that left the group of
    /// the run. This process is their parent by now.
    async fn end_descendants(&self, group: Pid) {
        let until = Instant::now() + DESCENDANTS_MAX;
        loop {
            let reaped = waitpgid(group, WaitOptions::NOHANG);
            // Processes that end leave others, which are searched last.
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
            self.agent.log.line(&format!("{}: {}; {}", note.asked, note.did, note.why));
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
