use super::*;
use crate::headers::Headers;
use crate::requests::{Object, put};
use crate::site::Addressing;

/// 24 May 2013, 00:00:00 UTC.
const MAY: u64 = 1_369_353_600;

fn secret(text: &str) -> Secret {
    Secret::new("test", text).unwrap()
}

fn keys() -> Credentials {
    let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
    Credentials::new("test", "AKIAIOSFODNN7EXAMPLE", secret, None).unwrap()
}

/// An upload of `data`.
fn upload(login: &mut Login, integrity: &Integrity, data: &[u8]) -> Request {
    let site = Site::new("s3.amazonaws.com", "us-east-1", Addressing::Path).unwrap();
    let place = site.bucket("examplebucket").unwrap();
    let object = Object { place: &place, key: "chunkObject.txt", version: None };
    let mut headers = Headers::new();
    headers.storage_class("REDUCED_REDUNDANCY").unwrap();
    let mut request = Request::default();
    put(&mut request, &object, &headers);
    login.upload(&mut request, &place, integrity, data, MAY);
    request
}

fn s3_upload(form: Form, data: &[u8]) -> Request {
    let site = Site::new("s3.amazonaws.com", "us-east-1", Addressing::Path).unwrap();
    let integrity = Integrity { form, ..Integrity::default() };
    upload(&mut Login::s3(Some(keys()), &site), &integrity, data)
}

/// The body on the wire.
fn wire(request: &Request, data: &[u8]) -> String {
    let bytes = request.pieces.iter().flat_map(|piece| match piece {
        Piece::Own(range) => &request.own[range.clone()],
        Piece::Slot(range) => &data[range.clone()],
    });
    String::from_utf8(bytes.copied().collect()).expect("text")
}

#[test]
fn plain_bodies_are_one_piece() {
    let request = s3_upload(Form::Hash, b"abc");
    assert_eq!(request.pieces, [Piece::Slot(0..3)]);
    let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert!(request.headers.contains(&format!("x-amz-content-sha256: {hash}\r\n")));
    assert!(s3_upload(Form::Hash, b"").pieces.is_empty());
    assert!(s3_upload(Form::Unsigned, b"a").headers.contains(": UNSIGNED-PAYLOAD\r\n"));
}

#[test]
fn published_length_of_chunks() {
    let data = vec![b'a'; 66_560];
    let request = s3_upload(Form::Chunks, &data);
    assert_eq!(request.length(), 66_824);
    assert_eq!(request.pieces.len(), 5);
    assert!(request.headers.contains("content-encoding: aws-chunked\r\n"));
    assert!(request.headers.contains("x-amz-decoded-content-length: 66560\r\n"));
    let body = wire(&request, &data);
    assert!(body.starts_with("10000;chunk-signature=") && body.ends_with("\r\n\r\n"));
}

#[test]
fn unsigned_chunks_end_with_a_checksum() {
    let data = vec![b'a'; 70_000];
    let body = wire(&s3_upload(Form::UnsignedTrailer(Algorithm::Crc32c), &data), &data);
    assert!(body.starts_with("10000\r\na"), "{}", &body[..20]);
    let sum = Algorithm::Crc32c.of(&data);
    let end = format!("a\r\n0\r\nx-amz-checksum-crc32c:{sum}\r\n\r\n");
    assert!(body.ends_with(&end), "{}", &body[body.len() - 80..]);
    let body = wire(&s3_upload(Form::UnsignedTrailer(Algorithm::Crc32), b""), b"");
    assert_eq!(body, "0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n");
}

#[test]
fn signed_trailers_have_a_signature() {
    let request = s3_upload(Form::ChunksTrailer(Algorithm::Crc32c), b"abc");
    assert!(request.headers.contains("x-amz-trailer: x-amz-checksum-crc32c\r\n"));
    let body = wire(&request, b"abc");
    let (_, trailer) = body.split_once("x-amz-trailer-signature:").unwrap();
    assert_eq!(trailer.len(), 64 + 4);
}

#[test]
fn sums_are_in_headers() {
    let integrity = Integrity {
        checksum: Some(Algorithm::Crc64Nvme),
        content_md5: true,
        ..Integrity::default()
    };
    let request = upload(&mut Login::Anonymous, &integrity, b"123456789");
    assert!(request.headers.contains("x-amz-checksum-crc64nvme: rosUhgp5mIg=\r\n"));
    assert!(request.headers.contains("content-md5: JfnnlDI7RTiF9RgfG2JNCw==\r\n"));
    assert!(!request.headers.contains("authorization"));
}

#[test]
fn other_protocols_send_plain_bodies() {
    let integrity = Integrity { form: Form::Chunks, content_md5: true, ..Integrity::default() };
    let mut basic = Login::basic("Aladdin", &secret("open sesame"));
    let request = upload(&mut basic, &integrity, b"abc");
    assert_eq!(request.pieces, [Piece::Slot(0..3)]);
    assert!(request.headers.contains("authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"));
    let mut swift = Login::Token(secret("AUTH_tk1"));
    let request = upload(&mut swift, &integrity, b"abc");
    assert!(request.headers.contains("x-auth-token: AUTH_tk1\r\n"));
    assert!(request.headers.contains("etag: 900150983cd24fb0d6963f7d28e17f72\r\n"));
}

#[test]
fn bad_combinations_are_named() {
    let small = Integrity { chunk_bytes: 4096, ..Integrity::default() };
    assert!(small.check().unwrap_err().contains("8192 bytes or more"));
    let twice = Integrity {
        form: Form::UnsignedTrailer(Algorithm::Crc32),
        checksum: Some(Algorithm::Crc32),
        ..Integrity::default()
    };
    assert!(twice.check().unwrap_err().contains("choose one"));
}

#[test]
fn a_second_request_needs_no_more_memory() {
    let site = Site::new("host", "r", Addressing::Path).unwrap();
    let place = site.bucket("b").unwrap();
    let mut login = Login::s3(Some(keys()), &site);
    let integrity = Integrity {
        form: Form::ChunksTrailer(Algorithm::Sha256),
        content_md5: true,
        ..Integrity::default()
    };
    let mut request = Request::default();
    let mut capacities = Vec::new();
    for turn in 0..3 {
        request.clear();
        let object = Object { place: &place, key: "k", version: None };
        put(&mut request, &object, &Headers::new());
        login.upload(&mut request, &place, &integrity, &[7; 200_000], MAY + turn);
        capacities.push([
            request.target.capacity(),
            request.headers.capacity(),
            request.own.capacity(),
            request.pieces.capacity(),
        ]);
    }
    assert_eq!(capacities[1], capacities[0]);
    assert_eq!(capacities[2], capacities[0]);
}
