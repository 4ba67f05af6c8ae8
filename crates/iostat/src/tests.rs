//! Formulas and layout, compared with sysstat 12.6.1 for the same counters.

use std::ffi::OsString;

use candor_record::{CpuTimes, DiskCounters};
use proptest::prelude::*;

use super::options::{self, Options, Partitions, Request};
use super::{Disk, Host, Printer, Sample};

fn counters(text: &str) -> DiskCounters {
    let n: Vec<u64> = text.split(' ').map(|word| word.parse().unwrap()).collect();
    DiskCounters {
        reads: n[0],
        read_merges: n[1],
        read_sectors: n[2],
        read_ms: n[3],
        writes: n[4],
        write_merges: n[5],
        write_sectors: n[6],
        write_ms: n[7],
        in_flight: n[8],
        busy_ms: n[9],
        weighted_ms: n[10],
        discards: n[11],
        discard_merges: n[12],
        discard_sectors: n[13],
        discard_ms: n[14],
        flushes: n[15],
        flush_ms: n[16],
    }
}

fn disk(name: &str, text: &str) -> Disk {
    Disk { name: name.into(), counters: counters(text), ..Disk::default() }
}

/// Counters of a host 40,345.92 s after boot.
fn recorded() -> Sample {
    const TICK: u64 = 10_000_000;
    Sample {
        uptime_ns: 40_345_920_000_000,
        cpu: CpuTimes {
            user_ns: 4_093_557 * TICK,
            nice_ns: 1_223_997 * TICK,
            system_ns: 1_213_417 * TICK,
            idle_ns: 1_356_653 * TICK,
            iowait_ns: 98_232 * TICK,
            irq_ns: 0,
            softirq_ns: 31_799 * TICK,
            steal_ns: 12_939 * TICK,
        },
        disks: vec![
            disk("loop3", "24 0 1904 57 6 1 24 21 0 76 95 0 0 0 0 4 17"),
            disk(
                "loop1",
                "457400 8105 9046312 217843 29466 23320 546866 9916 0 41592 246939 42351 3757 \
                 2007064 18618 331 561",
            ),
            disk("loop4", "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"),
        ],
    }
}

fn argv<'a>(words: impl IntoIterator<Item = &'a str>) -> Vec<OsString> {
    std::iter::once("iostat").chain(words).map(OsString::from).collect()
}

fn options_of(line: &str) -> Options {
    match options::read(&argv(line.split_whitespace()), false) {
        Ok(Request::Reports(options)) => *options,
        other => panic!("{line}: {other:?}"),
    }
}

/// The report since boot.
fn report(line: &str) -> String {
    Printer::new(&options_of(line)).report(&Sample::default(), &recorded(), None)
}

#[test]
fn the_report_since_boot_is_that_of_sysstat() {
    // Output of `iostat -x loop1 loop3` of sysstat 12.6.1 for these counters.
    let sysstat = "\
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          50.97   15.24   15.51    1.22    0.16   16.89

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm \
w_await wareq-sz     d/s     dkB/s   drqm/s  %drqm d_await dareq-sz     f/s f_await  aqu-sz  %util
loop1           11.34    112.11     0.20   1.74    0.48     9.89    0.73      6.78     0.58  44.18    \
0.34     9.28    1.05     24.87     0.09   8.15    0.44    23.70    0.01    1.69    0.01   0.10
loop3            0.00      0.02     0.00   0.00    2.38    39.67    0.00      0.00     0.00  14.29    \
3.50     2.00    0.00      0.00     0.00   0.00    0.00     0.00    0.00    4.25    0.00   0.00


";
    assert_eq!(report("-x"), sysstat);
    assert_eq!(report("-x loop3 /dev/loop1"), sysstat);
    let sysstat = "\
Device             tps      MB/s    rqm/s   await  areq-sz  aqu-sz  %util
loop1            13.12      0.14     0.87    0.47    10.96    0.01   0.10


";
    assert_eq!(report("-d -xs loop1 -m"), sysstat);
}

#[test]
fn human_sizes_and_names_at_the_end() {
    let sysstat = "     r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz Device
   11.34    112.1k     0.20   1.7%    0.48     9.9k loop1

     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz Device
    0.73      6.8k     0.58  44.2%    0.34     9.3k loop1

     d/s     dkB/s   drqm/s  %drqm d_await dareq-sz Device
    1.05     24.9k     0.09   8.1%    0.44    23.7k loop1

     f/s f_await  aqu-sz  %util Device
    0.01    1.69    0.01   0.1% loop1


";
    assert_eq!(report("-h -x loop1 -d"), sysstat);
    let one_line = report("-hxd --compact loop1");
    assert!(one_line.lines().count() == 4 && one_line.ends_with(" loop1\n\n\n"), "{one_line}");
}

