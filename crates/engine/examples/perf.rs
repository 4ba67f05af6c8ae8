//! perf
use candor_engine::*;
use candor_plan::{blocks::*, *};
use std::sync::atomic::AtomicBool;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let engine = match a[2].as_str() {
        "psync" => Engine::Psync,
        "libaio" => Engine::Libaio,
        "io_uring" | "nop" => Engine::IoUring,
        _ => Engine::Null,
    };
    let depth: u32 = a[3].parse().unwrap();
    let direct = a[4] == "1";
    let secs: u64 = a[5].parse().unwrap();
    let reap: u32 = a.get(6).map_or(1, |r| r.parse().unwrap());
    let t = Target { path: a[1].clone().into(), ..Default::default() };
    let b = Blocks {
        engine,
        depth,
        direct,
        batch_reap: reap,
        access: Access::Random,
        uring: Uring { nop: a[2] == "nop", ..Default::default() },
        ..Default::default()
    };
    let j = Job { targets: vec![t.name.clone()], blocks: Some(b), ..Default::default() };
    let ph = Phase {
        stop: Stop { time: Some(Nanos::from_secs(secs)), ..Default::default() },
        jobs: vec![j],
        ..Default::default()
    };
    let p = Plan { targets: vec![t], phases: vec![ph], ..Default::default() };
    let mut s = Session::new();
    let pr = Prepared::new(&mut s, &p, &p.phases[0], 0).unwrap();
    let m = pr.run(&AtomicBool::new(false), &mut ()).remove(0);
    let w = m.per_worker[0];
    let n = m.ops_done() as f64;
    println!(
        "{} {:.0} iops user {:.3} us/op sys {:.3} p50 {:?} err {:?}",
        a[2],
        m.ops.read.ops_per_s,
        w.cpu_user_ns as f64 / n / 1e3,
        w.cpu_system_ns as f64 / n / 1e3,
        m.ops.read.latency.map(|l| l.percentiles[1]),
        m.errors
    );
}
