//! Flows that jobs share, and logs of operations.

use super::*;

#[test]
fn errors_in_flows_and_logs() {
    #[rustfmt::skip]
    let cases = [
        ("flow", "phase[0].job[1].work.blocks.pace.flow.bytes",
         "[[phase]]\n\
          [[phase.job]]\nwork.blocks.pace.flow.weight = 1\n\
          [[phase.job]]\nwork.blocks.pace.flow = { weight = 1, bytes = true }"),
        ("flow", "phase[0].job[1].work.entries.pace.flow.bytes",
         "[[phase]]\n\
          [[phase.job]]\nwork.blocks.pace.flow.weight = 1\n\
          [[phase.job]]\n\
          work.entries = { steps = [\"stat\"], pace.flow = { weight = 1, bytes = true } }"),
        ("operations-log", "phase[0].job[0].operations_log.file",
         "[[phase]]\n[[phase.job]]\noperations_log.file = \"/y\"\nwork.burn = {}"),
    ];
    are_among(&cases);
}
