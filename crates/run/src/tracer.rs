//! The block tracer of a run. Starting it takes some 60 ms, so it starts beside the preparations.

use std::io;
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

use candor_observe::Roots;
use candor_observe::trace::{BlockTracer, Budget};
use candor_record::Facts;
use candor_record::facts::Missing;
use candor_record::requests::RequestStats;
use serde::{Deserialize, Serialize};

/// The share of one CPU that tracing requests may take.
const SHARE: f64 = 0.0025;

/// How many requests of the devices are traced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockTraceMode {
    /// As many as a quarter of a percent of a CPU allows.
    #[default]
    Auto,
    /// All, whatever that costs.
    All,
    /// None.
    Off,
}

impl BlockTraceMode {
    fn budget(self) -> Option<Budget> {
        match self {
            BlockTraceMode::Auto => Some(Budget::Share(SHARE)),
            BlockTraceMode::All => Some(Budget::Unbounded),
            BlockTraceMode::Off => None,
        }
    }
}

/// The block tracer of a run and the thread that starts it.
#[derive(Default)]
pub struct RunTracer {
    /// The devices that it was started for.
    devices: Vec<String>,
    tracer: TraceReader,
    /// The thread, or why there is none.
    starting: Option<io::Result<JoinHandle<()>>>,
}

impl RunTracer {
    /// Begins to start the tracer for the devices of a run, unless it runs for these or cannot run.
    pub fn start(&mut self, facts: &Facts, mode: BlockTraceMode, roots: &Roots) {
        let Some(budget) = mode.budget() else { return };
        let devices: Vec<String> = facts.devices.iter().map(|device| device.name.clone()).collect();
        if devices == self.devices || matches!(self.tracer.0.get(), Some(Err(_))) {
            return;
        }
        let tracer = TraceReader::default();
        let (facts, roots, started) = (facts.clone(), roots.clone(), tracer.clone());
        let start = move || {
            // Nobody else sets this cell.
            let _ = started.0.set(BlockTracer::start(&facts, budget, &roots));
        };
        let starting = thread::Builder::new().name("candor/trace".into()).spawn(start);
        *self = RunTracer { devices, tracer, starting: Some(starting) };
    }

    /// Why the tracer could not start, once. With `wait` the call waits for the start to end;
    /// without, a start that goes on is no failure yet.
    pub fn failure(&mut self, wait: bool) -> Option<Missing> {
        match self
            .starting
            .take_if(|starting| wait || starting.as_ref().map_or(true, JoinHandle::is_finished))?
        {
            Ok(starting) => {
                if let Err(panic) = starting.join() {
                    std::panic::resume_unwind(panic);
                }
                self.tracer.0.get()?.as_ref().err().cloned()
            }
            Err(error) => Some(Missing {
                what: "single requests of the devices".into(),
                why: format!("the block tracer has no thread: {error}"),
                enable: "more processes for this user (ulimit -u) or container (pids.max)".into(),
            }),
        }
    }

    /// A reader of the requests, for another thread.
    pub fn reader(&self) -> TraceReader {
        self.tracer.clone()
    }
}

/// Reads the requests of a tracer that may yet have to start.
#[derive(Clone, Default)]
pub struct TraceReader(Arc<OnceLock<Result<BlockTracer, Missing>>>);

impl TraceReader {
    /// The requests traced so far; none while the tracer does not run.
    pub fn stats(&self) -> Option<RequestStats> {
        self.0.get()?.as_ref().ok().map(BlockTracer::stats)
    }
}
