//! Options of object stores.

use candor_front::evidence::Surroundings;
use candor_plan::objects::ChecksumAlgorithm;

use super::super::s3::{CUSTOMER_KEY, Hidden, S3Options, Secret};
use super::*;

/// Words with variables of the environment.
fn with(line: &str, variables: &[(&str, &str)]) -> Reading {
    let files = [("users", "# two\na:b\n\nbad\nc:d:e\n"), ("none", "\n")];
    let argv: Vec<OsString> =
        std::iter::once("elbencho").chain(line.split(' ')).map(Into::into).collect();
    read(&argv, &mut Surroundings { files: &files, variables })
}

fn of(line: &str) -> S3Options {
    let reading = with(line, &[]);
    assert_eq!(reading.errors, [], "{line}");
    reading.options.s3
}

fn user(access_key: &str, secret: &str, token: Option<&str>) -> Secret {
    Secret {
        access_key: access_key.into(),
        secret: Hidden(secret.into()),
        token: token.map(|text| Hidden(text.into())),
    }
}

#[test]
fn paths_and_servers_switch_object_stores_on() {
    for (line, is_on) in [
        ("s3://b", true),
        ("--s3endpoints http://h b", true),
        ("--s3endpoints http://h file:///d", false),
        ("--s3endpoints= /d", false),
        ("/d", false),
    ] {
        assert_eq!(of(line).is_on, is_on, "{line}");
    }
    let reading = with("s3://b/o[1-2] s3://c", &[]);
    assert_eq!(reading.options.paths, ["b/o1", "b/o2", "c"]);
    let mixed = with("s3://b file:///d", &[]);
    assert!(mixed.errors[0].describe(&mixed.texts).contains("paths are files and buckets"));
}

#[test]
fn servers_come_from_the_command_line_or_the_environment() {
    let wanted = ["http://h1:9000", "http://h2:9000", "https://x"];
    assert_eq!(of("--s3endpoints http://h[1-2]:9000,x b").access.endpoints, wanted);
    let variables = [("AWS_ENDPOINT_URL", "http://a"), ("AWS_ENDPOINT_URL_S3", "http://b")];
    for (line, wanted) in
        [("s3://b", &["http://b"][..]), ("--s3endpoints http://h b", &["http://h"]), ("/d", &[])]
    {
        assert_eq!(with(line, &variables).options.s3.access.endpoints, wanted, "{line}");
    }
}

#[test]
fn users_are_one_or_listed() {
    let one = of("--s3key k --s3secret s --s3sessiontoken t s3://b");
    assert_eq!(one.access.users, [user("k", "s", Some("t"))]);
    let listed = of("--s3credfile users s3://b").access;
    assert_eq!(listed.users, [user("a", "b", None), user("c", "d:e", None)]);
    assert_eq!(listed.users_skipped, 1);
    assert_eq!(of("--s3credlist a:b,c:d s3://b").access.users.len(), 2);
    assert_eq!(of("s3://b").access.users, []);
    let variables = [("AWS_SECRET_ACCESS_KEY", "s"), ("AWS_SESSION_TOKEN", "t")];
    for (line, wanted) in [
        ("--s3key k s3://b", user("k", "s", Some("t"))),
        ("--s3key k --s3secret x s3://b", user("k", "x", None)),
    ] {
        assert_eq!(with(line, &variables).options.s3.access.users, [wanted], "{line}");
    }
    for (line, part) in [
        ("--s3key k s3://b", "--s3secret is missing"),
        ("--s3secret k s3://b", "--s3key is missing"),
        ("--s3credfile users --s3credlist a:b s3://b", "in several ways"),
        ("--s3credfile users --s3key k --s3secret s s3://b", "in several ways"),
        ("--s3credfile none s3://b", "the list has no user"),
        ("--s3credfile absent s3://b", "absent cannot be read"),
        ("--treescan s3://b --treefile f s3://b", "candor does not list a bucket"),
        ("--s3nompcheck s3://b", "S3 accepts 10000 parts"),
        ("--s3mpusizevar 1k s3://b", "all parts have the size of --block"),
        ("--s3mpusplit 5m s3://b", "give the size of parts with --block"),
        ("--s3objprefix %%%a%%% s3://b", "more than one run"),
        ("--s3objprefix %%%%%%%%%%%%%%%%% s3://b", "more than one run"),
        ("--s3sign 3 s3://b", "3"),
        ("--s3chksumalgo md4 s3://b", "md4"),
        ("--s3multidel 1001 s3://b", "more than 1000"),
    ] {
        let reading = with(line, &[]);
        let errors = sentences(&reading.errors, &reading.texts);
        assert!(errors.iter().any(|error| error.contains(part)), "{line}: {errors:?}");
    }
}

#[test]
fn no_output_has_a_secret() {
    const KEY: &str = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
    let line = format!("--s3key k --s3secret hush --s3sess=hush2 --s3sseckey {KEY} s3://b");
    let reading = with(&line, &[]);
    let words = "elbencho --s3key k --s3secret *** --s3sess=*** --s3sseckey *** s3://b";
    assert_eq!(reading.options.command.join(" "), words);
    let text = format!("{:?} {:?}", reading.options, reading.given);
    assert!(!text.contains("hush") && !text.contains(KEY), "{text}");
    let secrets = reading.options.s3.secrets();
    assert_eq!(secrets, [user("k", "hush", Some("hush2")), user(CUSTOMER_KEY, KEY, None)]);
}

#[test]
fn variables_of_the_sdk_set_attempts_and_checksums() {
    let variables =
        [("AWS_MAX_ATTEMPTS", "3"), ("AWS_REQUEST_CHECKSUM_CALCULATION", "WHEN_SUPPORTED")];
    let requests = with("s3://b", &variables).options.s3.requests;
    assert_eq!((requests.attempts, requests.checksum_after), (3, true));
    assert_eq!(requests.checksum, Some(ChecksumAlgorithm::Crc64nvme));
    let named = with("--s3checksumalgo SHA256 s3://b", &variables).options.s3.requests;
    assert_eq!(named.checksum, Some(ChecksumAlgorithm::Sha256));
    assert!(!named.checksum_after);
}

#[test]
fn lists_of_access_have_the_form_of_headers() {
    let wanted = "full-control=emailAddress=\"me@x\";read-acp=emailAddress=\"me@x\"";
    for (line, wanted) in [
        ("--s3aclgrantee me@x --s3aclgtype email --s3aclgrants full,racp,none s3://b", wanted),
        ("--s3aclgrantee public-read --s3aclgrants read s3://b", "public-read"),
    ] {
        assert_eq!(of(line).acl.text(), wanted);
    }
}
