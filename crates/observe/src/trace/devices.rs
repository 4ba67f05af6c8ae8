//! The devices that are traced, as programs and counters know them.

use candor_record::facts::{DeviceFacts, DeviceKind, Facts, value};

use crate::source::Roots;
use crate::stack::holders::partitions;

/// Devices that are traced at most; their numbers take 60 KiB each on every CPU.
const DEVICES_MAX: usize = 64;

/// A device, as the programs read it from their map.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// Index of its counts.
    pub slot: u32,
    /// 1 if it has no queue of its own.
    pub bio_based: u32,
    /// Bytes of a physical sector.
    pub physical_bytes: u64,
    /// Optimal size of an I/O, or of its chunk; 0 if it has none.
    pub optimal_bytes: u64,
}

impl Device {
    /// The bytes of its entry in the map.
    pub fn bytes(&self) -> Vec<u8> {
        let halves = [self.slot.to_ne_bytes(), self.bio_based.to_ne_bytes()].concat();
        let whole = [self.physical_bytes.to_ne_bytes(), self.optimal_bytes.to_ne_bytes()];
        [halves, whole.concat()].concat()
    }
}

/// The devices that are traced.
#[derive(Clone, Debug)]
pub struct TracedDevices {
    /// By their slots.
    pub names: Vec<String>,
    /// By major and minor number; partitions have the slot of their disk, since I/O for devices
    /// without a queue may still bear their number.
    pub devices: Vec<([u32; 2], Device)>,
}

impl TracedDevices {
    pub fn of(facts: &Facts, roots: &Roots) -> TracedDevices {
        let disks = facts.devices.iter().filter(|device| device.kind != DeviceKind::Partition);
        let (mut names, mut devices) = (Vec::new(), Vec::new());
        for disk in disks.take(DEVICES_MAX) {
            let Some(number) = numbers_of(&disk.number) else { continue };
            let device = known(disk, names.len() as u32);
            devices.push((number, device));
            if device.bio_based == 1 {
                let parts = partitions(&disk.name, roots).into_iter();
                let number =
                    |part: String| numbers_of(&roots.text(&roots.block(&part).join("dev"))?);
                devices.extend(parts.filter_map(number).map(|number| (number, device)));
            }
            names.push(disk.name.clone());
        }
        TracedDevices { names, devices }
    }

    /// Whether there is one with a queue (0) or without (1).
    pub fn has(&self, bio_based: u32) -> bool {
        self.devices.iter().any(|(_, device)| device.bio_based == bio_based)
    }
}

/// A device with its index.
fn known(disk: &DeviceFacts, slot: u32) -> Device {
    let queue = &disk.queue;
    let optimal = [&queue.chunk_bytes, &queue.optimal_io_bytes];
    let optimal = optimal.into_iter().filter_map(value).find(|bytes| **bytes > 0);
    Device {
        slot,
        bio_based: value(&disk.bio_based).copied().unwrap_or(false).into(),
        physical_bytes: value(&queue.physical_block_bytes).copied().unwrap_or(512).max(512),
        optimal_bytes: optimal.copied().unwrap_or(0),
    }
}

fn numbers_of(text: &str) -> Option<[u32; 2]> {
    let (major, minor) = text.trim().split_once(':')?;
    Some([major.parse().ok()?, minor.parse().ok()?])
}
