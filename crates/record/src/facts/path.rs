//! Path between the host and the medium: links, members, networks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Fact;

/// A link between host and device, and what it can carry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// Kind: `SATA`, `PCIe`, `SAS`, `USB`, `network`.
    pub kind: String,
    /// Where: the address of its lower end, the name of a port or an interface.
    #[serde(default)]
    pub at: String,
    /// Negotiated speed, as the kernel says it.
    pub negotiated: Fact<String>,
    /// Speed that both ends could do, as the kernel says it.
    pub possible: Option<Fact<String>>,
    /// Speed that the lower end (the device's) could do, where the kernel says it of each end.
    #[serde(default)]
    pub lower_could: Option<Fact<String>>,
    /// Speed that the upper end (the host's port) could do.
    #[serde(default)]
    pub upper_could: Option<Fact<String>>,
    /// Bandwidth of the link in bytes per second.
    pub ceiling_bytes_per_s: u64,
    /// Bandwidth at the speed that both ends could do, in bytes per second.
    #[serde(default)]
    pub possible_bytes_per_s: Option<u64>,
    /// How the ceiling comes about, as a person would write it down.
    pub arithmetic: String,
}

impl Link {
    /// The link runs below what both of its ends could do.
    pub fn is_reduced(&self) -> bool {
        self.possible_bytes_per_s.is_some_and(|possible| possible > self.ceiling_bytes_per_s)
    }

    /// Reads and writes share what it carries; other kinds carry as much each way at once.
    pub fn is_one_way(&self) -> bool {
        matches!(self.kind.as_str(), "SATA" | "USB")
    }

    /// Both are one and the same link, seen from two devices.
    pub fn is_same(&self, other: &Link) -> bool {
        !self.at.is_empty() && self.kind == other.kind && self.at == other.at
    }
}

/// An md array (`/sys/class/block/mdN/md`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArrayFacts {
    /// `raid0`, `raid1`, `raid5`, `linear`, ….
    pub level: Option<Fact<String>>,
    /// Members that it is made for.
    pub members: Option<Fact<u64>>,
}

/// A device-mapper device (`/sys/class/block/dm-N/dm`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mapping {
    /// Name under `/dev/mapper`.
    pub name: Option<Fact<String>>,
    /// Who made it, by the first word of its uuid: `LVM`, `CRYPT`, `mpath`, `part1`, ….
    pub maker: Option<Fact<String>>,
    /// Kinds of its mapping: `linear`, `striped`, `cache`, `multipath`, …. The kernel tells root
    /// only.
    #[serde(default)]
    pub targets: Option<Fact<Vec<String>>>,
}

impl Mapping {
    /// The device is of this kind alone; unknown where nobody was told.
    pub fn is(&self, kind: &str) -> Option<bool> {
        let kinds = &self.targets.as_ref()?.value;
        Some(kinds.iter().all(|of| of == kind))
    }
}

/// A disk that speaks SCSI, as one path to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScsiFacts {
    /// `running`, or why it is not.
    pub state: Option<Fact<String>>,
    /// Asymmetric access, such as `active/optimized`.
    pub access: Option<Fact<String>>,
}

/// An NVMe namespace, or one path of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NvmeFacts {
    /// How its controller is reached: `pcie`, `tcp`, `rdma`, `fc`, `loop`.
    pub transport: Option<Fact<String>>,
    /// How the paths of a namespace are chosen: `numa`, `round-robin`, `queue-depth`.
    pub iopolicy: Option<Fact<String>>,
    /// Of a path: `live` when its controller works.
    pub state: Option<Fact<String>>,
    /// Of a path: its asymmetric access, such as `optimized`.
    pub ana_state: Option<Fact<String>>,
    /// Queues of the controller, the one for administration included.
    pub queues: Option<Fact<u64>>,
    /// Commands in each queue.
    pub queue_entries: Option<Fact<u64>>,
}

/// The other end of a network filesystem, or of a device that is reached over a network.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Remote {
    /// Protocol: `NFS`, `SMB`, `NVMe/tcp`, `iSCSI`.
    pub protocol: String,
    /// Address of the server.
    pub server: Fact<String>,
    /// Network interface on the way there.
    pub interface: Option<Fact<String>>,
    /// Interfaces that this one bundles (a bond).
    pub members: Vec<String>,
    /// Connections that the traffic is spread over, where that is known.
    pub connections: Option<u64>,
    /// The link of the interface; absent where its speed is unknown.
    pub link: Option<Link>,
}
