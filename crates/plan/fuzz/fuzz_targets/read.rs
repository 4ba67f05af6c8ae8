//! Any text is read without panic; what is read survives being written; problems have places.
//!
//! `cargo +nightly fuzz run read`, in the folder above.
#![no_main]

use candor_plan::{PlanPath, check, text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| {
    match text::read("fuzz", input) {
        Ok((plan, _)) => {
            let problems = check::check(&plan);
            // Numbers that are not finite are not equal to what is read back.
            if check::can_run(&problems) {
                let written = text::write(&plan);
                assert_eq!(text::read("written", &written).ok().map(|read| read.0), Some(plan));
            }
        }
        Err((problems, source)) => {
            assert!(!problems.is_empty());
            for problem in problems {
                let place = &problem.place;
                assert!(*place == PlanPath::root() || source.position(place).is_some());
            }
        }
    }
});
