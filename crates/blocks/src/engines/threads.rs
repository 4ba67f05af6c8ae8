//! `pread` and `pwrite` in threads: as many operations at once as there are threads.
//!
//! The C library does the same behind `aio_read` and `aio_write`, but only one operation at a time
//! per file.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::psync::Psync;

use candor_engine::EngineError;

/// Most threads of one worker; further operations wait for a free thread.
const THREADS_MAX: usize = 256;
/// Stack of a thread, which makes system calls and nothing else.
const STACK_BYTES: usize = 64 << 10;

/// An operation that waits for a thread.
struct Request {
    index: u32,
    slot: Slot,
}

// SAFETY: the buffer that the slot points to belongs to the operation until it completes, and the
// worker keeps it mapped until the threads have ended.
unsafe impl Send for Request {}

#[derive(Default)]
struct State {
    requests: VecDeque<Request>,
    completed: Vec<Completion>,
    closed: bool,
}

/// State that the worker shares with its threads.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    requested: Condvar,
    completed: Condvar,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Next operation; none once the engine is dropped.
    fn next(&self) -> Option<Request> {
        let mut state = self.state();
        loop {
            if let Some(request) = state.requests.pop_front() {
                return Some(request);
            }
            if state.closed {
                return None;
            }
            state = self.requested.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn work(&self, mut calls: Psync) {
        while let Some(request) = self.next() {
            let outcome = calls.call(&request.slot);
            self.state().completed.push(Completion::new(request.index, outcome));
            self.completed.notify_one();
        }
    }
}

/// Engine of threads.
pub struct Threads {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    pending: Vec<u32>,
    /// Clock for the end of submission, where that is recorded.
    clock: Option<Clock>,
}

impl Threads {
    /// Starts a thread for each operation in flight, up to the limit.
    ///
    /// # Errors
    /// The kernel's, where it allows no more threads.
    pub fn new(context: &Context<'_>) -> Result<Threads, EngineError> {
        let shared = Arc::<Shared>::default();
        shared.state().completed.reserve(context.depth);
        shared.state().requests.reserve(context.depth);
        let mut engine = Threads {
            shared,
            threads: Vec::new(),
            pending: Vec::with_capacity(context.depth),
            clock: context.split.then_some(context.clock),
        };
        let count = context.depth.min(THREADS_MAX);
        for number in 0..count {
            let (shared, calls) = (engine.shared.clone(), Psync::new(context));
            let what = || format!("start thread {} of {count} for I/O", number + 1);
            let thread = thread::Builder::new()
                .name(format!("candor/io{number}"))
                .stack_size(STACK_BYTES)
                .spawn(move || shared.work(calls))
                .map_err(|cause| EngineError::system(what())(cause))?;
            engine.threads.push(thread);
        }
        Ok(engine)
    }
}

impl Io for Threads {
    fn queue(&mut self, _: &[Slot], batch: &[u32]) {
        self.pending.extend(batch);
    }

    fn turn(
        &mut self,
        slots: &[Slot],
        min: usize,
        wait_ns: Option<u64>,
        done: &mut Done,
    ) -> Option<Ticks> {
        let requests =
            self.pending.drain(..).map(|index| Request { index, slot: slots[index as usize] });
        let mut state = self.shared.state();
        let before = state.requests.len();
        state.requests.extend(requests);
        for _ in before..state.requests.len() {
            self.shared.requested.notify_one();
        }
        let submitted = self.clock.map(|clock| clock.now());
        let too_few = |state: &mut State| state.completed.len() < min;
        state = match wait_ns {
            None => {
                let waited = self.shared.completed.wait_while(state, too_few);
                waited.unwrap_or_else(PoisonError::into_inner)
            }
            Some(ns) => {
                let limit = Duration::from_nanos(ns);
                let waited = self.shared.completed.wait_timeout_while(state, limit, too_few);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        };
        let taken = state.completed.len().min(done.wanted());
        for completion in state.completed.drain(..taken) {
            done.push(completion.slot, completion.outcome());
        }
        submitted
    }

    fn features(&self) -> Vec<String> {
        vec![format!("{} threads", self.threads.len())]
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.shared.state().closed = true;
        self.shared.requested.notify_all();
        for thread in self.threads.drain(..) {
            // A panic was printed by its thread; nothing is left to do here.
            let _ = thread.join();
        }
    }
}
use super::Context;
use candor_engine::clock::{Clock, Ticks};
use candor_engine::issue::{Call, Io};
use candor_engine::operation::{Completion, Done, Slot};
