//! The last step of each request: headers of integrity and login, and the pieces of the body.

use std::fmt::Write;

use candor_http::{Piece, Request};

use crate::checksum::{Algorithm, Md5Sum};
use crate::credentials::Secret;
use crate::encode;
use crate::sign::{Payload, Signer};
use crate::site::Place;
use crate::{Credentials, Site, chunked};

#[cfg(test)]
mod tests;

/// Form of an upload's body, and cover of its signature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Plain; the signature covers the SHA-256 of the body.
    Hash,
    /// Plain; the signature does not cover the body.
    #[default]
    Unsigned,
    /// Chunks without signatures, then a checksum. Common over TLS only.
    UnsignedTrailer(Algorithm),
    /// Chunks, each with a signature.
    Chunks,
    /// Chunks with signatures, then a checksum with a signature.
    ChunksTrailer(Algorithm),
}

impl Form {
    fn trailer(self) -> Option<Algorithm> {
        match self {
            Form::UnsignedTrailer(algorithm) | Form::ChunksTrailer(algorithm) => Some(algorithm),
            Form::Hash | Form::Unsigned | Form::Chunks => None,
        }
    }
}

/// Protection of uploads against changes on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integrity {
    /// Form of the body.
    pub form: Form,
    /// Checksum in a header; not together with a trailer.
    pub checksum: Option<Algorithm>,
    /// MD5 of the body in `Content-MD5`; for Swift in `ETag`.
    pub content_md5: bool,
    /// Bytes of a chunk.
    pub chunk_bytes: usize,
}

impl Default for Integrity {
    fn default() -> Integrity {
        Integrity { form: Form::default(), checksum: None, content_md5: false, chunk_bytes: 65_536 }
    }
}

impl Integrity {
    /// Checks the combination.
    ///
    /// # Errors
    /// A sentence: chunks below 8 KiB, a checksum in header and trailer.
    pub fn check(&self) -> Result<(), String> {
        let Integrity { chunk_bytes, .. } = self;
        if *chunk_bytes < chunked::MIN_CHUNK {
            let rule = "S3 accepts chunks of 8192 bytes or more";
            return Err(format!("chunks of {chunk_bytes} bytes: {rule}"));
        }
        if self.checksum.is_some() && self.form.trailer().is_some() {
            return Err("a checksum in the header and in the trailer: choose one".to_owned());
        }
        Ok(())
    }
}

/// Login of requests; decides the protocol.
#[derive(Clone)]
pub enum Login {
    /// None: objects that each user may access.
    Anonymous,
    /// S3: signatures of keys.
    Keys(Box<Signer>),
    /// WebDAV: user and password, as base64.
    Basic(Secret),
    /// Swift: a token.
    Token(Secret),
}

impl Login {
    /// Login of S3 with keys, or without.
    pub fn s3(credentials: Option<Credentials>, site: &Site) -> Login {
        credentials.map_or(Login::Anonymous, |keys| {
            Login::Keys(Box::new(Signer::new(keys, &site.region, &site.service)))
        })
    }

    /// Login of WebDAV with user and password.
    pub fn basic(user: &str, password: &Secret) -> Login {
        let text = format!("{user}:{}", password.expose());
        Login::Basic(Secret::made(encode::to_base64(text.as_bytes())))
    }

    /// Login of WebDAV with the keys of a user.
    pub fn of_user(user: &Credentials) -> Login {
        Login::basic(&user.access_key, &user.secret_key)
    }

    /// Login of Swift: the secret of a user is the token.
    pub fn token(user: &Credentials) -> Login {
        Login::Token(user.secret_key.clone())
    }

    /// Completes a request without a body, or with a body of its own.
    pub fn finish(&mut self, request: &mut Request, place: &Place, unix_s: u64) {
        let payload =
            if request.own.is_empty() { Payload::Empty } else { Payload::of(&request.own) };
        self.authorize(request, place, payload, unix_s);
    }

    /// Completes an upload of `data`, the first bytes of the slot's buffer.
    ///
    /// # Panics
    /// Panics if `integrity` is not valid: see [`Integrity::check`].
    pub fn upload(
        &mut self,
        request: &mut Request,
        place: &Place,
        integrity: &Integrity,
        data: &[u8],
        unix_s: u64,
    ) {
        assert!(integrity.check().is_ok(), "{integrity:?} is checked before the run");
        if let Some(algorithm) = integrity.checksum {
            request.header(algorithm.header(), algorithm.of(data).text().as_str());
        }
        if integrity.content_md5 {
            self.md5(request, data);
        }
        let form = self.form(integrity.form);
        let payload = match form {
            Form::Hash => Payload::of(data),
            Form::Unsigned => Payload::Unsigned,
            Form::UnsignedTrailer(_) => Payload::UnsignedTrailer,
            Form::Chunks => Payload::Chunks,
            Form::ChunksTrailer(_) => Payload::ChunksTrailer,
        };
        if matches!(form, Form::Hash | Form::Unsigned) {
            if !data.is_empty() {
                request.pieces.push(Piece::Slot(0..data.len()));
            }
            return self.authorize(request, place, payload, unix_s);
        }
        announce(request, data.len(), form.trailer());
        self.authorize(request, place, payload, unix_s);
        let signer = match self {
            Login::Keys(signer) if !matches!(form, Form::UnsignedTrailer(_)) => Some(&mut **signer),
            _ => None,
        };
        let sum = form.trailer().map(|algorithm| algorithm.of(data));
        chunked::frame(request, data, integrity.chunk_bytes, signer, sum.as_ref());
    }

    /// The form that this login can send: without keys, nothing is signed.
    fn form(&self, form: Form) -> Form {
        match (self, form) {
            (Login::Keys(_), form) => form,
            (Login::Anonymous, Form::UnsignedTrailer(sum) | Form::ChunksTrailer(sum)) => {
                Form::UnsignedTrailer(sum)
            }
            _ => Form::Unsigned,
        }
    }

    fn md5(&self, request: &mut Request, data: &[u8]) {
        let sum = Md5Sum::of(data);
        match self {
            Login::Token(_) => request.header("etag", &sum.etag()),
            _ => request.header("content-md5", sum.text().as_str()),
        }
    }

    fn authorize(&mut self, request: &mut Request, place: &Place, payload: Payload, unix_s: u64) {
        match self {
            Login::Anonymous if payload == Payload::UnsignedTrailer => {
                request.header("x-amz-content-sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER");
            }
            Login::Anonymous => {}
            Login::Keys(signer) => signer.sign(request, &place.host, payload, unix_s),
            Login::Basic(secret) => {
                for text in ["authorization: Basic ", secret.expose(), "\r\n"] {
                    request.headers.push_str(text);
                }
            }
            Login::Token(token) => request.header("x-auth-token", token.expose()),
        }
    }
}

/// Headers of a body in chunks.
fn announce(request: &mut Request, bytes: usize, trailer: Option<Algorithm>) {
    request.header("content-encoding", "aws-chunked");
    write!(request.headers, "x-amz-decoded-content-length: {bytes}\r\n")
        .expect("a string takes all text");
    if let Some(algorithm) = trailer {
        request.header("x-amz-trailer", algorithm.header());
    }
}
