//! Objects on real servers: each operation, with the servers' own files as evidence.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Stdio;

use crate::support::fleet::{Agent, Fleet as Agents};
use crate::support::s3::runs::{
    bucket, command, done, failures, files, http, keys, mismatches, ops, phase, phase_until, plan,
    run,
};
use crate::support::s3::{Fault, FaultProxy, Options, Request, Server, boto};
use crate::support::{Report, Running, Scratch, is_of_today, shared_host, skip};

/// versitygw; a skip where it is missing.
fn versitygw(scratch: &Scratch) -> Option<Server> {
    Server::versitygw(scratch, &Options::default()).map_err(|reason| skip(&reason)).ok()
}

/// Bytes of objects by path, as the proxy saw them; parts are joined in the order of their numbers.
fn uploaded(requests: &[Request]) -> BTreeMap<String, Vec<u8>> {
    let mut parts: BTreeMap<(String, u32), Vec<u8>> = BTreeMap::new();
    for request in requests.iter().filter(|request| request.method == "PUT") {
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        let number = query.split('&').find_map(|field| field.strip_prefix("partNumber="));
        let number = number.map_or(0, |number| number.parse().expect("a number"));
        let key = path.trim_start_matches('/').to_owned();
        // Buckets have no key.
        if key.contains('/') {
            parts.insert((key, number), request.body.clone());
        }
    }
    let mut objects: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for ((key, _), body) in parts {
        objects.entry(key).or_default().extend(body);
    }
    objects
}

/// Checks that the server has no object.
fn assert_no_files(server: &Server) {
    let found = files(server.data());
    assert!(found.is_empty(), "{} has {found:?}", server.name());
}

/// Checks that the server's files are the objects that were sent, byte for byte.
fn assert_files(server: &Server, sent: &BTreeMap<String, Vec<u8>>) {
    let found = files(server.data());
    let names: BTreeSet<String> = found.iter().map(|path| path.display().to_string()).collect();
    assert_eq!(names, sent.keys().cloned().collect(), "{}", server.name());
    for (key, bytes) in sent {
        let file = fs::read(server.data().join(key)).expect("the object's file");
        assert!(file == *bytes, "{key} of {} differs", server.name());
    }
}

#[test]
fn small_objects_are_put_read_and_deleted() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    for server in Server::candidates(&scratch) {
        let proxy = FaultProxy::start(server.address(), |_| Fault::Pass);
        let tree = "keys.tree = { depth = 1, width = 3, items = 4, file_size = \"9000\" }";
        let bucket = bucket(&proxy.endpoint(), tree);
        let put = phase("put", "op = \"put\", depth = 4, verify = {}") + "workers = 3\n";
        let report = done(&scratch, &plan(&bucket, "keep = true", &put));
        assert_eq!(ops(&report, 0, "put"), 16, "{}", server.name());
        assert_files(&server, &uploaded(&proxy.requests()));

        let phases = [
            phase("get", "op = \"get\", verify = {}, depth = 2") + "workers = 2\n",
            phase("head", "op = \"head\", depth = 2"),
            phase("list", "op = \"list\", page = 5, check_list = true"),
            phase("copy", "op = \"copy\""),
            phase("delete", "op = \"delete\", first = 3"),
            phase("others", "op = \"delete_many\", batch = 5"),
        ];
        let report = done(&scratch, &plan(&bucket, "overwrite = true", &phases.concat()));
        let rows = ["get", "head", "list", "copy", "delete", "delete_many"];
        let counts: Vec<u64> = (0..).zip(rows).map(|(at, row)| ops(&report, at, row)).collect();
        assert_eq!(counts, [16, 16, 4, 16, 3, 4], "{}", server.name());
        assert_eq!(report.number("/phases/0/measurements/0/operations/get/bytes"), 144_000.0);
        let objects = &http(&report, 2)["objects"];
        assert_eq!((&objects["keys"], &objects["keys_expected"]), (&16.into(), &16.into()));
        assert_eq!(http(&report, 5)["objects"]["keys_deleted"], 16);
        assert_no_files(&server);
    }
}

