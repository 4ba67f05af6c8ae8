//! The texts in which the kernel keeps its counters, read into the records of a snapshot.

use candor_record::{CpuTimes, DiskCounters, ProcessIo, VmStat};

use crate::source::parse::keyed;

const NS_PER_S: u64 = 1_000_000_000;

/// `/sys/class/block/X/stat`: 17 numbers, 15 before Linux 5.5, 11 before 4.18. What an old kernel
/// does not count stays zero.
pub(crate) fn disk(text: &str) -> Option<DiskCounters> {
    let fields: Vec<u64> = numbers(text)?;
    if fields.len() < 11 {
        return None;
    }
    let at = |index: usize| fields.get(index).copied().unwrap_or(0);
    Some(DiskCounters {
        reads: at(0),
        read_merges: at(1),
        read_sectors: at(2),
        read_ms: at(3),
        writes: at(4),
        write_merges: at(5),
        write_sectors: at(6),
        write_ms: at(7),
        in_flight: at(8),
        busy_ms: at(9),
        weighted_ms: at(10),
        discards: at(11),
        discard_merges: at(12),
        discard_sectors: at(13),
        discard_ms: at(14),
        flushes: at(15),
        flush_ms: at(16),
    })
}

/// `/proc/self/io`.
pub(crate) fn process_io(text: &str) -> Option<ProcessIo> {
    let value = |key: &str| keyed(text, key)?.parse().ok();
    Some(ProcessIo {
        rchar: value("rchar")?,
        wchar: value("wchar")?,
        read_bytes: value("read_bytes")?,
        write_bytes: value("write_bytes")?,
        cancelled_write_bytes: value("cancelled_write_bytes")?,
    })
}

/// `/proc/vmstat`, which counts in pages.
pub(crate) fn vmstat(text: &str, page_bytes: u64) -> Option<VmStat> {
    let pages = |key: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '))?;
        line.trim().parse().ok()
    };
    let bytes = |key: &str| Some(pages(key)?.saturating_mul(page_bytes));
    Some(VmStat {
        dirty_bytes: bytes("nr_dirty")?,
        writeback_bytes: bytes("nr_writeback")?,
        dirty_threshold_bytes: bytes("nr_dirty_threshold")?,
        dirtied_bytes: bytes("nr_dirtied"),
    })
}

/// `/proc/stat`: time of all CPUs together, and of each. It counts in ticks of `tick_ns`.
pub(crate) fn cpu(text: &str, tick_ns: u64) -> (Option<CpuTimes>, Vec<CpuTimes>) {
    let mut all = None;
    let mut each = Vec::new();
    for line in text.lines() {
        let Some(rest) = line.strip_prefix("cpu") else { continue };
        let Some((number, times)) = rest.split_once(' ') else { continue };
        let Some(times) = cpu_times(times, tick_ns) else { continue };
        if number.is_empty() {
            all = Some(times);
        } else {
            each.push(times);
        }
    }
    (all, each)
}

fn cpu_times(text: &str, tick_ns: u64) -> Option<CpuTimes> {
    let ticks = numbers(text)?;
    if ticks.len() < 4 {
        return None;
    }
    let at = |index: usize| ticks.get(index).copied().unwrap_or(0).saturating_mul(tick_ns);
    Some(CpuTimes {
        user_ns: at(0),
        nice_ns: at(1),
        system_ns: at(2),
        idle_ns: at(3),
        iowait_ns: at(4),
        irq_ns: at(5),
        softirq_ns: at(6),
        steal_ns: at(7),
    })
}

/// Length of a tick of `/proc/stat` for that many ticks per second.
pub(crate) fn tick_ns(ticks_per_s: u64) -> u64 {
    NS_PER_S / ticks_per_s.max(1)
}

/// The total of the `some` line of a file of `/proc/pressure`, which counts in microseconds.
pub(crate) fn pressure_some_ns(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let total = line.split_whitespace().find_map(|word| word.strip_prefix("total="))?;
    Some(total.parse::<u64>().ok()?.saturating_mul(1000))
}

/// The BLOCK line of `/proc/softirqs`, one number per CPU.
pub(crate) fn softirq_block(text: &str) -> Vec<u64> {
    keyed(text, "BLOCK").and_then(numbers).unwrap_or_default()
}

/// The lines of `/proc/interrupts` whose last word begins with `prefix`, summed per CPU; none if
/// there is no such line.
pub(crate) fn interrupts(text: &str, prefix: &str) -> Vec<u64> {
    let cpus = text.lines().next().map_or(0, |line| line.split_whitespace().count());
    let mut sums = Vec::new();
    for line in text.lines().skip(1) {
        let mut words = line.split_whitespace();
        let ours = words.next_back().is_some_and(|name| name.starts_with(prefix));
        let counts: Vec<u64> =
            words.skip(1).take(cpus).map_while(|word| word.parse().ok()).collect();
        if !ours || counts.len() != cpus {
            continue;
        }
        sums.resize(cpus, 0);
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum = count.saturating_add(*sum));
    }
    sums
}

