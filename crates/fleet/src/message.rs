//! Messages between a coordinator and its agents.
//!
//! Messages are documents in JSON, with the types of plan and report: their versions are those of
//! the report. A [`Frame`](crate::wire) carries one.

use std::path::PathBuf;

use candor_plan::{Phase, Plan};
use candor_record::{Event, HostRecord, Measurement, Note};
use candor_run::BlockTraceMode;
use candor_s3::vault::SentKeys;
use serde::{Deserialize, Serialize};

/// Version of these messages and, behind the point, a fingerprint of the schema of reports, which
/// have the plan in them. Both ends of a link have the same.
pub const PROTOCOL: &str = concat!("3.", env!("CANDOR_SCHEMA"));

/// From whoever leads to an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToAgent {
    /// Something to do; one [`FromAgent::Reply`] with that number answers it.
    Request {
        /// Number of the request.
        id: u64,
        /// The task.
        request: Request,
    },
    /// The phase that is ready begins at that moment of the receiver's clock, in ns.
    Start {
        /// The moment.
        at_ns: u64,
    },
    /// The phase that is ready will not begin.
    Discard,
    /// A command to the run.
    Word(Word),
    /// The first worker of a job has ended on some host.
    FirstDone {
        /// Index of the job.
        job: usize,
    },
    /// All workers of a job go on to that count.
    Furthest {
        /// Index of the job.
        job: usize,
        /// Operations of the furthest worker of all hosts.
        ops: u64,
    },
    /// The workers of all hosts have ended.
    AllEnded,
    /// A sign of life, and one half of a measurement of the clock.
    Ping {
        /// Moment of sending, in ns of the sender's clock.
        sent_ns: u64,
    },
}

/// A command to a run that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// The user interrupts.
    Stop,
    /// The run ends as if the plan had asked for no more.
    End,
    /// The phase ends as if its time were up.
    EndPhase,
}

/// Something that each host does and answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Take a place among the hosts of a run, and lead the agents below.
    Join(Join),
    /// Put a probe into the directory of each path, to be seen by hosts that share it.
    Probe {
        /// Paths of the targets, as text.
        paths: Vec<String>,
        /// Name that the probes of this run begin with.
        name: String,
    },
    /// Look whose probes can be seen, and take away one's own after that.
    Seen,
    /// Look at a path before there is a plan.
    Survey {
        /// The path.
        #[serde(with = "candor_plan::path_text::as_text")]
        path: PathBuf,
    },
    /// Admit a plan, and inspect the host. Hosts of later rounds wait for those before.
    Open {
        /// The plan.
        plan: Box<Plan>,
        /// Keys of object stores that the user gave to the coordinator, and that the plan names.
        #[serde(default)]
        keys: Vec<SentKeys>,
        /// Round in which this happens.
        round: u32,
    },
    /// Make a phase ready.
    Prepare {
        /// The phase.
        task: Box<PhaseTask>,
        /// Round in which this happens.
        round: u32,
    },
    /// Results of the phase that was started, once it has ended on all hosts.
    Collect,
    /// Results so far of the phase that runs.
    Interim,
    /// Measure how fast memory copies.
    MeasureMemory,
    /// Remove what the run made.
    Close,
}

/// A host's place in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Join {
    /// Number of the run, to tell probes and logs apart.
    pub run: String,
    /// Number of the receiver among all hosts.
    pub host: u32,
    /// Number of hosts of the run.
    pub hosts: u32,
    /// Address under which the receiver is known.
    pub address: String,
    /// Hosts are named by their addresses without ports: no two are the same.
    pub names_without_ports: bool,
    /// Agents that are not there yet are waited for so long, in ms.
    pub wait_ms: u64,
    /// Silence after which a host is lost, in ms.
    pub host_timeout_ms: u64,
    /// Addresses of the hosts that the receiver leads; their numbers follow its own.
    pub below: Vec<String>,
    /// Devices that may be written although they are held, where the agent consents to it.
    pub force: Vec<String>,
    /// Leave out what makes a run slower to start.
    pub at_once: bool,
    /// How many requests of the devices are traced.
    pub block_trace: BlockTraceMode,
}

impl Join {
    /// Name of the receiver in the report.
    pub fn name(&self) -> &str {
        if self.names_without_ports { host_of(&self.address) } else { &self.address }
    }
}

/// An address without its port.
pub fn host_of(address: &str) -> &str {
    match address.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
            // Colons without brackets are an address of IPv6 that names no port.
            if host.contains(':') && !host.ends_with(']') { address } else { host }
        }
        _ => address,
    }
}

