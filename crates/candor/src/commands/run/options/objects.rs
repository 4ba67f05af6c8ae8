//! Objects of buckets, and requests on them.

use candor_plan::objects::{ChecksumAlgorithm, Payload, UploadChecksum};

use crate::commands::run::draft::Draft;
use crate::flag::{Flag, Takes, put, put_some};
use crate::parse::{number, one_of, unit};

/// Objects of buckets, and requests on them.
pub const FLAGS: &[Flag<Draft>] = &[
    Flag {
        long: "objects",
        takes: Takes::One("N"),
        help: "Number of objects of all workers [default: up to 1 GiB of them, 16 to 1000]",
        fields: &["bucket[0].keys.tree.items"],
        set: |draft, text| match number(text)? {
            0 => Err("0 objects are none; give 1 or more".into()),
            count => put_some(&mut draft.s3.count, Ok(count)),
        },
    },
    Flag {
        long: "existing",
        takes: Takes::Nothing,
        help: "Use the objects below the prefix, as the server lists them, and change none",
        fields: &["bucket[0].keys"],
        set: |draft, _| put(&mut draft.s3.existing, Ok(true)),
    },
    Flag {
        long: "part",
        takes: Takes::One("SIZE"),
        help: "Upload longer objects in parts of SIZE, such as 8m",
        fields: &["phase[0].job[0].work.objects.part"],
        set: |draft, text| put_some(&mut draft.s3.work.part, unit(text)),
    },
    Flag {
        long: "checksum",
        takes: Takes::One("NAME[:trailer]"),
        help: "Checksum of uploads: crc64nvme, crc32, crc32c, sha1, sha256, md5; :trailer sends \
               it after the body",
        fields: &["phase[0].job[0].work.objects.checksum"],
        set: |draft, text| put_some(&mut draft.s3.work.checksum, checksum(text)),
    },
    Flag {
        long: "payload",
        takes: Takes::One("signed|unsigned|signed-chunks"),
        help: "Signature of bodies [default: unsigned over TLS, signed otherwise]",
        fields: &["phase[0].job[0].work.objects.payload"],
        set: |draft, text| {
            let words = [
                ("signed", Payload::Signed),
                ("unsigned", Payload::Unsigned),
                ("signed-chunks", Payload::SignedChunks),
            ];
            put(&mut draft.s3.work.payload, one_of(text, &words))
        },
    },
    Flag {
        long: "retries",
        takes: Takes::One("N"),
        help: "Repeat a failed request at most N times [default: 0]",
        fields: &["phase[0].job[0].work.objects.retry.attempts"],
        set: |draft, text| {
            let attempts = number(text).map(|retries: u32| retries.saturating_add(1));
            put(&mut draft.s3.work.retry.attempts, attempts)
        },
    },
    Flag {
        long: "prefix-hash",
        takes: Takes::One("N"),
        help: "Spread keys over prefixes by N hexadecimal digits of a hash, 1 to 16",
        fields: &["bucket[0].prefix"],
        set: |draft, text| match number(text)? {
            digits @ 1..=16 => put(&mut draft.s3.hash_digits, Ok(digits)),
            _ => Err(format!("`{text}` is no number of digits from 1 to 16")),
        },
    },
    Flag {
        long: "expect-continue",
        takes: Takes::Nothing,
        help: "Send Expect: 100-continue with uploads, and wait for the server's consent",
        fields: &["bucket[0].connections.expect_continue"],
        set: |draft, _| put(&mut draft.s3.bucket.connections.expect_continue, Ok(true)),
    },
    Flag {
        long: "quick-ack",
        takes: Takes::Nothing,
        help: "Set TCP_QUICKACK before each read, for servers without TCP_NODELAY",
        fields: &["bucket[0].connections.quick_ack"],
        set: |draft, _| put(&mut draft.s3.bucket.connections.quick_ack, Ok(true)),
    },
];

/// A checksum: `crc32c`, `crc64nvme:trailer`.
fn checksum(text: &str) -> Result<UploadChecksum, String> {
    let words = [
        ("crc64nvme", ChecksumAlgorithm::Crc64nvme),
        ("crc32", ChecksumAlgorithm::Crc32),
        ("crc32c", ChecksumAlgorithm::Crc32c),
        ("sha1", ChecksumAlgorithm::Sha1),
        ("sha256", ChecksumAlgorithm::Sha256),
        ("md5", ChecksumAlgorithm::Md5),
    ];
    let (name, trailer) = match text.strip_suffix(":trailer") {
        Some(name) => (name, true),
        None => (text, false),
    };
    let algorithm = one_of(name, &words)?;
    if trailer && algorithm == ChecksumAlgorithm::Md5 {
        return Err("md5 has a header, and no trailer; write md5".into());
    }
    Ok(UploadChecksum { algorithm, trailer })
}
