//! Data validation: `validate=`, `journal=`, and `-v` and `-j` of the command line.

use candor_plan::blocks::{Journal as JournalPlan, JournalLog, ReadBack, UnknownBlocks, Verify};
use candor_plan::entries::{Entries, Over, Step, Take, VerifyItems};
use candor_plan::units::{Direction, Extent, Mix, PerDirection, SizeSpec};
use candor_plan::{Blocks, Bytes, Engine, Job, Phase, Stop, Target, Work, path_of};

use super::{JOURNAL_RECOVERY, JobRow, Lowered, LoweredRun, Request};
use crate::definitions::validation::{DataErrors, Journal, Validation};
use candor_front::{Diagnostic, Diagnostics};

/// Maximum size of a key block: pages that survive a kill.
const KEY_BYTES: u64 = 4096;
/// Bytes of each read of a recovery.
const RECOVERY_BYTES: u64 = 128 << 10;
/// Reads of a recovery in flight for each lun.
const RECOVERY_DEPTH: u32 = 8;

/// Operations that change the blocks of a file.
const FORGETS: [Step; 4] = [Step::Create, Step::Unlink, Step::Copy, Step::Rename];

/// Data validation as parameters and the command line ask for it together.
struct Asked<'a> {
    validation: Validation,
    journal: Journal,
    errors: &'a DataErrors,
}