/// A phase to make ready.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PhaseTask {
    /// The plan whose targets it uses, where that has changed since the last request.
    pub plan: Option<Plan>,
    /// The phase.
    pub phase: Phase,
    /// Index of the phase of the plan, where it is one of it as it stands there.
    pub index: Option<usize>,
    /// Times that it ran before.
    pub repeat: u32,
    /// A short trial on what an earlier phase left.
    pub follow_up: bool,
}

/// From an agent to whoever leads it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromAgent {
    /// Answer to a request, of all hosts of this agent.
    Reply {
        /// Number of the request.
        id: u64,
        /// The answer.
        reply: Reply,
    },
    /// Something happened.
    Event(Box<Event>),
    /// The first worker of a job has ended.
    FirstDone {
        /// Index of the job.
        job: usize,
    },
    /// Time is up, and the furthest worker of all hosts of this agent has come so far.
    Furthest {
        /// Index of the job.
        job: usize,
        /// Operations of that worker.
        ops: u64,
    },
    /// The workers of all hosts of this agent have ended.
    Ended,
    /// Hosts are lost.
    Lost(Vec<Failure>),
    /// A host was silent, and is heard again.
    Stalled(Stall),
    /// Answer to a ping.
    Pong {
        /// Moment at which the ping was sent, in ns of the leader's clock.
        sent_ns: u64,
        /// Moment at which it arrived, in ns of the agent's clock.
        received_ns: u64,
    },
}

/// Answer of hosts to a request; answers of several hosts join in the order of their numbers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Reply {
    /// Hosts that joined, or their records after they were inspected or after a phase.
    pub hosts: Vec<HostRecord>,
    /// Sum of the hosts' measurements, one per job.
    pub measurements: Vec<Measurement>,
    /// Notes.
    pub notes: Vec<Note>,
    /// Each host's kernel, by the number that it drew when it booted.
    pub kernels: Vec<(u32, String)>,
    /// For each host and each path that was probed, the lowest number of a host that sees the same.
    pub seen: Vec<(u32, Vec<u32>)>,
    /// A path as each host sees it.
    pub surveys: Vec<SurveyReply>,
    /// False where some host works on files that the run did not make.
    pub owns: Option<bool>,
    /// Failures, by host.
    pub failures: Vec<Failure>,
}

/// A path as a host sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SurveyReply {
    /// The path without links.
    #[serde(with = "candor_plan::path_text::as_text")]
    pub path: PathBuf,
    /// Kind of what stands there.
    pub kind: candor_record::facts::PathKind,
    /// Length of a file or a block device.
    pub length_bytes: Option<u64>,
    /// `O_DIRECT` is possible there.
    pub takes_direct: bool,
    /// Name of the best asynchronous engine of the host.
    pub engine: candor_plan::Engine,
    /// Filesystem, its bytes, those that are free, and its free inodes.
    pub space: Option<(u64, u64, u64, u64)>,
}

/// Something that went wrong on a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Failure {
    /// Number of the host.
    pub host: u32,
    /// Address of the host.
    pub address: String,
    /// One sentence.
    pub why: String,
    /// Exit code that belongs to it.
    pub exit_code: u8,
    /// The agent has another run, which will end.
    pub is_busy: bool,
    /// Time since the host was last heard, in ns.
    pub heard_ago_ns: u64,
}

/// A host that was silent and is heard again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stall {
    /// Number of the host.
    pub host: u32,
    /// Length of its silence, in ns.
    pub silent_ns: u64,
}

impl Reply {
    /// A reply that only tells a failure.
    pub fn failed(failure: Failure) -> Reply {
        Reply { failures: vec![failure], ..Reply::default() }
    }

    /// Adds the answer of the hosts that follow.
    pub fn join(&mut self, next: Reply) {
        self.hosts.extend(next.hosts);
        self.notes.extend(next.notes);
        self.kernels.extend(next.kernels);
        self.seen.extend(next.seen);
        self.surveys.extend(next.surveys);
        self.failures.extend(next.failures);
        self.owns = match (self.owns, next.owns) {
            (Some(mine), Some(theirs)) => Some(mine && theirs),
            (mine, theirs) => mine.or(theirs),
        };
        if self.measurements.is_empty() {
            self.measurements = next.measurements;
        } else {
            let pairs = self.measurements.iter_mut().zip(next.measurements);
            pairs.for_each(|(mine, theirs)| mine.merge(theirs));
        }
    }
}
