use candor_record::facts::{DeviceFacts, Fact};
use proptest::prelude::*;

use super::*;

fn types() -> Option<Vec<u8>> {
    std::fs::read("/sys/kernel/btf/vmlinux").ok()
}

/// Of the running kernel, whichever it is.
#[test]
fn the_layout_of_this_kernel_is_found() {
    let Some(types) = types() else { return println!("skipped: the kernel has no BTF") };
    let btf = Btf::parse(&types).expect("a description of types");
    let layout = Layout::of(&btf).expect("all that the programs read");
    assert!(layout.flag_bits[0].is_some_and(|bit| bit >= 8), "{layout:?}");
    assert_eq!(btf.field("bio", "bi_iter.bi_sector"), btf.field("bio", "bi_iter"));
    assert_eq!(btf.field("no such structure", "x"), None);
    assert_eq!(btf.constant("req_flag_bits", "no such bit"), None);
}

proptest! {
    /// Whatever stands there is a description or none.
    #[test]
    fn garbage_is_no_description(noise in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut bytes = vec![0x9f, 0xeb, 1, 0, 24, 0, 0, 0, 0, 0, 0, 0];
        bytes.extend(&noise);
        if let Some(btf) = Btf::parse(&bytes) {
            let _ = Layout::of(&btf);
        }
    }
}

/// The kernel's verifier takes the programs of both kinds, with a budget and without.
#[test]
fn the_kernel_takes_the_programs() {
    let budgets = [Budget::Unbounded, Budget::Share(0.01)];
    let methods = [TraceMethod::Raw, TraceMethod::Tracepoint, TraceMethod::Perf];
    let cases = methods.iter().flat_map(|method| budgets.map(|budget| (*method, budget)));
    for (method, budget, bio_based) in cases
        .flat_map(|(method, budget)| [false, true].map(|bio_based| (method, budget, bio_based)))
    {
        let device = DeviceFacts {
            name: "none".to_owned(),
            number: "4095:0".to_owned(),
            bio_based: Some(Fact::new(bio_based, "test")),
            ..DeviceFacts::default()
        };
        let facts = Facts { devices: vec![device], ..Facts::default() };
        match BlockTracer::start_by(method, &facts, budget, &Roots::default()) {
            Ok(tracer) => assert_eq!(tracer.stats().requests, []),
            Err(missing) => {
                assert!(!missing.why.contains("refuses"), "{method:?}: {missing:?}");
                return println!("skipped: {}: {}", missing.why, missing.enable);
            }
        }
    }
}
