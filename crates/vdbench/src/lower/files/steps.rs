//! An operation of vdbench as steps on files or directories.

use candor_plan::Bytes;
use candor_plan::blocks::{Access, Content, OpenSync};
use candor_plan::entries::{Entries, Over, Select, Step, Take, Visit};
use candor_plan::units::SizeSpec;

use super::Common;
use super::group::Group;
use super::shape::{Shape, whole_percents};
use crate::definitions::fwd::{FileOperation, FileSelect, StopAfter};
use crate::definitions::open_flags::{OpenFlags, SyncFlag};
use crate::definitions::transfer::TransferSize;

/// Steps of existing files or directories, and the steps that the rate counts.
struct Steps {
    over: Over,
    present: Vec<Step>,
    absent: Vec<Step>,
    short: Option<Vec<Step>>,
    counted: Vec<Step>,
}

impl Steps {
    /// Steps for files that are there.
    fn present(steps: &[Step], counted: Step) -> Steps {
        Steps {
            over: Over::Items,
            present: steps.into(),
            absent: Vec::new(),
            short: None,
            counted: vec![counted],
        }
    }

    /// Steps of missing files or directories.
    fn absent(over: Over, steps: &[Step], counted: Step) -> Steps {
        Steps { over, absent: steps.into(), ..Steps::present(&[], counted) }
    }
}

/// Steps of a group.
fn steps(group: &Group<'_>) -> Steps {
    use Step::{Close, Create, Open, Read, Unlink, Write};
    let (io, stops) = (group.workload.file_io, group.workload.stop_after.is_some());
    match (group.operation, group.read_percent) {
        (_, Some(percent)) if percent >= 100.0 => Steps::present(&[Open, Read, Close], Read),
        (_, Some(percent)) if percent.round() < 1.0 => Steps::present(&[Open, Write, Close], Write),
        (_, Some(_)) => {
            let steps = Steps::present(&[Open, Write, Close], Write);
            Steps { counted: vec![Read, Write], ..steps }
        }
        (FileOperation::Read, _) => Steps::present(&[Open, Read, Close], Read),
        (FileOperation::Write, _) if io.random => Steps::present(&[Open, Write, Close], Write),
        (FileOperation::Write, _) if io.delete_first => Steps {
            absent: vec![Create, Write, Close],
            // A file that is not written to its end yet is written on.
            short: stops.then(|| vec![Open, Write, Close]),
            ..Steps::present(&[Unlink, Create, Write, Close], Write)
        },
        (FileOperation::Write, _) => Steps {
            absent: vec![Create, Write, Close],
            ..Steps::present(&[Open, Write, Close], Write)
        },
        (FileOperation::Create, _) => Steps::absent(Over::Items, &[Create, Close], Create),
        (FileOperation::Mkdir, _) => Steps::absent(Over::Directories, &[Step::Mkdir], Step::Mkdir),
        (FileOperation::Rmdir, _) => {
            Steps { over: Over::Directories, ..Steps::present(&[Step::Rmdir], Step::Rmdir) }
        }
        (FileOperation::Delete, _) => Steps::present(&[Unlink], Unlink),
        (FileOperation::Open, _) => Steps::present(&[Open, Close], Open),
        (FileOperation::Close, _) => Steps::present(&[Open, Close], Close),
        (FileOperation::Getattr, _) => Steps::present(&[Step::Stat], Step::Stat),
        (FileOperation::Setattr, _) => Steps::present(&[Step::Utimens], Step::Utimens),
        (FileOperation::Access, _) => Steps::present(&[Step::Access], Step::Access),
        (FileOperation::Copy, _) => Steps::present(&[Step::Copy], Step::Copy),
        (FileOperation::Move, _) => Steps::present(&[Step::Rename], Step::Rename),
    }
}

