//! Files, tasks, content and memory.

use super::{Options, Row, count, flag, put, put_natural, put_number, put_unless_negative};
use crate::grammar;
use crate::options::Packet;
use candor_front::{Refused, choose, store};

const INT_MAX: i64 = i32::MAX as i64;

#[rustfmt::skip]
pub(super) const LAYOUT: &[Row] = &[
    Row::value("testFile", "PATH", test_file,
        "Use the file at PATH; with -F, @ separates several paths").letter('o').default("testFile")
        .exact("target.path", "/data/f"),
    flag("filePerProc", |o, t| put(&mut o.layout.file_per_process, t), "Use a file per task")
        .letter('F').exact("job.sharing", "1"),
    flag("uniqueDir", |o, t| put(&mut o.layout.unique_dir, t),
        "Put each task's file into its own directory").letter('u').exact("target.file_name", "1"),
    flag("multiFile", |o, t| put(&mut o.layout.multi_file, t), "Use new files in each repetition")
        .letter('m').exact("target.file_name", "1"),
    Row::value("blockSize", "BYTES", |o, t| put_natural(&mut o.layout.block_bytes, t),
        "Give each task BYTES contiguous bytes per segment").letter('b').default("1048576")
        .exact("blocks.share", "16m"),
    Row::value("transferSize", "BYTES", |o, t| put_natural(&mut o.layout.transfer_bytes, t),
        "Transfer BYTES per call").letter('t').default("262144").exact("blocks.size", "64k"),
    Row::value("segmentCount", "N", |o, t| put_number(&mut o.layout.segments, t, 1..=1 << 30),
        "Write N segments, each with a block per task").letter('s').default("1")
        .exact("blocks.share", "16"),
    flag("randomOffset", |o, t| count(&mut o.layout.random, t),
        "Transfer in random order; twice: at random positions").letter('z')
        .near("blocks.access", "1", "candor's own generator draws the order; tasks of a shared \
              file have equal numbers of transfers, not unequal ones"),
    Row::value("random-offset-seed", "N",
        |o, t| put_unless_negative(&mut o.layout.random_seed, t, 0..=INT_MAX),
        "Set the seed of the random order; -1 uses the time").default("-1").exact("seed", "7"),
    Row::value("randomPrefill", "BYTES", |o, t| put_natural(&mut o.layout.prefill_bytes, t),
        "Fill files sequentially before random writes, BYTES per call").default("0")
        .near("phase", "64k", "the fill is a phase before the write; IOR includes it in the \
              write's time"),
];

#[rustfmt::skip]
pub(super) const TASKS: &[Row] = &[
    Row::value("numTasks", "N", |o, t| put_unless_negative(&mut o.run.tasks, t, 1..=INT_MAX),
        "Use the first N tasks; -1 uses all").letter('N').default("-1").exact("job.workers", "2"),
    Row::value("numNodes", "N", |o, t| put_unless_negative(&mut o.run.nodes, t, 1..=INT_MAX),
        "Report N nodes, and compute -Z with N nodes").default("-1").exact("job.rank_order", "2"),
    Row::value("numTasksOnNode0", "N",
        |o, t| put_unless_negative(&mut o.run.tasks_on_node0, t, 1..=INT_MAX),
        "Compute -C and -Z with N tasks per node").default("-1").exact("job.rank_shift", "2"),
    flag("reorderTasks", |o, t| put(&mut o.order.constant, t),
        "Read the data of a task at a constant distance").letter('C')
        .alias(&["reorderTasksConstant"]).exact("job.rank_shift", "1"),
    flag("reorderTasksRandom", |o, t| count(&mut o.order.random, t),
        "Read the data of a random task; twice: each task once").letter('Z')
        .near("job.rank_order", "1", "candor's own generator draws the tasks"),
    Row::value("reorderTasksRandomSeed", "N",
        |o, t| put_number(&mut o.order.seed, t, -INT_MAX..=INT_MAX),
        "Set the seed of -Z; negative: a new one per repetition").letter('X').default("0")
        .exact("job.rank_order", "7"),
    Row::value("taskPerNodeOffset", "N", |o, t| put_number(&mut o.order.offset, t, 0..=INT_MAX),
        "Set the distance of -C, and the minimum of -Z, in nodes").letter('Q').default("1")
        .exact("job.rank_shift", "2"),
];

#[rustfmt::skip]
pub(super) const CONTENT: &[Row] = &[
    Row::value("dataPacketType", "WORD", packet,
        "Write this content: timestamp, offset, incompressible, random").letter('l')
        .default("timestamp").exact("blocks.content", "o"),
    Row::value("setTimeStampSignature", "N",
        |o, t| put_number(&mut o.data.signature, t, -INT_MAX..=INT_MAX),
        "Set the signature of the content; 0 uses the time").letter('G').default("0")
        .exact("blocks.content", "7"),
    Row::value("memoryPerNode", "BYTES|N%",
        |o, t| grammar::memory(t).and_then(|memory| {
            o.run.memory_per_task = None;
            store(&mut o.run.memory_per_node, Some(memory))
        }),
        "Occupy BYTES or N% of memory, to leave less page cache").letter('M')
        .exact("occupy_memory", "1m"),
    Row::value("memoryPerTask", "BYTES",
        |o, t| grammar::within(t, 0..=i64::MAX).and_then(|bytes| {
            o.run.memory_per_node = None;
            store(&mut o.run.memory_per_task, Some(bytes as u64))
        }),
        "Occupy BYTES of memory per task").exact("occupy_memory", "1m"),
];

fn test_file(options: &mut Options, text: &str) -> Result<(), Refused> {
    let names = || text.split('@');
    if names().any(str::is_empty) {
        let message = format!("`{text}` has an empty name");
        return Err(Refused::whole(text, message, "give a path, or several with @ between"));
    }
    store(&mut options.layout.test_file, text.to_owned())
}

/// IOR reads only the first letter.
fn packet(options: &mut Options, text: &str) -> Result<(), Refused> {
    let letter = text.chars().next().map(|letter| letter.to_ascii_lowercase().to_string());
    match Packet::CHOICES.iter().position(|choice| letter.as_deref() == Some(choice.word)) {
        Some(nth) => store(&mut options.data.packet, Packet::ALL[nth]),
        None => choose(text, Packet::CHOICES).map(|_| ()),
    }
}
