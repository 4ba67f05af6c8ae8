//! Phases that differ in one or two settings only, beside each other.

mod knee;

use candor_plan::blocks::{Access, Blocks, Pace};
use candor_plan::units::{Mix, PerDirection, SizeSpec};
use candor_plan::{Phase, Plan};
use candor_record::fmt::{column, plural, ratio};
use candor_record::{
    Latency, Measurement, OpStats, PhaseJudgement, PhaseRecord, Sweep, SweepKey, SweepRow,
};

const KEYS: [SweepKey; 4] = [SweepKey::Rw, SweepKey::Bs, SweepKey::Depth, SweepKey::Workers];

/// Most settings in which the phases of a sweep differ.
const KEYS_MAX: usize = 2;

/// The sweep that a plan is; none where its phases differ in anything else, do not have each pair
/// of values once, or are just two kinds of work.
pub fn sweep(
    plan: &Plan,
    phases: &[PhaseRecord],
    judged: &[Option<PhaseJudgement>],
) -> Option<Sweep> {
    let works = works(plan)?;
    let keys: Vec<SweepKey> =
        KEYS.into_iter().filter(|key| values(&works, *key).len() > 1).collect();
    let all: Vec<Vec<Value>> = keys.iter().map(|key| values(&works, *key)).collect();
    let (last, pairs) = (*keys.last()?, all.iter().map(Vec::len).product::<usize>());
    let just_kinds = last == SweepKey::Rw && works.len() == 2;
    if keys.len() > KEYS_MAX || works.len() != pairs || just_kinds {
        return None;
    }
    // Each pair of values is there once: there are as many works as pairs.
    let of = |key: &SweepKey, (values, work): (&Vec<Value>, &Work)| {
        values.iter().position(|value| *value == work.value(*key))
    };
    let place = |work: &Work| -> Option<Vec<usize>> {
        keys.iter().zip(&all).map(|(key, values)| of(key, (values, work))).collect()
    };
    let mut places: Vec<(Vec<usize>, &Work)> =
        works.iter().filter_map(|work| Some((place(work)?, work))).collect();
    places.sort_by(|(a, _), (b, _)| a.cmp(b));
    if places.windows(2).any(|two| two[0].0 == two[1].0) {
        return None;
    }
    let point = |(_, work): &(_, &Work)| point(work, &keys, phases, judged);
    let mut points: Vec<Point> = places.iter().filter_map(point).collect();
    if points.len() < 2 {
        return None;
    }
    let series = || points.chunk_by(|a, b| a.outer() == b.outer());
    let knees = if is_free(&works[0], last) {
        series().filter_map(|points| knee::of(last, points)).collect()
    } else {
        Vec::new()
    };
    for series in points.chunk_by_mut(|a, b| a.outer() == b.outer()) {
        gains(last, series);
    }
    Some(Sweep { keys, rows: points.into_iter().map(|point| point.row).collect(), knees })
}

/// Rates over those of the next smaller value.
fn gains(key: SweepKey, series: &mut [Point]) {
    if key == SweepKey::Rw {
        return;
    }
    let rates: Vec<f64> = series.iter().map(|point| point.rate(key)).collect();
    for (point, two) in series.iter_mut().skip(1).zip(rates.windows(2)) {
        point.row.gain = Some(ratio(two[1], two[0])).filter(|gain| *gain > 0.0);
    }
}

/// Whether nothing but the work itself sets the rate, and the key changes what is issued.
fn is_free(work: &Work, key: SweepKey) -> bool {
    let takes_depth = work.blocks.engine.takes_many();
    let is_amount = key != SweepKey::Rw && (key != SweepKey::Depth || takes_depth);
    is_amount && work.blocks.pace == Pace::default()
}

/// The work of one phase.
struct Work<'p> {
    /// Index of the phase in the plan.
    phase: usize,
    blocks: &'p Blocks,
    workers: u32,
}

/// A value of a key.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Rw(Mix, Access),
    Bs(PerDirection<SizeSpec>),
    Depth(u32),
    Workers(u32),
}

/// The measurement at some values.
struct Point {
    values: Vec<Value>,
    row: SweepRow,
}

impl Point {
    /// The values of all keys but the last.
    fn outer(&self) -> &[Value] {
        self.values.split_last().map_or(&[], |(_, outer)| outer)
    }

    /// The last value, in words.
    fn at(&self) -> String {
        self.values.last().map(Value::phrase).unwrap_or_default()
    }

    /// The rate that the last key is to raise.
    fn rate(&self, key: SweepKey) -> f64 {
        if key == SweepKey::Bs { self.row.bytes_per_s } else { self.row.ops_per_s }
    }
}

impl Work<'_> {
    fn value(&self, key: SweepKey) -> Value {
        match key {
            SweepKey::Rw => Value::Rw(self.blocks.mix, self.blocks.access.clone()),
            SweepKey::Bs => Value::Bs(self.blocks.size.clone()),
            SweepKey::Depth => Value::Depth(self.blocks.depth),
            SweepKey::Workers => Value::Workers(self.workers),
        }
    }
}

