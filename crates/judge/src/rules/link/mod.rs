//! Links and ceilings.

mod faster_than_link;
pub mod host_links_full;
mod link_full;
mod network_full;
mod one_path_of_several;
mod pcie_speed;
mod remote_device;
mod sas_speed;
mod sata_speed;
mod shared_link_full;
pub mod slow_host_link;
mod slow_link;
mod usb;

use crate::rule::Rule;

/// These rules, in the order of the evidence book.
pub const RULES: &[Rule] = &[
    sata_speed::RULE,
    sas_speed::RULE,
    pcie_speed::RULE,
    usb::RULE,
    network_full::RULE,
    remote_device::RULE,
    one_path_of_several::RULE,
    link_full::RULE,
    faster_than_link::RULE,
    shared_link_full::RULE,
    slow_host_link::RULE,
    host_links_full::RULE,
];
