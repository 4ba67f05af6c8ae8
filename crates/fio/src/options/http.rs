//! Options of the engine `http`.

use super::kind::{Kind, Row};
use candor_front::{bare, choices, row};

choices! {
    /// `https`.
    pub enum Https {
        #[default]
        Off = "plain HTTP": "off",
        On = "TLS with a trusted certificate": "on",
        Insecure = "TLS with any certificate": "insecure",
    }
}

choices! {
    /// `http_mode`.
    pub enum HttpMode {
        #[default]
        Webdav = "WebDAV": "webdav",
        Swift = "Swift": "swift",
        S3 = "S3": "s3",
    }
}

choices! {
    /// `http_object_mode`.
    pub enum ObjectMode {
        #[default]
        Block = "an object per block": "block",
        Range = "an object per file": "range",
    }
}

/// Options of the engine `http`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Http {
    /// `https`.
    pub tls: Https,
    /// `http_host`.
    pub host: String,
    /// `http_user`.
    pub user: String,
    /// `http_pass`.
    pub password: String,
    /// `http_mode`.
    pub mode: HttpMode,
    /// `http_s3_region`.
    pub region: String,
    /// `http_s3_key`.
    pub secret_key: String,
    /// `http_s3_keyid`.
    pub access_key: String,
    /// `http_s3_security_token`.
    pub session_token: String,
    /// `http_s3_sse_customer_key`.
    pub customer_key: String,
    /// `http_s3_storage_class`.
    pub storage_class: String,
    /// `http_swift_auth_token`.
    pub swift_token: String,
    /// `http_object_mode`.
    pub object_mode: ObjectMode,
}

const HTTP: &[&str] = &["http"];

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("https", Kind::Choice(Https::CHOICES), |s, v| s.http.tls = v.of(Https::ALL),
        "use TLS, with or without a check of the certificate")
        .of(HTTP).default("off").exact("bucket.endpoints, bucket.insecure", "insecure"),
    row("http_host", Kind::Text, |s, v| s.http.host = v.text(), "server: host, or host:port")
        .of(HTTP).default("localhost").exact("bucket.endpoints", "127.0.0.1:9000"),
    row("http_user", Kind::Text, |s, v| s.http.user = v.text(), "user of WebDAV")
        .of(HTTP).when(|s| s.http.mode == HttpMode::Webdav)
        .exact("bucket.credentials", "user"),
    row("http_pass", Kind::Text, |s, v| s.http.password = v.text(), "password of WebDAV")
        .of(HTTP).secret().when(|s| s.http.mode == HttpMode::Webdav)
        .exact("bucket.credentials", "password"),
    row("http_mode", Kind::Choice(HttpMode::CHOICES), |s, v| s.http.mode = v.of(HttpMode::ALL),
        "protocol of the server")
        .of(HTTP).default("webdav").exact("bucket.protocol", "s3"),
    row("http_s3_region", Kind::Text, |s, v| s.http.region = v.text(), "region in signatures")
        .of(HTTP).default("us-east-1").when(is_s3).exact("bucket.region", "eu-central-1"),
    row("http_s3_key", Kind::Text, |s, v| s.http.secret_key = v.text(), "secret key")
        .of(HTTP).secret().when(is_s3).exact("bucket.credentials", "secret"),
    row("http_s3_keyid", Kind::Text, |s, v| s.http.access_key = v.text(), "access key")
        .of(HTTP).when(is_s3).exact("bucket.credentials", "key"),
    row("http_s3_security_token", Kind::Text, |s, v| s.http.session_token = v.text(),
        "token of temporary keys")
        .of(HTTP).secret().when(is_s3).exact("bucket.credentials", "token"),
    row("http_s3_sse_customer_key", Kind::Text, |s, v| s.http.customer_key = v.text(),
        "key of 32 bytes, with which the server encrypts")
        .of(HTTP).secret().when(is_s3)
        .exact("blocks.headers.encryption", "0123456789abcdef0123456789abcdef"),
    bare("http_s3_sse_customer_algorithm", Kind::Text, "cipher of http_s3_sse_customer_key")
        .of(HTTP).default("AES256").when(is_s3).refused("AES128", "S3 has AES256 only"),
    row("http_s3_storage_class", Kind::Text, |s, v| s.http.storage_class = v.text(),
        "storage class of new objects")
        .of(HTTP).default("STANDARD").when(is_s3)
        .near("blocks.headers.storage_class", "STANDARD_IA", "reads and trims do not send it"),
    row("http_swift_auth_token", Kind::Text, |s, v| s.http.swift_token = v.text(),
        "X-Auth-Token of Swift")
        .of(HTTP).secret().when(|s| s.http.mode == HttpMode::Swift)
        .exact("bucket.credentials", "token"),
    row("http_object_mode", Kind::Choice(ObjectMode::CHOICES),
        |s, v| s.http.object_mode = v.of(ObjectMode::ALL),
        "an object per block, or ranges of an object per file")
        .of(HTTP).default("block").exact("blocks.engine.http.object_mode", "range"),
    bare("http_verbose", Kind::Int(0, 2), "amount of curl's output")
        .of(HTTP).default("0")
        .idle("1", "candor has no curl; failed requests are in the report"),
];

fn is_s3(options: &super::JobOptions) -> bool {
    options.http.mode == HttpMode::S3
}
