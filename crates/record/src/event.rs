//! Everything that happens in a run, in order.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Ceiling, Finding, HostSample, JobSample, Note, PhaseRecord, Report, Verdict};

/// One thing that happened. Screens, streams and logs are its consumers.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The run began.
    RunStarted {
        /// Name.
        name: String,
        /// Number of phases it will run.
        phases: usize,
        /// How long it will take, where that is known.
        expected_ns: Option<u64>,
    },
    /// Something is made ready; not measured.
    Preparing {
        /// The phase.
        phase: String,
        /// Kind of preparation.
        step: PrepareStep,
        /// Path or target.
        what: String,
        /// Bytes done so far.
        bytes_done: u64,
        /// Bytes to do, 0 where that is unknown.
        bytes_total: u64,
    },
    /// The barrier of a phase was released.
    PhaseStarted {
        /// Name.
        phase: String,
        /// Place in the list, from 0.
        index: usize,
        /// A step of a search: one of those whose number nobody knows beforehand.
        #[serde(default)]
        search_step: bool,
        /// How long it will take, ramp included, where that is known.
        expected_ns: Option<u64>,
        /// Ceilings of the path that are known before anything is measured.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ceilings: Vec<Ceiling>,
    },
    /// An interval of a phase ended.
    Sampled {
        /// The phase.
        phase: String,
        /// True during the ramp.
        in_ramp: bool,
        /// The jobs that were at work in it.
        samples: Vec<JobSample>,
        /// Counters of each host meanwhile, in the order of their numbers.
        hosts: Vec<HostSample>,
    },
    /// A worker did all that was asked of it.
    WorkerDone {
        /// The phase.
        phase: String,
        /// The job.
        job: String,
        /// Number within the job.
        rank: u32,
    },
    /// The results so far, on request.
    Interim {
        /// The report as if the run had been interrupted now. Nothing in the phase that
        /// runs has been judged.
        report: Box<Report>,
    },
    /// A phase was judged; its findings and its end follow.
    PhaseJudged {
        /// The phase.
        phase: String,
        /// Whether its result can be believed.
        verdict: Verdict,
        /// The verdict in one line.
        headline: String,
    },
    /// A phase ended.
    PhaseDone {
        /// The record of the phase, as the report will have it.
        record: Box<PhaseRecord>,
    },
    /// A diagnosis.
    Found {
        /// The phase.
        phase: String,
        /// The diagnosis.
        finding: Box<Finding>,
    },
    /// Something to know before a phase is measured.
    Warned {
        /// One sentence, with a remedy.
        sentence: String,
    },
    /// A difference between what runs and what was asked.
    Noted {
        /// The difference.
        note: Note,
    },
    /// The run ended.
    RunDone {
        /// Verdict of the run.
        verdict: Verdict,
        /// The user interrupted the run.
        interrupted: bool,
    },
}

/// Work before and between phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PrepareStep {
    /// Memory is occupied, so that less is left to the page cache.
    OccupyMemory,
    /// Host and devices are inspected.
    Inspect,
    /// Missing bytes of files are written.
    LayOut,
    /// Files are flushed and dropped from the cache.
    Evict,
    /// Workers open files, allocate buffers, set up rings.
    SetUp,
    /// Files are removed.
    CleanUp,
    /// A short trial of other work, to tell what limited the phase.
    FollowUp,
}

impl PrepareStep {
    /// The word for it in JSON.
    pub fn name(self) -> &'static str {
        match self {
            PrepareStep::OccupyMemory => "occupy_memory",
            PrepareStep::Inspect => "inspect",
            PrepareStep::LayOut => "lay_out",
            PrepareStep::Evict => "evict",
            PrepareStep::SetUp => "set_up",
            PrepareStep::CleanUp => "clean_up",
            PrepareStep::FollowUp => "follow_up",
        }
    }
}