#[test]
fn ranges_are_read_in_every_order() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    for server in Server::candidates(&scratch) {
        let proxy = FaultProxy::start(server.address(), |_| Fault::Pass);
        let mut plan = bucket(&proxy.endpoint(), &keys(2, "100000"));
        plan += &phase("put", "op = \"put\", verify = {}");
        let orders = ["sequential", "backward", "random", "permutation"];
        for order in orders {
            let get = format!("op = \"get\", range = \"16k\", access = \"{order}\", verify = {{}}");
            plan += &phase(order, &get);
        }
        let report = done(&scratch, &plan);
        let gets = proxy.requests();
        let ranges: Vec<&str> = gets.iter().filter_map(|get| get.head.header("range")).collect();
        assert_eq!(ranges.len(), 4 * 14, "{}", server.name());
        assert_eq!(ranges[0], "bytes=0-16383");
        assert_eq!(ranges[6], "bytes=98304-99999");
        assert_eq!(ranges[14], "bytes=98304-99999");
        for from in [0, 14, 42] {
            let of_object = &ranges[from..from + 7];
            assert_eq!(of_object.iter().collect::<BTreeSet<_>>().len(), 7, "{of_object:?}");
        }
        for (at, _) in orders.iter().enumerate() {
            assert_eq!(ops(&report, at + 1, "get"), 14);
            assert_eq!(mismatches(&report, at + 1), 0);
        }
    }
}

/// One object of 9 parts that 8 workers share, and a small object.
const SHARED: &str = "keys.members = { share_above = \"5m\", \
                      objects = [{ name = \"big\", size = \"41m\" }, \
                      { name = \"small\", size = \"2m\" }] }";

#[test]
fn eight_workers_share_an_upload() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    for server in Server::candidates(&scratch) {
        let proxy = FaultProxy::start(server.address(), |_| Fault::Pass);
        let put = phase("put", "op = \"put\", part = \"5m\", depth = 2") + "workers = 8\n";
        let plan = bucket(&proxy.endpoint(), &format!("{SHARED}\nkeep = true")) + &put;
        let report = done(&scratch, &plan);
        let rows = ["create_upload", "put_part", "complete_upload", "put", "object"];
        let counts = rows.map(|row| ops(&report, 0, row));
        assert_eq!(counts, [1, 9, 1, 1, 2], "{}", server.name());
        assert_eq!(http(&report, 0)["objects"]["open_uploads"], 0, "{}", server.name());
        assert_files(&server, &uploaded(&proxy.requests()));

        let get = phase("get", "op = \"get\", range = \"5m\"") + "workers = 8\n";
        let whole = phase("whole", "op = \"get\"") + "workers = 2\n";
        let bucket = bucket(&server.endpoint(), &format!("{SHARED}\noverwrite = true"));
        let delete = phase("delete", "op = \"delete\"") + "workers = 8\n";
        let report = done(&scratch, &(bucket + &get + &whole + &delete));
        assert_eq!(ops(&report, 0, "get"), 10, "9 ranges and a small object");
        assert_eq!(ops(&report, 2, "delete"), 2, "one worker deletes what all share");
        assert_no_files(&server);
    }
}

#[test]
fn shared_objects_of_one_part_are_put_and_read_once() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(server) = versitygw(&scratch) else { return };
    let lines = "keys.members = { share_above = \"1m\", \
                 objects = [{ name = \"a\", size = \"2m\" }, { name = \"b\", size = \"3m\" }] }";
    let put = phase("put", "op = \"put\", part = \"5m\", verify = {}") + "workers = 4\n";
    let get = phase("get", "op = \"get\", verify = {}") + "workers = 4\n";
    let report = done(&scratch, &(bucket(&server.endpoint(), lines) + &put + &get));
    assert_eq!(ops(&report, 0, "put"), 2);
    assert_eq!(ops(&report, 1, "get"), 2);
}

#[test]
fn parts_are_read_by_number() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(server) = versitygw(&scratch) else { return };
    let proxy = FaultProxy::start(server.address(), |_| Fault::Pass);
    let put = phase("put", "op = \"put\", part = \"5m\", depth = 2, verify = {}");
    let get = "op = \"get\", part = \"5m\", by_part_number = true, depth = 2, verify = {}";
    let plan = bucket(&proxy.endpoint(), &keys(1, "11m")) + &put + &phase("get", get);
    let report = done(&scratch, &plan);
    assert_eq!((ops(&report, 0, "put_part"), ops(&report, 1, "get")), (3, 3));
    assert_eq!(report.number("/phases/1/measurements/0/operations/get/bytes"), 11_534_336.0);
    let requests = proxy.requests();
    let gets = requests.iter().filter(|request| request.method == "GET");
    let numbers = gets.filter(|get| get.target.starts_with("/data/f0?")).count();
    assert_eq!(numbers, 3);
}

