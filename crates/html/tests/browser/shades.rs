//! Contents of a screenshot.

/// Shades of a picture.
pub struct Shades {
    /// Values that any channel of any pixel has.
    pub count: usize,
    /// That of the background.
    pub ground: usize,
}

/// The shades of a PNG, by the bytes of its lines: enough to tell a page from an empty one.
pub fn shades(png: &[u8]) -> Shades {
    let mut packed = Vec::new();
    let mut rest = &png[8..];
    while let Some((head, tail)) = rest.split_at_checked(8) {
        let length = u32::from_be_bytes(head[..4].try_into().expect("four bytes")) as usize;
        if &head[4..] == b"IDAT" {
            packed.extend_from_slice(&tail[..length]);
        }
        rest = tail.get(length + 4..).unwrap_or_default();
    }
    let lines = miniz_oxide::inflate::decompress_to_vec_zlib(&packed).expect("a PNG");
    let mut counts = [0usize; 256];
    lines.iter().for_each(|byte| counts[*byte as usize] += 1);
    let count = counts.iter().filter(|count| **count > 0).count();
    // The first pixel of the first line is background.
    Shades { count, ground: lines[1].into() }
}
