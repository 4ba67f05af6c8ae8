//! From words to plans of buckets.

use candor_plan::bucket::Keys;
use candor_plan::objects::ObjectOp;
use candor_plan::{Bucket, Objects, Phase, Plan};

use super::output;
use candor_plan::text;

const TARGET: &str = "--target s3://data/a --endpoint http://127.0.0.1:9000";

/// The plan of a command line.
fn plan(words: &str) -> Plan {
    let written = output(&format!("{TARGET} {words}"));
    let read = text::read("plan.toml", &written);
    read.unwrap_or_else(|_| panic!("{words}: {written}")).0
}

fn work(phase: &Phase) -> &Objects {
    phase.jobs[0].objects().expect("objects")
}

/// Names of the phases.
fn names(plan: &Plan) -> Vec<&str> {
    plan.phases.iter().map(|phase| phase.name.as_str()).collect()
}

/// Number of the bucket's objects.
fn items(bucket: &Bucket) -> u64 {
    match &bucket.keys {
        Keys::Tree(tree) => tree.items,
        keys => panic!("{keys:?}"),
    }
}

#[test]
fn a_get_puts_its_objects_first() {
    let plan = plan("--rw get --size 8m --depth 64 --workers 2 --seconds 5 --part 16m");
    assert_eq!(names(&plan), ["fill", "get 8 MiB, depth 64, workers 2"]);
    assert!(plan.targets.is_empty());
    let bucket = &plan.buckets[0];
    assert_eq!((bucket.bucket.as_str(), bucket.prefix.to_string()), ("data", "a/".into()));
    assert_eq!((bucket.endpoints.len(), items(bucket)), (1, 128), "1 GiB of objects");
    let [fill, get] = [0, 1].map(|at| work(&plan.phases[at]));
    assert_eq!((fill.op, fill.depth, get.op, get.depth), (ObjectOp::Put, 64, ObjectOp::Get, 64));
    assert!(fill.part.is_some() && get.part.is_none());
    assert_eq!(plan.phases[0].stop.time, None, "all objects are put");
    assert_eq!(plan.phases[0].jobs[0].workers, 2);
}

#[test]
fn objects_are_put_once_for_several_phases_and_again_after_a_deletion() {
    assert_eq!(names(&plan("--rw put")), ["put 1 MiB"]);
    let all = plan("--rw put,get,head,list,delete,copy,delete-many");
    let expected = ["put", "get", "head", "list", "delete", "fill", "copy", "delete_many"];
    assert_eq!(names(&all), expected);
    assert!(all.phases.iter().all(|phase| !work(phase).as_reached));
    assert_eq!(all.phases[4].stop.passes, Some(1), "an object is deleted once");
    let timed = plan("--rw put,get --seconds 5");
    assert!(work(&timed.phases[1]).as_reached, "time may end before all objects are put");
    let several = plan("--rw put,get --workers 1,8 --seconds 5");
    let names = names(&several);
    assert_eq!(names[2..5], ["fill", "get, 1 worker", "get, 8 workers"], "{names:?}");
}

#[test]
fn a_mix_adds_objects_to_those_that_exist() {
    let timed = plan("--rw get:70,put:20,delete:10 --objects 100 --workers 3 --seconds 5");
    assert_eq!(names(&timed), ["fill", "get/put/delete 70/20/10 1 MiB, workers 3"]);
    assert_eq!(work(&timed.phases[0]).first, Some(34), "of each worker");
    assert!(items(&timed.buckets[0]) > 1_000_000, "keys for new objects");
    assert_eq!(work(&timed.phases[1]).mix.len(), 3);
    let endless = plan("--rw get:70,put:30 --objects 100 --workers 4");
    assert_eq!(endless.phases[1].stop.ops, Some(25), "a run without a limit ends");
}

#[test]
fn existing_objects_are_listed_and_ranges_read() {
    let plan = plan("--rw get --existing --bs 64k,1m --objects 50 --access random");
    assert_eq!(names(&plan), ["64 KiB", "1 MiB"]);
    assert!(matches!(&plan.buckets[0].keys, Keys::Existing(of) if of.first == Some(50)));
    assert_eq!(work(&plan.phases[0]).range.map(|range| range.0), Some(65536));
    assert_eq!(plan.name, "get, by bs");
}

#[test]
fn options_of_servers_and_requests_are_in_the_plan() {
    let written = output(&format!(
        "{TARGET} --endpoint http://127.0.0.1:9001 --rw put --size 4k-64k --objects 10 \
         --region eu-west-1 --profile work --addressing virtual-host --insecure --ca-file /ca.pem \
         --create --keep --overwrite --checksum crc32c:trailer --payload signed-chunks --retries 2 \
         --prefix-hash 4 --expect-continue --quick-ack --verify --rate 10m --name all"
    ));
    for line in [
        "prefix = \"a/{hash:4}/\"",
        "endpoints = [\"http://127.0.0.1:9000\", \"http://127.0.0.1:9001\"]",
        "region = \"eu-west-1\"",
        "addressing = \"virtual_host\"",
        "insecure = true",
        "ca_file = \"/ca.pem\"",
        "create = true",
        "keep = true",
        "overwrite = true",
        "attempts = 3",
        "payload = \"signed_chunks\"",
        "name = \"all\"",
    ] {
        assert!(written.contains(line), "no {line} in\n{written}");
    }
    for [flag, key] in [
        ["--credentials /users", "file = \"/users\""],
        ["--anonymous", "credentials = \"anonymous\""],
    ] {
        let written = output(&format!("{TARGET} --rw put {flag}"));
        assert!(written.contains(key), "{written}");
    }
}

#[test]
fn words_that_do_not_fit_are_refused_by_name() {
    for (words, sentence) in [
        ("--rw get --direct", "--direct is for files and devices, and s3://data/a/ is a bucket"),
        ("--rw get --engine psync", "--engine is for files and devices"),
        ("--rw get --mix read:70,write:30", "help: write --rw get:70,put:30"),
        ("--rw randread", "`randread` is none of get, put"),
        ("--rw gte", "did you mean get?"),
        ("--rw get:70,put", "`put` has no weight; write put:N"),
        ("--rw get:70,delete:30", "a mix with delete and without put"),
        ("--rw get:70,list:30", "list is not on one object"),
        ("--rw put --existing", "--existing changes no object"),
        ("--rw get --existing --size 4k", "--size is for objects that the run puts"),
        ("--rw put --size 50%", "is not a size"),
        ("--rw put --objects 0", "0 objects are none"),
        ("--rw put --checksum md5:trailer", "md5 has a header"),
        ("--rw put --prefix-hash 17", "`17` is no number of digits from 1 to 16"),
        ("--rw put --size 1t --part 1m", "more than 10000 parts"),
        ("--rw put --part 1m --size 8m", "smaller than Amazon's S3 accepts"),
        ("--rw put --anonymous --profile x", "cannot be used with"),
        ("--rw put --target /data/file", "/data/file is no bucket, and another target is one"),
        ("--rw get --bs 0", "range is 0"),
    ] {
        let written = output(&format!("{TARGET} {words}"));
        assert!(written.contains(sentence), "{words}: {written}");
    }
    let written = output("--target s3:///a --rw get");
    assert!(written.contains("`s3:///a` names no bucket"), "{written}");
    let written = output("--target /data/file --rw read --size 1g --endpoint http://h");
    assert!(written.contains("--endpoint is for buckets, and no target is one"), "{written}");
}