fn numbers(text: &str) -> Option<Vec<u64>> {
    text.split_whitespace().map(|word| word.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn seventeen_counters_and_the_older_eleven() {
        let new = disk("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17").expect("17 fields");
        assert_eq!((new.reads, new.read_sectors, new.write_sectors), (1, 3, 7));
        assert_eq!((new.in_flight, new.weighted_ms, new.flush_ms), (9, 11, 17));
        let old = disk(" 1 2 3 4 5 6 7 8 9 10 11\n").expect("11 fields");
        assert_eq!((old.weighted_ms, old.discards, old.flushes), (11, 0, 0));
        assert_eq!(disk("1 2 3"), None);
        assert_eq!(disk("1 2 3 4 5 6 7 8 9 10 x"), None);
    }

    #[test]
    fn process_io_needs_all_of_its_lines() {
        let text = "rchar: 10\nwchar: 20\nsyscr: 1\nsyscw: 1\nread_bytes: 30\nwrite_bytes: 40\n\
                    cancelled_write_bytes: 50\n";
        let io = process_io(text).expect("complete");
        assert_eq!((io.rchar, io.wchar, io.read_bytes), (10, 20, 30));
        assert_eq!((io.write_bytes, io.cancelled_write_bytes), (40, 50));
        assert_eq!(process_io("rchar: 10\n"), None);
    }

    #[test]
    fn vmstat_counts_pages() {
        let text = "nr_dirty_background_threshold 9\nnr_dirty 3\nnr_writeback 1\n\
                    nr_writeback_temp 8\nnr_dirty_threshold 100\n";
        let stat = vmstat(text, 4096).expect("complete");
        assert_eq!((stat.dirty_bytes, stat.writeback_bytes), (12_288, 4096));
        assert_eq!(stat.dirty_threshold_bytes, 409_600);
    }

    #[test]
    fn cpu_counts_ticks() {
        let text = "cpu  4 0 2 8 1 0 3 5 0 0\ncpu0 1 0 1 4 0 0 1 2 0 0\ncpu1 3 0 1 4\nintr 5\n";
        let (all, each) = cpu(text, tick_ns(100));
        let all = all.expect("the first line");
        assert_eq!((all.user_ns, all.steal_ns), (40_000_000, 50_000_000));
        assert_eq!(each.len(), 2);
        assert_eq!((each[1].user_ns, each[1].steal_ns), (30_000_000, 0));
    }

    #[test]
    fn pressure_counts_microseconds() {
        let text = "some avg10=0.15 avg60=0.61 avg300=0.57 total=14706474\nfull avg10=0 total=3\n";
        assert_eq!(pressure_some_ns(text), Some(14_706_474_000));
        assert_eq!(pressure_some_ns("full total=3"), None);
    }

    #[test]
    fn softirqs_of_block_devices() {
        let text = "            CPU0  CPU1\n NET_RX: 1 2\n  BLOCK:   0   65509\nIRQ_POLL: 7 7\n";
        assert_eq!(softirq_block(text), vec![0, 65_509]);
        assert_eq!(softirq_block(""), Vec::<u64>::new());
    }

    #[test]
    fn interrupts_of_a_device_are_those_of_its_queues() {
        let text = "       CPU0  CPU1\n 28:  1  0  PCI-MSIX-0000:00:02.0  0-edge  virtio1-config\n\
                    36:  2  25477572  PCI-MSIX-0000:00:02.0  1-edge  virtio1-req.0\n\
                    37:  5  1  PCI-MSIX-0000:00:02.0  2-edge  virtio1-req.1\nNMI:  0  0  x y\n";
        assert_eq!(interrupts(text, "virtio1-req"), [7, 25_477_573]);
        assert_eq!(interrupts(text, "nvme0q"), [0; 0]);
        assert_eq!(interrupts("", ""), [0; 0]);
    }

    proptest! {
        #[test]
        fn any_text_is_survived(
            text in "(?s).{0,200}",
            page in any::<u64>(),
            tick in any::<u64>(),
        ) {
            let _ = (disk(&text), process_io(&text), vmstat(&text, page), cpu(&text, tick));
            let _ = (pressure_some_ns(&text), softirq_block(&text), tick_ns(tick));
            let _ = (interrupts(&text, ""), interrupts(&text, "a"));
        }

        #[test]
        fn any_numbers_are_survived(fields in proptest::collection::vec(any::<u64>(), 0..20)) {
            let text = fields.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
            prop_assert_eq!(disk(&text).is_some(), fields.len() >= 11);
            let _ = cpu(&format!("cpu {text}"), u64::MAX);
        }
    }
}
