//! Parameter files and the phases that they become.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::{fs, io};

use candor_plan::blocks::{Access, Journal, JournalLog, UnknownBlocks};
use candor_plan::{Blocks, Bytes, Engine, Job, Nanos};

use super::files::control::{Control, NAME};
use super::*;
use crate::options::{Reading, read};
use crate::runs::expand;
use candor_front::Found;
use candor_front::{Environment, ReadAs};

/// A host with a file of 1 GiB, a device of 10 GiB, and nothing else.
pub(super) struct Fake;

impl Host for Fake {
    fn found(&self, path: &Path) -> Found {
        match path.to_str() {
            Some("/big") => Found::File(1 << 30),
            Some("/short") => Found::File(3 << 20),
            Some("/dev/sdx") => Found::Device(Some(10 << 30)),
            Some("/dir") => Found::Directory,
            _ => Found::Nothing,
        }
    }

    fn async_engine(&self) -> Engine {
        Engine::IO_URING
    }

    fn is_this_host(&self, system: &str) -> bool {
        ["localhost", "here"].contains(&system)
    }

    fn cpus(&self) -> Option<Vec<u32>> {
        Some(vec![0, 1, 2, 3])
    }

    fn first_bytes(&self, path: &Path, _: ReadAs, _: usize) -> io::Result<Vec<u8>> {
        let is_pattern = path == Path::new("/pattern");
        is_pattern.then(|| b"abc".to_vec()).ok_or(io::ErrorKind::NotFound.into())
    }
}

