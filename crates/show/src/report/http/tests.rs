use crate::Style;
use crate::report::{first_screen, text};
use crate::sample;

/// A terminal of 80×24.
fn screen() -> Style {
    Style { width: 80, ..Style::default() }
}

#[test]
fn the_first_screen_of_a_run_on_objects() {
    insta::assert_snapshot!(first_screen(&sample::objects::run(), &screen()));
}

#[test]
fn the_whole_page_of_a_run_on_objects() {
    insta::assert_snapshot!(text(&sample::objects::run(), &Style::default()));
}

#[test]
fn uploads_without_reads_are_no_missed_verification() {
    let mut report = sample::objects::run();
    for phase in &mut report.phases {
        phase.measurements[0].verify = Some(candor_record::VerifyStats::default());
    }
    let text = text(&report, &Style::default());
    assert!(!text.contains("put: nothing was verified"), "{text}");
    assert!(text.contains("get: nothing was verified: no block"), "{text}");
}

#[test]
fn times_to_the_first_byte_are_results_of_their_own() {
    let results = super::first_bytes(&sample::objects::run());
    let names: Vec<&str> = results
        .phases
        .iter()
        .flat_map(|phase| &phase.jobs)
        .flat_map(|job| job.operations.iter().map(|op| op.operation.as_str()))
        .collect();
    assert!(names.contains(&"put_part first byte") && names.contains(&"get first byte"));
}
