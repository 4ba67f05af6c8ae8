//! Any address, name and endpoint is read without panic; a valid address is printed as it is read.
//!
//! `cargo +nightly fuzz run urls`, in the folder above.
#![no_main]

use candor_s3::{Addressing, S3Url, Site, check_bucket, check_key};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for address in [text.to_owned(), format!("s3://{text}")] {
        if let Ok(url) = S3Url::parse(&address) {
            assert_eq!(S3Url::parse(&url.to_string()), Ok(url));
        }
    }
    let _ = (check_bucket(text), check_key(text));
    for addressing in [Addressing::Path, Addressing::VirtualHost] {
        let _ = Site::new(text, text, addressing);
        let _ = Site::new("host", text, addressing);
    }
});
