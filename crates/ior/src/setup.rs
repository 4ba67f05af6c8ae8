//! Tests as they run: tasks, nodes, distances, seeds, and refusals.

mod checks;

use candor_plan::{RankOrder, path_of};

use super::options::{FakeNodes, Options, OutputOptions, Reading, TestScope};
use candor_front::{Diagnostics, Host, ReadAs, Scope};

/// Longest status file in bytes.
const STATUS_BYTES_MAX: usize = 64;

/// A test as it runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestSetup {
    /// Number, from 0.
    pub id: u32,
    /// The options. If the request names no phase, both write and read are set.
    pub options: Options,
    /// Number of tasks.
    pub tasks: u32,
    /// Nodes.
    pub nodes: u32,
    /// Tasks on the first node.
    pub tasks_on_node0: u32,
    /// The nodes are hosts with separate page caches.
    pub on_several_hosts: bool,
    /// Signature of the content.
    pub signature: i32,
    /// Transfers of each reading task, from the status file; 0 means no limit.
    pub status_iterations: u64,
    /// WARNING lines of IOR's output.
    pub warnings: Vec<String>,
}

/// All tests as they run, and the settings of their output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setup {
    /// The command line.
    pub command: Vec<String>,
    /// The tests.
    pub tests: Vec<TestSetup>,
    /// Output options of all tests.
    pub output: OutputOptions,
    /// Seed of the random orders.
    pub seed: u64,
}

impl TestSetup {
    /// Bytes of all tasks.
    pub fn aggregate_bytes(&self) -> u64 {
        self.task_bytes().saturating_mul(self.tasks.into())
    }

    /// Bytes of a task.
    pub fn task_bytes(&self) -> u64 {
        let layout = &self.options.layout;
        layout.block_bytes.saturating_mul(layout.segments.into())
    }

    /// Transfers of a task.
    pub fn task_transfers(&self) -> u64 {
        self.task_bytes() / self.options.layout.transfer_bytes.max(1)
    }

    /// Distance in ranks to the owner of the data to read (`-C`).
    pub fn read_shift(&self) -> i64 {
        self.distance(self.options.order.offset)
    }

    /// The same for the check of a write, which uses neither the writing nor the reading task.
    pub fn check_shift(&self) -> i64 {
        self.distance(2)
    }

    fn distance(&self, nodes: u32) -> i64 {
        let ranks =
            u64::from(nodes) * u64::from(self.tasks_on_node0) % u64::from(self.tasks.max(1));
        // A number of tasks has 32 bits.
        if self.options.order.constant { ranks as i64 } else { 0 }
    }

    /// Order in which tasks read other tasks' data (`-Z`).
    pub fn read_order(&self, repetition: u32) -> RankOrder {
        let order = &self.options.order;
        let seed = match order.seed {
            0.. => u64::from(order.seed.unsigned_abs()),
            _ => u64::from(order.seed.unsigned_abs()) + u64::from(repetition),
        };
        let nodes = u64::from(order.offset.min(self.nodes.saturating_sub(1)));
        let farthest = u64::from(self.tasks.saturating_sub(1));
        let distance = (nodes * u64::from(self.tasks_on_node0)).min(farthest);
        match order.random {
            0 => RankOrder::InOrder,
            1 => RankOrder::Random { seed, distance, repeats: true },
            _ => RankOrder::Random { seed, distance: 0, repeats: false },
        }
    }

    /// True where a phase writes.
    pub fn writes(&self) -> bool {
        self.options.run.write
    }

    /// True if a phase of reads is measured.
    pub fn reads(&self) -> bool {
        self.options.run.read || self.options.run.check_read
    }
}