struct Files(BTreeMap<&'static str, String>);

impl Environment for Files {
    fn file(&mut self, path: &str) -> io::Result<Vec<u8>> {
        Ok(self.0.get(path).ok_or(io::ErrorKind::NotFound)?.clone().into_bytes())
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }
}

fn reading(text: &str) -> Reading {
    let argv: Vec<OsString> = ["vdbench", "-f", "p"].map(Into::into).into();
    read(&argv, &mut Files([("p", text.to_owned())].into()))
}

fn lowered(text: &str) -> Result<Lowered, String> {
    let reading = reading(text);
    let told = |errors: &[Diagnostic]| {
        errors.iter().map(|error| error.describe(&reading.texts)).collect::<Vec<_>>().join("\n")
    };
    if !reading.errors.is_empty() {
        return Err(told(&reading.errors));
    }
    let runs = expand(&reading.file).map_err(|errors| told(&errors))?;
    let Reading { file, texts, options: asked, .. } = &reading;
    let lowered = lower(&Request { file, texts, asked, host: &Fake }, &runs);
    let lowered = lowered.map_err(|errors| told(&errors))?;
    for run in &lowered.runs {
        let plan = candor_plan::Plan {
            targets: lowered.targets.clone(),
            phases: vec![run.phase.clone()],
            ..candor_plan::Plan::default()
        };
        let problems = candor_plan::check::check(&plan);
        assert!(candor_plan::check::can_run(&problems), "{text}: {problems:?}");
    }
    Ok(lowered)
}

fn ok(text: &str) -> Lowered {
    lowered(text).unwrap_or_else(|errors| panic!("{text}: {errors}"))
}

fn blocks(run: &LoweredRun, job: usize) -> &Blocks {
    run.phase.jobs[job].blocks().expect("blocks")
}

const FOUNDING: &str = "sd=disk1,lun=/dev/sdx,openflags=o_direct\n\
    wd=seq_rd_wd,sd=disk1,xfersize=16k,readpct=100,seekpct=0\n\
    rd=default,iorate=max,elapsed=1m,interval=1,forthreads=(32)\n\
    rd=seq_rd,wd=seq_rd_wd\n";

#[test]
fn the_founding_file_is_one_stream_of_32() {
    let lowered = ok(FOUNDING);
    let [run] = &lowered.runs[..] else { panic!("{} runs", lowered.runs.len()) };
    assert_eq!(run.name, "seq_rd");
    assert_eq!(run.heading, "I/O rate: Uncontrolled MAX; elapsed=60; For loops: threads=32");
    let [job] = &run.phase.jobs[..] else { panic!("jobs") };
    let of = blocks(run, 0);
    assert_eq!((job.workers, of.depth, of.engine), (1, 32, Engine::IO_URING));
    assert_eq!((&of.access, of.direct), (&Access::Sequential, true));
    assert_eq!(of.size.read.max(), Bytes(16 << 10));
    let first = of.range.start.of(Bytes(10 << 30));
    assert_eq!(first, Bytes(16 << 10), "block 0 of a raw lun is never touched");
    assert_eq!(run.phase.ramp, Nanos::from_secs(1), "the first interval does not count");
    assert_eq!(run.phase.stop.time, Some(Nanos::from_secs(59)));
    assert!(of.pace.ops.is_none() && of.pace.flow.is_none());
}

#[test]
fn a_device_needs_o_direct() {
    let errors = lowered(&FOUNDING.replace(",openflags=o_direct", "")).err().unwrap_or_default();
    assert!(errors.contains("openflags=o_direct") && errors.contains("p:1:"), "{errors}");
}

#[test]
fn luns_that_are_short_are_filled_first() {
    let lowered = ok("sd=sd1,lun=/short,size=10m\nsd=sd2,lun=/new,size=2m\nsd=sd3,lun=/big\n\
        wd=wd1,sd=*\nrd=rd1,wd=wd1,iorate=100\n");
    let format = &lowered.runs[0];
    assert!(format.is_format && format.name == SD_FORMAT);
    let on: Vec<&str> = format.jobs.iter().map(|row| row.sd.as_str()).collect();
    assert_eq!(on, ["sd1", "sd2"]);
    assert_eq!(blocks(format, 0).range.start.of(Bytes(0)), Bytes(3 << 20), "it goes on");
    assert_eq!(blocks(format, 1).range.start.of(Bytes(0)), Bytes(0));
    let run = &lowered.runs[1];
    let rates: Vec<u64> =
        (0..3).filter_map(|job| blocks(run, job).pace.ops).map(|rate| rate.0).collect();
    assert_eq!(rates.iter().sum::<u64>(), 100);
    assert_eq!(blocks(run, 0).pace.arrival, Arrival::Poisson);
    let never = "formatsds=no\nsd=sd1,lun=/short,size=10m\nwd=wd1,sd=*\nrd=rd1,wd=wd1,iorate=1\n";
    assert_eq!(ok(never).runs.len(), 1);
}

#[test]
fn skews_are_shares_of_the_rate() {
    let file = |rate: &str| {
        ok(&format!(
            "sd=sd1,lun=/big,threads=10\nwd=a,sd=sd1,skew=70\nwd=b,sd=sd1,skew=30,seekpct=0\n\
             rd=r,wd=*,iorate={rate}\n"
        ))
    };
    let fixed = file("1000");
    let of = |lowered: &Lowered, job| blocks(&lowered.runs[0], job).pace.clone();
    assert_eq!(of(&fixed, 0).ops.map(|rate| rate.0), Some(700));
    assert_eq!(of(&fixed, 1).ops.map(|rate| rate.0), Some(300));
    let max = file("max");
    assert!(max.runs[0].heading.contains("Controlled MAX"), "{}", max.runs[0].heading);
    let weights = [0, 1].map(|job| of(&max, job).flow.map(|flow| flow.weight));
    assert_eq!(weights, [Some(70_000), Some(30_000)]);
    let threads: Vec<u32> = max.runs[0]
        .phase
        .jobs
        .iter()
        .map(|job| job.workers * job.blocks().map_or(0, |blocks| blocks.depth))
        .collect();
    assert_eq!(threads, [7, 3]);
    let wrong = lowered(
        "sd=sd1,lun=/big\nwd=a,sd=sd1,skew=70\nwd=b,sd=sd1,skew=40\n\
        rd=r,wd=*,iorate=max\n",
    );
    assert!(wrong.err().unwrap_or_default().contains("110"));
}

#[test]
fn workloads_may_have_rates_of_their_own() {
    let lowered = ok(
        "sd=sd1,lun=/big\nwd=a,sd=sd1,iorate=40,priority=1\nwd=b,sd=sd1\nrd=r,wd=*,iorate=100\n",
    );
    let rate = |job| blocks(&lowered.runs[0], job).pace.ops.map(|rate| rate.0);
    assert_eq!((rate(0), rate(1)), (Some(40), Some(60)));
}

#[test]
fn places_are_parts_of_the_lun() {
    let of = |wd: &str| {
        let text = format!("sd=sd1,lun=/big\nwd=a,sd=sd1,{wd}\nrd=r,wd=*,iorate=max\n");
        blocks(&ok(&text).runs[0], 0).clone()
    };
    let range = of("range=(10,60)").range;
    let whole = Bytes(1 << 30);
    let tenth = ((1u64 << 30) / 10) / 4096 * 4096;
    assert_eq!(range.start.of(whole), Bytes(tenth));
    assert!(matches!(of("rhpct=20").access, Access::Zoned { .. }));
    let all = candor_plan::units::PerDirection::all(20.0);
    let hits = candor_plan::units::PerDirection { write: 30.0, ..all };
    let bytes = Bytes(1 << 20);
    assert_eq!(
        of("seekpct=0,rhpct=20,whpct=30").access,
        Access::HitArea { bytes, hit_percent: hits, hole: Bytes(0) }
    );
    assert_eq!(
        of("rhpct=20,whpct=30,stride=(64k,64k)").access,
        Access::HitArea { bytes, hit_percent: hits, hole: Bytes(64 << 10) }
    );
    assert!(matches!(of("hotband=(10,60)").access, Access::Pareto { .. }));
    assert!(matches!(of("range=(90,110)").access, Access::Zoned { .. }));
    assert_eq!(
        of("stride=(1m,1m)").access,
        Access::Holes { hole: Bytes(1 << 20) },
        "from the end of the last operation"
    );
    assert_eq!(of("stride=(8k,16k)").access, Access::Holes { hole: Bytes(8 << 10) });
    assert_eq!(of("seekpct=0,stride=(1m,1m)").access, Access::Sequential, "as vdbench does");
    assert_eq!(of("seekpct=30").stay.percent.read, 70);
    let streams = "concatenatesds=yes\nsd=sd1,lun=/big\n\
        wd=a,sd=sd1,seekpct=seq,streams=4,threads=8\nrd=r,wd=*,iorate=max\n";
    let streams = ok(streams).runs[0].clone();
    assert_eq!((streams.phase.jobs[0].workers, blocks(&streams, 0).depth), (4, 2));
    assert_eq!(blocks(&streams, 0).share, candor_plan::blocks::Share::Slice);
    assert_eq!(of("xfersize=(4k,60,64k,40)").size.read.max(), Bytes(64 << 10));
}

#[test]
fn content_is_as_compressible_and_alike_as_asked() {
    let of = |general: &str| {
        let text =
            format!("{general}\nsd=sd1,lun=/big\nwd=a,sd=sd1,rdpct=0\nrd=r,wd=*,iorate=max\n");
        blocks(&ok(&text).runs[0], 0).content.clone()
    };
    assert_eq!(of("compratio=4").compressible_percent, 75);
    assert_eq!(of("dedupratio=2,dedupunit=4k").duplicate_percent, 50);
    assert!(of("pattern=/pattern").pattern.is_some());
}

#[test]
fn runs_end_with_their_work_where_it_ends() {
    let lowered =
        ok("sd=sd1,lun=/big\nwd=a,sd=sd1,seekpct=eof\nwd=b,sd=sd1\nrd=r,wd=*,iorate=max\n");
    let run = &lowered.runs[0];
    let passes = run.phase.jobs[0].stop.as_ref().and_then(|stop| stop.passes);
    assert_eq!((passes, run.phase.jobs[1].background, run.phase.ramp), (Some(1), true, Nanos(0)));
    let bytes = ok("sd=sd1,lun=/big\nwd=a,sd=sd1,seekpct=0\nrd=r,wd=a,iorate=max,maxdata=1g\n");
    let stop = bytes.runs[0].phase.jobs[0].stop.clone().expect("an end");
    assert_eq!(stop.bytes, Some(Bytes(1 << 30)));
}

#[test]
fn hosts_here_share_the_threads() {
    let hosts = "hd=default,clients=2\nhd=h,system=here\nsd=sd1,lun=/big,threads=9\n\
        wd=a,sd=sd1\nrd=r,wd=a,iorate=max\n";
    let run = &ok(hosts).runs[0];
    let threads: Vec<u32> = run.phase.jobs.iter().map(|job| job.workers).collect();
    assert_eq!((threads.iter().sum::<u32>(), threads.len()), (9, 2));
    let luns = "hd=a,system=here\nhd=b,system=here\nsd=sd1,lun=/big,host=a\n\
        sd=sd2,lun=/big,host=b\n\
        wd=w,sd=*\nrd=r,wd=w,iorate=max\n";
    let run = &ok(luns).runs[0];
    let places: Vec<(&str, &str)> =
        run.jobs.iter().map(|row| (row.sd.as_str(), row.host.as_str())).collect();
    assert_eq!(places, [("sd1", "a"), ("sd2", "b")]);
    let unknown = lowered(&luns.replace("wd=w,sd", "wd=w,host=c,sd")).err();
    assert!(unknown.unwrap_or_default().contains("host c"));
}

#[test]
fn other_hosts_have_the_jobs_that_are_theirs_and_a_sequential_one_is_on_one() {
    let hosts = "hd=a,system=here\nhd=b,system=there:99\nhd=c,system=far,clients=2\n\
        sd=sd1,lun=/big,threads=8\nsd=sd2,lun=/new,size=1m,host=b\n\
        wd=w,sd=sd1,seekpct=100\nwd=s,sd=sd1,seekpct=0,host=(b,c*)\nwd=n,sd=sd2\n\
        rd=r,wd=w,iorate=max\nrd=q,wd=s,iorate=max\nrd=p,wd=n,iorate=max\n";
    let lowered_hosts = ok(hosts);
    let addresses = ["here:4730", "there:99", "far:4730"];
    assert_eq!(lowered_hosts.systems.addresses(), addresses);
    let places = |name: &str| {
        let run = lowered_hosts.runs.iter().find(|run| run.name == name).expect("a run");
        run.phase.jobs.iter().map(|job| job.only_on).collect::<Vec<_>>()
    };
    assert_eq!(places("r"), [Some(0), Some(1), Some(2), Some(2)]);
    assert_eq!(places("q"), [Some(1)], "one stream");
    assert_eq!((places("p"), places(SD_FORMAT)), (vec![Some(1)], vec![Some(1)]));
    let local = ok("hd=a,system=here\nsd=sd1,lun=/big\nwd=w,sd=sd1\nrd=r,wd=w,iorate=max\n");
    assert!(local.systems.is_empty() && local.runs[0].phase.jobs[0].only_on.is_none());
    let skewed = hosts.replace("wd=w,sd", "wd=w,skew=70,sd").replace("rd=r,wd=w", "rd=r,wd=(w,s)");
    let wrong = lowered(&skewed).err().unwrap_or_default();
    assert!(wrong.contains("kept within each host"), "one has the sequential stream: {wrong}");
    assert!(lowered(&skewed.replace("rd=r,wd=(w,s),iorate=max", "rd=r,wd=(w,s),iorate=9")).is_ok());
    let validated = format!("validate=yes\n{hosts}");
    assert!(lowered(&validated).err().unwrap_or_default().contains("data are validated"));
}

#[test]
fn file_systems_are_those_of_the_hosts_of_their_workloads() {
    let text = "hd=a,system=here\nhd=b,system=there\n\
        fsd=f,anchor=/dir,depth=1,width=1,files=4,size=4k,shared=yes\n\
        fsd=g,anchor=/dir,depth=1,width=1,files=4,size=4k\n\
        fwd=w,fsd=f,threads=4\nfwd=x,fsd=g,host=b,operation=mkdir\n\
        rd=r,fwd=w,fwdrate=max,format=yes\nrd=q,fwd=x,fwdrate=max\n";
    let all = ok(text);
    // Name, host, threads and part of each job.
    type Placed = (String, Option<u32>, u32, Option<(u32, u32)>);
    let jobs = |phase: &Phase| -> Vec<Placed> {
        let part = |job: &Job| {
            let part = job.entries()?.take.as_ref()?.host_part?;
            Some((part.number, part.of))
        };
        phase
            .jobs
            .iter()
            .map(|job| (job.name.clone(), job.only_on, job.workers, part(job)))
            .collect()
    };
    let [format, run, other] = &all.runs[..] else { panic!("three runs: {}", all.runs.len()) };
    let job = |name: &str, host, workers, part| (name.to_owned(), Some(host), workers, Some(part));
    let names: Vec<&str> = format.before().iter().map(|phase| phase.name.as_str()).collect();
    let parts = ["delete", "rmdir", "mkdir"].map(|part| format!("format_for_r: {part}"));
    assert_eq!(names, parts);
    let first = [job("format f from a", 0, 8, (0, 1))];
    assert_eq!(jobs(&format.before()[2]), first, "directories are made by one");
    let both = [job("format f from a", 0, 8, (0, 2)), job("format f from b", 1, 8, (1, 2))];
    assert_eq!(jobs(&format.phase), both);
    let both = [job("w f read from a", 0, 2, (0, 2)), job("w f read from b", 1, 2, (1, 2))];
    assert_eq!(
        (jobs(&run.phase), jobs(&other.phase)),
        (both.into(), vec![job("x g mkdir", 1, 1, (0, 1)),])
    );
    let hosts: Vec<&str> = run.jobs.iter().map(|row| row.host.as_str()).collect();
    assert_eq!(hosts, ["a", "b"]);
    assert!(run.files.as_ref().is_some_and(|files| files.anchors.is_empty()), "no control files");
    let wrong = |from: &str, to: &str| lowered(&text.replacen(from, to, 2)).expect_err(to);
    assert!(wrong(",shared=yes", "").contains("fsd=f is used by hosts a, b; add shared=yes"));
    assert!(wrong("anchor=/dir", "anchor=/none").contains("/none is no directory on host a"));
    let skewed = text
        .replace("fwd=w,fsd=f", "fwd=w,fsd=f,skew=60")
        .replace("fwd=x,fsd=g,host=b,operation=mkdir", "fwd=x,fsd=g,host=b,skew=40");
    let skewed = skewed.replace("rd=r,fwd=w,fwdrate=max", "rd=r,fwd=(w,x),fwdrate=max");
    let wrong = lowered(&skewed).expect_err("refused");
    assert!(wrong.contains("kept within each host"), "{wrong}");
}

#[test]
fn curves_wait_for_their_first_run() {
    let lowered = ok("sd=sd1,lun=/big\nwd=a,sd=sd1\nrd=r,wd=a,iorate=curve,curve=(50,90)\n");
    let names: Vec<&str> = lowered.runs.iter().map(|run| run.name.as_str()).collect();
    assert_eq!(names, ["r", "r_(50%)", "r_(90%)"]);
    let point = lowered.runs[1].at_rate(5000.0);
    assert_eq!(
        point.jobs[0].blocks().and_then(|blocks| blocks.pace.ops).map(|rate| rate.0),
        Some(5000)
    );
}

#[test]
fn what_cannot_be_done_is_refused_by_name() {
    for (text, part) in [
        ("sd=sd1,lun=/none\nwd=a,sd=sd1\nrd=r,wd=a,iorate=max\n", "size="),
        ("sd=sd1,lun=/dir\nwd=a,sd=sd1\nrd=r,wd=a,iorate=max\n", "directory"),
        ("sd=sd1,lun=/dev/sdy,openflags=o_direct\nwd=a,sd=sd1\nrd=r,wd=a,iorate=max\n", "exist"),
        ("sd=sd1,lun=/big\nwd=a,sd=sd2\nrd=r,wd=a,iorate=max\n", "sd2"),
        ("sd=sd1,lun=/big\nwd=a,sd=sd1\nrd=r,wd=b,iorate=max\n", "wd=b"),
        ("sd=sd1,lun=/big\nwd=a,sd=sd1\nrd=r,wd=a,iorate=(1,1,2),distribution=variable\n", "pairs"),
        ("sd=sd1,lun=/big\nwd=a,sd=sd1\nrd=r,wd=a,iorate=max,distribution=spike\n", "a list"),
        ("sd=sd1,lun=/big\nwd=a,sd=sd1\nrd=r,wd=a,iorate=(0,1),distribution=spike\n", "are 0"),
        ("sd=sd1,lun=/big\nwd=a,sd=sd1\nrd=r,wd=a,iorate=0\n", "does nothing"),
        (
            "sd=sd1,lun=/big\nwd=a,sd=sd1\nrd=r,wd=a,iorate=(9,18,7,16),distribution=spike\n",
            "take 34 s",
        ),
        ("sd=sd1,lun=/big\nwd=a,sd=sd1,user=X\nrd=r,wd=a,iorate=max\n", "Java"),
        ("sd=sd1,lun=/big\nwd=a,sd=sd1\nrd=r,wd=a,iorate=(50%)\n", "earlier"),
        ("sd=default,lun=/big\nsd=sd1\nwd=a,sd=sd1\nrd=r,wd=a,iorate=max\n", "default"),
        ("sd=sd1,lun=/big\nwd=a,sd=sd1\nrd=r,wd=a,iorate=1,forxfersize=(1000)\n", "512"),
        ("sd=sd1,lun=/big\nwd=a,sd=sd1,xfersize=(4k,64k,4k)\nrd=r,wd=a,iorate=1\n", "align="),
        (
            "sd=sd1,lun=/big\nwd=a,sd=sd1,skew=9,iorate=1,priority=1\nwd=b,sd=sd1\n\
            rd=r,wd=*,iorate=9\n",
            "skew",
        ),
        ("sd=sd1,lun=/big\nwd=a,sd=sd1,iorate=1\nrd=r,wd=*,iorate=9\n", "priority"),
        ("sd=sd1,lun=/big\nwd=a,sd=sd1,threads=2\nrd=r,wd=*,iorate=9\n", "concatenatesds"),
        ("sd=sd1,lun=/big,size=4k\nwd=a,sd=sd1,xfersize=1m\nrd=r,wd=a,iorate=max\n", "fit"),
    ] {
        let errors = lowered(text).err().unwrap_or_default();
        assert!(errors.contains(part), "{text}: {errors}");
    }
}

#[test]
fn rates_that_follow_each_other_go_by_shares() {
    let text = "sd=sd1,lun=/big\nwd=wd1,sd=sd1,skew=75\nwd=wd2,sd=sd1,skew=25\n\
        rd=rd1,wd=wd*,iorate=(10,2,0,1,1000,1),distribution=(deterministic,spike)\n";
    let lowered = ok(text);
    let pace = |job| blocks(&lowered.runs[0], job).pace.clone();
    let rates = |job| pace(job).steps.iter().map(|step| step.ops.0).collect::<Vec<_>>();
    assert_eq!([rates(0), rates(1)], [[8, 0, 750], [2, 0, 250]]);
    assert!(pace(0).bursts && pace(0).ops.is_none() && pace(0).arrival == Arrival::Fixed);
    let spread = ok(&text.replace("spike", "variable"));
    assert!(!blocks(&spread.runs[0], 0).pace.bursts && spread.runs.len() == 1);
}

#[test]
fn validated_runs_check_each_block_before_they_write_it_again() {
    let text = "validate=(yes,time)\ndata_errors=7\nsd=sd1,lun=/big\n\
        wd=wd1,sd=sd1,xfersize=64k,rdpct=40\nwd=wd2,sd=sd1,xfersize=8k,rdpct=100\n\
        rd=rd1,wd=wd*,iorate=max\n";
    let lowered = ok(text);
    let verify = |job| blocks(&lowered.runs[0], job).verify.clone().expect("verified");
    let (mixed, reads) = (verify(0), verify(1));
    assert_eq!((mixed.interval, reads.interval), (Bytes(4096), Bytes(4096)), "the same blocks");
    assert!(mixed.read_before_write && !reads.read_before_write && mixed.times);
    assert_eq!((mixed.mismatches_max, mixed.read_back, mixed.journal), (Some(7), None, None));
    let after = ok(&text.replace("yes,time", "read_after_write,no_preread"));
    let verify = blocks(&after.runs[0], 0).verify.clone().expect("verified");
    assert!(!verify.read_before_write && verify.read_back.is_some_and(|back| back.every == 1));
    let plain = ok(&text.replace("validate=(yes,time)\n", ""));
    assert_eq!(blocks(&plain.runs[0], 0).verify, None);
}

#[test]
fn files_of_trees_are_verified_by_the_writes_to_their_blocks() {
    let text = "validate=(yes,time)\ndata_errors=7\n\
        fsd=fsd1,anchor=/no_such,files=4,sizes=(16k,0)\n\
        fwd=fwd1,fsd=fsd1,operation=write,xfersize=(2k,50,8k,50),fileio=random\n\
        fwd=fwd2,fsd=fsd1,operation=getattr\nrd=rd1,fwd=fwd*,fwdrate=10,format=yes\n";
    let lowered = ok(text);
    let [format, run] = &lowered.runs[..] else { panic!("{} runs", lowered.runs.len()) };
    let verify = |run: &LoweredRun, job: usize| {
        run.phase.jobs[job].entries().and_then(|entries| entries.verify.clone())
    };
    for of in [verify(format, 0), verify(run, 0)] {
        let of = of.expect("verified");
        assert_eq!((of.interval, of.mismatches_max), (Bytes(2048), Some(7)));
        assert!(of.generations && of.read_before_write && of.times && !of.read_back);
    }
    assert_eq!(verify(run, 1), None, "no bytes");
    assert!(
        format
            .before()
            .iter()
            .flat_map(|phase| &phase.jobs)
            .all(|job| { job.entries().is_some_and(|entries| entries.verify.is_none()) })
    );
    let after = ok(&text.replace("yes,time", "read_after_write,no_preread"));
    let [format, run] = [0, 1].map(|nth| verify(&after.runs[nth], 0).expect("verified"));
    assert!(run.read_back && !run.read_before_write && !format.read_back);
}

#[test]
fn formats_are_refused_where_no_run_could_have_them() {
    let file = |rds: &str| format!("fsd=f,anchor=/no_such\nfwd=w,fsd=f\n{rds}\n");
    for (rds, said) in [
        ("rd=default,fwd=w,fwdrate=1,format=yes\nrd=r", "p:3:35: format= is not for rd=default"),
        ("rd=r,fwd=w,fwdrate=1,format=once", "p:3:29: format=once of rd=r needs a loop"),
    ] {
        let errors = lowered(&file(rds)).err().unwrap_or_default();
        assert!(errors.contains(said), "{rds}: {errors}");
    }
    ok(&file("rd=r,fwd=w,fwdrate=(1,2),format=once"));
}

#[test]
fn flags_of_open_have_a_note_where_they_differ() {
    let notes = |flags: &str| {
        let lowered = ok(&FOUNDING.replace("o_direct", flags));
        let notes = lowered.notes.into_iter().filter(|note| note.asked.contains("openflags"));
        notes.map(|note| note.did).collect::<Vec<_>>()
    };
    assert_eq!(notes("o_direct"), [""; 0]);
    assert_eq!(notes("(o_direct,o_sync)"), ["blocks.direct, blocks.durability"]);
}

#[test]
fn a_simulation_takes_a_lun_at_its_word() {
    let text = "sd=sd1,lun=/dev/none,openflags=o_direct\nsd=sd2,lun=/dir,size=5m\n\
        wd=wd1,sd=*\nrd=rd1,wd=wd1,iorate=max\n";
    assert!(lowered(text).is_err());
    let mut reading = reading(text);
    reading.options.is_simulation = true;
    let runs = expand(&reading.file).expect("runs");
    let Reading { file, texts, options: asked, .. } = &reading;
    let lowered = lower(&Request { file, texts, asked, host: &Fake }, &runs).expect("lowered");
    assert_eq!(lowered.runs.len(), 1, "nothing is filled");
    assert_eq!(lowered.targets[1].size, Some(Bytes(5 << 20)));
}

#[test]
fn a_journal_is_taken_up_by_a_run_that_reads_what_it_knows() {
    let text = "journal=(recover,noflush)\nsd=sd1,lun=/big,journal=/j\nwd=wd1,sd=sd1,rdpct=0\n\
        rd=rd1,wd=wd1,iorate=max\n";
    let lowered = ok(text);
    let names: Vec<&str> = lowered.runs.iter().map(|run| run.name.as_str()).collect();
    assert_eq!(names, ["journal_recovery", "rd1"]);
    for (nth, unknown) in [(0, UnknownBlocks::Skip), (1, UnknownBlocks::Ignore)] {
        let verify = blocks(&lowered.runs[nth], 0).verify.clone().expect("verified");
        let journal = verify.journal.expect("journaled");
        assert_eq!(journal.directory, Path::new("/j/sd1.jnl"));
        assert_eq!((journal.log, journal.recover), (JournalLog::Unflushed, true));
        assert_eq!(verify.unknown, unknown);
    }
    let names = |text: &str| ok(text).runs.iter().map(|run| run.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&text.replace("noflush", "only")), ["journal_recovery"]);
    assert_eq!(names(&text.replace("noflush", "skip_read_all")), ["rd1"]);
    assert_eq!(names(&text.replace("recover,", "")), ["rd1"]);
}

