//! Files, tasks, content and memory.

use super::{Draft, Value, count, flag, put, put_number, put_unless_negative, value};
use crate::grammar;
use crate::options::Packet;
use candor_front::{Choice, Refused, Row, choose, store};

const BYTES_MAX: i64 = i64::MAX;

const INT_MAX: i64 = i32::MAX as i64;

#[rustfmt::skip]
pub(super) const LAYOUT: &[Row<Value>] = &[
    value("testFile", "PATH", test_file, "the file; with -F, several with @ between")
        .letter('o').default("testFile").exact("target.path", "/data/f"),
    flag("filePerProc", |d, t| put(&mut d.options.layout.file_per_process, t),
        "a file for each task").letter('F').exact("job.sharing", "1"),
    flag("uniqueDir", |d, t| put(&mut d.options.layout.unique_dir, t),
        "a directory for each task's file").letter('u').exact("target.file_name", "1"),
    flag("multiFile", |d, t| put(&mut d.options.layout.multi_file, t),
        "other files in each repetition").letter('m').exact("target.file_name", "1"),
    value("blockSize", "BYTES",
        |d, t| put_number(&mut d.options.layout.block_bytes, t, [0, BYTES_MAX]),
        "contiguous bytes of a task in a segment").letter('b').default("1048576")
        .exact("blocks.share", "16m"),
    value("transferSize", "BYTES",
        |d, t| put_number(&mut d.options.layout.transfer_bytes, t, [0, BYTES_MAX]),
        "bytes per call").letter('t').default("262144").exact("blocks.size", "64k"),
    value("segmentCount", "N",
        |d, t| put_number(&mut d.options.layout.segments, t, [1, 1 << 30]),
        "segments: each has a block of each task").letter('s').default("1")
        .exact("blocks.share", "16"),
    flag("randomOffset", |d, t| count(&mut d.options.layout.random, t),
        "transfers in random order; twice: blocks at random positions").letter('z')
        .near("blocks.access", "1", "orders are drawn by candor's own generator; of a shared file \
              each task has as many transfers as any other, where IOR's tasks have unequal amounts"),
    value("random-offset-seed", "N",
        |d, t| put_unless_negative(&mut d.options.layout.random_seed, t, [0, INT_MAX]),
        "seed of that order; -1 takes the time").default("-1").exact("seed", "7"),
    value("randomPrefill", "BYTES",
        |d, t| put_number(&mut d.options.layout.prefill_bytes, t, [0, BYTES_MAX]),
        "fill the files in sequence before random writes, BYTES per call").default("0")
        .near("phase", "64k", "the fill is a phase before the write; IOR counts it into the \
              write's time"),
];

#[rustfmt::skip]
pub(super) const TASKS: &[Row<Value>] = &[
    value("numTasks", "N",
        |d, t| put_unless_negative(&mut d.options.run.tasks, t, [1, INT_MAX]),
        "use the first N tasks only; -1 takes all").letter('N').default("-1")
        .exact("job.workers", "2"),
    value("numNodes", "N",
        |d, t| put_unless_negative(&mut d.options.run.nodes, t, [1, INT_MAX]),
        "number of nodes that is shown, and that -Z reckons with").default("-1")
        .exact("job.rank_order", "2"),
    value("numTasksOnNode0", "N",
        |d, t| put_unless_negative(&mut d.options.run.tasks_on_node0, t, [1, INT_MAX]),
        "tasks on a node, which -C and -Z reckon with").default("-1")
        .exact("job.rank_shift", "2"),
    flag("reorderTasks", |d, t| put(&mut d.options.order.constant, t),
        "read what a task at a constant distance wrote").letter('C')
        .alias(&["reorderTasksConstant"]).exact("job.rank_shift", "1"),
    flag("reorderTasksRandom", |d, t| count(&mut d.options.order.random, t),
        "read what a random task wrote; twice: each once").letter('Z')
        .near("job.rank_order", "1", "tasks are drawn by candor's own generator"),
    value("reorderTasksRandomSeed", "N",
        |d, t| put_number(&mut d.options.order.seed, t, [-INT_MAX, INT_MAX]),
        "seed of -Z; negative: another one in each repetition").letter('X').default("0")
        .exact("job.rank_order", "7"),
    value("taskPerNodeOffset", "N",
        |d, t| put_number(&mut d.options.order.offset, t, [0, INT_MAX]),
        "distance of -C in nodes, least distance of -Z").letter('Q').default("1")
        .exact("job.rank_shift", "2"),
];

#[rustfmt::skip]
pub(super) const CONTENT: &[Row<Value>] = &[
    value("dataPacketType", "WORD", packet, "content: timestamp, offset, incompressible, random")
        .letter('l').default("timestamp").exact("blocks.content", "o"),
    value("setTimeStampSignature", "N",
        |d, t| put_number(&mut d.options.data.signature, t, [-INT_MAX, INT_MAX]),
        "signature of the content; 0 takes the time").letter('G').default("0")
        .exact("blocks.content", "7"),
    value("memoryPerNode", "BYTES|N%",
        |d, t| grammar::memory(t).and_then(|memory| {
            d.options.run.memory_per_task = None;
            store(&mut d.options.run.memory_per_node, Some(memory))
        }),
        "occupy BYTES or N% of memory, which leaves less for the page cache").letter('M')
        .exact("occupy_memory", "1m"),
    value("memoryPerTask", "BYTES",
        |d, t| grammar::within(t, [0, i64::MAX]).and_then(|bytes| {
            d.options.run.memory_per_node = None;
            store(&mut d.options.run.memory_per_task, Some(bytes as u64))
        }),
        "the same for each task").exact("occupy_memory", "1m"),
];

fn test_file(draft: &mut Draft, text: &str) -> Result<(), Refused> {
    let names = || text.split('@');
    if names().any(str::is_empty) {
        let message = format!("`{text}` has an empty name");
        return Err(Refused::whole(text, message, "give a path, or several with @ between"));
    }
    store(&mut draft.options.layout.test_file, text.to_owned())
}

/// IOR looks at the first letter only.
fn packet(draft: &mut Draft, text: &str) -> Result<(), Refused> {
    let letter = text.chars().next().map(|letter| letter.to_ascii_lowercase().to_string());
    let known = |choice: &Choice| letter.as_deref() == Some(choice.word);
    match Packet::CHOICES.iter().position(known) {
        Some(nth) => store(&mut draft.options.data.packet, Packet::ALL[nth]),
        None => choose(text, Packet::CHOICES).map(|_| ()),
    }
}
