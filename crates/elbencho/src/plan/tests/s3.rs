//! Command lines of object stores.

use candor_plan::Member;
use candor_plan::bucket::{Addressing, Bucket, CredentialSource, Keys, Members};
use candor_plan::entries::Select;
use candor_plan::objects::{
    ChecksumAlgorithm, Encryption, ObjectOp, Objects, Payload, UploadChecksum, Uploads,
};

use super::*;

const SERVER: &str = "--s3endpoints http://h:9000 --s3key k --s3secret s";

/// The plan of a line with a server and a user.
fn planned(line: &str) -> Plan {
    plan(&format!("{SERVER} {line}"))
}

fn objects<'p>(plan: &'p Plan, name: &str) -> &'p Objects {
    job(plan, name).work.objects().expect("objects")
}

fn ops(plan: &Plan, name: &str) -> Vec<ObjectOp> {
    let phase = plan.phases.iter().find(|phase| phase.name == name).expect("a phase of that name");
    phase.jobs.iter().flat_map(|job| job.work.objects().expect("objects").ops()).collect()
}

fn members(plan: &Plan) -> &Members {
    match &plan.buckets[0].keys {
        Keys::Members(members) => members,
        _ => panic!("objects by key"),
    }
}

/// Notes of a line.
fn notes(line: &str) -> Vec<String> {
    let lowered = lowered(&format!("{SERVER} {line}")).expect("good");
    lowered
        .notes
        .into_iter()
        .map(|note| format!("{}: {}: {}", note.asked, note.did, note.why))
        .collect()
}

#[test]
fn phases_come_in_elbenchos_order() {
    let line = "-d -w --stat -r -F -D -s 4k --s3baclput --s3baclget --s3btag --s3otag \
                --s3statdirs --s3aclput --s3aclget --s3listobj 10 --s3listobjpar \
                --s3multidel 100 --s3aclgrantee private b";
    let wanted = "MKBUCKETS PUTBACL PUTBUCKETMD STATDIRS GETBUCKETMD WRITE PUTOBJACL PUTOBJMD \
                  HEADOBJ GETOBJMD GETOBJACL LISTOBJ LISTOBJ_P READ DELOBJMD MULTIDEL RMOBJECTS \
                  DELBUCKETMD GETBACL RMBUCKETS";
    let all = planned(line);
    assert_eq!(names(&all), wanted.split_whitespace().collect::<Vec<_>>());
    assert!(all.targets.is_empty());
    assert_eq!(all.phases[5].jobs[0].targets, [""; 0]);
    let kept = planned("-w --sync --dropcache -s 4k b");
    assert_eq!(names(&kept), ["SYNC", "DROPCACHE", "WRITE", "SYNC", "DROPCACHE"]);
    assert!(matches!(kept.phases[0].jobs[0].work, Work::Program(_)));
}

#[test]
fn small_objects_are_whole_requests() {
    let plan = planned("-d -w -r -F -D -t 4 -n 3 -N 10 -s 8k -b 1m --iodepth 8 b c");
    let (write, read) = (objects(&plan, "WRITE"), objects(&plan, "READ"));
    assert_eq!((write.op, write.part, write.payload), (ObjectOp::Put, None, Payload::Auto));
    assert_eq!((read.op, read.range, read.verify.is_none()), (ObjectOp::Get, None, true));
    assert_eq!((read.depth, read.objects_at_once, read.buckets.len()), (8, Some(1), 2));
    assert_eq!(
        (objects(&plan, "RMOBJECTS").depth, objects(&plan, "RMBUCKETS").missing_ok),
        (1, false)
    );
    let Bucket { name, keys, endpoints, credentials, keep, overwrite, create, .. } =
        &plan.buckets[1];
    assert_eq!((name.as_str(), &endpoints[..]), ("c", &["http://h:9000".to_owned()][..]));
    assert_eq!(*credentials, CredentialSource::Given(vec!["k".into()]));
    assert!(*keep && *overwrite && !create);
    let Keys::Tree(tree) = keys else { panic!("a tree") };
    let part = tree.part(2, 4);
    let homes: Vec<u64> = (0..3).map(|dir| tree.home(&part.item(10 * dir), 2)).collect();
    assert_eq!(homes, [0, 1, 0], "(rank + dir) mod buckets");
    let (names, mut key) = (tree.names(), Vec::new());
    names.write_directory(&part.item(0), &mut key);
    names.write_item(&part.item(0), &mut key);
    assert_eq!(key, b"/r2/d0/r2-f0");
}

