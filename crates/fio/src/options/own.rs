//! Values with a little language of their own, read into the settings.

use candor_plan::units::{Direction, PerDirection};

use super::value::{per_op, within};
use crate::job_options::{
    Distribution, FileService, JobOptions, MemoryKind, MemoryPolicy, NamedFile, PrioritySplit,
    RwMode, Service, Skip, SteadyOf, SyncFileRange,
};
use crate::values::{self, TimeUnit, Units};
use candor_front::{Choice, Refused, choose};

/// A reader's result: a remark, where there is one.
type Done = Result<Option<String>, Refused>;

/// A word and its help.
pub(super) const fn word(word: &'static str, help: &'static str) -> Choice {
    Choice { word, help }
}

/// The words of `sync_file_range`.
pub(super) const SYNC_FILE_RANGE: &[Choice] = &[
    word("wait_before", "SYNC_FILE_RANGE_WAIT_BEFORE"),
    word("write", "SYNC_FILE_RANGE_WRITE"),
    word("wait_after", "SYNC_FILE_RANGE_WAIT_AFTER"),
];

/// The words of `pi_chk`.
pub(super) const PROTECTION: &[Choice] = &[
    word("GUARD", "the checksum"),
    word("REFTAG", "the place"),
    word("APPTAG", "the tag, apptag"),
];

/// The words of `replay_skip`.
pub(super) const SKIP: &[Choice] = &[
    word("read", "reads"),
    word("write", "writes"),
    word("trim", "trims"),
    word("flush", "flushes"),
];

/// The words of `numa_mem_policy`.
pub(super) const MEMORY_POLICIES: &[Choice] = &[
    word("default", "as the kernel does it"),
    word("prefer", "this node first"),
    word("bind", "these nodes only"),
    word("interleave", "these nodes in turns"),
    word("local", "where the thread runs"),
];

/// The words of `dataplacement`.
pub(super) const PLACEMENT: &[Choice] =
    &[word("none", "none"), word("fdp", "flexible data placement"), word("streams", "streams")];

/// The words of `plid_select`.
pub(super) const SELECT: &[Choice] = &[
    word("random", "any"),
    word("roundrobin", "in turns"),
    word("scheme", "by offset, from dp_scheme"),
];

/// The part before the first colon, and the part behind it.
fn head(text: &str) -> (&str, Option<&str>) {
    match text.split_once(':') {
        Some((head, rest)) => (head, Some(rest)),
        None => (text, None),
    }
}

pub(super) fn rw(s: &mut JobOptions, text: &str, units: Units) -> Done {
    let (name, suffix) = head(text);
    let direction = RwMode::ALL[choose(name, RwMode::CHOICES)?];
    let mut remark = None;
    s.rw.suffix = match suffix {
        None => None,
        Some(suffix) => {
            let read = values::integer(suffix, units)?;
            remark = read.remark;
            let value = i64::try_from(read.value).ok();
            let value = value.filter(|value| !direction.is_random() || *value >= 1);
            Some(value.ok_or_else(|| {
                let message = format!("`{suffix}` is no number of operations between jumps");
                Refused::whole(text, message, "give 1 or more")
            })?)
        }
    };
    s.rw.direction = direction;
    Ok(remark)
}

/// Percent of a mix. With the sign fio takes it for a number that no percentage reaches.
fn mix(text: &str, units: Units) -> Result<(Option<u64>, Option<String>), Refused> {
    let number = text.strip_suffix('%').unwrap_or(text);
    let read = values::count(number, units)?;
    within(text, read.value, 0, 100)?;
    if number.len() == text.len() {
        return Ok((Some(read.value), read.remark));
    }
    let remark = format!(
        "`{text}` is read as fio does: every operation is a read, for percentages have no sign \
         here; {number} % would be {number}"
    );
    Ok((None, Some(remark)))
}

pub(super) fn mix_read(s: &mut JobOptions, text: &str, units: Units) -> Done {
    let (percent, remark) = mix(text, units)?;
    s.rw.mix_read = percent.unwrap_or(100);
    Ok(remark)
}

