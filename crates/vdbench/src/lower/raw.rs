//! Luns: one phase for each run, one job for each workload on each lun.

mod blocks;
mod checks;
mod luns;
mod places;
mod workloads;

use candor_plan::blocks::{Arrival, Durability, FileOrder, RateStep, Rotation};
use candor_plan::units::{Extent, Mix, PerDirection, SizeSpec};
use candor_plan::{Blocks, Bytes, Engine, Job, Nanos, OnFailure, OpsPerSec, Phase, Stop};

use self::luns::Luns;
use self::workloads::Workload;
use super::{
    JobRow, Lowered, LoweredRun, Request, SD_FORMAT, Shown, content, heading, shares, validation,
};
use crate::definitions::Definition;
use crate::definitions::rate::{Arrival as Asked, Rate};
use crate::definitions::rd::Rd;
use crate::definitions::sd::Sd;
use crate::runs::Run;
use candor_front::Diagnostics;

/// Bytes per write of a format.
const FORMAT_BYTES: u64 = 128 << 10;
/// Writes of a format in flight for each lun.
const FORMAT_DEPTH: u32 = 2;
/// Maximum duration of a list of rates in seconds, as in vdbench.
const STEPS_SECONDS_MAX: u64 = 3600;
/// Alignment of the position at which a format continues.
const RESUME_UNIT: u64 = 1 << 20;

/// Makes the phases of runs on luns.
pub(super) fn lower(
    request: &Request<'_>,
    runs: &[Run],
    lowered: &mut Lowered,
    out: &mut Diagnostics,
) {
    checks::definitions(request, out);
    let all: Vec<Vec<Workload<'_>>> =
        runs.iter().map(|run| workloads::of_run(request, run, out)).collect();
    for (run, workload) in
        runs.iter().zip(&all).flat_map(|(run, all)| all.iter().map(move |w| (run, w)))
    {
        checks::workload(request, run, workload, out);
    }
    let used = all.iter().flatten().flat_map(|workload| &workload.luns);
    let luns = Luns::survey(request, used, out);
    if !out.errors.is_empty() {
        return;
    }
    lowered.targets = luns.targets();
    lowered.runs.extend(format(request, &luns));
    lowered.runs.extend(validation::recovery(request, &lowered.targets));
    for (run, workloads) in runs.iter().zip(&all) {
        let of_run = OfRun { request, run, rd: &request.file.rds.all[run.rd], luns: &luns };
        let number = lowered.runs.len();
        let made = of_run.lower(workloads, out);
        for (nth, place) in made.places.iter().enumerate() {
            let workload = &workloads[place.workload];
            let scope = workload.wd.in_texts(request.texts);
            let job = lowered.origins.job(number, nth, &scope);
            let sd = place.sd.in_texts(request.texts);
            lowered.origins.targets(&[place.target], &sd, &job);
        }
        lowered.runs.push(made.run);
    }
}

/// The run that fills missing or short luns, if any.
fn format(request: &Request<'_>, luns: &Luns<'_>) -> Option<LoweredRun> {
    let general = &request.file.general().options;
    let (mut jobs, mut rows) = (Vec::new(), Vec::new());
    let mut lun_bytes = 0_u64;
    for (sd, lun) in luns.to_format(general.format_sds) {
        lun_bytes = lun_bytes.saturating_add(lun.bytes);
        let direct = sd.options.open_flags.direct && lun.bytes.is_multiple_of(512);
        let asked = general.format_transfer_size.unwrap_or(FORMAT_BYTES);
        let size = if lun.bytes < asked { lun.bytes } else { asked };
        let blocks = Blocks {
            mix: Mix::WRITE,
            size: PerDirection::all(SizeSpec::Fixed(Bytes(size))),
            short_last: true,
            range: candor_plan::blocks::Range {
                start: Extent::Bytes(Bytes(lun.resume_at(size))),
                ..candor_plan::blocks::Range::default()
            },
            depth: FORMAT_DEPTH,
            engine: if direct { request.host.async_engine() } else { Engine::Threads },
            direct,
            durability: Durability { fsync_at_end: true, ..Durability::default() },
            ..Blocks::default()
        };
        jobs.push(Job {
            name: format!("{SD_FORMAT} on {}", lun.target),
            targets: vec![lun.target.clone()],
            only_on: lun.system,
            work: blocks.into(),
            ..Job::default()
        });
        let (wd, sd, host) = (SD_FORMAT.into(), sd.name.text.clone(), workloads::LOCAL.into());
        rows.push(JobRow { wd, sd, host, ..JobRow::default() });
    }
    let name = SD_FORMAT.to_owned();
    let loops = format!("For loops: threads={FORMAT_DEPTH} iorate=max");
    let stop = Stop { passes: Some(1), ..Stop::default() };
    let share_percent = 100.0 / rows.len().max(1) as f64;
    rows.iter_mut().for_each(|row| row.share_percent = share_percent);
    (!jobs.is_empty()).then(|| LoweredRun {
        phase: Phase { name: name.clone(), stop, jobs, ..Phase::default() },
        heading: format!("I/O rate: Uncontrolled MAX; elapsed=(none); {loops}"),
        loops,
        name,
        is_format: true,
        jobs: rows,
        interval_s: 1,
        shown: Shown {
            transfer_bytes: Some(general.format_transfer_size.unwrap_or(FORMAT_BYTES)),
            threads: Some(FORMAT_DEPTH.into()),
            read_percent: Some(0.0),
            read_hit_percent: Some(0.0),
            write_hit_percent: Some(0.0),
            seek_percent: None,
            lun_bytes: Some(lun_bytes),
            compression_ratio: Some(1.0),
            dedup_ratio: None,
        },
        ..LoweredRun::default()
    })
}

