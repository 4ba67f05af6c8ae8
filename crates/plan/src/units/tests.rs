use super::*;

#[test]
fn sizes() {
    for (text, bytes) in [("4k", 4096), ("4KiB", 4096), ("4kB", 4000), ("1.5k", 1536), ("512", 512)]
    {
        assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
    }
}