#[test]
fn large_objects_have_parts_and_ranges_of_a_block() {
    let line = "-w -r -t 2 -s 20m -b 8m --iodepth 4 --backward --s3maxconns 3 --limitread 1m b";
    let plan = planned(line);
    let (write, read) = (objects(&plan, "WRITE"), objects(&plan, "READ"));
    assert_eq!(
        (write.part, write.depth, write.uploads),
        (Some(Bytes(8 << 20)), 3, Uploads::WithParts)
    );
    assert_eq!((read.range, read.ranges), (Some(Bytes(8 << 20)), None));
    assert_eq!((&write.access, &read.access), (&Access::Backward, &Access::Backward));
    assert_eq!(read.pace.bytes.map(|rate| rate.0), Some(2 << 20));
    let random = planned("-w -r -s 20m -b 4m --rand b");
    assert_eq!(objects(&random, "WRITE").access, Access::Backward);
    assert_eq!(objects(&random, "READ").access, Access::Random);
    let open = planned("-w -s 20m -b 8m --s3nompucompl b");
    assert_eq!(objects(&open, "WRITE").uploads, Uploads::LeftOpen);
}

#[test]
fn named_objects_are_shared_from_32_blocks_on() {
    let plan = planned("-d -w -t 4 -s 64m -b 1m s3://b/o[1-2]");
    let wanted = ["o1", "o2"].map(|name| Member { name: name.into(), size: Some(Bytes(64 << 20)) });
    let Members { objects: all, share_above, deal } = members(&plan);
    assert_eq!((&all[..], *deal), (&wanted[..], Deal::ByBytes));
    assert_eq!(*share_above, Some(Bytes(32 << 20)));
    assert_eq!((plan.buckets.len(), plan.buckets[0].bucket.as_str()), (1, "b"));
    assert_eq!(members(&planned("-w -s 4m -b 1m s3://b/o")).share_above, None);
    let endless = "-w -s 64m -b 1m --infloop --timelimit 3 s3://b/o";
    assert_eq!(members(&planned(endless)).share_above, None);
    assert!(notes(endless).iter().any(|note| note.starts_with("infloop")));
    let listed = planned("-w -r -b 1k --treefile /list --treerand --treeroundrob b");
    assert_eq!(members(&listed).objects[0].name, "a/b");
    assert_eq!(members(&listed).share_above, Some(Bytes(32 << 10)));
    assert_eq!(members(&listed).deal, Deal::InTurn);
    assert_eq!(objects(&listed, "READ").select, Select::Shuffled);
    assert_eq!(objects(&listed, "READ").range, Some(Bytes(1024)));
}

#[test]
fn hosts_share_uploads_that_other_phases_start_and_complete() {
    let line = "-w --hosts x,y -t 2 -s 64m -b 1m --s3mpusharing s3://b/o";
    let plan = planned(line);
    assert_eq!(names(&plan), ["MPUCREATE", "WRITE", "MPUCOMPL"]);
    assert_eq!(ops(&plan, "MPUCREATE"), [ObjectOp::CreateUpload]);
    assert_eq!(ops(&plan, "MPUCOMPL"), [ObjectOp::CompleteUpload]);
    assert_eq!(objects(&plan, "MPUCOMPL").part, Some(Bytes(1 << 20)));
    assert_eq!(objects(&plan, "WRITE").uploads, Uploads::Apart);
    assert_eq!(names(&planned(&format!("--s3nompucompl {line}"))), ["MPUCREATE", "WRITE"]);
}

#[test]
fn drawn_objects_end_after_an_amount() {
    let plan = planned("-r -t 2 -n 2 -N 4 -s 4m -b 1m --s3randobj --randamount 10m b");
    let read = objects(&plan, "READ");
    assert_eq!(
        (read.select, read.ranges, &read.access),
        (Select::Random, Some(1), &Access::Random)
    );
    let stop = job(&plan, "READ").stop.clone().expect("an end");
    assert_eq!((stop.bytes, stop.passes), (Some(Bytes(5 << 20)), None));
    let whole = planned("-r -t 2 -n 2 -N 4 -s 4m -b 1m --s3randobj b");
    let stop = job(&whole, "READ").stop.clone().expect("an end");
    assert_eq!(stop.bytes, Some(Bytes(32 << 20)));
}

#[test]
fn lists_and_deletions_of_many() {
    let plan =
        planned("--s3listobj 2k --s3listobjpar --s3listverify --s3multidel 50 --s3objprefix p/ b");
    let (list, parallel) = (objects(&plan, "LISTOBJ"), objects(&plan, "LISTOBJ_P"));
    assert_eq!((list.list_directories, list.list_max, list.check_list), (false, Some(2048), true));
    assert_eq!((parallel.list_directories, parallel.list_max), (true, None));
    let many = objects(&plan, "MULTIDEL");
    assert_eq!(
        (many.op, many.batch, &many.buckets[..]),
        (ObjectOp::DeleteMany, 50, &["all of b".to_owned()][..])
    );
    let all = plan.bucket("all of b").expect("the bucket");
    assert!(matches!(all.keys, Keys::Existing(_)));
    assert_eq!((all.bucket.as_str(), all.prefix.to_string()), ("b", "p/".to_owned()));
}