#[test]
fn lists_have_exactly_the_keys_of_the_plan() {
    const COUNT: u64 = 2_500;
    let (_host, scratch) = (shared_host(), Scratch::new());
    for server in Server::candidates(&scratch) {
        let folder = server.data().join("data");
        fs::create_dir(&folder).expect("a bucket");
        for number in 0..COUNT {
            fs::write(folder.join(format!("f{number}")), b"").expect("an object");
        }
        let plan = bucket(&server.endpoint(), &keys(COUNT, "0"));
        let list = phase("list", "op = \"list\", check_list = true");
        let some = phase("some", "op = \"list\", list_max = 1250, page = 300");
        let report = done(&scratch, &(plan.clone() + &list + &some));
        assert_eq!((ops(&report, 0, "list"), ops(&report, 1, "list")), (3, 5), "{}", server.name());
        let objects = &http(&report, 0)["objects"];
        for (name, count) in [("keys", COUNT), ("keys_expected", COUNT), ("pages", 3)] {
            assert_eq!(objects[name], count, "{name} of {}", server.name());
        }
        for wrong in ["keys_twice", "keys_unordered", "short_pages"] {
            assert_eq!(objects[wrong], 0, "{wrong} of {}", server.name());
        }
        assert_eq!(http(&report, 1)["objects"]["keys"], 1250);
        // A missing key and a foreign one.
        fs::rename(folder.join("f7"), folder.join("foreign")).expect("a renamed object");
        run(&scratch, &(plan + &list)).failed("where the plan has `f7`");
    }
}

#[test]
fn a_hundred_thousand_keys_are_listed() {
    if !is_of_today("a_hundred_thousand_keys_are_listed", 7) {
        return;
    }
    let (_host, scratch) = (shared_host(), Scratch::new());
    for server in Server::candidates(&scratch) {
        for directory in 0..100 {
            let folder = server.data().join(format!("data/d{directory}"));
            fs::create_dir_all(&folder).expect("a bucket");
            for number in 0..1000 {
                fs::write(folder.join(format!("f{number}")), b"").expect("an object");
            }
        }
        let tree = "depth = 1, width = 100, items = 1000, leaves_only = true, file_size = \"0\"";
        let plan = bucket(&server.endpoint(), &format!("keys.tree = {{ {tree} }}"));
        let list = "op = \"list\", list_directories = true, check_list = true";
        let report = done(&scratch, &(plan + &phase("list", list) + "workers = 4\n"));
        let objects = &http(&report, 0)["objects"];
        assert_eq!((&objects["keys"], &objects["pages"]), (&100_000.into(), &100.into()));
        assert_eq!(objects["keys_expected"], 100_000, "{}", server.name());
    }
}

#[test]
fn keys_have_hashes_and_are_spread_over_buckets_and_ranks() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(server) = versitygw(&scratch) else { return };
    let tree = "prefix = \"p{hash:3}/\"\nkeep = true\n\
                keys.tree = { depth = 1, width = 4, items = 5, per_rank = true, \
                file_size = \"1k\" }";
    let one = bucket(&server.endpoint(), tree);
    let two = one.replace("name = \"data\"", "name = \"more\"").replace("= \"data\"", "= \"more\"");
    let put = phase("put", "op = \"put\"").replace("[\"data\"]", "[\"data\", \"more\"]");
    let report = done(&scratch, &(one + &two + &put + "workers = 3\n"));
    assert_eq!(ops(&report, 0, "put"), 75);
    let found = files(server.data());
    assert_eq!(found.len(), 75, "{found:?}");
    let mut hashes = BTreeSet::new();
    for path in &found {
        let mut parts = path.iter().map(|part| part.to_str().expect("text"));
        let (bucket, hash) = (parts.next().expect("a bucket"), parts.next().expect("a hash"));
        assert!(bucket == "data" || bucket == "more", "{path:?}");
        let digits = hash.strip_prefix('p').expect("a prefix");
        assert!(digits.len() == 3 && u16::from_str_radix(digits, 16).is_ok(), "{hash}");
        hashes.insert(digits.to_owned());
    }
    assert!(hashes.len() > 60, "{hashes:?}");
    for bucket in ["data", "more"] {
        let count = found.iter().filter(|path| path.starts_with(bucket)).count();
        assert!((25..=50).contains(&count), "{count} in {bucket}");
    }
}

