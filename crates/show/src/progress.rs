//! One line that tells how far a run is.
//!
//! A pure consumer of [`Event`]s: it takes each with the time it came and gives what to write to
//! stderr. On a terminal the line is written over itself; elsewhere only beginnings and ends of
//! phases are told, a line each, so that a log stays short.

use candor_derive::{Left, Rates, RunProgress};
use candor_record::fmt::{self, REQUESTS_PER_S, column};
use candor_record::{Event, JobSample, Measurement, PrepareStep};

use crate::layout::{cut, width};

/// Columns that a phase's name has at least.
const HEAD_MIN: usize = 12;

/// Progress of one run.
#[derive(Debug)]
pub struct Line {
    terminal: bool,
    columns: usize,
    progress: RunProgress,
    /// The last sample of each job of the phase.
    samples: Vec<JobSample>,
    /// Some operation of the phase completed, so that there is a rate.
    has_rate: bool,
    /// Preparation that was printed last, so that a log has it once.
    preparing: String,
}

impl Line {
    /// A line for a terminal of `columns`, or for a log.
    pub fn new(terminal: bool, columns: usize) -> Self {
        Line {
            terminal,
            columns: columns.max(20),
            progress: RunProgress::default(),
            samples: Vec::new(),
            has_rate: false,
            preparing: String::new(),
        }
    }

    /// The text to write for an event that came at `now_ns` of any steady clock.
    pub fn on(&mut self, event: &Event, now_ns: u64) -> String {
        self.progress.on(event, now_ns);
        match event {
            Event::Preparing { phase, step, what, bytes_done, bytes_total } => {
                self.prepared(phase, *step, what, *bytes_done, *bytes_total)
            }
            Event::PhaseStarted { expected_ns, .. } => self.begin(*expected_ns, now_ns),
            Event::Sampled { samples, in_ramp, .. } => self.sampled(samples, *in_ramp, now_ns),
            Event::PhaseDone { record } => self.end(&record.measurements),
            Event::RunDone { .. } => self.clear(),
            Event::Warned { sentence } => format!("{}candor: {sentence}\n", self.clear()),
            Event::RunStarted { .. }
            | Event::WorkerDone { .. }
            | Event::Interim { .. }
            | Event::PhaseJudged { .. }
            | Event::Found { .. }
            | Event::Noted { .. } => String::new(),
        }
    }

    /// Makes room for other output: wipes the line off a terminal.
    pub fn clear(&self) -> String {
        if self.terminal { "\r\x1b[K".to_owned() } else { String::new() }
    }

    fn prepared(
        &mut self,
        phase: &str,
        step: PrepareStep,
        what: &str,
        done: u64,
        total: u64,
    ) -> String {
        let text = format!("{} {what}", preparing(step));
        let amount = match total {
            0 => String::new(),
            total => format!(", {} of {}", column::size(done), column::size(total)),
        };
        if self.terminal {
            let joint = if phase.is_empty() { "" } else { " · " };
            return self.over(&format!("{phase}{joint}{text}{amount}"));
        }
        // Only what takes long is worth a line of a log, and only once.
        let worth = matches!(step, PrepareStep::LayOut | PrepareStep::OccupyMemory)
            && text != self.preparing;
        self.preparing.clone_from(&text);
        match (worth, total) {
            (false, _) => String::new(),
            (true, 0) => format!("{text}\n"),
            (true, total) => format!("{text}, {}\n", column::size(total)),
        }
    }

    fn begin(&mut self, expected_ns: Option<u64>, now_ns: u64) -> String {
        (self.samples, self.has_rate) = (Vec::new(), false);
        let head = head(&self.progress);
        match (self.terminal, expected_ns) {
            (true, _) => {
                let left = self.left(now_ns);
                self.over(&format!("{}{left}", self.shortened(&head, &left)))
            }
            (false, None) => format!("{head}\n"),
            (false, Some(ns)) => format!("{head}, {}\n", fmt::wait(ns)),
        }
    }

    fn sampled(&mut self, samples: &[JobSample], in_ramp: bool, now_ns: u64) -> String {
        for sample in samples {
            match self.samples.iter_mut().find(|known| known.job == sample.job) {
                Some(last) => last.clone_from(sample),
                None => self.samples.push(sample.clone()),
            }
        }
        if !self.terminal {
            return String::new();
        }
        self.has_rate |= samples.iter().any(|of| of.sample.operations.iter().any(|op| op.ops > 0));
        let ramp = if in_ramp { " (ramp)" } else { "" };
        let rates = Rates::of_samples(self.samples.iter().map(|of| &of.sample));
        let rates = if self.has_rate { self::rates(&rates) } else { String::new() };
        let joint = if rates.is_empty() { "" } else { " · " };
        let rest = format!("{joint}{rates}{ramp}{}", self.left(now_ns));
        self.over(&format!("{}{rest}", self.shortened(&head(&self.progress), &rest)))
    }

