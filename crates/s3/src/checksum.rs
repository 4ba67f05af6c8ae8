//! Checksums of objects and of parts, in requests and in answers.

use std::fmt;

use candor_http::Answer;
use crc_fast::CrcAlgorithm;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256};

use crate::encode::{self, Base64};

/// Algorithm of `x-amz-checksum-*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Algorithm {
    /// CRC of 32 bits, as in gzip.
    Crc32,
    /// CRC of 32 bits, as in iSCSI.
    Crc32c,
    /// CRC of 64 bits, as in NVMe.
    Crc64Nvme,
    /// SHA-1.
    Sha1,
    /// SHA-256.
    Sha256,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Algorithm; 5] = [
        Algorithm::Crc32,
        Algorithm::Crc32c,
        Algorithm::Crc64Nvme,
        Algorithm::Sha1,
        Algorithm::Sha256,
    ];

    /// Name in headers and documents.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Crc32 => "CRC32",
            Algorithm::Crc32c => "CRC32C",
            Algorithm::Crc64Nvme => "CRC64NVME",
            Algorithm::Sha1 => "SHA1",
            Algorithm::Sha256 => "SHA256",
        }
    }

    /// Header of a checksum of this algorithm.
    pub fn header(self) -> &'static str {
        match self {
            Algorithm::Crc32 => "x-amz-checksum-crc32",
            Algorithm::Crc32c => "x-amz-checksum-crc32c",
            Algorithm::Crc64Nvme => "x-amz-checksum-crc64nvme",
            Algorithm::Sha1 => "x-amz-checksum-sha1",
            Algorithm::Sha256 => "x-amz-checksum-sha256",
        }
    }

    /// Checksum of bytes.
    pub fn of(self, data: &[u8]) -> Sum {
        match self {
            Algorithm::Sha1 => Sum::new(self, &Sha1::digest(data)),
            Algorithm::Sha256 => Sum::new(self, &Sha256::digest(data)),
            Algorithm::Crc32 | Algorithm::Crc32c | Algorithm::Crc64Nvme => {
                let crc = self.crc().expect("one of the CRCs");
                Sum::of_crc(self, crc_fast::checksum(crc, data))
            }
        }
    }

    fn crc(self) -> Option<CrcAlgorithm> {
        match self {
            Algorithm::Crc32 => Some(CrcAlgorithm::Crc32IsoHdlc),
            Algorithm::Crc32c => Some(CrcAlgorithm::Crc32Iscsi),
            Algorithm::Crc64Nvme => Some(CrcAlgorithm::Crc64Nvme),
            Algorithm::Sha1 | Algorithm::Sha256 => None,
        }
    }

    fn length(self) -> usize {
        match self {
            Algorithm::Crc32 | Algorithm::Crc32c => 4,
            Algorithm::Crc64Nvme => 8,
            Algorithm::Sha1 => 20,
            Algorithm::Sha256 => 32,
        }
    }
}

/// A checksum. Prints as base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sum {
    /// Algorithm.
    pub algorithm: Algorithm,
    bytes: [u8; 32],
}

impl Sum {
    fn new(algorithm: Algorithm, from: &[u8]) -> Sum {
        let mut bytes = [0; 32];
        bytes[..algorithm.length()].copy_from_slice(from);
        Sum { algorithm, bytes }
    }

    /// The checksum in a header of an answer; none if the text is no such checksum.
    pub fn of_text(algorithm: Algorithm, text: &str) -> Option<Sum> {
        let bytes = encode::from_base64(text)?;
        (bytes.len() == algorithm.length()).then(|| Sum::new(algorithm, &bytes))
    }

    fn of_crc(algorithm: Algorithm, crc: u64) -> Sum {
        let unused = 8 - algorithm.length();
        Sum::new(algorithm, &crc.to_be_bytes()[unused..])
    }

    /// The bytes, most significant one first.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.algorithm.length()]
    }

    /// The checksum as base64.
    pub(crate) fn text(&self) -> Base64 {
        Base64::of(self.bytes())
    }

    fn crc(&self) -> u64 {
        self.bytes().iter().fold(0, |crc, byte| crc << 8 | u64::from(*byte))
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text().as_str())
    }
}

/// A part of a multipart upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SummedPart {
    /// Checksum of the part.
    pub sum: Sum,
    /// Bytes of the part.
    pub bytes: u64,
}

/// Checksum of the object that consists of the parts (`FULL_OBJECT`). None without parts, for parts
/// of several algorithms, and for SHA-1 and SHA-256, which cannot be combined.
pub fn full_object(parts: &[SummedPart]) -> Option<Sum> {
    let (first, rest) = parts.split_first()?;
    let algorithm = first.sum.algorithm;
    let crc = algorithm.crc()?;
    rest.iter().all(|part| part.sum.algorithm == algorithm).then_some(())?;
    let combined = rest.iter().fold(first.sum.crc(), |combined, part| {
        crc_fast::checksum_combine(crc, combined, part.sum.crc(), part.bytes)
    });
    Some(Sum::of_crc(algorithm, combined))
}

/// Checksum of the parts' checksums (`COMPOSITE`): base64, a hyphen, the number of parts. None as
/// for [`full_object`], and for CRC64NVME, which has no such form.
pub fn composite(parts: &[SummedPart]) -> Option<String> {
    let algorithm = parts.first()?.sum.algorithm;
    let same = parts.iter().all(|part| part.sum.algorithm == algorithm);
    (same && algorithm != Algorithm::Crc64Nvme).then_some(())?;
    let sums: Vec<u8> = parts.iter().flat_map(|part| part.sum.bytes().to_vec()).collect();
    Some(format!("{}-{}", algorithm.of(&sums), parts.len()))
}

