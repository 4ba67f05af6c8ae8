//! Did the bytes reach the device?

mod bytes_unseen;
pub mod cache_on_some_hosts;
mod cached_before_start;
mod compressed_data;
pub mod direct_was_buffered;
mod eviction_incomplete;
mod files_fit_in_memory;
mod io_not_counted;
mod loop_over_page_cache;
mod mapped_reads_are_faults;
mod nfs_client_cache;
mod pages_rewritten_in_memory;
mod reads_from_page_cache;
mod reads_of_blank_blocks;
mod reads_of_holes;
pub mod reads_of_other_hosts;
mod reads_of_unwritten_extents;
mod second_cache;
mod second_pass_faster;
mod target_is_memory;
mod unread_ranges;
mod wanted_cache_missed;
mod writes_stayed_in_memory;

use crate::rule::Rule;

/// These rules, in the order of the evidence book.
pub const RULES: &[Rule] = &[
    reads_from_page_cache::RULE,
    cached_before_start::RULE,
    writes_stayed_in_memory::RULE,
    pages_rewritten_in_memory::RULE,
    direct_was_buffered::RULE,
    eviction_incomplete::RULE,
    files_fit_in_memory::RULE,
    reads_of_holes::RULE,
    reads_of_unwritten_extents::RULE,
    reads_of_blank_blocks::RULE,
    compressed_data::RULE,
    second_pass_faster::RULE,
    loop_over_page_cache::RULE,
    nfs_client_cache::RULE,
    second_cache::RULE,
    target_is_memory::RULE,
    io_not_counted::RULE,
    mapped_reads_are_faults::RULE,
    bytes_unseen::RULE,
    wanted_cache_missed::RULE,
    cache_on_some_hosts::RULE,
    reads_of_other_hosts::RULE,
];