    fn end(&mut self, measurements: &[Measurement]) -> String {
        if self.terminal {
            return String::new();
        }
        let rates = self::rates(&Rates::of_results(measurements));
        let joint = if rates.is_empty() { "" } else { ": " };
        format!("{}{joint}{rates}\n", head(&self.progress))
    }

    /// Time left of the phase and of the run, as far as they are known.
    fn left(&self, now_ns: u64) -> String {
        self.progress.left(now_ns).map_or(String::new(), |left| format!(" · {}", time_left(&left)))
    }

    /// A phase's name with room for what follows: rates and time left say more than its end.
    fn shortened(&self, head: &str, rest: &str) -> String {
        cut(head, (self.columns - 1).saturating_sub(width(rest)).max(HEAD_MIN))
    }

    /// The text over the last one, within the terminal's width.
    fn over(&self, text: &str) -> String {
        // The last column stays free: some terminals wrap when it is filled.
        let text = cut(text, self.columns - 1);
        debug_assert!(width(&text) < self.columns);
        format!("\r{text}\x1b[K")
    }
}

/// `[2/6] random read`; without a number for a run of one phase, and for steps of a search.
pub fn head(progress: &RunProgress) -> String {
    let name = progress.phase();
    progress.number().map_or(name.to_owned(), |(number, of)| format!("[{number}/{of}] {name}"))
}

/// `8 s left, 42 s to the end`.
pub fn time_left(left: &Left) -> String {
    let phase = fmt::wait(left.phase_ns);
    match left.run_ns {
        Some(run_ns) => format!("{phase} left, {} to the end", fmt::wait(run_ns)),
        None => format!("{phase} left"),
    }
}

/// A step of preparation, before its object.
pub fn preparing(step: PrepareStep) -> &'static str {
    match step {
        PrepareStep::OccupyMemory => "occupying memory,",
        PrepareStep::Inspect => "inspecting",
        PrepareStep::LayOut => "laying out",
        PrepareStep::Evict => "dropping from the cache",
        PrepareStep::SetUp => "setting up",
        PrepareStep::CleanUp => "removing",
        PrepareStep::FollowUp => "a short trial, because",
    }
}