impl Value {
    /// Rank of an amount among others; that of kinds is the order in which they ran.
    fn amount(&self) -> u64 {
        match self {
            Value::Rw(..) => 0,
            Value::Bs(sizes) => sizes.iter().map(|(_, size)| size.max().0).max().unwrap_or(0),
            Value::Depth(n) | Value::Workers(n) => u64::from(*n),
        }
    }

    /// The value alone, for a column that its key names.
    fn text(&self) -> String {
        match self {
            Value::Rw(mix, access) => access.word(*mix),
            Value::Bs(sizes) => size(sizes),
            Value::Depth(n) | Value::Workers(n) => n.to_string(),
        }
    }

    /// The value with its key, for a sentence.
    fn phrase(&self) -> String {
        match self {
            Value::Rw(..) => self.text(),
            Value::Bs(_) => format!("{} blocks", self.text()),
            Value::Depth(depth) => format!("depth {depth}"),
            Value::Workers(n) => plural(f64::from(*n), "worker", "workers"),
        }
    }
}

/// The sizes of operations; one where they are alike in all directions.
fn size(sizes: &PerDirection<SizeSpec>) -> String {
    let mut texts: Vec<String> = Vec::new();
    for (_, spec) in sizes.iter() {
        let text = match spec {
            SizeSpec::Fixed(size) => column::size(size.0),
            other => other.to_string(),
        };
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts.join("/")
}

/// The works of a plan whose phases have one job each, and differ in nothing but the keys.
fn works(plan: &Plan) -> Option<Vec<Work<'_>>> {
    let first = without_keys(plan.phases.first()?)?;
    let phases = plan.phases.iter().enumerate();
    let works = phases.map(|(phase, planned)| {
        let [job] = &planned.jobs[..] else { return None };
        let is_alike = without_keys(planned)? == first;
        is_alike.then_some(Work { phase, blocks: job.blocks()?, workers: job.workers })
    });
    let works: Option<Vec<Work>> = works.collect();
    // Other orders have parameters, by which they would have to be told apart.
    let is_plain = |work: &Work| matches!(work.blocks.access, Access::Sequential | Access::Random);
    works.filter(|works| works.iter().all(is_plain) || values(works, SweepKey::Rw).len() == 1)
}

/// A phase of one job without the keys and without names.
fn without_keys(phase: &Phase) -> Option<Phase> {
    let mut phase = Phase { name: String::new(), ..phase.clone() };
    let [job] = &mut phase.jobs[..] else { return None };
    (job.name, job.workers) = (String::new(), 1);
    let blocks = job.blocks_mut()?;
    let Blocks { mix, access, size, depth, .. } = Blocks::default();
    (blocks.mix, blocks.access, blocks.size, blocks.depth) = (mix, access, size, depth);
    Some(phase)
}

/// The values of a key, each once: amounts from the least on, kinds as they ran.
fn values(works: &[Work], key: SweepKey) -> Vec<Value> {
    let mut values: Vec<Value> = Vec::new();
    for value in works.iter().map(|work| work.value(key)) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values.sort_by_key(Value::amount);
    values
}

/// The measurements of a phase, its repeats together; none where it did nothing.
fn point(
    work: &Work,
    keys: &[SweepKey],
    phases: &[PhaseRecord],
    judged: &[Option<PhaseJudgement>],
) -> Option<Point> {
    let ran: Vec<_> = phases
        .iter()
        .zip(judged)
        .filter(|(record, _)| record.phase == work.phase && !record.search_step)
        .collect();
    let measured = || ran.iter().flat_map(|(record, _)| &record.measurements);
    let elapsed_ns = |m: &Measurement| {
        let done = m.operations.iter().filter(|op| op.ops > 0);
        done.map(|op| m.times().of_ns(op.figure)).max().unwrap_or(m.elapsed_ns)
    };
    let elapsed_s = measured().map(|m| elapsed_ns(m) as f64 / 1e9).sum::<f64>();
    let ops = measured().map(|m| m.ops_done() as f64).sum::<f64>();
    let bytes = measured().map(|m| m.bytes_moved() as f64).sum::<f64>();
    let stats: Vec<OpStats> = measured().flat_map(Measurement::shown_operations).collect();
    let stats = stats.iter();
    let latency = together(stats.filter_map(|stats| stats.latency.as_ref()).collect());
    let verdict = ran.iter().filter_map(|(_, judged)| Some(judged.as_ref()?.verdict)).max()?;
    let values: Vec<Value> = keys.iter().map(|key| work.value(*key)).collect();
    let row = SweepRow {
        phase: work.phase,
        values: values.iter().map(Value::text).collect(),
        ops_per_s: ratio(ops, elapsed_s),
        bytes_per_s: ratio(bytes, elapsed_s),
        latency_ns_mean: latency.as_ref().and_then(Latency::valid_mean_ns),
        latency_ns_p99: latency.as_ref().and_then(|latency| latency.percentile_ns(99.0)),
        gain: None,
        verdict,
    };
    (ops > 0.0).then_some(Point { values, row })
}

/// Latencies of operations and repeats in one.
fn together(all: Vec<&Latency>) -> Option<Latency> {
    if let [one] = all[..] {
        return Some(one.clone());
    }
    let mut sum = None;
    all.into_iter().for_each(|latency| Latency::merge(&mut sum, Some(latency)));
    sum
}

#[cfg(test)]
mod tests;
