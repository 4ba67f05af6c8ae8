//! Objects of the engine `http`.

use candor_plan::blocks::{Engine, Http, ObjectMode};
use candor_plan::bucket::{Bucket, CredentialSource, Protocol};
use candor_plan::objects::Encryption;
use candor_plan::{TargetKind, text};

use super::{Lowered, blocks, diagnostics, lowered};
use crate::options::TABLE;

/// A job of S3 with these lines.
fn s3(lines: &str) -> String {
    format!(
        "[a]\nioengine=http\nhttp_mode=s3\nhttp_host=127.0.0.1:7070\nhttp_s3_keyid=user\n\
         http_s3_key=hush\nfilename=/bucket/dir/object\nsize=1m\n{lines}\n"
    )
}

fn bucket(lowered: &Lowered) -> &Bucket {
    &lowered.plan.buckets[0]
}

#[test]
fn a_path_names_bucket_and_object() {
    let job = lowered(&s3("iodepth=8\ndirect=1\nsync=1\nrw=randread"));
    let (work, target) = (blocks(&job, 0, 0), &job.plan.targets[0]);
    assert_eq!((work.engine, work.depth, work.direct), (Engine::HTTP, 8, false));
    assert_eq!(work.bucket.as_deref(), Some("bucket"));
    assert_eq!((target.kind, &*target.name), (TargetKind::Null, "/bucket/dir/object"));
    assert_eq!(target.key_of(0, "bucket"), "dir/object");
    let bucket = bucket(&job);
    assert_eq!((bucket.protocol, &*bucket.bucket), (Protocol::S3, "bucket"));
    assert_eq!(bucket.endpoints, ["http://127.0.0.1:7070"]);
    assert_eq!(bucket.credentials, CredentialSource::Given(vec!["user".into()]));
    assert!(bucket.keep && bucket.overwrite && !bucket.insecure);
    assert_eq!(bucket.region.as_deref(), Some("us-east-1"));
    let told: Vec<_> = job.notes.iter().map(|note| note.did.as_str()).collect();
    assert_eq!(
        told,
        [
            "a read of a missing object fails",
            "as many requests in flight, each on its own connection"
        ]
    );
}

#[test]
fn numbered_files_are_numbered_objects() {
    let text = s3("").replace("filename=/bucket/dir/object", "directory=/bucket/d\nnrfiles=3");
    let job = lowered(&text);
    let target = &job.plan.targets[0];
    let keys: Vec<_> = (0..target.files_named()).map(|nth| target.key_of(nth, "bucket")).collect();
    assert_eq!(keys, ["d/a.0.0", "d/a.0.1", "d/a.0.2"]);
}

#[test]
fn no_output_has_a_secret() {
    let job = lowered(&s3("http_s3_security_token=hush\n\
                           http_s3_sse_customer_key=0123456789hush67890123456789hush"));
    assert_eq!(job.secrets.len(), 2);
    assert!(!format!("{job:?}").contains("hush"), "{job:?}");
    assert!(!text::to_json(&job.plan).contains("hush"));
    assert_eq!(blocks(&job, 0, 0).headers.encryption, Some(Encryption::Customer));
    let options = job.jobs[0].options.as_deref().expect("options");
    assert!(options.contains(&("http_s3_key".into(), "***".into())), "{options:?}");
    for lines in ["http_s3_sse_customer_key=hush", "http_s3_keyid=us er"] {
        let errors = diagnostics(&s3(lines)).join("\n");
        assert!(!errors.is_empty() && !errors.contains("hush"), "{errors}");
    }
}

#[test]
fn words_of_a_command_line_have_no_secret() {
    let words = ["fio", "--http_s3_key=hush", "--http_pass", "hush", "--bs=4k", "--name=a=b"];
    let shown = TABLE.without_secrets(words.map(str::to_owned));
    assert_eq!(shown[1..], ["--http_s3_key=***", "--http_pass", "***", "--bs=4k", "--name=a=b"]);
}

#[test]
fn protocols_have_their_logins() {
    let webdav = "[a]\nioengine=http\nhttps=insecure\nfilename=/f/o\nsize=1m\nhttp_user=u\n\
                  http_pass=p\nhttp_object_mode=range\n";
    let job = lowered(webdav);
    let engine = Engine::Http(Http { object_mode: ObjectMode::Range, ..Http::DEFAULT });
    assert_eq!((blocks(&job, 0, 0).engine, bucket(&job).insecure), (engine, true));
    assert_eq!(bucket(&job).endpoints, ["https://localhost"]);
    assert_eq!((job.secrets.len(), bucket(&job).protocol), (1, Protocol::Webdav));
    let swift = "[a]\nioengine=http\nhttp_mode=swift\nfilename=/v1/AUTH_a/c/o\nsize=1m\n";
    let job = lowered(&format!("{swift}http_swift_auth_token=t\n"));
    assert_eq!((bucket(&job).protocol, &*bucket(&job).bucket), (Protocol::Swift, "v1"));
    assert_eq!(job.plan.targets[0].key_of(0, "v1"), "AUTH_a/c/o");
    let open = lowered(swift);
    assert_eq!((&bucket(&open).credentials, open.secrets.len()), (&CredentialSource::Anonymous, 0));
    assert_eq!(open.notes[0].did, "requests without a login");
}

#[test]
fn jobs_with_one_bucket_share_it() {
    let other = s3("").replace("[a]", "[b]").replace("7070", "7071");
    let job = lowered(&format!("{}{}{other}", s3(""), s3("").replace("[a]", "[c]")));
    let names: Vec<_> = job.plan.buckets.iter().map(|bucket| bucket.name.as_str()).collect();
    assert_eq!((names, job.secrets.len()), (vec!["bucket", "bucket-2"], 1));
}

#[test]
fn wrong_names_and_values_are_sentences() {
    for (lines, part) in [
        ("filename=object", "begins with `/`"),
        ("filename=/object", "/BUCKET/OBJECT"),
        ("filename=/b/o:/c/o", "use a job for each bucket"),
        ("http_host=http://h", "HOST:PORT"),
        ("http_s3_sse_customer_key=short", "32 bytes"),
        ("http_s3_sse_customer_algorithm=AES128", "AES256"),
        (
            "[b]\nioengine=http\nhttp_mode=s3\nhttp_s3_keyid=user\nhttp_s3_key=other\n\
          filename=/c/o\nsize=1m",
            "another secret for user",
        ),
    ] {
        let text = if lines.starts_with("filename") {
            s3("").replace("filename=/bucket/dir/object", lines)
        } else {
            s3(lines)
        };
        let errors = diagnostics(&text).join("\n");
        assert!(errors.contains(part), "{lines}: {errors}");
    }
}