/// Settles all tests: fills in IOR's defaults, and refuses impossible values.
pub(super) fn settle(reading: &Reading, host: &dyn Host, out: &mut Diagnostics) -> Setup {
    let now_s = host.now().as_secs();
    let mut setup =
        Setup { command: reading.command.clone(), output: reading.output(), ..Setup::default() };
    let mut seed = None;
    for (id, test) in (0_u32..).zip(&reading.tests) {
        let scope = reading.scope(test);
        let mut settled = TestSetup { id, options: test.options.clone(), ..TestSetup::default() };
        settled.on_several_hosts = reading.on_several_hosts;
        settle_phases(&mut settled.options);
        settle_tasks(&mut settled, &scope, reading.ranks, reading.fake, out);
        settled.signature = match settled.options.data.signature {
            // IOR also uses 32 bits of the time.
            0 => now_s as i32,
            given => given,
        };
        settle_status(&mut settled, &scope, host, out);
        if settled.options.layout.random > 0
            && let Some(given) = settled.options.layout.random_seed
            && *seed.get_or_insert(given) != given
        {
            let message = "tests of one script share the seed of random offsets".to_owned();
            out.wrong(&scope, "random-offset-seed", message, "give all tests the same seed");
        }
        checks::check(&settled, &scope, out);
        checks::note(&settled, &scope, out);
        setup.tests.push(settled);
    }
    setup.seed = seed.map_or(now_s, u64::from);
    hints(host, out);
    setup
}

/// If the request names no phase, both run.
fn settle_phases(options: &mut Options) {
    let run = &mut options.run;
    if !(run.write || run.read || run.check_write || run.check_read) {
        (run.write, run.read) = (true, true);
    }
}

fn settle_tasks(
    test: &mut TestSetup,
    scope: &TestScope<'_>,
    ranks: u32,
    fake: FakeNodes,
    out: &mut Diagnostics,
) {
    let run = &test.options.run;
    let asked = run.tasks.unwrap_or(ranks);
    test.tasks = asked.min(ranks);
    test.nodes = run.nodes.or(fake.nodes).unwrap_or(1);
    test.tasks_on_node0 = run.tasks_on_node0.or(fake.tasks_per_node).unwrap_or(ranks);
    if asked > ranks {
        let warning = format!("More tasks requested ({asked}) than available ({ranks})");
        warn(test, scope, "numTasks", &warning, out);
        let why = "there are no more ranks; give --ranks N or CANDOR_RANKS";
        out.note(scope, "numTasks", &format!("{ranks} tasks"), why);
    }
}

/// The number of transfers in the status file of an earlier run.
fn settle_status(
    test: &mut TestSetup,
    scope: &TestScope<'_>,
    host: &dyn Host,
    out: &mut Diagnostics,
) {
    let Some(file) = test.options.ends.status_file.clone() else { return };
    // A write of the same test sets the count during the run.
    if test.writes() || !test.reads() {
        return;
    }
    let bytes = host.first_bytes(&path_of(&file), ReadAs::Replaceable, STATUS_BYTES_MAX).ok();
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    match text.and_then(|text| text.trim().parse().ok()) {
        Some(iterations) => test.status_iterations = iterations,
        None => {
            let warning = "Could not read back the stonewalling status from the file!";
            warn(test, scope, "stoneWallingStatusFile", warning, out);
            let why = "no count can be read from that file";
            out.note(scope, "stoneWallingStatusFile", "reads go to the end of the files", why);
        }
    }
}

/// A warning in IOR's output, or an error if warnings are errors.
pub(super) fn warn(
    test: &mut TestSetup,
    scope: &TestScope<'_>,
    option: &str,
    warning: &str,
    out: &mut Diagnostics,
) {
    if test.options.output.warnings_are_errors {
        let remedy = "--warningAsErrors makes it an error";
        out.wrong(scope, option, warning.to_owned(), remedy);
    }
    test.warnings.push(warning.to_owned());
}

/// Hints from the environment, which only MPI-IO and GPFS use.
fn hints(host: &dyn Host, out: &mut Diagnostics) {
    for name in host.variables("IOR_HINT") {
        out.add_note(candor_record::Note {
            asked: name,
            did: "nothing".into(),
            why: "hints are for MPI-IO and GPFS, which candor does not call".into(),
            place: None,
        });
    }
}

/// True for a given option.
pub(super) fn has(scope: &TestScope<'_>, option: &str) -> bool {
    scope.given().has(option)
}