#[test]
fn trees_have_journals_that_all_who_change_files_tell() {
    let text = "journal=yes\nfsd=f,anchor=/no_such/f,journal=/j\nfsd=g,anchor=/no_such/g\n\
        fwd=w1,fsd=f,operation=read\nfwd=w2,fsd=f,operation=delete\n\
        fwd=w3,fsd=f,operation=move,target=g\nfwd=w4,fsd=f,operation=getattr\n\
        fwd=w5,fsd=f,operation=mkdir\nrd=r,fwd=w*,fwdrate=1,format=yes\n";
    let lowered = ok(text);
    let [format, run] = &lowered.runs[..] else { panic!("{} runs", lowered.runs.len()) };
    let journals = |job: &Job| {
        let verify = job.entries().and_then(|entries| entries.verify.as_ref());
        let of = |journal: &Journal| journal.directory.display().to_string();
        verify.map(|verify| (verify.journal.as_ref().map(of), verify.journal_to.as_ref().map(of)))
    };
    let here = Some("/j/f.jnl".to_owned());
    let told: Vec<_> = run.phase.jobs.iter().map(journals).collect();
    let moves = Some((here.clone(), Some("./g.jnl".to_owned())));
    let tells = Some((here.clone(), None));
    assert_eq!(told, [tells.clone(), tells.clone(), moves, None, None]);
    assert_eq!(journals(&format.phase.jobs[0]), tells);
}