impl<'a> Asked<'a> {
    /// `None` without validation.
    fn of(request: &Request<'a>) -> Option<Asked<'a>> {
        let general = &request.file.general().options;
        let (mut validation, mut journal) = (general.validation, general.journal);
        if let Some((_, asked)) = &request.asked.validation {
            validation = Validation {
                is_on: true,
                read_after_write: validation.read_after_write || asked.read_after_write,
                no_preread: validation.no_preread || asked.no_preread,
                time: validation.time || asked.time,
                ignore_zero_reads: validation.ignore_zero_reads || asked.ignore_zero_reads,
            };
        }
        if let Some(asked) = request.asked.journal {
            journal = asked;
        }
        let asked = Asked { validation, journal, errors: &general.data_errors };
        (validation.is_on || journal.is_on).then_some(asked)
    }

    /// Mismatches that end the run.
    fn mismatches_max(&self) -> u64 {
        // A command runs at the first error, which ends the run.
        if self.errors.command.is_some() { 1 } else { self.errors.errors_max.max(1) }
    }

    /// The journal of a lun or a file system, if any.
    fn journal_of(&self, request: &Request<'_>, name: &str) -> Option<JournalPlan> {
        let of_sd = request.file.sds.find(name).and_then(|sd| sd.options.journal.as_deref());
        let of_fsd = request.file.fsds.find(name).and_then(|fsd| fsd.options.journal.as_deref());
        let place = of_sd.or(of_fsd).unwrap_or(".");
        self.journal.is_on.then(|| JournalPlan {
            directory: path_of(place).join(path_of(&format!("{name}.jnl"))),
            log: match (self.journal.map_only, self.journal.no_flush) {
                (true, _) => JournalLog::Nothing,
                (false, true) => JournalLog::Unflushed,
                (false, false) => JournalLog::Flushed,
            },
            recover: self.journal.recover,
            ignore_pending: self.journal.ignore_pending,
        })
    }

    /// Verifies the files of a tree that are read or written. A journal also records creation and
    /// removal of files.
    fn verify_files(
        &self,
        request: &Request<'_>,
        target: &str,
        interval: u64,
        is_format: bool,
        entries: &mut Entries,
    ) {
        let changes = FORGETS.iter().any(|step| entries.has(*step));
        let tells = self.journal.is_on && entries.over == Over::Items && changes;
        if !entries.moves_bytes() && !tells {
            return;
        }
        let to = entries.take.as_ref().and_then(|take| take.to.as_deref());
        let journal_to = to.and_then(|to| self.journal_of(request, file_system(to)));
        let writes = entries.has(Step::Write);
        entries.verify = Some(VerifyItems {
            interval: Bytes(interval),
            generations: true,
            read_before_write: !self.validation.no_preread && writes,
            read_back: self.validation.read_after_write && writes && !is_format,
            mismatches_max: Some(self.mismatches_max()),
            times: self.validation.time,
            journal: self.journal_of(request, file_system(target)),
            journal_to,
            ..VerifyItems::default()
        });
    }

    /// Verification of a lun's blocks.
    fn verify(&self, request: &Request<'_>, sd: &str, interval: u64, mix: Mix) -> Verify {
        let writes = mix.write > 0;
        let read_back = self.validation.read_after_write && writes;
        Verify {
            interval: Bytes(interval),
            unknown: UnknownBlocks::Ignore,
            read_before_write: !self.validation.no_preread && writes,
            read_back: read_back.then(|| ReadBack { every: 1, ..ReadBack::default() }),
            mismatches_max: Some(self.mismatches_max()),
            times: self.validation.time,
            journal: self.journal_of(request, sd),
            ..Verify::default()
        }
    }
}

/// Name of a target's file system; a tree of another shape has a numeric suffix.
fn file_system(target: &str) -> &str {
    target.split(' ').next().unwrap_or_default()
}

/// A job's work on files of a tree, and its target's name.
fn entries_mut(job: &mut Job) -> Option<(&str, &mut Entries)> {
    match &mut job.work {
        Work::Entries(entries) => Some((job.targets.first()?, entries)),
        _ => None,
    }
}

/// Enables keys in blocks and their comparison; recovered journals are read first.
pub(super) fn lower(request: &Request<'_>, lowered: &mut Lowered, out: &mut Diagnostics) {
    let Some(asked) = Asked::of(request) else { return };
    refuse(&asked, request, lowered, out);
    if !out.errors.is_empty() {
        return;
    }
    let Some(interval) = key_bytes(request, lowered, out) else { return };
    for run in &mut lowered.runs {
        let is_format = run.is_format;
        let jobs = run.phases_mut().flat_map(|phase| &mut phase.jobs);
        for (target, entries) in jobs.filter_map(entries_mut) {
            asked.verify_files(request, target, interval, is_format, entries);
        }
    }
    for run in lowered.runs.iter_mut().filter(|run| !run.is_format) {
        let recovers = run.name == JOURNAL_RECOVERY;
        for (job, row) in run.phase.jobs.iter_mut().zip(&run.jobs) {
            let Some(blocks) = job.blocks_mut() else { continue };
            let mut verify = asked.verify(request, &row.sd, interval, blocks.mix);
            if recovers {
                verify.unknown = UnknownBlocks::Skip;
                blocks.size =
                    PerDirection::all(SizeSpec::Fixed(Bytes(RECOVERY_BYTES / interval * interval)));
            }
            blocks.verify = Some(verify);
        }
    }
    if asked.journal.recover_only {
        let fills = |run: &LoweredRun| run.is_format && run.files.is_none();
        lowered.runs.retain(|run| fills(run) || run.name == JOURNAL_RECOVERY);
    }
    notes(&asked, request, interval, out);
}

/// True if journals of an earlier run are recovered; and if all recorded blocks are read first.
pub(super) fn recovers(request: &Request<'_>) -> [bool; 2] {
    let journal = Asked::of(request).map(|asked| asked.journal).unwrap_or_default();
    let recovers = journal.is_on && journal.recover;
    [recovers, recovers && !journal.skip_read_all]
}

/// The run that reads all blocks of luns in the journals; `None` without recovery or if reading is
/// disabled.
pub(super) fn recovery(request: &Request<'_>, targets: &[Target]) -> Option<LoweredRun> {
    let [_, true] = recovers(request) else { return None };
    let job = |target: &Target| {
        let definition = request.file.sds.all.iter().find(|sd| sd.name.text == target.name);
        let direct = definition.is_some_and(|sd| sd.options.open_flags.direct);
        let blocks = Blocks {
            size: PerDirection::all(SizeSpec::Fixed(Bytes(RECOVERY_BYTES))),
            short_last: true,
            depth: if direct { RECOVERY_DEPTH } else { 1 },
            engine: if direct { request.host.async_engine() } else { Engine::Psync },
            direct,
            ..Blocks::default()
        };
        let name = format!("{JOURNAL_RECOVERY} of {}", target.name);
        let targets = vec![target.name.clone()];
        Job { name, targets, work: blocks.into(), ..Job::default() }
    };
    let heading = "I/O rate: Uncontrolled MAX; For loops: None".to_owned();
    let jobs = targets.iter().map(job).collect();
    Some(recovery_of(
        heading,
        jobs,
        targets
            .iter()
            .map(|target| JobRow {
                wd: format!("{JOURNAL_RECOVERY}_{}", target.name),
                sd: target.name.clone(),
                host: "localhost".into(),
                share_percent: 100.0 / targets.len().max(1) as f64,
                ..JobRow::default()
            })
            .collect(),
    ))
}

/// The run that reads all files of trees, each once: 128k at a time by 8 threads, as the tool
/// itself does.
pub(super) fn recovery_of_files(trees: &[(&str, String)]) -> LoweredRun {
    let name = |(system, _): &(&str, String)| format!("{JOURNAL_RECOVERY} of {system}");
    let entries = Entries {
        steps: vec![Step::Open, Step::Read, Step::Close],
        size: Some(Bytes(RECOVERY_BYTES)),
        paced_steps: vec![Step::Read],
        take: Some(Take { once: true, ..Take::default() }),
        ..Entries::default()
    };
    let heading = "fwdrate=max. For loops: None".to_owned();
    recovery_of(
        heading,
        trees
            .iter()
            .map(|tree| Job {
                name: name(tree),
                workers: RECOVERY_DEPTH,
                targets: vec![tree.1.clone()],
                work: entries.clone().into(),
                ..Job::default()
            })
            .collect(),
        trees
            .iter()
            .map(|(system, _)| JobRow {
                wd: JOURNAL_RECOVERY.to_owned(),
                sd: (*system).to_owned(),
                host: "localhost".into(),
                share_percent: 100.0 / trees.len().max(1) as f64,
                ..JobRow::default()
            })
            .collect(),
    )
}

fn recovery_of(heading: String, jobs: Vec<Job>, rows: Vec<JobRow>) -> LoweredRun {
    let (name, stop) = (JOURNAL_RECOVERY.to_owned(), Stop { passes: Some(1), ..Stop::default() });
    LoweredRun {
        phase: Phase { name: name.clone(), stop, jobs, ..Phase::default() },
        heading,
        loops: "For loops: None".to_owned(),
        name,
        jobs: rows,
        interval_s: 1,
        ..LoweredRun::default()
    }
}

/// Size of a key block: a common divisor of all sizes and offsets, so each run has the same blocks.
fn key_bytes(request: &Request<'_>, lowered: &Lowered, out: &mut Diagnostics) -> Option<u64> {
    let mut bytes = KEY_BYTES;
    for run in &lowered.runs {
        let jobs = run.phases().flat_map(|phase| &phase.jobs);
        for entries in jobs.filter_map(|job| job.entries()).filter(|of| of.moves_bytes()) {
            let sizes = entries.size_mix.as_ref().map(|sizes| sizes.unit().0);
            bytes = gcd(bytes, sizes.or(entries.size.map(|size| size.0)).unwrap_or(bytes));
        }
    }
    let runs = lowered.runs.iter().filter(|run| !run.is_format && run.name != JOURNAL_RECOVERY);
    for blocks in runs.flat_map(|run| &run.phase.jobs).filter_map(|job| job.blocks()) {
        let used = |op: &Direction| blocks.mix.of(*op) > 0;
        for op in Direction::ALL.iter().filter(|op| used(op)) {
            bytes = gcd(bytes, blocks.size.of(*op).unit().0);
            bytes = gcd(bytes, blocks.alignment(*op).0);
        }
        if let Extent::Bytes(start) = blocks.range.start {
            bytes = gcd(bytes, start.0);
        }
    }
    if bytes >= 512 && bytes.is_multiple_of(512) {
        return Some(bytes);
    }
    let message = format!(
        "data validation has a key for each block of 512 bytes or more, and sizes and places of \
         these runs are multiples of {bytes} bytes only"
    );
    refuse_at(request, out, message, "use xfersize=, align= and offset= in multiples of 512");
    None
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// An error at the position of the validation parameter.
fn refuse_at(request: &Request<'_>, out: &mut Diagnostics, message: String, remedy: &str) {
    if let Some((at, _)) = &request.asked.validation {
        return out.push(Diagnostic::new(*at, "validation", "", message).remedy(remedy));
    }
    let general = request.file.general();
    let parameter = if general.options.journal.is_on { "journal" } else { "validate" };
    out.wrong(&general.in_texts(request.texts), parameter, message, remedy);
}

/// Refuses unsupported validation.
fn refuse(asked: &Asked<'_>, request: &Request<'_>, lowered: &Lowered, out: &mut Diagnostics) {
    let mut no = |message: &str, remedy: &str| refuse_at(request, out, message.into(), remedy);
    let jobs = lowered.runs.iter().flat_map(|run| &run.phase.jobs);
    if jobs.filter_map(|job| job.entries()).any(|entries| {
        entries.has(Step::Write) && entries.take.as_ref().is_some_and(|take| take.concurrent)
    }) {
        let message = "with several threads that write one file, the last write is unknown";
        no(message, "remove shared of fileio=, or the validation");
    }
    if asked.validation.ignore_zero_reads {
        let message = "zeros where a block was written are a lost write, which candor reports";
        no(message, "remove ignore_zero_reads");
    }
    if asked.journal.bytes_max.is_some() {
        let message = "a journal has no limit; each run starts a new one";
        no(message, "remove max=");
    }
    if asked.errors.remove_device {
        let message = "a block that does not match is left alone, and its lun continues";
        no(message, "give a number of errors");
    }
    let general = &request.file.general().options;
    let dedups = general.dedup.ratio.is_some()
        || request.file.sds.all.iter().any(|sd| sd.options.dedup.ratio.is_some());
    if dedups {
        no("blocks with keys are never the same twice", "remove dedupratio=, or the validation");
    }
    let on_device = |sd: &str| {
        let journal = asked.journal_of(request, sd);
        journal.is_some_and(|journal| journal.directory.starts_with("/dev"))
    };
    if asked.journal.is_on {
        refuse_shared_anchors(request, out);
    }
    let rows = lowered.runs.iter().flat_map(|run| &run.jobs);
    if let Some(row) = rows.into_iter().find(|row| on_device(&row.sd)) {
        let message = format!("the journal of {} is a directory, not a device", row.sd);
        refuse_at(request, out, message, "name a directory on other storage");
    }
}

/// Refuses file systems that have one tree: its blocks have one journal.
fn refuse_shared_anchors(request: &Request<'_>, out: &mut Diagnostics) {
    let all = &request.file.fsds.all;
    for (at, fsd) in all.iter().enumerate() {
        if let Some(other) =
            all[..at].iter().find(|other| other.options.anchor == fsd.options.anchor)
        {
            let (name, first) = (&fsd.name.text, &other.name.text);
            let message = format!("fsd={first} and fsd={name} have one anchor, and two journals");
            let remedy = "give each its own directory, or use one fsd= in both workloads";
            refuse_at(request, out, message, remedy);
        }
    }
}

fn notes(asked: &Asked<'_>, request: &Request<'_>, interval: u64, out: &mut Diagnostics) {
    let general = request.file.general();
    let scope = general.in_texts(request.texts);
    let (did, why) = (
        format!("a separate key for each {interval} bytes"),
        "key blocks are pages, which an interrupted write leaves whole",
    );
    out.note(&scope, "validate", &did, why);
    if !asked.validation.no_preread {
        let why = "reads before writes are counted apart, so that they change no rate and no rdpct";
        out.note(&scope, "validate", "blocks.verify.read_before_write", why);
    }
    if asked.journal.is_on {
        let why = "a journal is a directory NAME.jnl with keys and logs of candor's own format";
        out.note(&scope, "journal", "blocks.verify.journal", why);
    }
}