#[test]
fn settings_of_buckets_follow_each_other() {
    let line = "-d -D --s3btag --s3btagverify --s3bversion --s3olockcfg --s3olockcfgverify b";
    let plan = planned(line);
    assert_eq!(
        ops(&plan, "PUTBUCKETMD"),
        [ObjectOp::PutBucketTags, ObjectOp::EnableVersioning, ObjectOp::PutLock]
    );
    assert_eq!(
        ops(&plan, "DELBUCKETMD"),
        [ObjectOp::DeleteBucketTags, ObjectOp::SuspendVersioning]
    );
    let get = &plan.phases.iter().find(|phase| phase.name == "GETBUCKETMD").expect("it").jobs;
    assert_eq!(
        (&get[1].after[..], &get[2].after[..]),
        (&["workers".to_owned()][..], &["get_versioning".to_owned()][..])
    );
    let checks = get.iter().map(|job| job.work.objects().expect("objects").check_settings);
    assert_eq!(checks.collect::<Vec<_>>(), [true, false, true]);
    assert!(objects(&plan, "MKBUCKETS").headers.retention.is_some_and(|lock| lock.compliance));
    assert!(notes(line).iter().any(|note| note.contains("no user can delete")));
}

#[test]
fn requests_have_the_form_of_the_options() {
    let line = "-w -r -s 4k --s3fastput --s3fastget --s3chksumalgo sha1 --s3sse --s3virtaddr \
                --s3insecure --s3region r --s3objprefix a%%%%/b --s3ignoreerrors --nodelerr -F \
                --s3aclputinl --s3aclgrantee public-read --s3multiignore404 b";
    let plan = planned(&line.split_whitespace().collect::<Vec<_>>().join(" "));
    let (write, read) = (objects(&plan, "WRITE"), objects(&plan, "READ"));
    assert_eq!(write.payload, Payload::Unsigned);
    let checksum = UploadChecksum { algorithm: ChecksumAlgorithm::Sha1, trailer: false };
    assert_eq!((write.checksum, write.missing_ok), (Some(checksum), true));
    assert_eq!(write.headers.acl.as_deref(), Some("public-read"));
    assert_eq!(read.headers.encryption, Some(Encryption::S3));
    assert!(read.discard && !write.discard && objects(&plan, "RMOBJECTS").missing_ok);
    let bucket = &plan.buckets[0];
    assert_eq!(bucket.prefix.to_string(), "a{hash:4}/b");
    assert!(bucket.insecure && bucket.addressing == Addressing::VirtualHost);
    assert_eq!(bucket.region.as_deref(), Some("r"));
    assert!(job(&plan, "READ").stop.as_ref().is_some_and(|stop| stop.continue_on_error));
}

#[test]
fn words_verify_objects() {
    let plan = planned("-w -r --verify 5 -s 24k -b 16k b");
    for name in ["WRITE", "READ"] {
        let objects = objects(&plan, name);
        let verify = objects.verify.as_ref().expect("verified");
        assert_eq!((verify.format, verify.interval), (Format::Pattern, Bytes(8192)));
        assert_eq!(
            objects.content.pattern.as_ref().map(ToString::to_string).as_deref(),
            Some("%o+5/8")
        );
    }
}

#[test]
fn readers_and_writers_have_their_ranks() {
    let plan = planned("-w -t 4 --rwmixthr 1 --rwmixthrpct 70 --infloop -s 4k b");
    let jobs = plan.phases[0].jobs.iter().map(|job| {
        let objects = job.work.objects().expect("objects");
        (objects.op, job.workers, objects.pace.flow.map(|flow| flow.weight))
    });
    let wanted = [(ObjectOp::Put, 3, Some(30)), (ObjectOp::Get, 1, Some(70))];
    assert_eq!(jobs.collect::<Vec<_>>(), wanted);
    assert_eq!(plan.phases[0].name, "MIX-T1");
}

#[test]
fn listed_users_may_all_use_new_buckets() {
    let plan = plan("-d --s3credlist a:b,c:d --s3endpoints http://h b");
    let acl = objects(&plan, "MKBUCKETS").headers.acl.as_deref();
    assert_eq!(acl, Some("public-read-write"));
    let users = CredentialSource::Given(vec!["a".into(), "c".into()]);
    assert_eq!(plan.buckets[0].credentials, users);
}

