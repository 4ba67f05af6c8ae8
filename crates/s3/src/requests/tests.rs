use candor_http::{Into, Method, Request};

use super::*;
use crate::checksum::Algorithm;
use crate::headers::Headers;
use crate::site::{Addressing, Place, Site};

fn bucket() -> Place {
    Site::new("host", "r", Addressing::Path).unwrap().bucket("b")
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
