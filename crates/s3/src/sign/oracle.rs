//! Signatures are equal to the signatures of AWS's own library.

use std::time::{Duration, UNIX_EPOCH};

use aws_credential_types::Credentials as Keys;
use aws_sigv4::http_request::{
    PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SigningSettings,
    UriPathNormalizationMode, sign,
};
use aws_sigv4::sign::v4::SigningParams;
use candor_http::{Method, Request};
use proptest::prelude::*;

use super::{Payload, Signer};
use crate::credentials::Credentials;
use crate::encode;

/// A request, before its encoding.
#[derive(Clone, Debug)]
struct Case {
    method: Method,
    key: String,
    query: Vec<Pair>,
    headers: Vec<Pair>,
    token: Option<String>,
    body: Option<Vec<u8>>,
    unix_s: u64,
}

#[derive(Clone, Debug)]
struct Pair {
    name: String,
    value: String,
}

impl Case {
    /// The request and the payload of its signature.
    fn request(&self) -> Request {
        let mut request = Request { method: self.method, ..Request::default() };
        let target = &mut request.target;
        target.push('/');
        encode::path(target, &self.key);
        for (at, Pair { name, value }) in self.query.iter().enumerate() {
            target.push(if at == 0 { '?' } else { '&' });
            encode::value(target, name);
            if !value.is_empty() {
                target.push('=');
                encode::value(target, value);
            }
        }
        for (at, Pair { name, value }) in self.headers.iter().enumerate() {
            request.header(&format!("X-Amz-{name}{at}"), value);
        }
        request
    }

    fn ours(&self) -> String {
        let token = self.token.as_deref();
        let credentials = Credentials::new("test", "AKID", "secret/key", token).expect("keys");
        let payload = self.body.as_deref().map_or(Payload::Unsigned, Payload::of);
        let mut request = self.request();
        let mut signer = Signer::new(credentials, "eu-west-1", "s3");
        signer.sign(&mut request, "host.example:9000", payload, self.unix_s);
        let (_, signature) = request.headers.rsplit_once("Signature=").expect("a signature");
        signature.trim_end().to_owned()
    }

    fn theirs(&self) -> String {
        let identity = Keys::new("AKID", "secret/key", self.token.clone(), None, "test").into();
        let mut settings = SigningSettings::default();
        settings.percent_encoding_mode = PercentEncodingMode::Single;
        settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
        settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
        let params = SigningParams::builder()
            .identity(&identity)
            .region("eu-west-1")
            .name("s3")
            .time(UNIX_EPOCH + Duration::from_secs(self.unix_s))
            .settings(settings)
            .build()
            .expect("all parameters")
            .into();
        let request = self.request();
        let lines = request.headers.split_terminator("\r\n");
        let headers = lines.map(|line| line.split_once(": ").expect("a header"));
        let body = self.body.as_deref();
        let body = body.map_or(SignableBody::UnsignedPayload, SignableBody::Bytes);
        let uri = format!("http://host.example:9000{}", request.target);
        let signable = SignableRequest::new(self.method.name(), uri, headers, body);
        sign(signable.expect("a request"), &params).expect("a signature").signature().to_owned()
    }
}

fn pairs(name: &'static str, value: &'static str) -> impl Strategy<Value = Vec<Pair>> {
    let pair = (name, value).prop_map(|(name, value)| Pair { name, value });
    prop::collection::vec(pair, 0..5)
}

fn cases() -> impl Strategy<Value = Case> {
    const METHODS: &[Method] =
        &[Method::Get, Method::Head, Method::Put, Method::Post, Method::Delete];
    let key = prop_oneof![any::<String>(), "[ +%~é/.a-c$&='-]{0,20}"];
    let parts = (
        prop::sample::select(METHODS),
        key,
        pairs("[a-c.%-]{1,3}|\\PC{1,3}", "[ +%~=&a-c-]{0,5}|\\PC{0,5}"),
        pairs("[A-Ca-c0-9-]{1,4}", "[!-~]([ -~]{0,10}[!-~])?"),
        prop::option::of("[A-Za-z0-9+/=]{1,40}"),
        prop::option::of(prop::collection::vec(any::<u8>(), 0..50)),
        0u64..4_000_000_000,
    );
    parts.prop_map(|(method, key, query, headers, token, body, unix_s)| Case {
        method,
        key,
        query,
        headers,
        token,
        body,
        unix_s,
    })
}

proptest! {
    #[test]
    fn signatures_are_equal(case in cases()) {
        prop_assert_eq!(case.ours(), case.theirs());
    }
}