#[test]
fn json_has_the_keys_of_sysstat_in_its_order() {
    let sysstat = "\t\t\t\t{\n\t\t\t\t\t\"avg-cpu\":  {\"user\": 50.97, \"nice\": 15.24, \
        \"system\": 15.51, \"iowait\": 1.22, \"steal\": 0.16, \"idle\": 16.89},\n\
        \t\t\t\t\t\"disk\": [\n\t\t\t\t\t\t{\"disk_device\": \"loop1\", \"r/s\": 11.34, \
        \"w/s\": 0.73, \"d/s\": 1.05, \"f/s\": 0.01, \"rkB/s\": 112.11, \"wkB/s\": 6.78, \
        \"dkB/s\": 24.87, \"rrqm/s\": 0.20, \"wrqm/s\": 0.58, \"drqm/s\": 0.09, \"rrqm\": 1.74, \
        \"wrqm\": 44.18, \"drqm\": 8.15, \"r_await\": 0.48, \"w_await\": 0.34, \
        \"d_await\": 0.44, \"f_await\": 1.69, \"rareq-sz\": 9.89, \"wareq-sz\": 9.28, \
        \"dareq-sz\": 23.70, \"aqu-sz\": 0.01, \"util\": 0.10}\n\t\t\t\t\t]\n\t\t\t\t}";
    assert_eq!(report("-o JSON -x loop1 -c -d"), sysstat);
    let options = options_of("-o JSON -t");
    let mut printer = Printer::new(&options);
    let host = Host { nodename: "a\"b".into(), ..Host::default() };
    let mut text = printer.head(&host);
    text += &printer.report(&Sample::default(), &recorded(), Some("now"));
    text += &printer.report(&recorded(), &recorded(), Some("later"));
    text += &printer.tail();
    let json: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let host = &json["sysstat"]["hosts"][0];
    assert_eq!(
        (&host["nodename"], &host["statistics"][1]["timestamp"]),
        (&"a\"b".into(), &"later".into())
    );
    assert_eq!(host["statistics"][0]["disk"][0]["kB_read"], 4_523_156);
}

#[test]
fn an_interval_is_the_difference_of_two_samples() {
    let mut later = recorded();
    later.uptime_ns += 2_000_000_000;
    let c = &mut later.disks[0].counters;
    // 300 reads of 4 KiB and 100 writes of 64 KiB in 2 s, with waits of 2 and 5 ms.
    (c.reads, c.read_sectors, c.read_ms) = (c.reads + 300, c.read_sectors + 2400, c.read_ms + 600);
    (c.writes, c.write_sectors, c.write_ms) =
        (c.writes + 100, c.write_sectors + 12_800, c.write_ms + 500);
    (c.busy_ms, c.weighted_ms) = (c.busy_ms + 1000, c.weighted_ms + 1100);
    let options = options_of("-d -x -z -g both loop3 loop1");
    let text = Printer::new(&options).report(&recorded(), &later, None);
    let rows: Vec<Vec<&str>> =
        text.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0][..7], ["loop3", "150.00", "600.00", "0.00", "0.00", "2.00", "4.00"]);
    assert_eq!(rows[0][7..13], ["50.00", "3200.00", "0.00", "0.00", "5.00", "64.00"]);
    assert_eq!(rows[0][21..], ["0.55", "50.00"]);
    // The group comes next, because loop1 was idle; its time is the mean of both devices.
    assert_eq!((rows[1][0], &rows[1][21..]), ("both", &["0.55", "25.00"][..]));
}

#[test]
fn counters_that_begin_again_give_no_nonsense() {
    let sample = |uptime_s: u64, text: &str| Sample {
        uptime_ns: uptime_s * 1_000_000_000,
        disks: vec![disk("sda", text)],
        ..Sample::default()
    };
    let before = sample(10, "100 0 800 4294967000 0 0 0 0 0 4294967290 0 0 0 0 0 0 0");
    // After 49 days times wrap, counts do not.
    let after = sample(11, "200 0 1600 204 0 0 0 0 0 494 0 0 0 0 0 0 0");
    let row = |before: &Sample, after: &Sample| {
        Printer::new(&options_of("-d -x sda"))
            .report(before, after, None)
            .lines()
            .nth(1)
            .unwrap()
            .to_owned()
    };
    let words = |line: String| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let wrapped = words(row(&before, &after));
    assert_eq!((&*wrapped[1], &*wrapped[5], &*wrapped[22]), ("100.00", "5.00", "50.00"));
    // Another device has the name.
    let other = sample(11, "7 0 56 7 0 0 0 0 0 7 0 0 0 0 0 0 0");
    assert_eq!(words(row(&before, &other))[1], "7.00");
}

