//! Zones of a namespace: their report, and the commands that change their state.

use std::fs::File;
use std::io;

use super::{Command, IOCTL_IO, Namespace, OF_COMMAND_SET, call, opcode, page};

/// A zone as its controller reports it; positions and lengths in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportedZone {
    /// State, with the kernel's numbers.
    pub condition: u8,
    /// Blocks that can be written.
    pub capacity: u64,
    /// First block.
    pub start: u64,
    /// Write pointer.
    pub pointer: u64,
}

/// Change of a zone's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneAction {
    /// The zone becomes full.
    Finish = 2,
    /// The write pointer returns to the start of the zone.
    Reset = 4,
}

/// Bytes of a report: a head, and zones of the same length.
const REPORT_BYTES: usize = 16 << 10;
const ZONE_BYTES: usize = 64;
/// Zones of all states, and the number of those in the report alone.
const PARTIAL: u32 = 1 << 16;

impl Namespace {
    /// Blocks from the start of a zone to the start of the next.
    ///
    /// # Errors
    /// The controller's, for a namespace without zones.
    pub fn zone_blocks(&self, file: &File) -> io::Result<u64> {
        const ZONED: u32 = 2;
        const FORMATS: usize = 2816;
        let page = page(file, self.number, OF_COMMAND_SET, ZONED)?;
        match number(&page, FORMATS + 16 * usize::from(self.format)) {
            0 => Err(io::Error::new(io::ErrorKind::Unsupported, "its zones have no length")),
            blocks => Ok(blocks),
        }
    }

    /// All zones, of `zone_blocks` blocks each.
    ///
    /// # Errors
    /// The kernel's, or the controller's.
    pub fn report_zones(&self, file: &File, zone_blocks: u64) -> io::Result<Vec<ReportedZone>> {
        let mut zones: Vec<ReportedZone> = Vec::new();
        let mut report = vec![0; REPORT_BYTES];
        loop {
            let from = zones.len() as u64 * zone_blocks;
            if from >= self.blocks {
                return Ok(zones);
            }
            report.fill(0);
            call(file, IOCTL_IO, self.zone_report(from, &mut report))?;
            let before = zones.len();
            zones.extend(read_report(&report));
            if zones.len() == before {
                return Ok(zones);
            }
        }
    }

    /// The zone that begins at that offset.
    ///
    /// # Errors
    /// The kernel's, or the controller's.
    pub fn zone_at(&self, file: &File, offset: u64) -> io::Result<Option<ReportedZone>> {
        let mut report = [0; 2 * ZONE_BYTES];
        call(file, IOCTL_IO, self.zone_report(offset / self.unit(), &mut report))?;
        Ok(read_report(&report).next())
    }

    fn zone_report(&self, from: u64, report: &mut [u8]) -> Command {
        let words = (report.len() / 4 - 1) as u32;
        Command {
            address: report.as_mut_ptr() as u64,
            data_bytes: report.len() as u32,
            words: [from as u32, (from >> 32) as u32, words, PARTIAL, 0, 0],
            ..self.of(opcode::ZONE_RECEIVE)
        }
    }

    /// Changes the state of the zone that begins at that offset.
    pub fn zone_change(&self, offset: u64, action: ZoneAction) -> Command {
        let start = offset / self.unit();
        let words = [start as u32, (start >> 32) as u32, 0, action as u32, 0, 0];
        Command { words, ..self.of(opcode::ZONE_SEND) }
    }

    /// Changes the state of a zone immediately.
    ///
    /// # Errors
    /// The kernel's, or the controller's.
    pub fn change_zone(&self, file: &File, offset: u64, action: ZoneAction) -> io::Result<()> {
        call(file, IOCTL_IO, self.zone_change(offset, action))
    }
}

fn number(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|byte| bytes[at + byte]))
}

fn read_report(report: &[u8]) -> impl Iterator<Item = ReportedZone> {
    let (head, zones) = report.split_at(ZONE_BYTES);
    let count = usize::try_from(number(head, 0)).unwrap_or(usize::MAX);
    zones.chunks_exact(ZONE_BYTES).take(count).map(|zone| ReportedZone {
        condition: zone[1] >> 4,
        capacity: number(zone, 8),
        start: number(zone, 16),
        pointer: number(zone, 24),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_as_controllers_have_it() {
        let mut report = vec![0; 64 * 4];
        report[0] = 2;
        for (nth, state) in [(1, 0x10), (2, 0xe0)] {
            let zone = &mut report[64 * nth..64 * (nth + 1)];
            (zone[0], zone[1], zone[9], zone[17], zone[25]) = (2, state, 6, nth as u8, nth as u8);
        }
        let zones: Vec<_> = read_report(&report).collect();
        let zone =
            |condition, start| ReportedZone { condition, capacity: 0x600, start, pointer: start };
        assert_eq!(zones, [zone(1, 0x100), zone(0xe, 0x200)]);
    }

    #[test]
    fn commands_to_zones() {
        let namespace = Namespace::extended(512, 8);
        let reset = namespace.zone_change(520 * ((1 << 32) + 7), ZoneAction::Reset);
        assert_eq!((reset.opcode, reset.words), (0x79, [7, 1, 0, 4, 0, 0]));
        let finish = namespace.zone_change(0, ZoneAction::Finish);
        assert_eq!(finish.words[3], 2);
        let mut report = [0; 4096];
        let command = namespace.zone_report(9, &mut report);
        assert_eq!((command.opcode, command.data_bytes), (0x7a, 4096));
        assert_eq!(command.words[..4], [9, 0, 1023, 1 << 16]);
    }
}