/// A run, the luns, and all else that its jobs depend on.
struct OfRun<'a> {
    request: &'a Request<'a>,
    run: &'a Run,
    rd: &'a Definition<Rd>,
    luns: &'a Luns<'a>,
}

/// Source of a job.
struct Place<'a> {
    workload: usize,
    sd: &'a Definition<Sd>,
    target: usize,
}

/// A run and the sources of its jobs.
struct Made<'a> {
    run: LoweredRun,
    places: Vec<Place<'a>>,
}

/// A future job: a workload, its luns, and operations in flight.
struct Part<'a> {
    workload: usize,
    sds: Vec<&'a Definition<Sd>>,
    host: String,
    threads: u32,
    share_percent: f64,
    own_rate: Option<f64>,
}

impl<'a> OfRun<'a> {
    fn lower(&self, workloads: &[Workload<'a>], out: &mut Diagnostics) -> Made<'a> {
        let parts = self.parts(workloads, out);
        let (mut jobs, mut rows, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for part in &parts {
            let workload = &workloads[part.workload];
            jobs.push(self.job(workload, part, out));
            let sd = part.sds[0];
            let shown: Vec<&str> = part.sds.iter().map(|sd| sd.name.text.as_str()).collect();
            rows.push(JobRow {
                wd: workload.wd.name.text.clone(),
                sd: shown.join("+"),
                host: part.host.clone(),
                share_percent: part.share_percent,
                own_rate: part.own_rate,
            });
            let target = self.luns.of(sd, &part.host).map_or(0, |lun| lun.index);
            places.push(Place { workload: part.workload, sd, target });
        }
        let is_controlled = workloads.iter().any(|workload| workload.wd.options.skew.is_some());
        if is_controlled {
            shares::keep(&mut jobs, &rows);
            if !shares::are_kept(&jobs, &rows, self.run.rate) {
                let scope = self.rd.in_texts(self.request.texts);
                out.wrong(&scope, "wd", shares::NOT_KEPT.to_owned(), shares::KEEP);
            }
        }
        self.end_with_passes(workloads, &parts, &mut jobs);
        let (arrival, steps) = (self.arrival(out), self.steps(out));
        let rd = &self.rd.options;
        let run = LoweredRun {
            name: self.run.name.clone(),
            heading: heading(self.run, rd, is_controlled),
            loops: self.run.loops_text(),
            rate: Some(self.run.rate),
            curve_stop_ms: rd.curve_stop_ms,
            phase: self.phase(workloads, jobs),
            jobs: rows,
            arrival,
            steps,
            interval_s: rd.interval_s,
            warmup_intervals: (rd.warmup_s / rd.interval_s.max(1)).max(1),
            start: rd.start.clone(),
            end: rd.end.clone(),
            shown: self.shown(workloads, &parts),
            ..LoweredRun::default()
        };
        Made { run, places }
    }

    fn phase(&self, workloads: &[Workload<'_>], jobs: Vec<Job>) -> Phase {
        let rd = &self.rd.options;
        // A run that ends with its work has no time to leave out.
        let by_work = workloads.iter().any(|workload| workload.values.seek.to_end)
            || jobs.iter().any(|job| job.stop.as_ref().is_some_and(|stop| stop.bytes.is_some()));
        let ramp_s = match (by_work, rd.warmup_s) {
            (true, _) => 0,
            (false, 0) => rd.interval_s,
            (false, warmup_s) => warmup_s,
        };
        let time_s = match rd.warmup_s {
            0 => rd.elapsed_s - ramp_s,
            _ => rd.elapsed_s,
        };
        let name = if self.run.loops.is_empty() {
            self.run.name.clone()
        } else {
            let loops = self.run.loops_text();
            let loops = loops.trim_start_matches("For loops: ");
            format!("{}, {loops}", self.run.name)
        };
        Phase {
            name,
            stop: Stop { time: Some(Nanos::from_secs(time_s)), ..Stop::default() },
            ramp: Nanos::from_secs(ramp_s),
            delay: Nanos::from_secs(rd.pause_s),
            interval: Nanos::from_secs(rd.interval_s),
            on_failure: OnFailure::EndRun,
            jobs,
            ..Phase::default()
        }
    }

    /// Jobs of a run: operations in flight of a lun are divided among its workloads and hosts.
    fn parts(&self, workloads: &[Workload<'a>], out: &mut Diagnostics) -> Vec<Part<'a>> {
        let own = |workload: &Workload<'_>| workload.wd.options.rate;
        let skews: Vec<Option<f64>> = workloads
            .iter()
            .filter(|workload| own(workload).is_none())
            .map(|workload| workload.wd.options.skew)
            .collect();
        let mut skews = match shares::of_workloads(&skews) {
            Ok(skews) => skews.into_iter(),
            Err(sentence) => {
                let scope = self.rd.in_texts(self.request.texts);
                out.wrong(&scope, "wd", sentence, "change skew= of its workloads");
                return Vec::new();
            }
        };
        let mut parts = Vec::new();
        for (index, workload) in workloads.iter().enumerate() {
            let skew = if own(workload).is_some() { 0.0 } else { skews.next().unwrap_or(0.0) };
            let together = self.request.file.general().options.concatenate;
            let luns: Vec<Vec<&'a Definition<Sd>>> = if together {
                vec![workload.sds.clone()]
            } else {
                workload.sds.iter().map(|sd| vec![*sd]).collect()
            };
            for sds in &luns {
                let hosts =
                    workload.hosts.iter().filter(|host| workloads::path_of(sds[0], host).is_some());
                // Sequential work is one stream on one host.
                let hosts: Vec<&String> = if workload.is_sequential() {
                    hosts.take(1).collect()
                } else {
                    hosts.collect()
                };
                let number = (luns.len() * hosts.len()) as f64;
                parts.extend(hosts.into_iter().map(|host| Part {
                    workload: index,
                    sds: sds.clone(),
                    host: host.clone(),
                    threads: 0,
                    share_percent: skew / number,
                    own_rate: own(workload).map(|rate| rate / number),
                }));
            }
        }
        self.give_threads(workloads, &mut parts, out);
        parts
    }

    /// Divides the operations in flight of each lun among the jobs that use it, by their shares.
    /// Requested threads, before workloads of one lun divide them.
    fn threads_of(&self, workloads: &[Workload<'a>], part: &Part<'a>) -> u32 {
        use crate::definitions::rd::LoopKind;
        let looped = self.run.number(LoopKind::Threads).map(|threads| threads as u32);
        let wd = &workloads[part.workload].wd.options;
        let of_lun = match part.sds.as_slice() {
            [sd] if !self.request.file.general().options.concatenate => sd.options.threads,
            _ => wd.threads.unwrap_or(part.sds[0].options.threads),
        };
        looped.unwrap_or(of_lun).max(1)
    }

    fn give_threads(
        &self,
        workloads: &[Workload<'a>],
        parts: &mut [Part<'a>],
        out: &mut Diagnostics,
    ) {
        let keys: Vec<String> = parts
            .iter()
            .map(|part| match part.sds.as_slice() {
                [sd] => sd.name.text.clone(),
                _ => format!("wd={}", workloads[part.workload].wd.name.text),
            })
            .collect();
        let mut done: Vec<&str> = Vec::new();
        for key in &keys {
            if done.contains(&key.as_str()) {
                continue;
            }
            done.push(key);
            let mine: Vec<usize> = (0..parts.len()).filter(|nth| keys[*nth] == *key).collect();
            let first = &parts[mine[0]];
            let threads = self.threads_of(workloads, first);
            let has_skew =
                mine.iter().any(|nth| workloads[parts[*nth].workload].wd.options.skew.is_some());
            let weight =
                |part: &Part<'_>| if has_skew { part.share_percent.max(0.01) } else { 1.0 };
            let all: f64 = mine.iter().map(|nth| weight(&parts[*nth])).sum();
            let (mut due, mut given) = (0.0, 0);
            for nth in &mine {
                due += f64::from(threads) * weight(&parts[*nth]) / all;
                let more = (due.round() as u32).saturating_sub(given).max(1);
                given += more;
                parts[*nth].threads = more;
            }
            if given > threads {
                let sd = parts[mine[0]].sds[0];
                let did = format!("{given} operations in flight on {key}");
                let why = "each of its workloads has one at least";
                out.note(&sd.in_texts(self.request.texts), "threads", &did, why);
            } else if mine.len() > 1 {
                let sd = parts[mine[0]].sds[0];
                let did = "blocks.depth, job.workers";
                let why = "the threads of a lun are divided among its workloads, \
                           and do not change from one to another";
                out.note(&sd.in_texts(self.request.texts), "threads", did, why);
            }
        }
    }

    fn job(&self, workload: &Workload<'a>, part: &Part<'a>, out: &mut Diagnostics) -> Job {
        let sd = part.sds[0];
        let lun = self.luns.of(sd, &part.host);
        let mut on = part.sds.iter().map(|sd| sd.name.text.as_str()).collect::<Vec<_>>().join("+");
        if workload.hosts.len() > 1 {
            on = format!("{on} from {}", part.host);
        }
        let transfer_bytes = workload.values.transfer.max();
        let shape = blocks::Shape::of(self, workload, part, out);
        let ratio = workload.values.compression_ratio;
        let content = content::content(self.request, &sd.options.dedup, ratio, transfer_bytes, out);
        let mut blocks = shape.blocks;
        blocks.content = content;
        if part.sds.len() > 1 {
            blocks.rotation = Rotation {
                order: if workload.is_sequential() {
                    FileOrder::Sequential
                } else {
                    FileOrder::ByBytes
                },
                ..Rotation::default()
            };
        }
        let targets = part.sds.iter().filter_map(|sd| self.luns.of(sd, &part.host));
        let mut job = Job {
            name: format!("{} on {on}", workload.wd.name.text),
            workers: shape.workers,
            only_on: self.request.system(&part.host),
            targets: targets.map(|lun| lun.target.clone()).collect(),
            work: blocks.into(),
            ..Job::default()
        };
        if let Some(bytes) = self.bytes_max(workload, part, lun.map_or(0, |lun| lun.bytes)) {
            let each = (bytes / f64::from(shape.workers)).ceil().max(1.0) as u64;
            job.stop = Some(Stop {
                time: Some(Nanos::from_secs(self.rd.options.elapsed_s)),
                bytes: Some(Bytes(each)),
                ..Stop::default()
            });
        }
        job
    }

    /// Bytes that end a job.
    fn bytes_max(&self, workload: &Workload<'_>, part: &Part<'_>, lun_bytes: u64) -> Option<f64> {
        let rd = &self.rd.options;
        let reads = workload.values.read_percent / 100.0;
        let of = |limit: Option<f64>, share: f64| {
            let limit = limit.filter(|_| share > 0.0)?;
            // A small number is one of times through the lun.
            let bytes = if limit <= 100.0 {
                limit * lun_bytes as f64
            } else {
                limit * part.share_percent / 100.0
            };
            Some(bytes / share)
        };
        let all = [
            of(rd.data_max, 1.0),
            of(rd.data_read_max, reads),
            of(rd.data_written_max, 1.0 - reads),
        ];
        all.into_iter().flatten().min_by(f64::total_cmp)
    }

    /// Jobs that go once through their luns end the run; the others end with them.
    fn end_with_passes(&self, workloads: &[Workload<'_>], parts: &[Part<'_>], jobs: &mut [Job]) {
        let to_end = |part: &Part<'_>| workloads[part.workload].values.seek.to_end;
        let any = parts.iter().any(to_end);
        for (job, part) in jobs.iter_mut().zip(parts).filter(|_| any) {
            if to_end(part) {
                let time = Some(Nanos::from_secs(self.rd.options.elapsed_s));
                job.stop = Some(Stop { time, passes: Some(1), ..Stop::default() });
            } else {
                job.background = true;
            }
        }
    }

    fn arrival(&self, out: &mut Diagnostics) -> Arrival {
        let distribution = self.rd.options.distribution;
        let scope = self.rd.in_texts(self.request.texts);
        match distribution.arrival {
            Asked::Exponential => Arrival::Poisson,
            Asked::Deterministic => Arrival::Fixed,
            Asked::Uniform => {
                let why = "gaps are exponentially distributed, not uniformly";
                out.note(&scope, "distribution", "blocks.pace.arrival = \"poisson\"", why);
                Arrival::Poisson
            }
        }
    }

    /// Rates that follow each other: `iorate=` has each with its seconds.
    fn steps(&self, out: &mut Diagnostics) -> (Vec<RateStep>, bool) {
        let Rd { io_rate, distribution, elapsed_s, .. } = &self.rd.options;
        if !distribution.variable {
            return Default::default();
        }
        let scope = self.rd.in_texts(self.request.texts);
        let mut wrong = |message: String| {
            let remedy = "write rates and seconds in pairs, such as iorate=(100,5,2000,1)";
            out.wrong(&scope, "iorate", message, remedy);
            Default::default()
        };
        let Rate::Each(list) = io_rate else {
            return wrong("distribution=variable takes a list of rates".into());
        };
        if list.len() % 2 == 1 || !list.iter().all(|number| number.is_finite() && *number >= 0.0) {
            return wrong("distribution=variable takes pairs of numbers".into());
        }
        let step = |pair: &[f64]| RateStep {
            ops: OpsPerSec(pair[0].round() as u64),
            time: Nanos::from_secs(pair[1] as u64),
        };
        let seconds: u64 = list.chunks(2).map(|pair| pair[1] as u64).sum();
        if seconds > (*elapsed_s).min(STEPS_SECONDS_MAX) {
            return wrong(format!(
                "the rates take {seconds} s, more than elapsed={elapsed_s} or an hour"
            ));
        }
        if list.chunks(2).all(|pair| pair[0] < 0.5) {
            return wrong("all rates are 0".into());
        }
        (list.chunks(2).map(step).filter(|step| step.time.0 > 0).collect(), distribution.spike)
    }

    fn shown(&self, workloads: &[Workload<'_>], parts: &[Part<'_>]) -> Shown {
        fn same(values: impl Iterator<Item = f64>) -> Option<f64> {
            let values: Vec<f64> = values.collect();
            values.first().copied().filter(|first| values.iter().all(|value| value == first))
        }
        let of = |value: fn(&Workload<'_>) -> f64| same(workloads.iter().map(value));
        let mut luns: Vec<&str> = Vec::new();
        let mut lun_bytes = 0_u64;
        for lun in parts
            .iter()
            .flat_map(|part| part.sds.iter().filter_map(|sd| self.luns.of(sd, &part.host)))
        {
            if !luns.contains(&lun.target.as_str()) {
                luns.push(&lun.target);
                lun_bytes = u64::saturating_add(lun_bytes, lun.bytes);
            }
        }
        let general = &self.request.file.general().options;
        let dedup = parts
            .first()
            .and_then(|part| content::joined(&general.dedup, &part.sds[0].options.dedup).ratio);
        Shown {
            transfer_bytes: of(|w| w.values.transfer.first() as f64).map(|bytes| bytes as u64),
            threads: same(parts.iter().map(|part| self.threads_of(workloads, part).into()))
                .map(|threads| threads as u64),
            read_percent: of(|w| w.values.read_percent),
            read_hit_percent: of(|w| w.values.read_hit_percent),
            write_hit_percent: of(|w| w.values.write_hit_percent),
            seek_percent: of(|w| w.values.seek.shown()),
            lun_bytes: Some(lun_bytes),
            compression_ratio: of(|w| w.values.compression_ratio),
            dedup_ratio: dedup,
        }
    }
}