pub(super) fn mix_write(s: &mut JobOptions, text: &str, units: Units) -> Done {
    let (percent, remark) = mix(text, units)?;
    s.rw.mix_read = 100 - percent.unwrap_or(0);
    Ok(remark)
}

pub(super) fn start_delay(s: &mut JobOptions, text: &str, _: Units) -> Done {
    let read = values::time_range(text, TimeUnit::Seconds)?;
    s.runtime.delay = read.value;
    Ok(read.remark)
}

pub(super) fn steady(s: &mut JobOptions, text: &str, units: Units) -> Done {
    let (name, limit) = head(text);
    let of = SteadyOf::ALL[choose(name, SteadyOf::CHOICES)?];
    let limit = limit.ok_or_else(|| {
        Refused::whole(text, format!("`{text}` has no limit"), format!("write {name}:5%"))
    })?;
    let steady = &mut s.runtime.steady;
    let (value, remark) = match limit.trim().strip_suffix('%') {
        Some(percent) => (values::decimal(percent)?.value, None),
        None => match of {
            SteadyOf::Iops | SteadyOf::IopsSlope => (values::decimal(limit)?.value, None),
            SteadyOf::Bandwidth | SteadyOf::BandwidthSlope => {
                let read = values::bytes(limit, units)?;
                (read.value as f64, read.remark)
            }
            SteadyOf::Latency | SteadyOf::LatencySlope => {
                let read = values::time(limit, TimeUnit::Micros)?;
                (read.value.0 as f64, read.remark)
            }
        },
    };
    steady.of = of;
    steady.limit = value;
    steady.percent = limit.trim().ends_with('%');
    Ok(remark)
}

/// Fills directions that were given; others keep what they had.
fn merge<T: Clone>(into: &mut PerDirection<T>, given: PerDirection<Option<T>>) {
    let PerDirection { read, write, trim } = given;
    for (op, value) in [(Direction::Read, read), (Direction::Write, write), (Direction::Trim, trim)]
    {
        if let Some(value) = value {
            *into.of_mut(op) = value;
        }
    }
}

pub(super) fn align(s: &mut JobOptions, text: &str, units: Units) -> Done {
    let one = |part: &str| {
        let read = values::bytes(part, units)?;
        match read.value {
            0 => Err(Refused::whole(part, "the alignment is 0", "give 1 or more")),
            _ => Ok(read),
        }
    };
    let read = values::by_direction(text, &[','], one)?;
    let mut align = s.blocks.align.unwrap_or(PerDirection::all(0));
    merge(&mut align, per_op(read.value));
    s.blocks.align = Some(align);
    Ok(read.remark)
}

pub(super) fn ranges(s: &mut JobOptions, text: &str, units: Units) -> Done {
    let read = values::ranges_by_direction(text, units)?;
    if read.value.iter().flatten().any(|(low, _)| *low == 0) {
        return Err(Refused::whole(text, "a block of 0 bytes", "begin the range at 1 or more"));
    }
    let fixed = &s.blocks.fixed;
    let one = |size: u64| (size, size);
    let mut range = s.blocks.range.unwrap_or(PerDirection {
        read: one(fixed.read),
        write: one(fixed.write),
        trim: one(fixed.trim),
    });
    merge(&mut range, per_op(read.value));
    s.blocks.range = Some(range);
    Ok(read.remark)
}

pub(super) fn splits(s: &mut JobOptions, text: &str, units: Units) -> Done {
    let read = values::splits_by_direction(text, units)?;
    let sizes = || read.value.iter().flatten().flatten();
    if sizes().any(|share| share.value == 0) {
        return Err(Refused::whole(text, "a block of 0 bytes", "give sizes of 1 or more"));
    }
    let mut split = s.blocks.split.clone().unwrap_or_default();
    merge(&mut split, per_op(read.value.clone()));
    s.blocks.split = Some(split);
    Ok(read.remark)
}

