//! Stages: how deep a cause lies.

use candor_record::{Finding, Severity};

/// Where on the way from the data to the figures a rule's cause lies, deep causes first. The order
/// also decides which of several limits is named: the one that was met first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The target is memory, or blocks that hold nothing.
    Target,
    /// The ranges that were read have no data on a device.
    Content,
    /// The bytes took another way than the plan says: buffered, or compressed.
    Detour,
    /// A cache answered, and it is known which one or since when.
    KnownCache,
    /// The page cache answered reads.
    PageCache,
    /// The page cache took writes.
    WriteCache,
    /// The page cache under a loop device answered.
    LowerCache,
    /// State of the page cache before the phase.
    CacheState,
    /// A configured limit of this host.
    Throttle,
    /// The device or its host slowed down meanwhile.
    Derating,
    /// A link that is slow, shared or serial.
    Link,
    /// A link that is full.
    LinkFull,
    /// The device does more than was asked: flushes, reads for parity, all on one member.
    Device,
    /// Members of an array.
    Member,
    /// A limit below this host that only shows in the rate.
    Limiter,
    /// The device's own queue.
    DeviceQueue,
    /// Other work of candor inside the measured time.
    HostWork,
    /// Bandwidth of memory.
    Memory,
    /// CPU time of a worker.
    Cpu,
    /// Submission that blocks.
    Submission,
    /// The engine and the files that workers share.
    Engine,
    /// CPUs that others use.
    Starvation,
    /// Write rate that changes with the state of the media.
    WriteCourse,
    /// Rate that changes over time, whatever the reason.
    Variation,
    /// Figures that look impossible where the bytes did not pass.
    Artefact,
    /// Few or many operations in flight, and where they wait.
    Queue,
    /// Names instead of data.
    Names,
    /// Storage, but neither cause nor consequence of anything else.
    Storage,
    /// Failures; may know why nothing was done.
    Failure,
    /// The method and the host; neither cause nor consequence of anything else.
    Apart,
}

/// Consequences of bytes that no device moved.
const NOT_THE_DEVICE: [Stage; 6] =
    [Stage::LinkFull, Stage::DeviceQueue, Stage::Memory, Stage::Cpu, Stage::Artefact, Stage::Queue];

impl Stage {
    /// The stages whose findings follow from a finding at this one.
    pub fn explains(self, other: Stage) -> bool {
        use Stage::*;
        let besides: &[Stage] = match self {
            Target => return other == Memory,
            Content | KnownCache => &[PageCache, CacheState],
            Detour => &[PageCache, WriteCache, CacheState],
            PageCache => &[CacheState],
            WriteCache | LowerCache => &[],
            Throttle => return [DeviceQueue, Cpu, Queue].contains(&other),
            Derating => return [WriteCourse, Variation, Queue].contains(&other),
            Link => return [LinkFull, DeviceQueue, Queue].contains(&other),
            LinkFull | Limiter => return [DeviceQueue, Queue].contains(&other),
            Device => return [Member, Queue].contains(&other),
            HostWork | Memory => return [Cpu, Queue].contains(&other),
            Member | Cpu | Submission | Engine | Starvation => return other == Queue,
            WriteCourse => return other == Variation,
            CacheState | DeviceQueue | Variation | Artefact | Queue | Names | Storage | Failure
            | Apart => return false,
        };
        besides.contains(&other) || NOT_THE_DEVICE.contains(&other)
    }

    /// A finding at this stage is sure enough to be the cause of others: it says that the number is
    /// something else's, or what limits it.
    pub fn decides(self, finding: &Finding) -> bool {
        match self {
            // A cache that gave a part of the bytes shows in all figures as well.
            Stage::KnownCache | Stage::WriteCourse => true,
            _ if self.is_source() => finding.severity == Severity::Wrong,
            _ => finding.limits.is_some(),
        }
    }

    /// The stage is about where the bytes came from or went to.
    pub fn is_source(self) -> bool {
        self <= Stage::CacheState
    }

    /// A finding at the other stage is why a cache at this one could answer.
    pub fn is_answered_from(self, other: Stage) -> bool {
        matches!(self, Stage::KnownCache | Stage::PageCache) && other == Stage::CacheState
    }

    /// Findings at this stage mean nothing for a target in memory, where none of them can be acted
    /// on.
    pub fn needs_device(self) -> bool {
        use Stage::*;
        match self {
            Content | Detour | KnownCache | PageCache | WriteCache | LowerCache | CacheState
            | Derating | Link | LinkFull | Device | Member | DeviceQueue | Cpu | Submission
            | WriteCourse | Artefact | Queue | Storage => true,
            Target | Throttle | Limiter | HostWork | Memory | Engine | Starvation | Variation
            | Names | Failure | Apart => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules;

    #[test]
    fn causes_lie_deeper_than_what_follows() {
        let stages: Vec<Stage> = rules::all().map(|rule| rule.stage).collect();
        for cause in &stages {
            for other in stages.iter().filter(|other| cause.explains(**other)) {
                assert!(cause < other, "{cause:?} explains {other:?}");
            }
        }
    }
}
