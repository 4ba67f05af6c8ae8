//! Operations over connections: attempts, repetition of failed ones, and counts of all of them.

mod recorder;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use candor_http::{Answer, Buffers, Client, FaultKind, Method, Problem, Request, Transport};
use candor_plan::objects::Retry;
use candor_plan::permutation::mix;
use candor_plan::work::Operation;
use candor_record::HttpStats;
use candor_record::http::FailureClass;

use self::recorder::Recorder;
use crate::answers::{AnswerError, Class};
use crate::{Login, Place};

/// Longest rest of one turn while requests wait for their next attempt.
const REST_MAX: Duration = Duration::from_millis(50);
/// Time for answers to requests in flight once the run ends early.
const LAST_ANSWERS: Duration = Duration::from_secs(3);

/// Work of slots: builds requests and reads their answers.
pub trait Work: Buffers {
    /// Row of the slot's operation in the table.
    fn row(&self, slot: usize) -> usize;

    /// Begin of the slot's key, for counts of failures.
    fn prefix(&self, slot: usize) -> &str;

    /// Writes the slot's request into a cleared one, with login and body.
    fn build(&mut self, slot: usize, request: &mut Request, login: &mut Login, unix_s: u64);

    /// Reads an answer without a fault: bytes of the body that count.
    ///
    /// # Errors
    /// The server's refusal, or a body that is not the expected one.
    fn read(&mut self, slot: usize, answer: &Answer) -> Result<u64, Box<Failure>>;

    /// True if the failure counts as done.
    fn permits(&self, slot: usize, failure: &Failure) -> bool;
}

/// Failure of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Class.
    pub class: FailureClass,
    /// Status of the answer; 0 without an answer.
    pub status: u16,
    /// Code of the error document; empty without one.
    pub code: String,
    /// Sentence for messages.
    pub message: String,
    /// Order that makes the request succeed; empty if none is known.
    pub remedy: String,
    /// Request id at the server; empty without one.
    pub request_id: String,
    /// Rest that the server requests.
    pub retry_after: Option<Duration>,
    /// The same request may succeed later.
    pub is_retryable: bool,
}

impl Failure {
    /// A failure that only the client sees.
    pub fn of_client(class: FailureClass, message: String) -> Box<Failure> {
        Box::new(Failure {
            class,
            status: 0,
            code: String::new(),
            message,
            remedy: String::new(),
            request_id: String::new(),
            retry_after: None,
            is_retryable: class == FailureClass::ShortBody,
        })
    }

    /// The failure of an attempt without an answer.
    fn of_fault(answer: &Answer) -> Option<Box<Failure>> {
        let fault = answer.fault.as_ref()?;
        let class = match fault.kind {
            FaultKind::Lookup => FailureClass::Lookup,
            FaultKind::Connect => FailureClass::Connect,
            FaultKind::Tls => FailureClass::Tls,
            FaultKind::Timeout => FailureClass::Timeout,
            FaultKind::Reset => FailureClass::Reset,
            FaultKind::ShortBody => FailureClass::ShortBody,
            FaultKind::Malformed => FailureClass::Malformed,
        };
        let is_final = matches!(class, FailureClass::Tls | FailureClass::Malformed);
        let failure = Failure::of_client(class, fault.message.clone());
        Some(Box::new(Failure { is_retryable: !is_final, status: answer.status, ..*failure }))
    }
}

impl fmt::Display for Failure {
    /// Message and remedy.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if self.remedy.is_empty() { Ok(()) } else { write!(f, "; {}", self.remedy) }
    }
}

impl From<Box<AnswerError>> for Box<Failure> {
    fn from(error: Box<AnswerError>) -> Box<Failure> {
        let class = match error.class {
            Class::Throttled => FailureClass::Throttled,
            Class::Server => FailureClass::Server,
            Class::Missing => FailureClass::Missing,
            Class::Denied => FailureClass::Denied,
            Class::Clock => FailureClass::Clock,
            Class::Redirected => FailureClass::Redirect,
            Class::Precondition => FailureClass::Condition,
            Class::Client => FailureClass::Request,
            Class::InsideSuccess => FailureClass::InsideSuccess,
            Class::Malformed => FailureClass::Malformed,
        };
        Box::new(Failure {
            class,
            status: error.status,
            code: error.code.clone(),
            message: error.to_string(),
            remedy: error.remedy().unwrap_or_default(),
            request_id: error.request_id.clone(),
            retry_after: error.retry_after,
            is_retryable: error.is_retryable(),
        })
    }
}