#[test]
fn a_tree_that_an_earlier_run_left_is_recovered_by_its_control_file() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let control = Control { depth: 1, width: 2, files: 3, ..Control::default() };
    let control = Control { placement: "bottom".into(), sizes: vec![4096], ..control };
    fs::write(dir.path().join(NAME), control.text("today")).expect("written");
    let text = format!(
        "journal=recover\nfsd=f,anchor={},width=2,files=9\nfsd=g,anchor=/no_such\n\
         fwd=w,fsd=f\nrd=r,fwd=w,fwdrate=1,format=yes\n",
        dir.path().display()
    );
    let lowered = ok(&text);
    let names: Vec<&str> = lowered.runs.iter().map(|run| run.name.as_str()).collect();
    assert_eq!(names, ["journal_recovery", "format_for_r", "r"]);
    let recovery = &lowered.runs[0];
    let [job] = &recovery.phase.jobs[..] else { panic!("one tree is left") };
    let tree_of = |job: &Job| {
        let target = lowered.targets.iter().find(|target| target.name == job.targets[0]);
        target.and_then(|target| target.tree.clone()).expect("a tree")
    };
    assert_eq!((tree_of(job).width, tree_of(job).items, recovery.is_format), (2, 3, false));
    let verify = job.entries().and_then(|entries| entries.verify.clone()).expect("verified");
    let journal = verify.journal.expect("journaled");
    assert!(journal.recover && verify.generations && !verify.read_before_write);
    // The format removes that tree, and makes the new one.
    let removes = &recovery_format(&lowered).before[0].jobs[0];
    assert_eq!(tree_of(removes), tree_of(job));
    assert_eq!(tree_of(&lowered.runs[2].phase.jobs[0]).items, 9);
    let only = ok(&text.replace("recover", "(recover,only)"));
    assert_eq!(only.runs.len(), 1);
}

