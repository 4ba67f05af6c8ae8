//! The values of fio's keywords on this host.

use candor_fio::ast::{FioEnvironment, Keyword};

use crate::commands::foreign::host::{HostEnvironment, cpus_online, memory_mib};

impl FioEnvironment for HostEnvironment {
    fn keyword(&self, keyword: Keyword) -> u64 {
        match keyword {
            Keyword::PageSize => rustix::param::page_size() as u64,
            Keyword::MemoryMib => memory_mib(),
            Keyword::Cpus => cpus_online(),
        }
    }
}
