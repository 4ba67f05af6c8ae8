use candor_http::{Into, Method, Request};

use super::*;
use crate::checksum::Algorithm;
use crate::headers::{CannedAcl, Headers, LockMode, Retention, Tag};
use crate::site::{Addressing, Place, Site};

fn site_in(region: &str) -> Site {
    Site::new("host", region, Addressing::Path).unwrap()
}

fn bucket() -> Place {
    site_in("r").bucket("b").unwrap()
}

fn object(place: &Place) -> Object<'_> {
    Object { place, key: "k 1", version: None }
}

fn body(request: &Request) -> &str {
    assert_eq!(request.length(), request.own.len());
    std::str::from_utf8(&request.own).unwrap()
}

const XMLNS: &str = "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"";

#[test]
fn objects() {
    let (place, none) = (bucket(), Headers::new());
    let object = object(&place);
    let versioned = Object { version: Some("v/1"), ..object };
    let mut request = Request::default();
    put(&mut request, &object, &none);
    assert_eq!((request.method, request.target.as_str()), (Method::Put, "/b/k%201"));
    request.clear();
    get(&mut request, &versioned, &none);
    assert_eq!((request.target.as_str(), request.into), ("/b/k%201?versionId=v%2F1", Into::Slot));
    request.clear();
    get_range(&mut request, &object, ByteRange { first: 10, bytes: 10 }, &none);
    assert_eq!(request.headers, "range: bytes=10-19\r\n");
    request.clear();
    get_range(&mut request, &object, ByteRange { first: 0, bytes: 0 }, &none);
    assert_eq!(request.headers, "");
    request.clear();
    get_part(&mut request, &versioned, 2, &none);
    assert_eq!(request.target, "/b/k%201?versionId=v%2F1&partNumber=2");
    request.clear();
    head(&mut request, &object, Some(1), &none);
    assert_eq!((request.method, request.target.as_str()), (Method::Head, "/b/k%201?partNumber=1"));
    request.clear();
    delete(&mut request, &versioned, &none);
    assert_eq!(request.method, Method::Delete);
    request.clear();
    copy(&mut request, &object, "from", "a/b c", &none);
    assert_eq!(request.headers, "x-amz-copy-source: /from/a/b%20c\r\n");
}

#[test]
fn lists() {
    let mut request = Request::default();
    list_objects(&mut request, &bucket(), &ListQuery::default());
    assert_eq!(request.target, "/b?encoding-type=url&list-type=2");
    request.clear();
    let query =
        ListQuery { prefix: "a/", delimiter: "/", start_after: "a/b", token: "t=", max_keys: 5 };
    list_objects(&mut request, &bucket(), &query);
    assert_eq!(
        request.target,
        "/b?continuation-token=t%3D&delimiter=%2F&encoding-type=url&list-type=2&max-keys=5\
         &prefix=a%2F&start-after=a%2Fb"
    );
}

#[test]
fn uploads() {
    let (place, none) = (bucket(), Headers::new());
    let upload = Upload { object: object(&place), id: "u+1" };
    let mut request = Request::default();
    create_upload(&mut request, &upload.object, &none);
    assert_eq!((request.method, request.target.as_str()), (Method::Post, "/b/k%201?uploads"));
    request.clear();
    put_part(&mut request, &upload, 3, &none);
    assert_eq!(request.target, "/b/k%201?partNumber=3&uploadId=u%2B1");
    request.clear();
    copy_part(&mut request, &upload, 3, "s", "t", Some(ByteRange { first: 0, bytes: 5 }));
    assert_eq!(
        request.headers,
        "x-amz-copy-source: /s/t\r\nx-amz-copy-source-range: bytes=0-4\r\n"
    );
    request.clear();
    abort_upload(&mut request, &upload);
    assert_eq!(
        (request.method, request.target.as_str()),
        (Method::Delete, "/b/k%201?uploadId=u%2B1")
    );
    request.clear();
    list_parts(&mut request, &upload, 7, 0);
    assert_eq!(request.target, "/b/k%201?part-number-marker=7&uploadId=u%2B1");
    request.clear();
    let parts = [
        FinishedPart { number: 1, etag: "\"e1\"", sum: Some(Algorithm::Crc32.of(b"")) },
        FinishedPart { number: 2, etag: "e2", sum: None },
    ];
    complete_upload(&mut request, &upload, parts, &none);
    assert_eq!(
        body(&request),
        format!(
            "<CompleteMultipartUpload {XMLNS}><Part><ChecksumCRC32>AAAAAA==</ChecksumCRC32>\
             <ETag>&quot;e1&quot;</ETag><PartNumber>1</PartNumber></Part>\
             <Part><ETag>&quot;e2&quot;</ETag><PartNumber>2</PartNumber></Part>\
             </CompleteMultipartUpload>"
        )
    );
}