#[test]
fn objects_that_a_timed_put_reached_are_read() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    for server in Server::candidates(&scratch) {
        let mut plan = bucket(&server.endpoint(), &keys(1_000_000, "1k"));
        plan += &phase_until("put", "stop.time = \"300ms\"", "op = \"put\", depth = 4");
        plan += "workers = 2\n";
        plan += &(phase("get", "op = \"get\", as_reached = true, depth = 4") + "workers = 2\n");
        let report = done(&scratch, &plan);
        let (puts, gets) = (ops(&report, 0, "put"), ops(&report, 1, "get"));
        assert!(puts > 0 && gets > 0 && gets <= puts, "{puts} puts, {gets} gets");
        assert!(gets + 64 >= puts, "{puts} puts, {gets} gets of {}", server.name());
        assert_eq!(failures(&report, 1, "missing").attempts, 0);
        assert_no_files(&server);
    }
}

#[test]
fn a_mix_never_misses_an_object() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(server) = versitygw(&scratch) else { return };
    let mut plan = bucket(&server.endpoint(), &keys(500_000, "2k"));
    plan += &(phase("put", "op = \"put\", first = 50, depth = 4") + "workers = 2\n");
    let mix = "depth = 4, mix = [{ weight = 45, op = \"get\" }, { weight = 30, op = \"head\" }, \
               { weight = 15, op = \"put\" }, { weight = 10, op = \"delete\" }]";
    plan += &(phase_until("mix", "stop.time = \"2s\"", mix) + "workers = 2\n");
    let report = done(&scratch, &plan);
    for row in ["get", "head", "put", "delete"] {
        assert!(ops(&report, 1, row) > 0, "no {row}");
    }
    assert_eq!(http(&report, 1)["failures"].as_array().map(Vec::len), Some(0));
    assert_no_files(&server);
}

#[test]
fn verification_finds_a_byte_that_the_server_lost() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    for server in Server::candidates(&scratch) {
        let bucket = bucket(&server.endpoint(), &format!("{}\nkeep = true", keys(4, "20k")));
        done(&scratch, &plan(&bucket, "", &phase("put", "op = \"put\", verify = {}")));
        let file = server.data().join("data/f2");
        let mut bytes = fs::read(&file).expect("the object's file");
        bytes[9_000] ^= 1;
        fs::write(&file, bytes).expect("the object's file");
        let get = phase("get", "op = \"get\", verify = {}");
        let outcome = run(&scratch, &plan(&bucket, "", &get));
        outcome.failed("f2");
        assert_eq!(mismatches(outcome.report(), 0), 1);
        let first = outcome.report().at("/phases/0/measurements/0/verify/first/0");
        assert_eq!((&first["path"], &first["offset"]), (&"f2".into(), &8192.into()), "{first}");
        let all = phase("get", "op = \"get\", verify = { continue_on_mismatch = true }");
        let outcome = run(&scratch, &plan(&bucket, "", &all));
        assert_eq!(ops(outcome.report(), 0, "get"), 4);
    }
}

#[test]
fn tags_versions_and_bucket_settings_are_read_back() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let options = Options { versioning: true, ..Options::default() };
    let Some(server) = Server::versitygw(&scratch, &options).map_err(|why| skip(&why)).ok() else {
        return;
    };
    let tags = "headers = { tags = 3 }, check_settings = true";
    let phases = [
        phase("put", "op = \"put\""),
        phase("tag", &format!("op = \"put_tags\", {tags}")),
        phase("read tags", &format!("op = \"get_tags\", {tags}")),
        phase("untag", "op = \"delete_tags\""),
        phase("version", "op = \"enable_versioning\""),
        phase("versioning", "op = \"get_versioning\", check_settings = true"),
        phase("put again", "op = \"put\""),
        phase("versions", "op = \"list_versions\""),
        phase("bucket", "op = \"head_bucket\""),
        phase("put bucket tags", "op = \"put_bucket_tags\""),
        phase("get bucket tags", "op = \"get_bucket_tags\", check_settings = true"),
    ];
    let plan = bucket(&server.endpoint(), &format!("{}\nkeep = true", keys(3, "1k")));
    let report = done(&scratch, &(plan + &phases.concat()));
    let rows = ["put", "put_tags", "get_tags", "delete_tags", "enable_versioning"];
    let counts: Vec<u64> = (0..).zip(rows).map(|(at, row)| ops(&report, at, row)).collect();
    assert_eq!(counts, [3, 3, 3, 3, 1]);
    assert_eq!(http(&report, 7)["objects"]["keys"], 6, "two versions of each object");
    assert_eq!(http(&report, 5)["form"]["versioning"], "enabled");
}