/// The work of a group; `to` is the target of copies and moves.
pub fn entries(group: &Group<'_>, shape: &Shape, common: &Common, to: Option<String>) -> Entries {
    let Steps { over, mut present, mut absent, mut short, counted } = steps(group);
    let fwd = group.workload;
    let flags = common.open_flags.or(fwd.open_flags).unwrap_or(common.of_fsd);
    let lists = [Some(&mut present), Some(&mut absent), short.as_mut()];
    lists.into_iter().flatten().for_each(|steps| sync_before_close(steps, flags));
    let all = || present.iter().chain(&absent).chain(short.iter().flatten());
    let moves = all().any(|step| step.moves_bytes());
    let writes = all().any(|step| *step == Step::Write);
    let files = over == Over::Items;
    let goes = to.is_some();
    let take = Take {
        absent,
        short,
        concurrent: fwd.file_io.shared,
        // A file that was copied is not copied again.
        once: fwd.file_select.once || (goes && !fwd.file_select.random),
        parts: if files { shape.parts(false) } else { Vec::new() },
        to,
        host_part: group.part,
    };
    let sized = moves || group.operation == FileOperation::Copy;
    let (size, size_mix) = transfer(&fwd.transfer_size, common.transfer_size);
    let read_percent = group.read_percent.filter(|percent| *percent < 100.0);
    let entries = Entries {
        over,
        steps: present,
        select: select(fwd.file_select),
        size: size.filter(|_| sized),
        size_mix: size_mix.filter(|_| sized),
        direct: flags.direct,
        paced_steps: counted,
        take: Some(take),
        ..Entries::default()
    };
    if !moves {
        return entries;
    }
    Entries {
        access: if fwd.file_io.random { Access::Random } else { Access::Sequential },
        read_percent: read_percent.map_or(0, |percent| percent.round() as u8),
        read_by_chance: read_percent.is_some_and(|percent| percent.round() > 0.0),
        visit: fwd.stop_after.map(|stop| match stop {
            StopAfter::Operations(count) => Visit::Operations(count),
            StopAfter::Percent(percent) => Visit::Percent((percent.round() as u64).max(1)),
        }),
        open_sync: if writes { open_sync(flags) } else { OpenSync::None },
        content: if writes { common.content.clone() } else { Content::default() },
        ..entries
    }
}

/// Bytes per read and write: the run's, else the workload's.
pub fn transfer(of_fwd: &TransferSize, of_run: Option<u64>) -> (Option<Bytes>, Option<SizeSpec>) {
    match (of_run, of_fwd) {
        (Some(size), _) => (Some(Bytes(size)), None),
        (None, TransferSize::Fixed(size)) => (Some(Bytes(*size)), None),
        (None, TransferSize::Mixed(pairs)) => {
            let list = whole_percents(pairs.iter().map(|(size, share)| (*size, *share)));
            (None, Some(SizeSpec::Weighted(list)))
        }
        (None, TransferSize::Ranged { min, max, align }) => {
            (None, Some(SizeSpec::Stepped(Bytes(*min), Bytes(*max), Bytes(*align))))
        }
    }
}

/// Puts an fsync before the close of files that are written.
pub fn sync_before_close(steps: &mut Vec<Step>, flags: OpenFlags) {
    let writes = steps.contains(&Step::Write);
    let close = steps.iter().position(|step| *step == Step::Close);
    if let Some(close) = close.filter(|_| flags.fsync_at_close && writes) {
        steps.insert(close, Step::Fsync);
    }
}

/// Flag of open files.
pub fn open_sync(flags: OpenFlags) -> OpenSync {
    match flags.sync {
        SyncFlag::None => OpenSync::None,
        SyncFlag::Dsync => OpenSync::Dsync,
        SyncFlag::Sync => OpenSync::Sync,
    }
}

fn select(select: FileSelect) -> Select {
    match select {
        FileSelect { poisson: Some(midpoint), .. } => Select::Exponential { midpoint },
        FileSelect { random: true, .. } => Select::Random,
        _ => Select::Sequential,
    }
}