/// `12.3k IOPS 50.4 MB/s`.
pub fn rates(rates: &Rates) -> String {
    let parts = [
        rates.io_per_s.map(|rate| format!("{} IOPS", column::iops(rate))),
        rates.names_per_s.map(|rate| format!("{} ops/s", column::iops(rate))),
        rates.requests_per_s.map(|rate| format!("{} {REQUESTS_PER_S}", column::iops(rate))),
        (rates.bytes_per_s > 0.0).then(|| column::rate(rates.bytes_per_s)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use candor_plan::units::Direction;
    use candor_plan::work::BlocksOp;
    use candor_record::{HostSample, OpSample, PhaseRecord, Sample, Verdict};

    use super::*;
    use crate::sample;

    const SECOND: u64 = 1_000_000_000;

    fn events() -> Vec<(u64, Event)> {
        let sample = Sample {
            at_ns: 4 * SECOND,
            length_ns: SECOND,
            operations: vec![OpSample {
                ops: 12_300,
                bytes: 50_380_800,
                latency_sum_ns: SECOND,
                ..OpSample::of(BlocksOp::Read.operation())
            }],
        };
        let name = "random read 4 KiB, depth 1".to_owned();
        let lay_out = |done| Event::Preparing {
            phase: name.clone(),
            step: PrepareStep::LayOut,
            what: "/data/candor.0".into(),
            bytes_done: done,
            bytes_total: 1 << 30,
        };
        let started = |index, phase: &str| Event::PhaseStarted {
            phase: phase.into(),
            index,
            search_step: false,
            expected_ns: Some(8 * SECOND),
            ceilings: Vec::new(),
        };
        let measurement =
            sample::measurement(Direction::Read, sample::stats(12_300.0, 4096, 80_000));
        let measurements = vec![measurement];
        let record = PhaseRecord { name: name.clone(), measurements, ..PhaseRecord::default() };
        let start =
            Event::RunStarted { name: "check".into(), phases: 6, expected_ns: Some(50 * SECOND) };
        vec![
            (0, start),
            (0, started(0, "sequential write")),
            (8 * SECOND, lay_out(1 << 29)),
            (9 * SECOND, lay_out(1 << 30)),
            (10 * SECOND, started(1, &name)),
            (
                14 * SECOND,
                Event::Sampled {
                    phase: name.clone(),
                    in_ramp: false,
                    samples: vec![JobSample { job: "job".into(), sample, ..JobSample::default() }],
                    hosts: vec![HostSample::default()],
                },
            ),
            (18 * SECOND, Event::PhaseDone { record: Box::new(record) }),
            (19 * SECOND, Event::RunDone { verdict: Verdict::Ok, interrupted: false }),
        ]
    }

    fn text(line: &mut Line) -> String {
        let text = events().into_iter().map(|(at, event)| line.on(&event, at));
        let text = text.collect::<String>().replace('\r', "\n<").replace("\x1b[K", ">");
        text.trim().to_owned()
    }

    #[test]
    fn on_a_terminal() {
        insta::assert_snapshot!(text(&mut Line::new(true, 120)), @r#"
        <[1/6] sequential write · 8 s left, 50 s to the end>
        <random read 4 KiB, depth 1 · laying out /data/candor.0, 512 MiB of 1 GiB>
        <random read 4 KiB, depth 1 · laying out /data/candor.0, 1 GiB of 1 GiB>
        <[2/6] random read 4 KiB, depth 1 · 8 s left, 42 s to the end>
        <[2/6] random read 4 KiB, depth 1 · 12.3k IOPS 50.4 MB/s · 4 s left, 38 s to the end>
        <>
        "#);
    }

    #[test]
    fn rates_name_their_unit() {
        let rates = Rates { io_per_s: Some(0.0), names_per_s: Some(900.0), ..Rates::default() };
        let rates = Rates { bytes_per_s: 27e9, ..rates };
        assert_eq!(super::rates(&rates), "0 IOPS 900 ops/s 27 GB/s");
        let rates = Rates { requests_per_s: Some(120.0), ..Rates::default() };
        assert_eq!(super::rates(&rates), "120 req/s");
        assert_eq!(super::rates(&Rates::default()), "");
    }

    fn sampled(ops: u64) -> Event {
        Event::Sampled {
            phase: String::new(),
            in_ramp: false,
            samples: vec![JobSample {
                job: "job".into(),
                sample: Sample {
                    length_ns: SECOND,
                    operations: vec![OpSample { ops, ..OpSample::of(BlocksOp::Read.operation()) }],
                    ..Sample::default()
                },
                ..JobSample::default()
            }],
            hosts: vec![HostSample::default()],
        }
    }

    #[test]
    fn steps_of_a_search_have_no_number_and_no_rate_stands_before_the_first() {
        let mut line = Line::new(true, 120);
        let started = |phase: &str, search_step| Event::PhaseStarted {
            phase: phase.into(),
            index: 1,
            search_step,
            expected_ns: None,
            ceilings: Vec::new(),
        };
        let start = Event::RunStarted { name: "check".into(), phases: 3, expected_ns: None };
        let events = [
            start,
            started("random read, depth 1", false),
            sampled(0),
            sampled(900),
            sampled(0),
            started("searching at depth 2", true),
            started("searching at depth 2, again", true),
            started("random read, depth 2", false),
        ];
        let text = events.into_iter().map(|event| line.on(&event, 0)).collect::<String>();
        let text = text.replace('\r', "\n<").replace("\x1b[K", ">");
        insta::assert_snapshot!(text.trim(), @r#"
        <[1/3] random read, depth 1>
        <[1/3] random read, depth 1>
        <[1/3] random read, depth 1 · 900 IOPS>
        <[1/3] random read, depth 1 · 0 IOPS>
        <searching at depth 2>
        <searching at depth 2, again>
        <[2/3] random read, depth 2>
        "#);
    }

    #[test]
    fn in_a_log() {
        insta::assert_snapshot!(text(&mut Line::new(false, 120)), @r#"
        [1/6] sequential write, 8 s
        laying out /data/candor.0, 1 GiB
        [2/6] random read 4 KiB, depth 1, 8 s
        [2/6] random read 4 KiB, depth 1: 12.3k IOPS 50.4 MB/s
        "#);
    }

    #[test]
    fn never_wider_than_the_terminal() {
        let mut line = Line::new(true, 40);
        for (at, event) in events() {
            let text = line.on(&event, at).replace(['\r'], "").replace("\x1b[K", "");
            assert!(width(&text) < 40, "{text}");
        }
    }
}