#[test]
fn uploads_are_accepted_in_every_form() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    for server in Server::candidates(&scratch) {
        let mut plan = bucket(&server.endpoint(), &format!("{}\noverwrite = true", keys(2, "70k")));
        let mut forms: Vec<String> =
            ["signed", "unsigned", "signed_chunks"].map(|of| format!("payload = \"{of}\"")).into();
        for algorithm in ["crc32", "crc32c", "crc64nvme", "sha1", "sha256"] {
            // s3proxy has no CRC-64/NVME, and no trailers.
            let header = format!("checksum = {{ algorithm = \"{algorithm}\" }}");
            if server.name() == "versitygw" {
                forms.push(header.replace(" }", ", trailer = true }"));
            }
            forms.push(header);
        }
        forms.push("checksum = { algorithm = \"md5\" }".into());
        for form in &forms {
            plan +=
                &phase(&form.replace('"', "'"), &format!("op = \"put\", verify = {{}}, {form}"));
            plan += &phase("get", "op = \"get\", verify = {}, check_checksum = true");
            plan += &phase("range", "op = \"get\", range = \"32k\", check_checksum = true");
        }
        let report = done(&scratch, &plan);
        for (at, form) in forms.iter().enumerate() {
            assert_eq!(ops(&report, 3 * at, "put"), 2, "{form} to {}", server.name());
            assert_eq!(ops(&report, 3 * at + 1, "get"), 2, "{form} to {}", server.name());
        }
    }
}

#[test]
fn two_hosts_put_distinct_keys() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(server) = versitygw(&scratch) else { return };
    let agents = agents(Scratch::new());
    let tree = "keep = true\n\
                keys.tree = { items = 6, per_rank = true, file_size = \"4k\" }";
    let plan = bucket(&server.endpoint(), tree) + &phase("put", "op = \"put\", depth = 2");
    let (plan, removing) = (plan + "workers = 2\n", "keep = false\noverwrite = true");
    let report = fleet_run(&agents, &plan);
    assert_eq!(ops(&report, 0, "put"), 24);
    let found = files(&server.data().join("data"));
    assert_eq!(found.len(), 24, "{found:?}");
    let report = fleet_run(&agents, &plan.replace("keep = true", removing));
    assert_eq!(ops(&report, 0, "put"), 24);
    assert_no_files(&server);
}

/// Two agents that have the credentials of the servers' owner.
fn agents(scratch: Scratch) -> Agents {
    let allowed = scratch.dir();
    let keys = crate::support::fleet::keys(&scratch, "keys");
    let words = ["agent", "--keys", &keys, "--listen", "127.0.0.1:0", "--allow", &allowed];
    let agents = (0..2).map(|_| Agent::of(&mut command(&words))).collect();
    Agents { scratch, keys, agents }
}

fn fleet_run(agents: &Agents, plan: &str) -> Report {
    let plan = agents.scratch.file("plan.toml", &format!("hosts = 2\n{plan}"));
    let json = agents.scratch.outside("report.json");
    let hosts = agents.hosts();
    let words = agents.words(&hosts, &[&plan, "--json", &json]);
    let ran = Running::start(&mut command(&words), Stdio::null()).wait();
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.err, ran.out);
    Report::read(&json).expect("a report")
}

/// Keys that boto3 lists, as another opinion.
#[test]
fn boto3_reads_the_objects() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    for server in Server::candidates(&scratch) {
        let lines = format!("prefix = \"a b/+%/\"\nkeep = true\n{}", keys(3, "5k"));
        done(&scratch, &(bucket(&server.endpoint(), &lines) + &phase("put", "op = \"put\"")));
        let script = "for entry in s3.list_objects_v2(Bucket='data')['Contents']:\n\
                      \x20   body = s3.get_object(Bucket='data', Key=entry['Key'])['Body'].read()\n\
                      \x20   print(entry['Key'], len(body))\n";
        let out = match boto(&server, &server.endpoint(), script, &[]) {
            Ok(out) => out,
            Err(reason) => return skip(&reason),
        };
        assert_eq!(out, "a b/+%/f0 5120\na b/+%/f1 5120\na b/+%/f2 5120\n", "{}", server.name());
    }
}