/// MD5 of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Md5Sum([u8; 16]);

impl Md5Sum {
    /// MD5 of `data`.
    pub fn of(data: &[u8]) -> Md5Sum {
        Md5Sum(Md5::digest(data).into())
    }

    /// ETag of the object that consists of the parts, without quotes.
    pub fn etag_of_parts(parts: &[Md5Sum]) -> String {
        let sums: Vec<u8> = parts.iter().flat_map(|part| part.0).collect();
        format!("{}-{}", Md5Sum::of(&sums).etag(), parts.len())
    }

    /// ETag of the object, without quotes.
    pub fn etag(&self) -> String {
        let mut text = String::new();
        encode::hex(&mut text, &self.0);
        text
    }

    /// The sum as base64: the form of `Content-MD5`.
    pub(crate) fn text(&self) -> Base64 {
        Base64::of(&self.0)
    }
}

/// Comparison of an answer's checksum with received bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// The answer has no checksum of a known algorithm.
    Missing,
    /// The answer has the checksum of a multipart object's parts, which whole bytes cannot confirm.
    Composite(Algorithm),
    /// The checksums are equal.
    Equal(Algorithm),
    /// The checksums differ: content was changed between storage and client.
    Different {
        /// Algorithm.
        algorithm: Algorithm,
        /// Checksum in the answer.
        answered: String,
        /// Checksum of the bytes.
        computed: Sum,
    },
}

/// Compares the `x-amz-checksum-*` header of an answer with the bytes of a whole object, or of a
/// whole part if the request named one.
pub fn check(answer: &Answer, data: &[u8]) -> Check {
    let found = Algorithm::ALL.into_iter().find_map(|algorithm| {
        answer.header(algorithm.header()).map(|text| Stated { algorithm, text })
    });
    let Some(Stated { algorithm, text }) = found else { return Check::Missing };
    if text.contains('-') {
        return Check::Composite(algorithm);
    }
    let computed = algorithm.of(data);
    if encode::from_base64(text).as_deref() == Some(computed.bytes()) {
        return Check::Equal(algorithm);
    }
    Check::Different { algorithm, answered: text.to_owned(), computed }
}

/// A checksum in an answer.
struct Stated<'a> {
    algorithm: Algorithm,
    text: &'a str,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_sums() {
        let sums = Algorithm::ALL.map(|algorithm| algorithm.of(b"123456789").to_string());
        assert_eq!(sums[..3], ["y/Q5Jg==", "4waSgw==", "rosUhgp5mIg="]);
        assert_eq!(sums[3], "98O8HYCOBHMq32eZZczDTKeuNEE=");
        assert_eq!(sums[4], "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=");
        assert_eq!(Md5Sum::of(b"").etag(), "d41d8cd98f00b204e9800998ecf8427e");
    }

    #[test]
    fn etags_of_parts_count_them() {
        let part = Md5Sum::of(b"");
        let etag = Md5Sum::etag_of_parts(&[part, part]);
        assert!(etag.ends_with("-2") && etag.len() == 34, "{etag}");
    }

    fn answer(head: &str) -> Answer {
        Answer { head: head.as_bytes().to_vec(), ..Answer::default() }
    }

    #[test]
    fn answers_are_compared() {
        let data = b"123456789";
        assert_eq!(check(&answer("Date: x\r\n"), data), Check::Missing);
        let equal = answer("X-Amz-Checksum-CRC32C: 4waSgw==\r\n");
        assert_eq!(check(&equal, data), Check::Equal(Algorithm::Crc32c));
        assert!(matches!(check(&equal, b"1234"), Check::Different { .. }));
        let composite = answer("x-amz-checksum-sha256: AAAA-3\r\n");
        assert_eq!(check(&composite, data), Check::Composite(Algorithm::Sha256));
        let nonsense = answer("x-amz-checksum-crc32: ?\r\n");
        assert!(matches!(check(&nonsense, data), Check::Different { .. }));
    }

    #[test]
    fn composites_have_no_crc64_and_full_objects_no_sha() {
        for algorithm in Algorithm::ALL {
            let part = SummedPart { sum: algorithm.of(b"a"), bytes: 1 };
            let composite = composite(&[part, part]);
            assert_eq!(composite.is_none(), algorithm == Algorithm::Crc64Nvme);
            assert!(composite.is_none_or(|text| text.ends_with("-2")));
            assert_eq!(full_object(&[part]).is_none(), algorithm.crc().is_none());
        }
        assert_eq!((full_object(&[]), composite(&[])), (None, None));
    }

    proptest! {
        #[test]
        fn combined_crcs_are_the_crc_of_the_whole(
            parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..100), 1..5),
        ) {
            for algorithm in Algorithm::ALL.into_iter().filter(|one| one.crc().is_some()) {
                let summed: Vec<SummedPart> = parts
                    .iter()
                    .map(|part| SummedPart { sum: algorithm.of(part), bytes: part.len() as u64 })
                    .collect();
                prop_assert_eq!(full_object(&summed), Some(algorithm.of(&parts.concat())));
            }
        }
    }
}