/// `PARAMETER` or `PARAMETER:CENTER`.
fn parameter(text: &str, rest: Option<&str>) -> Result<(Option<f64>, Option<f64>), Refused> {
    let Some(rest) = rest else { return Ok((None, None)) };
    let numbers = values::floats(rest)?.value;
    match numbers[..] {
        [one] => Ok((Some(one), None)),
        [one, center] if (0.0..=1.0).contains(&center) => Ok((Some(one), Some(center))),
        [_, center] => {
            let message = format!("the center {center} is not within 0 to 1");
            Err(Refused::whole(text, message, "give a share of the file, such as 0.5"))
        }
        _ => {
            let message = format!("`{rest}` has more than two numbers");
            Err(Refused::whole(text, message, "give a parameter, and a center if need be"))
        }
    }
}

fn bounded(text: &str, value: f64, fits: bool, rule: &str) -> Result<f64, Refused> {
    if fits {
        Ok(value)
    } else {
        Err(Refused::whole(text, format!("`{text}`: {value} is not {rule}"), "change it"))
    }
}

pub(super) fn distribution(s: &mut JobOptions, text: &str, units: Units) -> Done {
    let (name, rest) = head(text);
    s.random.distribution = match name.trim() {
        "random" => Distribution::Uniform,
        "zipf" => {
            let (theta, center) = parameter(text, rest)?;
            let theta = theta.unwrap_or(1.1);
            let fits = theta > 0.0 && theta != 1.0;
            Distribution::Zipf(bounded(text, theta, fits, "above 0 and other than 1")?, center)
        }
        "pareto" => {
            let (h, center) = parameter(text, rest)?;
            let h = h.unwrap_or(0.2);
            let fits = h > 0.0 && h < 1.0;
            Distribution::Pareto(bounded(text, h, fits, "between 0 and 1")?, center)
        }
        "normal" | "gauss" => {
            let (deviation, center) = parameter(text, rest)?;
            let deviation = deviation.unwrap_or(0.0);
            let fits = (0.0..100.0).contains(&deviation);
            Distribution::Normal(bounded(text, deviation, fits, "0 to below 100")?, center)
        }
        "zoned" => Distribution::Zoned(zones(text, rest, percent)?),
        "zoned_abs" => {
            let size = |part: &str| values::bytes(part, units).map(|read| read.value);
            Distribution::ZonedAbsolute(zones(text, rest, size)?)
        }
        "sequence" => Distribution::Sequence(sequence(text, rest)?),
        _ => {
            let words = ["random", "zipf", "pareto", "normal", "zoned", "zoned_abs", "sequence"];
            let near =
                candor_plan::nearest(name, words).map(|near| format!("did you mean {near}?"));
            let remedy = near.unwrap_or_else(|| format!("it takes {}", words.join(", ")));
            return Err(Refused::whole(text, format!("`{name}` is no distribution"), remedy));
        }
    };
    Ok(None)
}

/// Numbers of blocks, with commas between.
fn sequence(text: &str, rest: Option<&str>) -> Result<Vec<u64>, Refused> {
    const MOST: usize = 64;
    let remedy = "write sequence:2,0,1, for example";
    let wrong = |message: String| Refused::whole(text, message, remedy);
    let rest = rest.ok_or_else(|| wrong(format!("`{text}` names no blocks")))?;
    let number = |word: &str| {
        word.trim().parse().map_err(|_| wrong(format!("`{word}` is no number of a block")))
    };
    let blocks = rest.split(',').map(number).collect::<Result<Vec<u64>, _>>()?;
    match blocks.len() {
        1..=MOST => Ok(blocks),
        many => Err(wrong(format!("{many} blocks are more than {MOST}"))),
    }
}

fn percent(text: &str) -> Result<u64, Refused> {
    let number = text.trim().trim_end_matches('%').parse().ok();
    number.filter(|number| *number <= 100).ok_or_else(|| {
        Refused::whole(text, format!("`{text}` is not a percentage"), "give 0 to 100")
    })
}