/// The format of the second run.
fn recovery_format(lowered: &Lowered) -> &files::FilesOfRun {
    lowered.runs[1].files.as_ref().expect("of trees")
}

#[test]
fn what_is_not_validated_is_refused_by_name() {
    let sd = "sd=sd1,lun=/big\nwd=wd1,sd=sd1,rdpct=0\nrd=rd1,wd=wd1,iorate=max\n";
    for (text, said) in [
        (format!("validate=(yes,ignore_zero_reads)\n{sd}"), "zeros where a block was written"),
        (format!("journal=(max=10m)\n{sd}"), "a journal has no limit"),
        (format!("validate=yes\ndedupratio=2,dedupunit=4k\n{sd}"), "never the same twice"),
        (format!("validate=yes\ndata_errors=remove_device\n{sd}"), "is left alone"),
        (format!("journal=yes\n{}", sd.replace("/big", "/big,journal=/dev/sdy")), "not a device"),
        (
            format!("validate=yes\n{}", sd.replace("rdpct", "xfersize=1000,rdpct")),
            "multiple of 512",
        ),
        (
            "journal=yes\nfsd=f,anchor=/no_such\nfsd=g,anchor=/no_such\nfwd=w,fsd=f\n\
             rd=r,fwd=w,fwdrate=1\n"
                .to_owned(),
            "fsd=f and fsd=g have one anchor, and two journals",
        ),
        (
            "validate=yes\nfsd=f,anchor=/no_such\n\
             fwd=w,fsd=f,operation=write,fileio=(random,shared)\nrd=r,fwd=w,fwdrate=1\n"
                .to_owned(),
            "several threads that write one file",
        ),
    ] {
        let errors = lowered(&text).err().unwrap_or_default();
        assert!(errors.contains(said) && errors.contains("p:"), "{text}: {errors}");
    }
}
