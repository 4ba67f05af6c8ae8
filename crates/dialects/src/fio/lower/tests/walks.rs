//! Typical job files.

use candor_plan::blocks::{Access, Range};
use candor_plan::units::{Extent, Mix};
use candor_plan::{Bytes, Engine, Layout, Nanos};

use super::{blocks, job, k, lowered, mistakes};

#[test]
fn one_random_reader_of_a_file_that_is_laid_out() {
    let lowered = lowered("[r]\nrw=randread\nsize=1m\nbs=4k\n");
    let target = &lowered.plan.targets[0];
    assert_eq!((target.name.as_str(), target.size), ("r.0.0", Some(Bytes(1 << 20))));
    assert_eq!((target.layout, target.keep, target.overwrite), (Layout::Write, true, true));
    let blocks = blocks(&lowered, 0, 0);
    assert_eq!((blocks.mix, &blocks.access), (Mix::READ, &Access::Permutation));
    assert_eq!((blocks.engine, blocks.depth, blocks.size.read.min()), (Engine::Psync, 1, k(4)));
    let length = Some(Extent::Bytes(Bytes(1 << 20)));
    assert_eq!(blocks.range, Range { start: Extent::Bytes(Bytes(0)), length });
    let stop = job(&lowered, 0, 0).stop.clone().unwrap_or_default();
    assert_eq!((stop.time, stop.passes, stop.bytes), (None, Some(1), None));
    assert_eq!(lowered.plan.seed, 0x89);
}

#[test]
fn time_based_jobs_end_by_time_alone() {
    let lowered = lowered("[w]\nrw=write\nsize=1m\ntime_based\nruntime=10\nramp_time=2s\n");
    let stop = job(&lowered, 0, 0).stop.clone().unwrap_or_default();
    assert_eq!((stop.time, stop.passes, stop.bytes), (Some(Nanos::from_secs(10)), None, None));
    assert_eq!(lowered.plan.phases[0].ramp, Nanos::from_secs(2));
    assert_eq!(lowered.plan.targets[0].layout, Layout::Allocate);
}

#[test]
fn mistakes_stand_where_they_were_written() {
    let told = mistakes("[a]\nrw=randraed\nsize=1m\n");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with("job.fio:2:4: rw: `randraed` is not one of its values"),
        "{told:?}"
    );
    let told = mistakes("[a]\nsize=1m\nioengine=libiao\n");
    assert!(told[0].starts_with("job.fio:3:10: there is no ioengine `libiao`"), "{told:?}");
    let told = mistakes("[a]\nsize=1m\n\n bs = 2m\n");
    assert!(told[0].starts_with("job.fio:4:7: operations of 2MiB do not fit"), "{told:?}");
}
