//! Remedies for common errors.

use super::AnswerError;

/// Remedy for an error; none for codes without a common cause.
pub fn of(error: &AnswerError) -> Option<String> {
    if let Some(region) = &error.region {
        return Some(format!("use region {region}"));
    }
    let remedy = match (error.code.as_str(), error.status) {
        ("InvalidAccessKeyId", _) => "check the access key, and the endpoint that knows it",
        ("SignatureDoesNotMatch", _) => "check the secret key for the access key",
        ("ExpiredToken" | "InvalidToken", _) => "get new temporary keys and their session token",
        ("NoSuchBucket", _) => "create the bucket, or check name and endpoint",
        ("NoSuchUpload", _) => "the upload was completed or aborted already: start it again",
        ("RequestTimeTooSkewed", _) => "set the clock: enable NTP on client and server",
        ("AuthorizationHeaderMalformed", _) => "check the region of the site",
        ("EntityTooSmall", _) => "use parts of 5 MiB or more; only the last may be smaller",
        ("EntityTooLarge", _) => "use a multipart upload, or smaller objects",
        ("InvalidPart" | "InvalidPartOrder", _) => {
            "complete the upload with the ETags of all its parts, in ascending order"
        }
        ("BucketAlreadyExists", _) => "choose another name: another account owns this bucket",
        ("BucketNotEmpty", _) => "delete objects, versions and open uploads first",
        ("InvalidBucketName", _) => "use 3 to 63 lower-case letters, digits, dots and hyphens",
        ("BadDigest" | "XAmzContentSHA256Mismatch" | "InvalidDigest", _) => {
            "the body changed on its way: check proxies, or use TLS"
        }
        ("SlowDown", _) => "lower the rate, or spread keys over prefixes",
        ("PermanentRedirect" | "TemporaryRedirect", _) => "use the endpoint of the bucket's region",
        ("MethodNotAllowed" | "NotImplemented", _) | ("", 405 | 501) => {
            "the server does not support this operation"
        }
        ("AccessDenied" | "AllAccessDisabled", _) => {
            "check the rights of the access key for this bucket"
        }
        ("AccessControlListNotSupported", _) => {
            "set the bucket's object ownership to BucketOwnerPreferred, or omit ACLs"
        }
        ("", 401 | 403) => "check access key, secret key and rights for this bucket",
        _ => return None,
    };
    Some(remedy.to_owned())
}