/// Lines of `ACCESSES/SIZE` per direction. What is blank shares what the others leave.
fn zones(
    text: &str,
    rest: Option<&str>,
    size: impl Fn(&str) -> Result<u64, Refused>,
) -> Result<PerDirection<Vec<(u64, u64)>>, Refused> {
    let rest = rest.ok_or_else(|| {
        let message = format!("`{text}` names no zones");
        Refused::whole(text, message, "write zoned:60/10:30/20:10/70")
    })?;
    let mut lists: Vec<Vec<(u64, u64)>> = Vec::new();
    for part in rest.split(',') {
        let lines = part.split(':').map(|line| {
            let (accesses, bytes) = line.split_once('/').ok_or_else(|| {
                Refused::whole(text, format!("`{line}` has no size"), "write ACCESSES/SIZE")
            })?;
            let accesses = Some(accesses.trim()).filter(|text| !text.is_empty());
            let bytes = Some(bytes.trim()).filter(|text| !text.is_empty());
            Ok((accesses.map(percent).transpose()?, bytes.map(&size).transpose()?))
        });
        lists.push(shared_out(text, &lines.collect::<Result<Vec<_>, Refused>>()?)?);
    }
    let last = lists.last().cloned().unwrap_or_default();
    let nth = |n: usize| lists.get(n).cloned().unwrap_or_else(|| last.clone());
    Ok(PerDirection { read: nth(0), write: nth(1), trim: nth(2) })
}

/// Blanks filled with equal parts of what the others leave of 100.
fn shared_out(
    text: &str,
    lines: &[(Option<u64>, Option<u64>)],
) -> Result<Vec<(u64, u64)>, Refused> {
    let left = |given: Vec<Option<u64>>| {
        let sum: u64 = given.iter().flatten().sum();
        let blanks = given.iter().filter(|value| value.is_none()).count() as u64;
        (sum, 100_u64.saturating_sub(sum).checked_div(blanks).unwrap_or(0))
    };
    let (sum, each) = left(lines.iter().map(|line| line.0).collect());
    let (_, size_each) = left(lines.iter().map(|line| line.1).collect());
    if sum + each * lines.iter().filter(|line| line.0.is_none()).count() as u64 > 100 {
        let message = format!("the accesses of `{text}` add up to {sum} %");
        return Err(Refused::whole(text, message, "let them add up to 100"));
    }
    Ok(lines.iter().map(|(a, b)| (a.unwrap_or(each), b.unwrap_or(size_each))).collect())
}

/// Paths with colons between; `\:` is a colon.
pub(super) fn paths(text: &str) -> Vec<String> {
    let (mut paths, mut path) = (Vec::new(), String::new());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&':') => {
                path.push(':');
                chars.next();
            }
            ':' => paths.push(std::mem::take(&mut path)),
            c => path.push(c),
        }
    }
    paths.push(path);
    paths.retain(|path| !path.is_empty());
    paths
}

fn some_paths(text: &str) -> Result<Vec<String>, Refused> {
    let paths = paths(text.trim());
    if paths.is_empty() {
        Err(Refused::whole(text, format!("`{text}` names no path"), "name one"))
    } else {
        Ok(paths)
    }
}

/// Files add up: those of a second `filename` stand behind those of the first, and those of a
/// section behind those of its defaults. A file that is named twice counts twice.
pub(super) fn filename(s: &mut JobOptions, text: &str, _: Units) -> Done {
    let beneath = s.files.directories.first().cloned();
    let named = |name| NamedFile { name, beneath: beneath.clone() };
    s.files.names.extend(some_paths(text)?.into_iter().map(named));
    Ok(None)
}

pub(super) fn traces(s: &mut JobOptions, text: &str, _: Units) -> Done {
    s.trace.read = some_paths(text)?;
    Ok(None)
}

pub(super) fn replay_align(s: &mut JobOptions, text: &str, units: Units) -> Done {
    let align = values::bytes(text, units)?;
    if align.value > 0 && !align.value.is_power_of_two() {
        let message = format!("`{text}` is no power of two");
        return Err(Refused::whole(text, message, "write 4k, for example"));
    }
    s.trace.align = align.value;
    Ok(align.remark)
}

