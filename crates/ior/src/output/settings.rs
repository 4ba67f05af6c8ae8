//! The settings of a test, for the head of its results.

use super::numbers::bytes;
use crate::grammar::Memory;
use crate::options::Options;
use crate::setup::TestSetup;

/// Memory in the format of the block of options.
fn memory(memory: Memory) -> String {
    match memory {
        Memory::Bytes(number) => bytes(number),
        Memory::Percent(percent) => format!("{percent}%"),
    }
}

/// The block of options, in order.
pub(super) fn options(setup: &TestSetup) -> Vec<(&'static str, String)> {
    let options = &setup.options;
    let (layout, order, run) = (&options.layout, &options.order, &options.run);
    let mut all: Vec<(&str, String)> = vec![
        ("api", options.io.api.word().into()),
        ("apiVersion", String::new()),
        ("test filename", layout.test_file.clone()),
        (
            "access",
            if layout.file_per_process { "file-per-process" } else { "single-shared-file" }.into(),
        ),
        ("type", if options.io.collective { "collective" } else { "independent" }.into()),
        ("segments", layout.segments.to_string()),
        ("ordering in a file", if layout.random > 0 { "random" } else { "sequential" }.into()),
    ];
    // IOR prints nothing for a shuffled order (-Z -Z).
    match (order.constant, order.random == 1) {
        (false, false) if order.random > 1 => {}
        (true, _) => {
            all.push(("ordering inter file", "constant task offset".into()));
            all.push(("task offset", order.offset.to_string()));
        }
        (false, true) => {
            all.push(("ordering inter file", "random task offset".into()));
            all.push(("task offset", order.offset.to_string()));
            all.push(("reorder random seed", order.seed.to_string()));
        }
        (false, false) => all.push(("ordering inter file", "no tasks offsets".into())),
    }
    all.push(("nodes", setup.nodes.to_string()));
    all.push(("tasks", setup.tasks.to_string()));
    all.push(("clients per node", setup.tasks_on_node0.to_string()));
    if let Some(per_task) = run.memory_per_task {
        all.push(("memoryPerTask", bytes(per_task)));
    }
    if let Some(per_node) = run.memory_per_node {
        all.push(("memoryPerNode", memory(per_node)));
    }
    all.push(("memoryBuffer", "CPU".into()));
    all.push(("dataAccess", "CPU".into()));
    all.push(("GPUDirect", "0".into()));
    all.push(("repetitions", run.repetitions.to_string()));
    all.push(("xfersize", bytes(layout.transfer_bytes)));
    all.push(("blocksize", bytes(layout.block_bytes)));
    all.push(("aggregate filesize", bytes(setup.aggregate_bytes())));
    if options.output.dry_run {
        all.push(("dryRun", "1".into()));
    }
    if options.output.verbose > 0 {
        all.push(("verbose", options.output.verbose.to_string()));
    }
    if options.ends.deadline_s > 0 {
        all.push(("stonewallingTime", options.ends.deadline_s.to_string()));
        all.push(("stoneWallingWearOut", u8::from(options.ends.wear_out).to_string()));
    }
    all
}

/// A parameter's value.
pub(super) enum Value {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Number(number) => number.fmt(f),
            Value::Text(text) => text.fmt(f),
        }
    }
}

fn number(number: u64) -> Value {
    Value::Number(i64::try_from(number).unwrap_or(i64::MAX))
}

fn flag(flag: bool) -> Value {
    Value::Number(flag.into())
}

/// All parameters of a test by IOR's names.
pub(super) fn parameters(setup: &TestSetup, platform: Option<&str>) -> Vec<(&'static str, Value)> {
    let Options { run, layout, order, ends, io, data, output } = &setup.options;
    let per_node = match run.memory_per_node {
        Some(Memory::Bytes(bytes)) => number(bytes),
        Some(Memory::Percent(_)) | None => number(0),
    };
    let platform = output.platform.as_deref().or(platform).unwrap_or("Linux");
    vec![
        ("testID", number(setup.id.into())),
        ("refnum", Value::Number(output.reference)),
        ("api", Value::Text(io.api.word().into())),
        ("platform", Value::Text(platform.into())),
        ("testFileName", Value::Text(layout.test_file.clone())),
        ("deadlineForStonewall", number(ends.deadline_s)),
        ("stoneWallingWearOut", flag(ends.wear_out)),
        ("maxTimeDuration", number(ends.max_time_min)),
        ("outlierThreshold", number(output.outlier_s)),
        ("options", Value::Text("(null)".into())),
        ("dryRun", flag(output.dry_run)),
        ("nodes", number(setup.nodes.into())),
        ("memoryPerTask", number(run.memory_per_task.unwrap_or(0))),
        ("memoryPerNode", per_node),
        ("tasksPerNode", number(setup.tasks_on_node0.into())),
        ("repetitions", number(run.repetitions.into())),
        ("multiFile", flag(layout.multi_file)),
        ("interTestDelay", number(run.delay.as_secs())),
        ("fsync", flag(io.fsync)),
        ("fsyncperwrite", flag(io.fsync_per_write)),
        ("useExistingTestFile", flag(run.use_existing)),
        ("uniqueDir", flag(layout.unique_dir)),
        ("singleXferAttempt", number(0)),
        ("readFile", flag(run.read)),
        ("writeFile", flag(run.write)),
        ("filePerProc", flag(layout.file_per_process)),
        ("reorderTasks", flag(order.constant)),
        ("reorderTasksRandom", number(order.random.into())),
        ("reorderTasksRandomSeed", Value::Number(order.seed.into())),
        ("randomOffset", number(layout.random.into())),
        ("checkWrite", flag(run.check_write)),
        ("checkRead", flag(run.check_read)),
        ("dataPacketType", Value::Number(data.packet as i64)),
        ("data packet type", Value::Text(data.packet.letter().into())),
        ("useO_DIRECT", flag(io.direct)),
        ("keepFile", flag(run.keep)),
        ("keepFileWithError", flag(run.keep_with_error)),
        ("warningAsErrors", flag(output.warnings_are_errors)),
        ("verbose", number(output.verbose.into())),
        ("setTimeStampSignature/incompressibleSeed", Value::Number(data.signature.into())),
        ("collective", flag(io.collective)),
        ("segmentCount", number(layout.segments.into())),
        ("transferSize", number(layout.transfer_bytes)),
        ("blockSize", number(layout.block_bytes)),
    ]
}
