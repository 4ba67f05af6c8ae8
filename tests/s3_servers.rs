//! The S3 servers of tests: both keep objects as files, versitygw throttles, and boto3 sees each
//! fault that the proxy injects.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::s3::{Fault, FaultProxy, Fleet, Limits, Options, Server, boto};
use crate::support::{Scratch, skip};

/// The value; a skip with the reason where a program is missing.
fn found<T>(value: Result<T, String>) -> Option<T> {
    value.map_err(|reason| skip(&reason)).ok()
}

/// Bytes of the objects: the same as `content` in the scripts.
fn content(length: usize) -> Vec<u8> {
    (0..=250).cycle().take(length).collect()
}

/// Files below a directory that hold objects, relative to it.
fn objects(bucket: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(bucket).expect("the bucket's directory").flatten();
    let files = entries.filter(|entry| entry.path().is_file());
    files.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

const OBJECTS: &str = "
def content(length):
    return (bytes(range(251)) * (length // 251 + 1))[:length]

bucket = sys.argv[2]
s3.create_bucket(Bucket=bucket)
for key in ['small', 'empty', 'gone', 'many-1', 'many-2']:
    body = content({'small': 1000, 'empty': 0}.get(key, 10))
    s3.put_object(Bucket=bucket, Key=key, Body=body)
    assert s3.get_object(Bucket=bucket, Key=key)['Body'].read() == body, key
part = s3.get_object(Bucket=bucket, Key='small', Range='bytes=10-19')
assert part['Body'].read() == content(20)[10:]

upload = s3.create_multipart_upload(Bucket=bucket, Key='parts')['UploadId']
names = {'Bucket': bucket, 'Key': 'parts', 'UploadId': upload}
whole = content((5 << 20) + 1000)
pieces = [whole[:5 << 20], whole[5 << 20:]]
parts = [
    {
        'PartNumber': number,
        'ETag': s3.upload_part(PartNumber=number, Body=piece, **names)['ETag'],
    }
    for number, piece in enumerate(pieces, 1)
]
s3.complete_multipart_upload(MultipartUpload={'Parts': parts}, **names)
assert s3.head_object(Bucket=bucket, Key='parts')['ContentLength'] == len(whole)

s3.delete_object(Bucket=bucket, Key='gone')
several = [{'Key': 'many-1'}, {'Key': 'many-2'}]
s3.delete_objects(Bucket=bucket, Delete={'Objects': several})
assert failure(s3.get_object, Bucket=bucket, Key='gone') == 'NoSuchKey'
listed = s3.list_objects_v2(Bucket=bucket)['Contents']
print(' '.join(f\"{entry['Key']}:{entry['Size']}\" for entry in listed))
";

#[test]
fn objects_are_files_of_both_servers() {
    let scratch = Scratch::new();
    for server in Server::candidates(&scratch) {
        let proxy = FaultProxy::start(server.address(), |_| Fault::Pass);
        for (endpoint, bucket) in [(server.endpoint(), "direct"), (proxy.endpoint(), "by-proxy")] {
            let Some(out) = found(boto(&server, &endpoint, OBJECTS, &[bucket])) else { return };
            let whole = (5 << 20) + 1000;
            let listed = format!("empty:0 parts:{whole} small:1000");
            assert_eq!(out.trim(), listed, "{} {bucket}", server.name());
            let folder = server.data().join(bucket);
            for (key, length) in [("small", 1000), ("empty", 0), ("parts", whole)] {
                let file = fs::read(folder.join(key)).expect("the object's file");
                assert!(file == content(length), "{key} of {} {bucket}", server.name());
            }
            let expected = ["empty", "parts", "small"].map(str::to_owned);
            assert_eq!(objects(&folder), BTreeSet::from(expected), "{} {bucket}", server.name());
        }
        let requests = proxy.requests();
        let uploaded = requests.iter().filter(|request| request.method == "PUT");
        let largest = uploaded.map(|request| request.body.len()).max();
        assert!(largest >= Some(5 << 20), "{largest:?} bytes of {}", server.name());
    }
}

/// Sends a request on a connection of its own: the connection, and the answer's head.
fn ask(address: SocketAddr, request: &str) -> Asked {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
    stream.write_all(request.as_bytes()).expect("the request is sent");
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).expect("an answer") > 0 {}
    Asked { reader, head }
}

/// An answered request.
struct Asked {
    reader: BufReader<TcpStream>,
    head: String,
}

impl Asked {
    /// Body of the announced length.
    fn body(mut self) -> String {
        let head = self.head.to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.and_then(|length| length.parse().ok()).expect("a length")];
        self.reader.read_exact(&mut body).expect("a body");
        String::from_utf8_lossy(&body).into_owned()
    }
}

const VERSIONS: &str = "
s3.create_bucket(Bucket='bucket')
enabled = {'Status': 'Enabled'}
s3.put_bucket_versioning(Bucket='bucket', VersioningConfiguration=enabled)
for body in [b'old', b'new']:
    s3.put_object(Bucket='bucket', Key='key', Body=body)
for endpoint in sys.argv[1:]:
    print(len(client(endpoint).list_object_versions(Bucket='bucket')['Versions']))
";

#[test]
fn versitygw_has_tls_versions_and_ports() {
    let scratch = Scratch::new();
    let options = Options { tls: true, versioning: true, ports: 2, ..Options::default() };
    let Some(server) = found(Server::versitygw(&scratch, &options)) else { return };
    let endpoints = server.endpoints();
    assert!(endpoints.iter().all(|endpoint| endpoint.starts_with("https://")), "{endpoints:?}");
    assert_ne!(endpoints[0], endpoints[1]);
    let Some(out) = found(boto(&server, &endpoints[0], VERSIONS, &[&endpoints[1]])) else { return };
    assert_eq!(out, "2\n2\n");
}

#[test]
fn versitygw_reads_buckets_from_hosts_or_from_paths() {
    let request = "GET /key HTTP/1.1\r\nHost: bucket.s3.test\r\n\r\n";
    for (domain, bucket) in [(Some("s3.test"), "bucket"), (None, "key")] {
        let scratch = Scratch::new();
        let options = Options { domain, ..Options::default() };
        let Some(server) = found(Server::versitygw(&scratch, &options)) else { return };
        let body = ask(server.address(), request).body();
        assert!(body.contains(&format!("<BucketName>{bucket}</BucketName>")), "{body}");
    }
}

#[test]
fn versitygw_keeps_connections_or_closes_them() {
    for keep_alive in [true, false] {
        let scratch = Scratch::new();
        let options = Options { keep_alive, ..Options::default() };
        let Some(server) = found(Server::versitygw(&scratch, &options)) else { return };
        let head = ask(server.address(), UNSIGNED).head;
        assert_eq!(head.contains("Connection: close"), !keep_alive, "{head}");
    }
}

/// A request of no use, to which a server answers at once.
const UNSIGNED: &str = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

const PRESIGNED: &str = "
s3.create_bucket(Bucket='bucket')
words = {'Bucket': 'bucket', 'Key': 'key'}
print(s3.generate_presigned_url('put_object', Params=words))
";

#[test]
fn versitygw_throttles_above_its_requests() {
    let scratch = Scratch::new();
    let limits = Some(Limits { requests: 1, connections: 1000 });
    let options = Options { limits, ..Options::default() };
    let Some(server) = found(Server::versitygw(&scratch, &options)) else { return };
    let Some(url) = found(boto(&server, &server.endpoint(), PRESIGNED, &[])) else { return };
    let target = url.trim().strip_prefix(&server.endpoint()).expect("a target");

    // The server is busy with an upload until its body is complete.
    let body = content(40_000);
    let (first, rest) = body.split_at(20_000);
    let mut upload = TcpStream::connect(server.address()).expect("a connection");
    let (host, length) = (server.address(), body.len());
    let head = format!("PUT {target} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n");
    upload.write_all(head.as_bytes()).expect("the head is sent");
    upload.write_all(first).expect("half of the body is sent");
    let began = Instant::now();
    while !server.has_open("bucket") {
        assert!(began.elapsed() < Duration::from_secs(20), "the upload never began");
        std::thread::sleep(Duration::from_millis(5));
    }
    let refused = ask(server.address(), UNSIGNED);
    assert!(refused.head.starts_with("HTTP/1.1 503 "), "{}", refused.head);
    let refused = refused.body();
    assert!(refused.contains("<Code>SlowDown</Code>"), "{refused}");
    upload.write_all(rest).expect("the other half is sent");
    let mut status = String::new();
    BufReader::new(upload).read_line(&mut status).expect("an answer");
    assert_eq!(status, "HTTP/1.1 200 OK\r\n");
    assert!(fs::read(server.data().join("bucket/key")).expect("the object's file") == body);
}

#[test]
fn versitygw_refuses_connections_above_its_limit() {
    let scratch = Scratch::new();
    let limits = Some(Limits { requests: 2, connections: 2 });
    let options = Options { limits, ..Options::default() };
    let Some(server) = found(Server::versitygw(&scratch, &options)) else { return };
    let address = server.address();
    let idle = [ask(address, UNSIGNED), ask(address, UNSIGNED)];
    let refused = ask(address, UNSIGNED);
    assert!(idle.iter().all(|kept| kept.head.starts_with("HTTP/1.1 403 ")), "{}", idle[0].head);
    assert!(refused.head.starts_with("HTTP/1.1 503 "), "{}", refused.head);
    assert!(refused.head.contains("Connection: close"), "{}", refused.head);
    assert!(!refused.body().contains('<'), "plain text");
}

const SHARED: &str = "
import time
direct, proxies = sys.argv[2:5], sys.argv[5:8]
s3.create_bucket(Bucket='bucket')
s3.put_object(Bucket='bucket', Key='key', Body=b'shared')
for endpoint in direct:
    assert client(endpoint).get_object(Bucket='bucket', Key='key')['Body'].read() == b'shared'
for endpoint in proxies:
    node = client(endpoint)
    began = time.monotonic()
    node.get_object(Bucket='bucket', Key='key')
    print(time.monotonic() - began)
";

#[test]
fn three_nodes_share_objects_and_one_is_slow() {
    let scratch = Scratch::new();
    let Some(fleet) = found(Fleet::of_three(&scratch)) else { return };
    let delay = Duration::from_millis(200);
    let proxies = fleet.with_slow_node(1, delay);
    let direct = fleet.nodes.iter().map(Server::endpoint);
    let words: Vec<String> = direct.chain(proxies.iter().map(FaultProxy::endpoint)).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let Some(out) = found(boto(&fleet.nodes[0], words[0], SHARED, &words)) else { return };
    let times: Vec<f64> = out.lines().map(|line| line.parse().expect("a time")).collect();
    assert!(times[1] >= delay.as_secs_f64(), "{times:?}");
    assert_eq!(proxies.iter().map(FaultProxy::faults).collect::<Vec<_>>(), [0, 1, 0]);
}

const FAULTS: &str = "
direct = client(sys.argv[2])
direct.create_bucket(Bucket='bucket')
direct.put_object(Bucket='bucket', Key='key', Body=b'x' * 1000)
upload = direct.create_multipart_upload(Bucket='bucket', Key='parts')['UploadId']

def get(key='key'):
    s3.get_object(Bucket='bucket', Key=key)['Body'].read()

def complete():
    parts = [{'PartNumber': 1, 'ETag': 'x'}]
    s3.complete_multipart_upload(
        Bucket='bucket', Key='parts', UploadId=upload, MultipartUpload={'Parts': parts})

def put():
    s3.put_object(Bucket='bucket', Key='key', Body=b'x' * 1000)

for call in sys.argv[3:]:
    print(call, failure({'get': get, 'complete': complete, 'put': put}[call]))
";

/// A fault, and what boto3 makes of it.
struct Case {
    fault: Fault,
    call: &'static str,
    outcome: &'static str,
}

impl Case {
    const fn get(fault: Fault, outcome: &'static str) -> Case {
        Case { fault, call: "get", outcome }
    }
}

const CASES: &[Case] = &[
    Case::get(Fault::Pass, "none"),
    Case::get(Fault::SlowDown { retry_after_s: Some(1) }, "SlowDown"),
    Case::get(Fault::SlowDown { retry_after_s: None }, "SlowDown"),
    Case::get(Fault::TooManyRequests, "TooManyRequests"),
    Case::get(Fault::InternalError, "InternalError"),
    Case::get(Fault::NotFound, "NoSuchKey"),
    Case { fault: Fault::ErrorInside200, call: "complete", outcome: "InternalError" },
    Case::get(Fault::ResetBeforeAnswer, "ConnectionClosedError"),
    Case::get(Fault::ResetInBody, "ResponseStreamingError"),
    Case::get(Fault::ShortBody { missing: 10 }, "ResponseStreamingError"),
    Case::get(Fault::CloseAfter, "none"),
    Case::get(Fault::AnnounceClose, "none"),
    Case::get(Fault::WrongChecksum, "FlexibleChecksumError"),
    Case::get(Fault::FlippedByte, "FlexibleChecksumError"),
    Case::get(Fault::DateSkew { seconds: 1200 }, "none"),
    Case::get(Fault::Cached, "none"),
    Case::get(Fault::LateFirstByte { delay: Duration::from_millis(20) }, "none"),
    Case::get(Fault::TwoWrites, "none"),
    Case { fault: Fault::Continues { count: 2 }, call: "put", outcome: "none" },
    // boto3 signs once more for that region, and the server is in another one.
    Case::get(Fault::Moved { region: "eu-west-1" }, "AuthorizationHeaderMalformed"),
];

#[test]
fn boto3_sees_each_fault() {
    let scratch = Scratch::new();
    let Some(server) = found(Server::versitygw(&scratch, &Options::default())) else { return };
    let proxy = FaultProxy::start(server.address(), |request| {
        CASES.get(request.number - 1).map_or(Fault::Pass, |case| case.fault)
    });
    let direct = server.endpoint();
    let calls = CASES.iter().map(|case| case.call);
    let words: Vec<&str> = [direct.as_str()].into_iter().chain(calls).collect();
    let Some(out) = found(boto(&server, &proxy.endpoint(), FAULTS, &words)) else { return };
    let expected = CASES.iter().map(|case| format!("{} {}", case.call, case.outcome));
    let seen: Vec<&str> = out.lines().collect();
    assert_eq!(seen, expected.collect::<Vec<_>>());
    assert_eq!(proxy.faults(), CASES.len() - 1);

    let requests = proxy.requests();
    assert_eq!(requests.len(), CASES.len() + 1);
    let authorizations = requests.iter().map(|request| request.head.header("authorization"));
    let signed: Vec<&str> = authorizations.map(|value| value.expect("a signature")).collect();
    let (last, others) = signed.split_last().expect("requests");
    assert!(last.contains("/eu-west-1/s3/"), "{last}");
    assert!(others.iter().all(|value| value.contains("/us-east-1/s3/")), "{others:?}");
    for pair in requests.windows(2) {
        let kept = pair[0].connection == pair[1].connection;
        assert!(kept || pair[0].fault != Fault::Cached, "a new connection after {:?}", pair[0]);
        assert!(!kept || pair[0].fault != Fault::AnnounceClose, "a closed one after {:?}", pair[0]);
    }
}
