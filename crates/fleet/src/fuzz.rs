//! Messages, mutated: whatever arrives, at an agent or at its leader, is a message or ends in a
//! sentence; a node takes every message at any time without a panic.
//!
//! `FUZZ_SECONDS=3600 cargo test -p candor-fleet --release --lib fuzz -- --nocapture` looks for an
//! hour of CPU time per test; without the variable it is one second. `FUZZ_SEED` begins elsewhere.
//! A failure prints the input and its seed.

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use candor_plan::Plan;
use candor_record::{Event, FleetMember, HostRecord, JobSample, Measurement};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::message::{Failure, FromAgent, Join, PhaseTask, Reply, Request, ToAgent, Word};
use crate::node::Node;
use crate::wire;

/// Parts of documents that have broken readers before.
const ODD: &[&str] = &[
    "0",
    "-1",
    "1",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775807",
    "-9223372036854775808",
    "1e308",
    "1e999",
    "null",
    "true",
    "\"\"",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "[]",
    "[[[[[[[[]]]]]]]]",
    "{}",
    "{\"ping\":{\"sent_ns\":0}}",
    "\"discard\"",
    ",",
    ":",
    "}",
    "\u{e9}",
];

/// Numbers from a seed (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }
}

fn requests() -> Vec<ToAgent> {
    let join = Join {
        run: "run".into(),
        hosts: 3,
        below: vec!["a:1".into(), "b:1".into()],
        ..Join::default()
    };
    let plan = Plan { phases: vec![candor_plan::Phase::default()], ..Plan::default() };
    let phase = candor_plan::Phase::default();
    let plan_too = Some(plan.clone());
    let task = PhaseTask { plan: plan_too, phase, index: Some(0), repeat: 1, follow_up: false };
    let requests = [
        Request::Join(join),
        Request::Probe { paths: vec!["/a/b".into()], name: "probe".into() },
        Request::Seen,
        Request::Survey { path: "/a".into() },
        Request::Open { plan: Box::new(plan), keys: Vec::new(), round: 1 },
        Request::Prepare { task: Box::new(task), round: 0 },
        Request::Collect,
        Request::Interim,
        Request::MeasureMemory,
        Request::Close,
    ];
    let requests = requests.into_iter().zip(0..);
    requests.map(|(request, id)| ToAgent::Request { id, request }).collect()
}

fn to_agent() -> Vec<ToAgent> {
    let mut all = requests();
    all.extend([
        ToAgent::Start { at_ns: 5 },
        ToAgent::Discard,
        ToAgent::Word(Word::EndPhase),
        ToAgent::FirstDone { job: 1 },
        ToAgent::Furthest { job: 1, ops: 7 },
        ToAgent::AllEnded,
        ToAgent::Ping { sent_ns: 9 },
    ]);
    all
}

fn from_agent() -> Vec<FromAgent> {
    let member = FleetMember { index: 1, clock_offset_ns: -5, ..FleetMember::default() };
    let host = HostRecord { member: Some(member), ..HostRecord::default() };
    let reply = Reply {
        hosts: vec![host],
        measurements: vec![Measurement::default()],
        seen: vec![(0, vec![0, 1])],
        owns: Some(true),
        ..Reply::default()
    };
    let sampled = Event::Sampled {
        phase: "p".into(),
        in_ramp: false,
        samples: vec![JobSample {
            job: "j".into(),
            sample: candor_record::Sample::default(),
            workers: Vec::new(),
        }],
        hosts: Vec::new(),
    };
    vec![
        FromAgent::Reply { id: 0, reply: Reply::default() },
        FromAgent::Reply { id: 6, reply },
        FromAgent::Event(Box::new(Event::Warned { sentence: "word".into() })),
        FromAgent::Event(Box::new(sampled)),
        FromAgent::FirstDone { job: 0 },
        FromAgent::Furthest { job: 0, ops: 5 },
        FromAgent::Ended,
        FromAgent::Lost(vec![Failure::default()]),
        FromAgent::Pong { sent_ns: 4, received_ns: 8 },
    ]
}

