//! I/O priorities of single operations: latencies of each, and the column of the log.

use serde_json::Value;

use super::fio;
use crate::support::Scratch;

/// Random reads of a new file, of which a third have a priority of their own.
fn job(engine: &str) -> Vec<String> {
    let own = ["cmdprio_percentage=33", "cmdprio_class=2", "cmdprio=1"];
    let rest = ["rw=randread", "size=1m", "iodepth=4", "lat_percentiles=1"];
    let log = ["write_lat_log=x", "log_prio=1"];
    let words = [&own[..], &rest, &log].concat();
    let words = words.iter().map(|word| format!("--{word}"));
    ["--name=x".to_owned(), format!("--ioengine={engine}")].into_iter().chain(words).collect()
}

fn count(of: &Value) -> u64 {
    of["lat_ns"]["N"].as_u64().expect("a count")
}

#[test]
fn latencies_of_each_priority_are_shown_and_logged() {
    for engine in ["libaio", "io_uring"] {
        let scratch = Scratch::new();
        let words = job(engine);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ran = fio(&scratch, &[&words[..], &["--output-format=json+"]].concat());
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
        let json: Value = serde_json::from_str(&ran.out).expect("JSON");
        let read = &json["jobs"][0]["read"];
        let [usual, own] = &read["prios"].as_array().expect("priorities")[..] else {
            panic!("{}", read["prios"]);
        };
        let named = |of: &Value| (of["prioclass"].as_u64(), of["prio"].as_u64());
        assert_eq!((named(usual), named(own)), ((Some(0), Some(0)), (Some(2), Some(1))));
        assert_eq!((count(usual) + count(own), count(read)), (256, 256));
        assert!((40..130).contains(&count(own)), "{}", count(own));
        for (bin, all) in read["lat_ns"]["bins"].as_object().expect("bins") {
            let of = |of: &Value| of["lat_ns"]["bins"][bin].as_u64().unwrap_or(0);
            assert_eq!(Some(of(usual) + of(own)), all.as_u64());
        }
        let log = std::fs::read_to_string(scratch.path("x_lat.1.log")).expect("a log");
        let column = |line: &str| line.rsplit(", ").next().map(str::to_owned);
        let column: Vec<_> = log.lines().filter_map(column).collect();
        let entries = |bits| column.iter().filter(|entry| *entry == bits).count() as u64;
        assert_eq!((entries("0x4001"), entries("0x0000")), (count(own), count(usual)));
    }
}

#[test]
fn the_text_names_class_and_level() {
    let scratch = Scratch::new();
    let words = job("libaio");
    let words: Vec<&str> =
        words.iter().map(String::as_str).filter(|w| !w.contains("lat_p")).collect();
    let out = fio(&scratch, &words).out;
    for name in ["clat prio 0/0 (", "clat prio 2/1 ("] {
        assert_eq!(out.matches(&format!("\n    {name}")).count(), 2, "{out}");
    }
    assert!(out.contains("% of IOs) percentiles ("), "{out}");
}
