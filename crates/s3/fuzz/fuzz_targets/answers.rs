//! Any body is read without panic by each operation, with any of some statuses.
//!
//! `cargo +nightly fuzz run answers`, in the folder above.
#![no_main]

use candor_http::Answer;
use candor_s3::answers;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    for status in [0, 200, 301, 404, 409, 503] {
        let answer = Answer { status, body: body.to_vec(), ..Answer::default() };
        if status != 200 {
            assert!(answers::check(&answer).is_err());
        }
        let errors = [
            answers::list_objects(&answer).err(),
            answers::list_versions(&answer).err(),
            answers::list_uploads(&answer).err(),
            answers::list_parts(&answer).err(),
            answers::list_buckets(&answer).err(),
            answers::failed_keys(&answer).err(),
            answers::created(&answer).err(),
            answers::upload_id(&answer).err(),
            answers::completed(&answer).err(),
            answers::copied(&answer).err(),
            answers::tags(&answer).err(),
            answers::acl(&answer).err(),
            answers::versioning(&answer).err(),
            answers::lock(&answer).err(),
        ];
        for error in errors.into_iter().flatten() {
            assert!(error.to_string().starts_with("HTTP "));
        }
    }
});