/// End of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Done, with the bytes of the body that count.
    Done(u64),
    /// Failed, and counts as done because the plan permits the failure.
    Permitted,
    /// Failed.
    Failed(FailureClass),
    /// Given up, because the run ends: neither done nor failed.
    GivenUp,
}

/// Result of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Slot.
    pub slot: usize,
    /// End.
    pub end: End,
}

/// Connections of one worker, one per slot.
pub struct Carrier {
    client: Client,
    login: Login,
    retry: Retry,
    seed: u64,
    /// Attempts of each slot's operation so far; 0 without an operation.
    attempts: Vec<u32>,
    /// Begin of the run's early end.
    ending: Option<Instant>,
    /// Slots that wait for their next attempt, with the moment.
    waiting: Vec<(Instant, usize)>,
    finished: Vec<usize>,
    recorder: Recorder,
    clock: UnixClock,
}

/// Seconds since 1970, read once per second.
struct UnixClock {
    unix_s: u64,
    until: Instant,
}

impl UnixClock {
    fn now(&mut self) -> u64 {
        let now = Instant::now();
        if now >= self.until {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            self.unix_s = since.as_secs();
            self.until =
                now + Duration::from_nanos(1_000_000_000 - u64::from(since.subsec_nanos()));
        }
        self.unix_s
    }
}

/// Settings of a carrier.
pub struct Settings<'a> {
    /// Servers and settings of connections.
    pub transport: &'a Arc<Transport>,
    /// Slots.
    pub slots: usize,
    /// Number of the first slot's connection among all workers of all hosts.
    pub first_connection: u64,
    /// Login of all requests.
    pub login: Login,
    /// Repetition of failed requests.
    pub retry: Retry,
    /// Table of the work's operations.
    pub table: &'static [Operation],
    /// Seed of rests.
    pub seed: u64,
}

impl Carrier {
    /// A carrier without connections.
    ///
    /// # Errors
    /// The kernel has no descriptor left.
    pub fn new(settings: Settings<'_>) -> Result<Carrier, Problem> {
        let Settings { transport, slots, first_connection, login, retry, table, seed } = settings;
        Ok(Carrier {
            client: Client::new(transport, slots, first_connection)?,
            login,
            retry,
            seed,
            attempts: vec![0; slots],
            ending: None,
            waiting: Vec::with_capacity(slots),
            finished: Vec::with_capacity(slots),
            recorder: Recorder::new(transport, slots, table),
            clock: UnixClock { unix_s: 0, until: Instant::now() },
        })
    }

    /// Connects all slots before the clock starts. Failures show again in the first requests.
    pub fn connect_all(&mut self) {
        for connected in self.client.connect_all() {
            self.recorder.connected(&connected);
        }
    }

    /// URL of the endpoint of a slot.
    pub fn endpoint_of(&self, slot: usize) -> &candor_http::Endpoint {
        self.client.endpoint_of(slot)
    }

    /// Forgets the attempts so far: the measured part begins.
    pub fn begin(&mut self) {
        self.recorder.begin();
    }

    /// Builds the request of a slot, without sending it.
    pub fn build(&mut self, slot: usize, work: &mut impl Work) {
        let before = Instant::now();
        let unix_s = self.clock.now();
        let request = self.client.request(slot);
        request.clear();
        work.build(slot, request, &mut self.login, unix_s);
        self.recorder.built(before.elapsed());
    }

    /// Sends the first attempt of a slot's operation.
    pub fn start(&mut self, slot: usize, work: &mut impl Work) {
        self.attempts[slot] = 1;
        self.recorder.started(1);
        self.client.start(slot, work);
    }

    /// Gives up operations, because the run ends early: at once if they wait for their next
    /// attempt, otherwise a few seconds after the first call.
    pub fn give_up(&mut self, done: &mut Vec<Finished>) {
        let began = *self.ending.get_or_insert_with(Instant::now);
        let is_late = began.elapsed() >= LAST_ANSWERS;
        for slot in 0..self.attempts.len() {
            let waits = self.waiting.iter().any(|(_, waiting)| *waiting == slot);
            if self.attempts[slot] > 0 && (waits || is_late) {
                self.client.cancel(slot);
                self.waiting.retain(|(_, waiting)| *waiting != slot);
                done.push(self.ended(slot, End::GivenUp));
            }
        }
    }

    /// Counts the end of an operation.
    fn ended(&mut self, slot: usize, end: End) -> Finished {
        self.attempts[slot] = 0;
        self.recorder.started(-1);
        Finished { slot, end }
    }