pub(super) fn directory(s: &mut JobOptions, text: &str, _: Units) -> Done {
    s.files.directories = some_paths(text)?;
    Ok(None)
}

pub(super) fn service(s: &mut JobOptions, text: &str, units: Units) -> Done {
    let (name, rest) = head(text);
    let rest = rest.filter(|rest| !rest.trim().is_empty());
    let rule = Service::ALL[choose(name, Service::CHOICES)?];
    let mut service = FileService { rule, ..FileService::default() };
    match (rule, rest) {
        (_, None) => {}
        (Service::Zipf | Service::Pareto | Service::Normal, Some(rest)) => {
            let value = values::decimal(rest)?.value;
            let fits = match rule {
                Service::Zipf => value > 0.0 && value != 1.0,
                Service::Pareto => value > 0.0 && value < 1.0,
                _ => (0.0..100.0).contains(&value),
            };
            service.parameter = Some(bounded(text, value, fits, "within the rule's bounds")?);
        }
        (_, Some(rest)) => service.every = Some(values::bytes(rest, units)?.value),
    }
    s.files.service = service;
    Ok(None)
}

pub(super) fn filesize(s: &mut JobOptions, text: &str, units: Units) -> Done {
    let read = match values::bytes(text, units) {
        Ok(read) => read.map(|size| (size, size)),
        Err(_) if text.contains(['-', ':']) => values::range(text, units)?,
        Err(refused) => return Err(refused),
    };
    if read.value.0 == 0 {
        return Err(Refused::whole(text, "a file of 0 bytes", "give a size of 1 or more"));
    }
    s.files.size = Some(read.value);
    Ok(read.remark)
}

pub(super) fn sync_file_range(s: &mut JobOptions, text: &str, units: Units) -> Done {
    let (words, every) = head(text);
    let mut range = SyncFileRange { every: 1, ..SyncFileRange::default() };
    for name in words.split(',') {
        match choose(name, SYNC_FILE_RANGE)? {
            0 => range.wait_before = true,
            1 => range.write = true,
            _ => range.wait_after = true,
        }
    }
    if let Some(every) = every {
        range.every = values::bytes(every, units)?.value;
    }
    s.durability.sync_file_range = range;
    Ok(None)
}

pub(super) fn protection(s: &mut JobOptions, text: &str, _: Units) -> Done {
    let checked = &mut s.engine.protection;
    for name in text.split(',') {
        match choose(name.trim(), PROTECTION)? {
            0 => checked.check_guard = true,
            1 => checked.check_reference = true,
            _ => checked.check_tag = true,
        }
    }
    Ok(None)
}

pub(super) fn compress(s: &mut JobOptions, text: &str, _: Units) -> Done {
    s.buffers.compress = Some(percent(text)?);
    Ok(None)
}

pub(super) fn dedupe(s: &mut JobOptions, text: &str, _: Units) -> Done {
    s.buffers.dedupe = Some(percent(text)?);
    Ok(None)
}

pub(super) fn memory(s: &mut JobOptions, text: &str, _: Units) -> Done {
    let (name, file) = head(text);
    s.memory.kind = MemoryKind::ALL[choose(name, MemoryKind::CHOICES)?];
    s.memory.file = file.map(str::to_owned);
    Ok(None)
}

/// `4k/20:8k/50/2/3`, per direction; what is not said of class and level is that of all.
pub(super) fn priority_split(s: &mut JobOptions, text: &str, units: Units) -> Done {
    let directions: Vec<&str> = text.split(',').collect();
    if directions.len() > 3 {
        let message = format!("`{text}` has {} directions", directions.len());
        return Err(Refused::whole(text, message, "give values of reads and of writes"));
    }
    let lists = directions.iter().map(|list| {
        let parts = list.split(':').filter(|part| !part.trim().is_empty());
        parts.map(|part| priority_share(part.trim(), units)).collect::<Result<Vec<_>, _>>()
    });
    let lists = lists.collect::<Result<Vec<_>, _>>()?;
    let (Some(first), Some(last)) = (lists.first(), lists.get(1).or(lists.first())) else {
        return Ok(None);
    };
    s.engine.priorities.splits.read = first.clone();
    s.engine.priorities.splits.write = last.clone();
    Ok(None)
}

