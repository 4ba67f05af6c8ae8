//! Extra measurements, and logs.

use candor_plan::{Blocks, Engine, LogPlan, Measure, Nanos};

use super::instance::Instance;
use crate::options::{JobOptions, LogValue};
use candor_front::Diagnostics;

/// Maximum number of operations in a log; dropped ones are reported.
const LOGGED_MAX: u64 = 1 << 28;

/// Depths, latency split at submission, and logs.
pub(super) fn lower(from: &Instance<'_>, blocks: &mut Blocks, _: &mut Diagnostics) {
    let (logs, statistics) = (&from.options.logs, &from.options.statistics);
    let ms = |ms: u64| Nanos(ms.saturating_mul(1_000_000));
    let over_time = logs.bandwidth.is_some() || logs.iops.is_some() || logs.latency.is_some();
    let histogram = logs.histogram.is_some() && logs.histogram_ms > 0;
    blocks.measure = Measure {
        depths: true,
        per_target: false,
        submission: hands_over(blocks) && !statistics.reduced,
        log: LogPlan {
            each: over_time && logs.window_ms == 0,
            trace: false,
            window: (over_time && logs.window_ms > 0).then(|| ms(logs.window_ms)),
            peaks: over_time && logs.window_ms > 0 && logs.value != LogValue::Average,
            histogram: histogram.then(|| ms(logs.histogram_ms)),
            entries_max: LOGGED_MAX,
        },
    };
}

/// True if a submitting call returns before the operations complete.
fn hands_over(blocks: &Blocks) -> bool {
    match blocks.engine {
        Engine::Libaio(_) | Engine::Threads => true,
        // A kernel thread reads the queue.
        Engine::IoUring(uring) => !uring.sqpoll,
        Engine::UringCmd(options) => !options.sqpoll,
        // One at a time ends in the call that issues it.
        Engine::Null => blocks.depth > 1,
        _ => false,
    }
}

/// The length of a sample of bandwidth and operations. There is one length for a whole phase.
pub(super) fn interval(options: &JobOptions) -> Nanos {
    let ms = options.logs.bandwidth_ms.min(options.logs.iops_ms).max(1);
    Nanos(ms.saturating_mul(1_000_000))
}
