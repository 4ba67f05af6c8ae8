//! ```text
//! [global]
//! filename=/dev/nvme0n1   size=8g   ioengine=io_uring   direct=1   runtime=60   time_based
//! [fill]
//! rw=write   bs=1m   iodepth=16
//! [mixed]
//! stonewall   rw=randrw   rwmixread=70   numjobs=4   iodepth=32
//! bssplit=4k/60:64k/40,8k/100
//! ```

use crate::blocks::{Access, Engine};
use crate::units::{Mix, PerDirection, SizeSpec};
use crate::*;

const TOML: &str = r#"
[[target]]
name = "nvme0n1"
path = "/dev/nvme0n1"
size = "8g"
overwrite = true

[[phase]]
name = "fill"
stop = { time = "60s" }

[[phase.job]]
name = "fill"
targets = ["nvme0n1"]
[phase.job.work.blocks]
mix = "write"
size = "1m"
depth = 16
engine = "io_uring"
direct = true

[[phase]]
name = "mixed"
stop.time = "1m"

[[phase.job]]
name = "mixed"
workers = 4
targets = ["nvme0n1"]
[phase.job.work.blocks]
mix = "read:70,write:30"
access = "random"
size = { read = "4k:60,64k:40", write = "8k:100" }
depth = 32
engine = "io_uring"
direct = true
"#;

fn section(name: &str, workers: u32, blocks: Blocks) -> Phase {
    let blocks = Blocks { engine: Engine::IO_URING, direct: true, ..blocks };
    let job = Job {
        name: name.into(),
        workers,
        targets: vec!["nvme0n1".into()],
        work: blocks.into(),
        ..Job::default()
    };
    let stop = Stop { time: Some(Nanos::from_secs(60)), ..Stop::default() };
    Phase { name: name.into(), stop, jobs: vec![job], ..Phase::default() }
}

fn plan() -> Plan {
    let (k4, k8, k64) = (Bytes(4 << 10), Bytes(8 << 10), Bytes(64 << 10));
    let reads = SizeSpec::Weighted(vec![(k4, 60), (k64, 40)]);
    let fill = Blocks {
        mix: Mix::WRITE,
        size: PerDirection::all(SizeSpec::Fixed(Bytes(1 << 20))),
        depth: 16,
        ..Blocks::default()
    };
    let mixed = Blocks {
        mix: Mix { read: 70, write: 30, trim: 0 },
        access: Access::Random,
        size: PerDirection {
            read: reads.clone(),
            write: SizeSpec::Weighted(vec![(k8, 100)]),
            trim: reads,
        },
        depth: 32,
        ..Blocks::default()
    };
    let target = Target {
        name: "nvme0n1".into(),
        path: "/dev/nvme0n1".into(),
        size: Some(Bytes(8 << 30)),
        overwrite: true,
        ..Target::default()
    };
    Plan {
        targets: vec![target],
        phases: vec![section("fill", 1, fill), section("mixed", 4, mixed)],
        ..Plan::default()
    }
}

#[test]
fn two_sections_with_a_stonewall_and_a_split() {
    walk_it(&plan());
}

fn walk_it(plan: &Plan) {
    super::walk(plan, TOML, &[]);
    let size = &plan.phases[1].jobs[0].blocks().expect("blocks").size;
    assert_eq!((size.read.max(), size.write.max()), (Bytes(64 << 10), Bytes(8 << 10)));
}