    /// Advances all slots until `min` operations finished or `wait` passed; may return earlier.
    pub fn turn(
        &mut self,
        work: &mut impl Work,
        min: usize,
        wait: Option<Duration>,
        done: &mut Vec<Finished>,
    ) {
        let limit = self.next_attempt().unwrap_or(Duration::MAX).min(REST_MAX);
        let wait = wait.unwrap_or(REST_MAX).min(limit);
        if self.client.in_flight() == 0 && min > 0 {
            std::thread::sleep(wait);
        } else {
            self.client.turn(work, min, Some(wait), &mut self.finished);
        }
        for at in 0..self.finished.len() {
            let slot = self.finished[at];
            done.extend(self.finish(slot, work));
        }
        self.finished.clear();
        self.repeat(work);
    }

    /// Time until the next attempt of a waiting slot.
    fn next_attempt(&self) -> Option<Duration> {
        let due = self.waiting.iter().map(|(due, _)| *due).min()?;
        Some(due.saturating_duration_since(Instant::now()))
    }

    /// Starts the next attempts that are due.
    fn repeat(&mut self, work: &mut impl Work) {
        if self.waiting.is_empty() {
            return;
        }
        let now = Instant::now();
        for at in (0..self.waiting.len()).rev() {
            let (due, slot) = self.waiting[at];
            if due <= now {
                self.waiting.swap_remove(at);
                self.build(slot, work);
                self.attempts[slot] += 1;
                self.client.start(slot, work);
            }
        }
    }

    /// Reads the answer of a slot; none if another attempt follows.
    fn finish(&mut self, slot: usize, work: &mut impl Work) -> Option<Finished> {
        let answer = self.client.answer(slot);
        let read = match Failure::of_fault(answer) {
            Some(failure) => Err(failure),
            None => work.read(slot, answer),
        };
        let attempt = self.attempts[slot];
        let bytes = *read.as_ref().unwrap_or(&0);
        self.recorder.attempt(slot, work.row(slot), attempt, answer, bytes);
        let failure = match read {
            Ok(bytes) => return Some(self.ended(slot, End::Done(bytes))),
            Err(failure) => failure,
        };
        let permitted = work.permits(slot, &failure);
        let again = !permitted && failure.is_retryable && attempt < self.retry.attempts;
        self.recorder.failed(work.row(slot), work.prefix(slot), &failure, permitted, !again);
        if again {
            let due = Instant::now() + self.rest(slot, &failure);
            self.waiting.push((due, slot));
            return None;
        }
        let end = if permitted { End::Permitted } else { End::Failed(failure.class) };
        Some(self.ended(slot, end))
    }

    /// Rest before the next attempt: drawn between zero and a limit that doubles, unless the
    /// server requests one.
    fn rest(&mut self, slot: usize, failure: &Failure) -> Duration {
        let longest = Duration::from_nanos(self.retry.wait_max.0);
        if let Some(rest) = failure.retry_after {
            return rest.min(longest);
        }
        let doublings = self.attempts[slot].saturating_sub(1).min(32);
        let limit = self.retry.wait.0.saturating_mul(1 << doublings).min(self.retry.wait_max.0);
        self.seed = mix(self.seed, slot as u64);
        let scaled = (u128::from(self.seed) * u128::from(limit)) >> 64;
        Duration::from_nanos(scaled as u64)
    }

    /// Sends one request outside of a measurement, and waits for its end.
    ///
    /// # Errors
    /// The failure of the last attempt.
    pub fn exchange(&mut self, work: &mut impl Work) -> Result<u64, Box<Failure>> {
        for attempt in 1.. {
            let unix_s = self.clock.now();
            let mut request = Request::default();
            work.build(0, &mut request, &mut self.login, unix_s);
            let answer = self.client.exchange(&request, work);
            let read = match Failure::of_fault(answer) {
                Some(failure) => Err(failure),
                None => work.read(0, answer),
            };
            let Err(failure) = read else { return read };
            if !failure.is_retryable || attempt >= self.retry.attempts {
                return Err(failure);
            }
            self.attempts[0] = attempt;
            std::thread::sleep(self.rest(0, &failure));
        }
        unreachable!("the loop ends with a result")
    }

    /// Counts of all attempts since the measured part began.
    pub fn stats(&self) -> HttpStats {
        self.recorder.stats(&self.client)
    }
}

/// Adds `Host`, and `Content-Length` for requests that may have a body.
pub fn address(request: &mut Request, place: &Place) {
    request.header("host", &place.host);
    if matches!(request.method, Method::Put | Method::Post) || !request.pieces.is_empty() {
        let length = request.length().to_string();
        request.header("content-length", &length);
    }
}
