//! ```text
//! sd=sd1,lun=/dev/sdb,openflags=o_direct
//! wd=wd1,sd=sd1,xfersize=4k,rdpct=100,seekpct=100
//! rd=rd1,wd=wd1,iorate=max,elapsed=30,warmup=5,forthreads=(1,2,4,8)
//! ```

use crate::blocks::{Access, Engine};
use crate::*;

fn run(threads: u32) -> Phase {
    let blocks = Blocks {
        access: Access::Random,
        depth: threads,
        engine: Engine::LIBAIO,
        direct: true,
        ..Blocks::default()
    };
    let job = Job {
        name: "wd1".into(),
        targets: vec!["sd1".into()],
        work: blocks.into(),
        ..Job::default()
    };
    Phase {
        name: format!("rd1 forthreads={threads}"),
        stop: Stop { time: Some(Nanos::from_secs(30)), ..Stop::default() },
        ramp: Nanos::from_secs(5),
        jobs: vec![job],
        ..Phase::default()
    }
}

fn toml() -> String {
    let mut text = "[[target]]\nname = \"sd1\"\npath = \"/dev/sdb\"\n".to_owned();
    for threads in [1, 2, 4, 8] {
        text += &format!(
            "[[phase]]\nname = \"rd1 forthreads={threads}\"\nstop = {{ time = \"30s\" }}\n\
             ramp = \"5s\"\n[[phase.job]]\nname = \"wd1\"\ntargets = [\"sd1\"]\n\
             work.blocks = {{ access = \"random\", depth = {threads}, engine = \"libaio\", \
             direct = true }}\n"
        );
    }
    text
}

#[test]
fn every_thread_count_is_a_phase() {
    let target = Target { name: "sd1".into(), path: "/dev/sdb".into(), ..Target::default() };
    let phases = [1, 2, 4, 8].map(run).to_vec();
    let plan = Plan { targets: vec![target], phases, ..Plan::default() };
    super::walk(&plan, &toml(), &[]);
    let depths: Vec<_> = plan
        .phases
        .iter()
        .filter_map(|phase| phase.jobs[0].blocks())
        .map(|blocks| blocks.depth)
        .collect();
    assert_eq!(depths, [1, 2, 4, 8]);
}
