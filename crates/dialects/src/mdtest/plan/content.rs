//! Bytes that are written and compared.

use candor_plan::Bytes;
use candor_plan::blocks::Content;
use candor_plan::entries::VerifyItems;

use crate::mdtest::setup::Setup;

pub(super) fn content(_: &Setup) -> Content {
    Content::default()
}

pub(super) fn is_sealed(setup: &Setup) -> bool {
    setup.asked.data.verify_read && setup.asked.phases.create
}

pub(super) fn verify(setup: &Setup) -> VerifyItems {
    let interval = Bytes(setup.asked.data.write_bytes.max(setup.asked.data.read_bytes));
    VerifyItems { interval, seed: Some(setup.data_seed), ..VerifyItems::default() }
}
