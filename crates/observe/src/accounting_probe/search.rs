//! Search for the device behind a filesystem that names none: reads of differing sizes, and the
//! one device of `/proc/diskstats` that counts each of them to the byte.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::RangeInclusive;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use candor_plan::PathText;
use candor_record::facts::{AccountingOutcome, DeviceSearch, DirectIo};

use super::location::{self, Chance};
use super::{Stop, nothing, read_once, refused, stopped, units};
use crate::counters;
use crate::path::files::file_facts;
use crate::path::layers::Access;
use crate::source::Roots;
use crate::source::missing::MissingFacts;
use crate::stack;

/// Reads made at most: traffic of others gets into the counts of some.
const READS_MAX: u32 = 48;

/// Reads that a device has counted to the byte before it stands out.
const EXACT_MIN: u32 = 5;

/// Sizes among the reads: a process that reads alike blocks all the time meets one of them.
const SIZES_MIN: usize = 3;

/// Reason why a search named no device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFound {
    /// The reason, in words.
    pub why: String,
    /// The file has no data that could be read; another one on the same filesystem may have.
    pub nothing_to_read: bool,
}

impl From<Stop> for NotFound {
    fn from((outcome, missing): Stop) -> NotFound {
        let nothing_to_read = outcome == AccountingOutcome::NothingToRead;
        NotFound { why: missing.why, nothing_to_read }
    }
}

/// Reads from a file, directly and in differing sizes, until one device of the host has counted
/// several of the reads to the byte and never less than was read. Devices below it count the same,
/// so the name is that of the top one. A file that is to be written is opened for writing, which
/// takes it to the layer of an overlay that the writes will go to.
///
/// # Errors
/// No device stands out, or several that are not below each other; the file cannot be read.
pub fn device_behind(
    path: &Path,
    access: Access,
    roots: &Roots,
) -> Result<(String, DeviceSearch), NotFound> {
    let mut reader = Reader::open(path, access)?;
    let mut search = Search::default();
    while search.reads < READS_MAX && !search.is_over() {
        reader.read(&mut search, roots)?;
    }
    let device = search.device(roots)?;
    let exact = search.devices.get(&device).map_or(0, |tally| tally.exact);
    let devices = u32::try_from(search.devices.len()).unwrap_or(u32::MAX);
    let Search { reads, bytes, .. } = search;
    let path = path.text();
    Ok((device, DeviceSearch { path, reads, exact, bytes, devices }))
}

/// A file and the places in it that can be read.
struct Reader {
    file: File,
    spots: Vec<location::Spot>,
    chance: Chance,
}

impl Reader {
    fn open(path: &Path, access: Access) -> Result<Reader, Stop> {
        let mut options = OpenOptions::new();
        options.read(true).write(access == Access::Write).custom_flags(libc::O_DIRECT);
        let file = options.open(path).map_err(|error| refused(&error))?;
        let about = file_facts(path).map_err(|error| refused(&error))?;
        if about.direct == DirectIo::Unsupported {
            return Err(stopped("the filesystem does not do direct I/O on this file"));
        }
        let spots = location::candidates(&file, &about, units(&about, None))?;
        Ok(Reader { file, spots, chance: Chance::new() })
    }

    fn read(&mut self, search: &mut Search, roots: &Roots) -> Result<(), Stop> {
        let spot = self.chance.choose_short(&self.spots);
        let before = read_sectors(roots).map_err(|error| unreadable(&error))?;
        let bytes = read_once(&self.file, &spot).map_err(|error| refused(&error))?;
        let after = read_sectors(roots).map_err(|error| unreadable(&error))?;
        if bytes == 0 {
            return Err(nothing("it became shorter"));
        }
        search.add(bytes..=spot.length, &grown(&before, &after));
        Ok(())
    }
}

fn unreadable(error: &io::Error) -> Stop {
    stopped(format!("/proc/diskstats cannot be read: {error}"))
}

/// Sectors that each device has read since boot.
type Sectors = BTreeMap<String, u64>;

fn read_sectors(roots: &Roots) -> io::Result<Sectors> {
    let text = std::fs::read_to_string(roots.proc.join("diskstats"))?;
    let of_line = |line| {
        let (name, counters) = counters::diskstats_line(line)?;
        Some((name, counters.read_sectors))
    };
    Ok(text.lines().filter_map(of_line).collect())
}

/// Bytes that each device read from one moment to the other.
fn grown(before: &Sectors, after: &Sectors) -> BTreeMap<String, u64> {
    let of = |(name, sectors): (&String, &u64)| {
        let since = sectors.wrapping_sub(*before.get(name)?);
        Some((name.clone(), since.saturating_mul(512)))
    };
    after.iter().filter_map(of).collect()
}

/// Knowledge about one device.
#[derive(Debug, Default)]
struct Tally {
    /// Reads that it counted to the byte.
    exact: u32,
    /// Less was counted than was read, so the file is elsewhere.
    is_out: bool,
}

/// Reads so far.
#[derive(Debug, Default)]
struct Search {
    reads: u32,
    bytes: u64,
    sizes: BTreeSet<u64>,
    devices: BTreeMap<String, Tally>,
}

impl Search {
    /// Adds a read of at least so many bytes, and what each device counted meanwhile. At the end of
    /// a file more is fetched than is read.
    fn add(&mut self, read: RangeInclusive<u64>, grown: &BTreeMap<String, u64>) {
        if self.reads == 0 {
            self.devices = grown.keys().map(|name| (name.clone(), Tally::default())).collect();
        }
        self.reads += 1;
        self.bytes = self.bytes.saturating_add(*read.start());
        self.sizes.insert(*read.start());
        for (name, tally) in &mut self.devices {
            let counted = grown.get(name).copied().unwrap_or(0);
            tally.is_out |= counted < *read.start();
            tally.exact += u32::from(read.contains(&counted));
        }
    }

