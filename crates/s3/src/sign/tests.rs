use candor_http::Method;

use super::*;

/// 24 May 2013, 00:00:00 UTC.
const MAY: u64 = 1_369_353_600;
const HOST: &str = "examplebucket.s3.amazonaws.com";

/// The user of the published vectors.
fn signer() -> Signer {
    let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
    let credentials = Credentials::new("test", "AKIAIOSFODNN7EXAMPLE", secret, None).unwrap();
    Signer::new(credentials, "us-east-1", "s3")
}

fn authorization(signed: &str, signature: &str) -> String {
    let scope = "AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request";
    format!(
        "authorization: AWS4-HMAC-SHA256 Credential={scope},SignedHeaders={signed},\
         Signature={signature}\r\n"
    )
}

fn request(method: Method, target: &str) -> Request {
    Request { method, target: target.to_owned(), ..Request::default() }
}

#[test]
fn published_get_with_a_range() {
    let mut request = request(Method::Get, "/test.txt");
    request.header("Range", "bytes=0-9");
    let mut signer = Signer { more: &["range"], ..signer() };
    signer.sign(&mut request, HOST, Payload::Empty, MAY);
    let signature = "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41";
    let line = authorization("host;range;x-amz-content-sha256;x-amz-date", signature);
    assert!(request.headers.ends_with(&line), "{}", request.headers);
}

#[test]
fn published_put() {
    let mut request = request(Method::Put, "/test%24file.text");
    request.header("Date", "Fri, 24 May 2013 00:00:00 GMT");
    request.header("x-amz-storage-class", "REDUCED_REDUNDANCY");
    let mut signer = Signer { more: &["date"], ..signer() };
    let hash = Sha256::digest(b"Welcome to Amazon S3.").into();
    signer.sign(&mut request, HOST, Payload::Hash(hash), MAY);
    let signature = "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd";
    let signed = "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class";
    assert!(request.headers.ends_with(&authorization(signed, signature)), "{}", request.headers);
}

#[test]
fn published_get_of_a_setting_and_of_a_list() {
    let signed = "host;x-amz-content-sha256;x-amz-date";
    let mut signer = signer();
    for (target, signature) in [
        ("/?lifecycle", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        (
            "/?max-keys=2&prefix=J",
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
        ),
    ] {
        let mut request = request(Method::Get, target);
        signer.sign(&mut request, HOST, Payload::Empty, MAY);
        assert_eq!(
            request.headers,
            format!(
                "x-amz-content-sha256: {EMPTY}\r\nx-amz-date: 20130524T000000Z\r\n{}",
                authorization(signed, signature)
            )
        );
    }
}

#[test]
fn published_chunks() {
    let mut request = request(Method::Put, "/examplebucket/chunkObject.txt");
    request.header("x-amz-storage-class", "REDUCED_REDUNDANCY");
    request.header("content-encoding", "aws-chunked");
    request.header("x-amz-decoded-content-length", "66560");
    request.header("content-length", "66824");
    let mut signer = Signer { more: &["content-encoding", "content-length"], ..signer() };
    signer.sign(&mut request, "s3.amazonaws.com", Payload::Chunks, MAY);
    let signed = "content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;\
                  x-amz-decoded-content-length;x-amz-storage-class";
    let signature = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9";
    assert!(request.headers.ends_with(&authorization(signed, signature)), "{}", request.headers);
    for (bytes, signature) in [
        (65_536, "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648"),
        (1024, "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497"),
        (0, "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9"),
    ] {
        assert_eq!(signer.chunk(&vec![b'a'; bytes]), signature);
    }
}

#[test]
fn published_chunks_with_a_trailer() {
    let mut request = request(Method::Put, "/examplebucket/chunkObject.txt");
    request.header("x-amz-storage-class", "REDUCED_REDUNDANCY");
    request.header("content-encoding", "aws-chunked");
    request.header("x-amz-decoded-content-length", "66560");
    request.header("x-amz-trailer", "x-amz-checksum-crc32c");
    let mut signer = Signer { more: &["content-encoding"], ..signer() };
    signer.sign(&mut request, "s3.amazonaws.com", Payload::ChunksTrailer, MAY);
    assert_eq!(
        signer.signature,
        "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e"
    );
    for (bytes, signature) in [
        (65_536, "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2"),
        (1024, "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7"),
        (0, "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992"),
    ] {
        assert_eq!(signer.chunk(&vec![b'a'; bytes]), signature);
    }
    assert_eq!(
        signer.trailer(b"x-amz-checksum-crc32c:sOO8/Q=="),
        "d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435"
    );
}

#[test]
fn keys_change_with_the_day_only() {
    let mut signer = signer();
    let mut sign = request(Method::Get, "/");
    signer.sign(&mut sign, HOST, Payload::Empty, MAY + 86_399);
    assert_eq!(signer.scope, "20130524/us-east-1/s3/aws4_request");
    signer.sign(&mut sign, HOST, Payload::Empty, MAY + 86_400);
    assert_eq!(signer.scope, "20130525/us-east-1/s3/aws4_request");
}