/// Bytes of a message with a few things done to them.
fn mutated(random: &mut Random, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = corpus[random.below(corpus.len())].clone();
    for _ in 0..random.below(5) {
        let at = random.below(bytes.len());
        let until = (at + random.below(12)).min(bytes.len());
        match random.below(6) {
            0 => drop(bytes.splice(at..until, [])),
            1 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
            2 => bytes.truncate(at),
            3 => {
                let other = &corpus[random.below(corpus.len())];
                let from = random.below(other.len());
                drop(bytes.splice(at..until, other[from..].iter().copied()));
            }
            _ => {
                // A number or a word of the document becomes another one.
                let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
                let length = bytes[at..].iter().take_while(|byte| is_of_word(byte)).count();
                let odd = ODD[random.below(ODD.len())];
                drop(bytes.splice(at..at + length, odd.bytes()));
            }
        }
    }
    bytes
}

/// Looks for inputs that panic until the time is over.
fn look(corpus: &[Vec<u8>], take: impl Fn(&mut Random, Vec<u8>)) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seconds = number("FUZZ_SECONDS").unwrap_or(1);
    let mut seed = number("FUZZ_SEED").unwrap_or(1);
    let began = std::time::Instant::now();
    let mut inputs = 0_u64;
    while began.elapsed() < Duration::from_secs(seconds) {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let input = mutated(&mut random, corpus);
        let shown = input.clone();
        if catch_unwind(AssertUnwindSafe(|| take(&mut random, input))).is_err() {
            panic!("seed {seed}: {}", String::from_utf8_lossy(&shown));
        }
        (seed, inputs) = (seed + 1, inputs + 1);
    }
    println!("{inputs} inputs");
    assert!(inputs > 100, "{inputs} inputs");
}

fn encoded(messages: &[impl Serialize]) -> Vec<Vec<u8>> {
    messages.iter().map(|of| wire::encode(of).expect("short").to_vec()).collect()
}

/// The message, where it is one; else it is refused in a sentence.
fn read<T: DeserializeOwned + Debug>(bytes: &[u8]) -> Option<T> {
    match wire::decode(bytes) {
        Ok(message) => Some(message),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            None
        }
    }
}

#[test]
fn messages_to_an_agent() {
    look(&encoded(&to_agent()), |random, bytes| {
        let Some(message) = read::<ToAgent>(&bytes) else { return };
        let mut node = Node::agent(5);
        for before in to_agent().into_iter().take(random.below(20)) {
            node.take_from_above(7, before, &mut Vec::new());
        }
        node.take_from_above(9, message, &mut Vec::new());
        node.tick(1_000_000, &mut Vec::new());
    });
}

#[test]
fn messages_from_an_agent() {
    look(&encoded(&from_agent()), |random, bytes| {
        let Some(message) = read::<FromAgent>(&bytes) else { return };
        let mut node = Node::root();
        for before in requests().into_iter().chain([ToAgent::Start { at_ns: 1 }]) {
            node.take_from_above(7, before, &mut Vec::new());
        }
        for before in from_agent().into_iter().take(random.below(12)) {
            node.take_from_child(9, random.below(3), before, &mut Vec::new());
        }
        node.take_from_child(10, random.below(3), message.clone(), &mut Vec::new());
        node.take_from_child(11, random.below(3), message, &mut Vec::new());
        (0..2).for_each(|at| node.child_lost(0, at, &"a reason".into(), &mut Vec::new()));
        node.tick(1_000_000, &mut Vec::new());
    });
}

#[test]
fn frames() {
    let framed = |body: Vec<u8>| {
        let mut bytes = Vec::new();
        wire::write(&mut bytes, &body).expect("written");
        bytes
    };
    let long = vec![ToAgent::Request {
        id: 1,
        request: Request::Probe { paths: vec!["/a".repeat(10_000)], name: String::new() },
    }];
    let all = encoded(&to_agent()).into_iter().chain(encoded(&long)).map(framed);
    look(&all.collect::<Vec<_>>(), |_, bytes| {
        let mut pipe = bytes.as_slice();
        while let Ok(Some(body)) = wire::read(&mut pipe) {
            assert!(body.len() <= bytes.len());
            read::<ToAgent>(&body);
        }
    });
}
