//! Tables on terminals of all widths, rows of all kinds, colours.

use candor_plan::units::Direction;
use candor_record::*;
use insta::assert_snapshot;

use super::plain;
use crate::report::text;
use crate::sample::{self, measurement, phase, stats};
use crate::style::Style;

#[test]
fn believable_on_a_wide_terminal() {
    let report = sample::report("every number is the storage's own.", sample::series());
    assert_snapshot!(text(&report, &Style { color: false, width: 200, is_screen: true }), @"
    All 6 results are the storage's numbers.
    /data (directory): ext4 on sda1 → sda (ATA, Example SSD 860, 500 GB); SATA 6.0 Gbps, 600 MB/s at most

                                      IOPS  MB/s  MiB/s      p50      p99   at most   used  trust  why
    sequential write 1 MiB, depth 8    498   522    498  16.7 ms   158 ms  600 MB/s   87 %  ok     limited by the SATA link
    sequential read 1 MiB, depth 8     535   561    535  15.7 ms   149 ms  600 MB/s   93 %  ok     limited by the SATA link
    random read 4 KiB, depth 1       9.12k  37.4   35.6   110 µs  1.05 ms  600 MB/s  6.2 %  ok     limited by latency: one request at a time
    random read 4 KiB, depth 32      91.4k   374    357   362 µs  3.46 ms  600 MB/s   62 %  ok     limited by the device's own queue of 32
    random write 4 KiB, depth 1      22.8k  93.4   89.1  42.8 µs   410 µs  600 MB/s   16 %  ok     limited by latency: one request at a time
    durable write 4 KiB                640  2.62   2.50  50.4 µs   480 µs  600 MB/s         ok     limited by flush latency
      flush                            640               1.56 ms  15.0 ms

    Latency
                                          mean      p50      p90      p99      max
      sequential write 1 MiB, depth 8  18.4 ms  16.7 ms  17.2 ms   158 ms   159 ms
      sequential read 1 MiB, depth 8   17.3 ms  15.7 ms  16.2 ms   149 ms   149 ms
      random read 4 KiB, depth 1        122 µs   110 µs   114 µs  1.05 ms  1.05 ms
      random read 4 KiB, depth 32       401 µs   362 µs   375 µs  3.46 ms  3.46 ms
      random write 4 KiB, depth 1      47.6 µs  42.8 µs  44.8 µs   410 µs   410 µs
      durable write 4 KiB              55.7 µs  50.4 µs  52.0 µs   480 µs   480 µs
        flush                          1.74 ms  1.56 ms  1.63 ms  15.0 ms  15.0 ms

    At most
      SATA link of sda: 600 MB/s = 6.0 Gb/s × 8/10 ÷ 8 bits

    Could not be read
      temperature and wear of sda: the device node may not be opened (permission denied); run as root, or with read access to /dev/sda

    candor 0.1.0 ran 58.2 s from 2026-01-02T03:04:05Z on Linux 6.12.9, 8 CPUs, Example CPU 7000, 32 GiB memory.
    ");
}

#[test]
fn on_a_narrow_terminal() {
    let mut phases = sample::series();
    phases.truncate(2);
    phases[1].record.repeat = 1;
    phases[1].record.name.push_str(", and so on and so forth");
    let report = sample::report("every number is the storage's own.", phases);
    assert_snapshot!(text(&report, &Style { color: false, width: 40, is_screen: true }), @"
    All 2 results are the storage's numbers.
    /data (directory): ext4 on sda1 → sda (ATA, Example SSD 860, 500 GB); SATA 6.0
    Gbps, 600 MB/s at most

                                           IOPS  MB/s  MiB/s      p50     p99  trust
    sequential write 1 MiB, depth 8         498   522    498  16.7 ms  158 ms  ok
        87 % of the 600 MB/s at most; limited by the SATA link
    sequential read 1 MiB, depth 8, and …   535   561    535  15.7 ms  149 ms  ok
        93 % of the 600 MB/s at most; limited by the SATA link

    Latency
                                                       mean      p50      p90
      sequential write 1 MiB, depth 8               18.4 ms  16.7 ms  17.2 ms
      sequential read 1 MiB, depth 8, and so o… #2  17.3 ms  15.7 ms  16.2 ms
                                                       p99     max
      sequential write 1 MiB, depth 8               158 ms  159 ms
      sequential read 1 MiB, depth 8, and so o… #2  149 ms  149 ms

    At most
      SATA link of sda: 600 MB/s = 6.0 Gb/s × 8/10 ÷ 8 bits

    Could not be read
      temperature and wear of sda: the device node may not be opened (permission
      denied); run as root, or with read access to /dev/sda

    candor 0.1.0 ran 58.2 s from 2026-01-02T03:04:05Z on Linux 6.12.9, 8 CPUs,
    Example CPU 7000, 32 GiB memory.
    ");
}

/// Several jobs, directions and repeats, a rate, and a phase in which nothing completed.
#[test]
fn many_kinds_of_rows() {
    let mut mixed = measurement(Direction::Read, stats(7_000.0, 4096, 90_000));
    mixed.job = "users".into();
    mixed.put(Direction::Write, stats(3_000.0, 4096, 120_000));
    mixed.of_mut(Direction::Read).from_intended = sample::latency(4000, 350_000);
    let mut trims = measurement(Direction::Trim, stats(50.0, 1 << 20, 2_000_000));
    trims.job = "cleaner".into();
    trims.of_mut(Direction::Trim).bytes = 0;
    let name = "a phase with a name that is longer than the room there is for names";
    let mut both = phase(name, mixed);
    both.record.measurements.push(trims);
    let mut again = both.clone();
    again.record.repeat = 1;
    let nothing = phase("stalled", Measurement { ended: Ended::Stalled, ..Measurement::default() });
    let report = sample::report("correct.", vec![both, again, nothing]);
    assert_snapshot!(plain(&report), @"
    All 3 results are the storage's numbers.
    /data (directory): ext4 on sda1 → sda (ATA, Example SSD 860, 500 GB); SATA 6.0 Gbps, 600 MB/s at
    most

                                                  IOPS  MB/s  MiB/s      p50      p99  trust
    a phase with a name that is longer than the…                                       ok
      users read                                    7k  28.7   27.3  94.7 µs   897 µs
      users read from intended start                                  367 µs  3.49 ms
      users write                                   3k  12.3   11.7   125 µs  1.20 ms
      cleaner trim                                  50     -      -  2.09 ms  20.0 ms
        at most 600 MB/s
    a phase with a name that is longer than … #2                                       ok
      users read                                    7k  28.7   27.3  94.7 µs   897 µs
      users read from intended start                                  367 µs  3.49 ms
      users write                                   3k  12.3   11.7   125 µs  1.20 ms
      cleaner trim                                  50     -      -  2.09 ms  20.0 ms
        at most 600 MB/s
    stalled                                                                            -
        at most 600 MB/s; stopped because no operation completed

    Latency
                                                       mean      p50      p90      p99      max
      a phase with a name that is longer than the…
        users read                                   104 µs  94.7 µs  97.8 µs   897 µs   900 µs
        users read from intended start               406 µs   367 µs   379 µs  3.49 ms  3.50 ms
        users write                                  139 µs   125 µs   131 µs  1.20 ms  1.20 ms
        cleaner trim                                2.32 ms  2.09 ms  2.18 ms  20.0 ms  20.0 ms
      a phase with a name that is longer than … #2
        users read                                   104 µs  94.7 µs  97.8 µs   897 µs   900 µs
        users read from intended start               406 µs   367 µs   379 µs  3.49 ms  3.50 ms
        users write                                  139 µs   125 µs   131 µs  1.20 ms  1.20 ms
        cleaner trim                                2.32 ms  2.09 ms  2.18 ms  20.0 ms  20.0 ms

    At most
      SATA link of sda: 600 MB/s = 6.0 Gb/s × 8/10 ÷ 8 bits

    Could not be read
      temperature and wear of sda: the device node may not be opened (permission denied); run as root,
      or with read access to /dev/sda

    candor 0.1.0 ran 58.2 s from 2026-01-02T03:04:05Z on Linux 6.12.9, 8 CPUs, Example CPU 7000, 32 GiB
    memory.
    ");
}

/// Without its colours, a coloured page says the same.
#[test]
fn colours_carry_no_meaning_alone() {
    let mut phases = sample::series();
    phases[0].judged.findings = vec![sample::page_cache()];
    let report = sample::report("correct.", phases);
    let colored = text(&report, &Style { color: true, width: 100, is_screen: true });
    let mut bare = String::new();
    let mut rest = colored.as_str();
    while let Some((before, code)) = rest.split_once("\x1b[") {
        bare.push_str(before);
        rest = code.split_once('m').unwrap().1;
    }
    bare.push_str(rest);
    assert_eq!(bare, plain(&report));
}

#[test]
fn lines_keep_to_the_width() {
    let mut phases = sample::series();
    phases[0].judged.findings = vec![Finding { next: None, ..sample::page_cache() }];
    let report = sample::report("correct.", phases);
    for columns in [80, 93, 100, 120, 140] {
        for line in text(&report, &Style { color: false, width: columns, is_screen: true }).lines()
        {
            assert!(line.chars().count() <= columns, "{columns}: {line}");
        }
    }
}
