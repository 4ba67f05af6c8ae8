use std::ffi::OsString;

use candor_front::Answer;
use candor_front::evidence::{Surroundings, sentences};
use candor_plan::bucket::{Addressing, CredentialSource, Keys};
use candor_plan::check::check;
use candor_plan::objects::{ChecksumAlgorithm, Encryption, Payload};
use candor_plan::{Plan, Severity, Work, text};

use super::*;
use crate::options;

const RUN: Start = Start { run: 0xabc, delay_ns: 0 };

fn read(line: &str) -> Options {
    let words = ["warp"].into_iter().chain(line.split_whitespace());
    let argv: Vec<OsString> = words.map(OsString::from).collect();
    options::read(&argv, &mut Surroundings::default()).unwrap_or_else(|answer| match answer {
        Answer::Text(text) => panic!("{text}"),
        Answer::Refused(errors, texts) => panic!("{}", sentences(&errors, &texts).join("\n")),
    })
}

/// The plan of a command line, which has no error.
fn planned(line: &str) -> Plan {
    let plan = lower(&read(line), RUN).unwrap_or_else(|why| panic!("{line}: {why}")).plan;
    let problems = check(&plan);
    let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
    assert_eq!(errors.map(|error| &error.message).collect::<Vec<_>>(), Vec::<&String>::new());
    plan
}

fn refused(line: &str) -> String {
    lower(&read(line), RUN).map(|lowered| lowered.plan.name).expect_err(line)
}

/// Work of the last phase.
fn work(plan: &Plan) -> &Objects {
    let phase = plan.phases.last().expect("a benchmark");
    let Work::Objects(objects) = &phase.jobs[0].work else { panic!("objects") };
    objects
}

#[test]
fn each_command_has_a_plan() {
    for command in ["get", "put", "delete", "list", "stat", "mixed", "multipart", "multipart-put"] {
        insta::assert_snapshot!(command, text::write(&planned(command)));
    }
}

#[test]
fn keys_of_a_run_are_its_own() {
    let plan = planned("put --prefix=test --bucket=b");
    assert_eq!(plan.buckets[0].prefix.to_string(), "test/warp-candor-00000abc/");
    assert!(plan.buckets[0].create && !plan.buckets[0].keep && !plan.buckets[0].overwrite);
    assert!(planned("get --noclear").buckets[0].keep);
    assert!(planned("get --keep-data").buckets[0].keep);
    let existing = planned("get --list-existing --list-flat --prefix=test/");
    let bucket = &existing.buckets[0];
    assert_eq!((existing.phases.len(), bucket.prefix.to_string()), (1, "test/".to_owned()));
    assert!(matches!(&bucket.keys, Keys::Existing(existing) if existing.flat));
    assert!(!bucket.create && !bucket.overwrite);
}

#[test]
fn options_reach_the_plan() {
    let line = "put --host=a:1,b:1 --tls --insecure --region=r --lookup=host --access-key=k \
                --secret-key=hush --session-token=hush --disable-http-keepalive --concurrent=4 \
                --duration=10s --rps-limit=50 --part.size=8MiB --disable-sha256-payload \
                --checksum=CRC32C-FO --storage-class=COLD --sse-s3-encrypt --tag=2 \
                --obj.size=1KiB:60,64MiB:40 --analyze.skip=2s --analyze.dur=500ms";
    let plan = planned(line);
    let (bucket, phase, work) = (&plan.buckets[0], &plan.phases[0], work(&plan));
    assert_eq!(bucket.endpoints, ["https://a:1", "https://b:1"]);
    assert_eq!((bucket.insecure, bucket.region.as_deref()), (true, Some("r")));
    assert_eq!(bucket.addressing, Addressing::VirtualHost);
    assert_eq!(bucket.credentials, CredentialSource::Given(vec!["k".to_owned()]));
    assert!(bucket.connections.close_each && !text::write(&plan).contains("hush"));
    assert_eq!((phase.jobs[0].workers, phase.ramp), (4, Nanos::from_secs(2)));
    assert_eq!(phase.stop.time, Some(Nanos::from_secs(8)));
    assert_eq!(phase.interval, Nanos(500_000_000));
    assert_eq!(work.pace.ops.map(|rate| rate.0), Some(50));
    assert_eq!((work.part.map(|part| part.0), work.payload), (Some(8 << 20), Payload::Unsigned));
    let checksum = work.checksum.map(|checksum| checksum.algorithm);
    assert_eq!(checksum, Some(ChecksumAlgorithm::Crc32c));
    assert_eq!(work.headers.storage_class.as_deref(), Some("COLD"));
    assert_eq!((work.headers.encryption.clone(), work.headers.tags), (Some(Encryption::S3), 2));
    let encrypted = planned("get --encrypt --range --range-size=1MiB");
    let work = self::work(&encrypted);
    assert_eq!(work.headers.encryption, Some(Encryption::Customer));
    assert_eq!((work.range.map(|range| range.0), work.ranges), (Some(1 << 20), Some(1)));
}

#[test]
fn clients_have_the_workers_and_objects_of_a_client_each() {
    let plan = planned("get --warp-client=a,b,c --objects=10 --concurrent=4");
    let Keys::Tree(tree) = &plan.buckets[0].keys else { panic!("a tree") };
    assert_eq!((plan.hosts, plan.phases[0].jobs[0].workers), (3, 4));
    assert_eq!((tree.width, tree.items), (12, 3));
    let lowered = lower(&read("get --objects=10 --concurrent=4"), RUN).expect("a plan");
    assert_eq!((lowered.notes.len(), &*lowered.notes[0].did), (1, "12 objects"));
}

#[test]
fn mixes_without_uploads_keep_to_the_objects_that_exist() {
    let plan = planned("mixed --put-distrib=0 --delete-distrib=0 --get-distrib=1 --stat-distrib=1");
    assert_eq!((work(&plan).first, work(&plan).mix.len()), (Some(125), 2));
    let usual = planned("mixed");
    let weights: Vec<u32> = work(&usual).mix.iter().map(|op| op.weight).collect();
    assert_eq!((work(&usual).first, weights), (None, vec![450, 300, 150, 100]));
}

#[test]
fn what_candor_cannot_do_is_a_sentence() {
    for (line, sentence) in [
        ("get --access-key=k", "give both, or neither"),
        ("get --range", "add --range-size"),
        ("delete --list-existing", "would delete objects of others"),
        ("list --noprefix", "leave out --noprefix"),
        ("multipart --warp-client=a,b", "from one client"),
        ("put --obj.size=1:1,2:2", "whole percents"),
        ("put --rps-limit=0.5", "not a whole number"),
        ("put --md5 --checksum=SHA1", "two checksums"),
        ("put --encrypt --sse-s3-encrypt", "exclude each other"),
        ("put --analyze.host=a", "with `warp analyze`"),
        ("put --duration=1s --analyze.skip=1s", "longer --duration"),
    ] {
        let refusal = refused(line);
        assert!(refusal.contains(sentence), "{line}: {refusal}");
    }
}

#[test]
fn a_time_of_day_is_today_or_tomorrow() {
    let options = read("put --syncstart=12:30");
    for (now, delay_s) in [("12:29:30", 30), ("12:30:00", 0), ("12:30:01", 86_399)] {
        let now = now.parse().expect("a time");
        assert_eq!(Start::of(&options, 1, now).delay_ns, delay_s * SECOND_NS, "{now}");
    }
    assert_eq!(Start::of(&read("put"), 1, Time::midnight()).delay_ns, 0);
}