#[test]
fn devices_are_chosen_as_sysstat_does() {
    let part = |name: &str| Disk {
        partition_of: Some("sda".into()),
        ..disk(name, "1 0 8 1 0 0 0 0 0 1 1 0 0 0 0 0 0")
    };
    let dm =
        Disk { mapped: Some("vg-lv".into()), ..disk("dm-0", "1 0 8 1 0 0 0 0 0 1 1 0 0 0 0 0 0") };
    let disks = vec![
        disk("sdb", "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"),
        disk("sda", "1 0 8 1 0 0 0 0 0 1 1 0 0 0 0 0 0"),
        part("sda1"),
        dm,
    ];
    let now = Sample { uptime_ns: 1, disks, ..Sample::default() };
    let names = |line: &str| {
        let options = options_of(&format!("-d {line}"));
        let text = Printer::new(&options).report(&Sample::default(), &now, None);
        let names = text.lines().skip(1).filter_map(|line| line.split_whitespace().next());
        names.collect::<Vec<_>>().join(" ")
    };
    for (line, shown) in [
        ("", "dm-0 sda"),
        ("-N", "vg-lv sda"),
        ("ALL", "dm-0 sda sdb"),
        ("-p", "dm-0 sda sda1"),
        ("-p ALL", "dm-0 sda sda1 sdb"),
        ("-p sda,sdb", "sda sda1 sdb"),
        ("-p -x sdb", "dm-0 sda sda1 sdb"),
        ("-zp sdb", "dm-0 sda sda1"),
        ("sdb sda1 nosuch sdb", "sda1 sdb"),
        ("vg-lv", "dm-0"),
        ("-g G sdb sda", "sdb sda G"),
        ("sda -g G sdb -g H dm-0", "sda sdb G dm-0 H"),
        ("-H -g G sdb sda", "G"),
        ("-g G", "dm-0 sda G"),
    ] {
        assert_eq!(names(line), shown, "{line}");
    }
}

#[test]
fn words_that_make_no_sense_get_a_sentence() {
    for (line, message) in [
        ("-Q", "`-Q`: -Q is no option"),
        ("--wide", "`--wide` is no option"),
        ("--dec=3", "--dec=0, --dec=1 or --dec=2"),
        ("-o", "needs the word JSON"),
        ("-o json", "the only format is JSON"),
        ("-g", "needs the name of a group"),
        ("-gx G", "-g must be the last"),
        ("-H", "no `-g` makes one"),
        ("-k -m", "only one of them"),
        ("1 0", "begins at 1"),
        ("0 5", "needs an interval"),
        ("1 2 3", "`3`: after interval and count"),
        ("99999999999", "too large"),
        ("-j ID", "`-j` is not done"),
        ("-f", "`-f` needs the name of a directory"),
        ("+f", "`-f` needs the name of a directory"),
    ] {
        let (errors, texts) = options::read(&argv(line.split_whitespace()), false).unwrap_err();
        let sentence = errors[0].describe(&texts);
        assert!(sentence.contains(message), "{line}: {sentence}");
    }
    assert_eq!(options::read(&argv(["-V"]), false), Ok(Request::Version));
    for (word, with_kernel) in [("-f", false), ("+f", true)] {
        let read = options::read(&argv([word, "/x"]), false);
        let Ok(Request::Reports(options)) = read else { panic!("{read:?}") };
        let directory = options::CounterDirectory { path: "/x".into(), with_kernel };
        assert_eq!(options.directory, Some(directory));
    }
}

#[test]
fn all_mistakes_are_reported_at_their_places() {
    let (errors, texts) = options::read(&argv(["-xQ", "-o", "XML", "-H"]), false).unwrap_err();
    let lines: Vec<_> = errors.iter().map(|error| error.describe(&texts)).collect();
    assert_eq!(
        lines,
        [
            "command line:1:8: `-xQ`: -Q is no option of iostat",
            "command line:1:12: `-o XML`: the only format is JSON, in capitals",
            "`-H` shows groups only, and no `-g` makes one",
        ]
    );
}

#[test]
fn letters_and_values_go_together() {
    let options = options_of("-xdo JSON -p 5 3");
    assert!(options.extended && options.devices && options.json && !options.cpu);
    assert_eq!((options.interval_s, options.count), (Some(5), Some(3)));
    assert_eq!(options.partitions, Partitions::Used);
    assert!(options_of("-c sda").devices && !options_of("-c").devices);
}

proptest! {
    #[test]
    fn any_words_and_counters_are_survived(
        words in proptest::collection::vec("(-[a-zA-Z]{0,3}|--[a-z=0-9]{0,8}|[a-z0-9/,]{0,6})",
            0..6,
        ),
        before in proptest::collection::vec(any::<u64>(), 17),
        after in proptest::collection::vec(any::<u64>(), 17),
        posix in any::<bool>(),
    ) {
        let argv = argv(words.iter().map(String::as_str));
        let Ok(Request::Reports(options)) = options::read(&argv, posix) else { return Ok(()) };
        // Sums over a device's counters must fit into 64 bits, too.
        let text = |n: &[u64]| n.iter().map(|n| (n >> 6).to_string()).collect::<Vec<_>>().join(" ");
        let sample = |at, n: &[u64]| Sample {
            uptime_ns: at,
            disks: vec![disk("sda", &text(n)), disk("sdb", &text(n))],
            ..Sample::default()
        };
        let (before, after) = (sample(3, &before), sample(2, &after));
        let mut printer = Printer::new(&options);
        let _ = printer.report(&before, &after, None) + &printer.report(&after, &before, Some("t"));
    }
}