#[test]
fn notes_name_differences() {
    for (line, part) in [
        ("-w -s 4k --direct b", "direct: nothing"),
        ("-w -s 4k --s3log 3 b", "s3log=3: nothing: candor uses no SDK"),
        ("-w -s 4k --s3nocompress b", "s3nocompress: nothing"),
        ("-w -s 4k --s3targetgbps 10 b", "s3targetgbps=10: nothing"),
        ("-w -s 4k --s3otagverify b", "s3otagverify: nothing: --s3otag is not given"),
        ("-r -s 4k --randamount 1m b", "unless --s3randobj is given"),
        ("-w -s 4k --s3listverify b", "s3listverify: nothing"),
        ("-w -s 4k --sharesize 1m b", "sharesize=1m: nothing: no objects are listed"),
        ("-w -s 4k -n 3 s3://b/o", "dirs=3: nothing: objects are listed by key"),
        ("-w -s 4k --treefile /list b", "size=4k: nothing: objects are listed by key"),
    ] {
        let notes = notes(line);
        assert!(notes.iter().any(|note| note.contains(part)), "{line}: {notes:?}");
    }
    let tls = lowered("-w -s 4k --s3endpoints https://h b").expect("good").notes;
    assert!(tls.iter().any(|note| note.why.contains("--s3insecure")), "{tls:?}");
    let files = lowered("-r --s3fastget /f").expect("good").notes;
    assert!(files.iter().any(|note| note.asked == "s3fastget"), "{files:?}");
}

#[test]
fn mistakes_are_sentences() {
    for (line, part) in [
        ("-w -s 4k b c/o", "a path is a bucket, and another one an object"),
        ("-w -s 4k s3://b/o s3://c/o", "the objects are in several buckets"),
        ("-w -s 4k b b", "a bucket is named twice"),
        ("-w s3://b/o", "no size is given"),
        ("-w -s 4k --mmap b", "--mmap does not apply to objects"),
        ("-w -s 4k --rwmixpct 50 b", "let some workers read with --rwmixthr"),
        ("-w -s 4k --rwmixthr 1 -t 2 s3://b/o", "name the bucket alone"),
        ("-w -s 20g -b 1m b", "more than 10000 parts"),
        ("-w -s 64m -b 1m --hosts x,y s3://b/o", "add --s3mpusharing"),
        ("-w -s 64m -b 1m --s3mpusharing s3://b/o", "no hosts share uploads"),
        ("-w -s 4m -b 1m --hosts x,y --s3mpusharing s3://b/o", "no object is shared"),
        ("-r -s 4k --s3mpusharing b", "no phase writes objects"),
        ("-r -s 4m -b 1m --s3randobj s3://b/o", "objects are drawn from the trees"),
        ("--s3listobjpar --s3objprefix %%% b", "different random prefixes"),
        ("--s3listobjpar -n 0 b", "no directories to list"),
        ("--s3listobj 5 s3://b/o", "lists objects of -n and -N"),
        ("-r -s 4k --s3fastget --verify 1 b", "discarded bytes cannot be verified"),
        ("-w -s 4k --s3sse --s3ssekmskey k b", "encrypted in several ways"),
        ("-w -s 4k --s3sseckey abc b", "not 32 bytes in base64"),
        ("--s3aclput b", "an ACL has no grantee"),
        ("--s3aclput --s3aclgrantee x b", "the kind of grantee is unknown"),
        ("--s3aclput --s3aclgrantee x --s3aclgtype id --s3aclgrants none b", "grants nothing"),
        ("--s3aclget --s3aclverify --s3aclgrantee private b", "which a canned ACL does not list"),
        ("-w --treefile /list b c", "a list is of one bucket"),
        ("-w --treefile /list -s 4k b/o", "a list names others"),
    ] {
        let error = refused(&format!("{SERVER} {line}"));
        assert!(error.contains(part), "{line}: {error}");
    }
    assert!(refused("--s3listobj 5 s3://b").contains("no server is named"));
}

#[test]
fn a_dry_run_counts_objects() {
    let lowered = lowered(&format!("{SERVER} -d -w -t 4 -n 3 -N 10 -s 8k b")).expect("good");
    let text = totals(&lowered);
    assert!(
        text.starts_with(
            "Phase: MKBUCKETS\n* Entries per thread: 0 | 0 K | 0 M\n\
                              * Entries total:      1 |"
        ),
        "{text}"
    );
    assert!(text.contains("Phase: WRITE\n* Entries per thread: 30 |"), "{text}");
}