#[test]
fn batches_have_checksums() {
    let mut request = Request::default();
    let keys = [Key { key: "a<\r", version: None }, Key { key: "b", version: Some("v") }];
    delete_objects(&mut request, &bucket(), keys, None);
    assert_eq!((request.method, request.target.as_str()), (Method::Post, "/b?delete"));
    assert_eq!(
        body(&request),
        format!(
            "<Delete {XMLNS}><Object><Key>a&lt;&#13;</Key></Object>\
             <Object><Key>b</Key><VersionId>v</VersionId></Object><Quiet>true</Quiet></Delete>"
        )
    );
    assert!(request.headers.starts_with("content-md5: "));
    request.clear();
    delete_objects(&mut request, &bucket(), keys, Some(Algorithm::Crc32));
    assert!(request.headers.starts_with("x-amz-sdk-checksum-algorithm: CRC32\r\n"));
    assert!(request.headers.contains("\r\nx-amz-checksum-crc32: "));
}

#[test]
fn buckets() {
    let mut request = Request::default();
    create_bucket(&mut request, &bucket(), &site_in("us-east-1"), &Headers::new());
    assert_eq!((request.method, request.target.as_str()), (Method::Put, "/b"));
    assert_eq!(request.length(), 0);
    request.clear();
    create_bucket(&mut request, &bucket(), &site_in("eu-west-1"), &Headers::new());
    assert!(body(&request).contains("<LocationConstraint>eu-west-1</LocationConstraint>"));
    request.clear();
    head_bucket(&mut request, &bucket());
    assert_eq!((request.method, request.target.as_str()), (Method::Head, "/b"));
    request.clear();
    delete_bucket(&mut request, &bucket());
    assert_eq!((request.method, request.target.as_str()), (Method::Delete, "/b"));
    request.clear();
    list_buckets(&mut request, &site_in("r").root());
    assert_eq!((request.method, request.target.as_str()), (Method::Get, "/"));
    request.clear();
    let query =
        VersionsQuery { prefix: "p", after_key: "k", after_version: "v", ..Default::default() };
    list_versions(&mut request, &bucket(), &query);
    assert_eq!(
        request.target,
        "/b?encoding-type=url&key-marker=k&prefix=p&version-id-marker=v&versions"
    );
    request.clear();
    list_uploads(&mut request, &bucket(), &UploadsQuery { max_uploads: 9, ..Default::default() });
    assert_eq!(request.target, "/b?encoding-type=url&max-uploads=9&uploads");
}

#[test]
fn settings_of_objects_and_buckets() {
    let place = bucket();
    let object = Subject::Object(Object { version: Some("v"), ..object(&place) });
    let bucket = Subject::Bucket(&place);
    let mut request = Request::default();
    get_tags(&mut request, &object);
    assert_eq!(request.target, "/b/k%201?tagging&versionId=v");
    request.clear();
    put_tags(&mut request, &bucket, &[Tag { name: "n".to_owned(), value: "v&".to_owned() }]);
    assert_eq!(request.target, "/b?tagging");
    assert_eq!(
        body(&request),
        format!(
            "<Tagging {XMLNS}><TagSet><Tag><Key>n</Key><Value>v&amp;</Value></Tag></TagSet>\
             </Tagging>"
        )
    );
    request.clear();
    delete_tags(&mut request, &bucket);
    assert_eq!((request.method, request.target.as_str()), (Method::Delete, "/b?tagging"));
    request.clear();
    get_acl(&mut request, &bucket);
    assert_eq!((request.method, request.target.as_str()), (Method::Get, "/b?acl"));
    request.clear();
    let mut acl = Headers::new();
    acl.acl(CannedAcl::PublicRead).unwrap();
    put_acl(&mut request, &object, &acl);
    assert_eq!(request.headers, "x-amz-acl: public-read\r\n");
}

#[test]
fn versioning_and_locks() {
    let place = bucket();
    let mut request = Request::default();
    get_versioning(&mut request, &place);
    assert_eq!(request.target, "/b?versioning");
    request.clear();
    put_versioning(&mut request, &place, Versioning::Enabled);
    assert!(body(&request).contains("><Status>Enabled</Status><"));
    request.clear();
    get_lock(&mut request, &place);
    assert_eq!(request.target, "/b?object-lock");
    request.clear();
    put_lock(&mut request, &place, LockMode::Governance, 3);
    assert!(body(&request).contains("<Days>3</Days><Mode>GOVERNANCE</Mode>"));
    request.clear();
    let retention = Retention::new(LockMode::Compliance, 1_369_353_600).unwrap();
    put_retention(&mut request, &object(&place), &retention);
    assert_eq!(request.target, "/b/k%201?retention");
    assert!(body(&request).contains("<RetainUntilDate>2013-05-24T00:00:00Z</RetainUntilDate>"));
    let mut headers = Headers::new();
    headers.retain(&retention).unwrap();
    assert!(headers.lines().starts_with("x-amz-object-lock-mode: COMPLIANCE\r\n"));
    assert!(Retention::new(LockMode::Compliance, u64::MAX).is_err());
}