    /// Devices that counted enough of the reads to the byte, and none short.
    fn standing_out(&self) -> Vec<String> {
        let stands_out = |tally: &Tally| !tally.is_out && tally.exact >= EXACT_MIN;
        let found = self.devices.iter().filter(|(_, tally)| stands_out(tally));
        found.map(|(name, _)| name.clone()).collect()
    }

    /// More reads would tell nothing new.
    fn is_over(&self) -> bool {
        let nobody = self.reads > 0 && self.devices.values().all(|tally| tally.is_out);
        nobody || (self.sizes.len() >= SIZES_MIN && !self.standing_out().is_empty())
    }

    /// The device that stands out, without those below it.
    fn device(&self, roots: &Roots) -> Result<String, Stop> {
        if self.sizes.len() < SIZES_MIN {
            return Err(nothing("reads of several sizes, which identify a device, do not fit"));
        }
        let mut tops = tops(self.standing_out(), roots);
        match (tops.pop(), tops.as_slice()) {
            (Some(top), []) => Ok(top),
            (None, _) => Err(stopped("no device counted the bytes of direct reads from it")),
            (Some(last), others) => {
                let others = others.join(", ");
                Err(stopped(format!("{others} and {last} alike counted direct reads from it")))
            }
        }
    }
}

/// Those of some devices that lie below no other of them.
fn tops(names: Vec<String>, roots: &Roots) -> Vec<String> {
    let below = |name: &String| -> Vec<String> {
        let chain = stack::collect(std::slice::from_ref(name), roots, &mut MissingFacts::default());
        chain.into_iter().map(|device| device.name).filter(|below| below != name).collect()
    };
    let lower: BTreeSet<String> = names.iter().flat_map(below).collect();
    names.into_iter().filter(|name| !lower.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    fn counts(of: &[(&str, u64)]) -> BTreeMap<String, u64> {
        of.iter().map(|(name, bytes)| ((*name).to_owned(), *bytes)).collect()
    }

    /// Reads of one to `sizes` pages in turn; what the devices count is made of the bytes read.
    fn searched(sizes: u64, count: impl Fn(u32, u64) -> BTreeMap<String, u64>) -> Search {
        let mut search = Search::default();
        while search.reads < READS_MAX && !search.is_over() {
            let bytes = (1 + u64::from(search.reads) % sizes) * 4096;
            search.add(bytes..=bytes, &count(search.reads, bytes));
        }
        search
    }

    fn named(search: &Search) -> Result<String, String> {
        search.device(&Fake::new().roots).map_err(|(_, missing)| missing.why)
    }

    #[test]
    fn the_device_that_counts_each_read_is_found() {
        let search = searched(16, |_, bytes| counts(&[("sda", bytes), ("sdb", 0), ("sdc", 512)]));
        assert_eq!((named(&search), search.reads), (Ok("sda".into()), EXACT_MIN));
    }

    #[test]
    fn traffic_of_others_takes_more_reads() {
        let search = searched(16, |read, bytes| {
            let others = if read % 3 == 0 { 0 } else { 8192 };
            counts(&[("sda", bytes + others), ("sdb", 1 << 20), ("sdc", 4096)])
        });
        assert_eq!(named(&search), Ok("sda".into()));
        assert!(search.reads > EXACT_MIN && search.reads < READS_MAX, "{}", search.reads);
    }

    #[test]
    fn a_device_that_counted_less_once_is_out() {
        let search = searched(16, |read, bytes| {
            counts(&[("sda", if read == 3 { bytes - 512 } else { bytes }), ("sdb", 1 << 20)])
        });
        assert_eq!(search.reads, READS_MAX);
        assert!(named(&search).is_err_and(|why| why.starts_with("no device counted")));
    }

    #[test]
    fn bytes_that_no_device_counts_end_the_search() {
        let search = searched(16, |_, _| counts(&[("sda", 0), ("sdb", 0)]));
        assert_eq!(search.reads, 1);
        assert!(named(&search).is_err());
    }

    #[test]
    fn two_devices_that_count_alike_are_no_answer() {
        let search = searched(16, |_, bytes| counts(&[("sda", bytes), ("sdb", bytes)]));
        let why = named(&search).expect_err("which of them?");
        assert_eq!(why, "sda and sdb alike counted direct reads from it");
    }

    #[test]
    fn one_size_of_reads_is_no_answer() {
        let search = searched(2, |_, bytes| counts(&[("sda", bytes)]));
        assert!(named(&search).is_err_and(|why| why.contains("several sizes")));
    }

    #[test]
    fn the_top_of_a_stack_is_the_answer() {
        let fake = Fake::new();
        fake.disk("sda", "8:0", "pci0000:00/block/sda");
        fake.partition("sda", "sda1", "8:1", 2048);
        let search = searched(16, |_, bytes| counts(&[("sda", bytes), ("sda1", bytes)]));
        assert_eq!(search.device(&fake.roots).map_err(|stop| stop.1.why), Ok("sda1".into()));
    }

    #[test]
    fn counters_of_all_devices_are_read_at_once() {
        let fake = Fake::new();
        fake.write("proc/diskstats", " 8 0 sda 1 2 30 4 5 6 7 8 9 10 11\n nonsense\n");
        let before = read_sectors(&fake.roots).expect("it is there");
        fake.write(
            "proc/diskstats",
            " 8 0 sda 1 2 38 4 5 6 7 8 9 10 11\n 8 16 sdb 1 2 3 4 5 6 7 8 9 10 11\n",
        );
        let after = read_sectors(&fake.roots).expect("it is there");
        assert_eq!(grown(&before, &after), counts(&[("sda", 4096)]));
    }
}