fn priority_share(text: &str, units: Units) -> Result<PrioritySplit, Refused> {
    let wrong = |message: String| {
        Refused::whole(text, message, "write SIZE/PERCENT or SIZE/PERCENT/CLASS/LEVEL")
    };
    let words: Vec<&str> = text.split('/').collect();
    let number = |word: &str, max: u64| {
        let read = word.trim().parse().ok().filter(|number| *number <= max);
        read.ok_or_else(|| wrong(format!("`{word}` is not a number from 0 to {max}")))
    };
    let size = values::bytes(words[0].trim(), units)?.value;
    let (percent, own) = match words[..] {
        [_, percent] => (percent, None),
        [_, percent, class, level] => (percent, Some((number(class, 3)?, number(level, 7)?))),
        _ => return Err(wrong(format!("`{text}` has {} parts", words.len()))),
    };
    let percent = number(percent, 100)?;
    let (class, level) = own.unzip();
    Ok(PrioritySplit { size, percent, class, level })
}

pub(super) fn skip(s: &mut JobOptions, text: &str, _: Units) -> Done {
    let mut skip = Skip::default();
    for name in text.split(',') {
        // fio calls flushes syncs, too.
        match choose(if name.trim() == "sync" { "flush" } else { name }, SKIP)? {
            0 => skip.read = true,
            1 => skip.write = true,
            2 => skip.trim = true,
            _ => skip.flush = true,
        }
    }
    s.trace.skip = skip;
    Ok(None)
}

pub(super) fn cpus(s: &mut JobOptions, text: &str, _: Units) -> Done {
    let read = values::cpus(text)?;
    s.place.cpus = read.value;
    Ok(read.remark)
}

pub(super) fn verify_cpus(s: &mut JobOptions, text: &str, _: Units) -> Done {
    let read = values::cpus(text)?;
    s.verify.cpus = read.value;
    Ok(read.remark)
}

pub(super) fn log_cpus(s: &mut JobOptions, text: &str, _: Units) -> Done {
    let read = values::cpus(text)?;
    s.logs.compression_cpus = read.value;
    Ok(read.remark)
}

pub(super) fn cpumask(s: &mut JobOptions, text: &str, units: Units) -> Done {
    let read = values::bytes(text, units)?;
    if read.value == 0 {
        return Err(Refused::whole(text, "a mask of no CPU", "set a bit for each CPU"));
    }
    s.place.cpus = (0..64).filter(|cpu| read.value >> cpu & 1 == 1).collect();
    Ok(read.remark)
}

fn node_list(text: &str) -> Result<Vec<u32>, Refused> {
    match text.trim() {
        "all" => Ok(Vec::new()),
        list => Ok(values::cpus(list)?.value),
    }
}

pub(super) fn nodes(s: &mut JobOptions, text: &str, _: Units) -> Done {
    s.place.nodes = node_list(text)?;
    Ok(None)
}

pub(super) fn memory_policy(s: &mut JobOptions, text: &str, _: Units) -> Done {
    let (name, nodes) = head(text);
    let none = |policy: &str| {
        Refused::whole(text, format!("`{text}` names no node"), format!("write {policy}:0"))
    };
    s.place.memory = match choose(name, MEMORY_POLICIES)? {
        0 => MemoryPolicy::Default,
        1 => match node_list(nodes.ok_or_else(|| none("prefer"))?)?[..] {
            [node] => MemoryPolicy::Prefer(node),
            _ => {
                let message = format!("`{text}` does not name one node");
                return Err(Refused::whole(text, message, "write prefer:0"));
            }
        },
        2 => MemoryPolicy::Bind(node_list(nodes.ok_or_else(|| none("bind"))?)?),
        3 => MemoryPolicy::Interleave(node_list(nodes.ok_or_else(|| none("interleave"))?)?),
        _ => MemoryPolicy::Local,
    };
    Ok(None)
}
