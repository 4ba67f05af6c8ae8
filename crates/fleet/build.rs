//! Gives the protocol the schema of plans and reports: hosts whose builds differ in it would run
//! different work, or lose what others have counted.

use std::path::Path;

/// 64-bit FNV-1a.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn main() -> std::io::Result<()> {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/report-schema.json");
    println!("cargo:rerun-if-changed={}", schema.display());
    println!("cargo:rustc-env=CANDOR_SCHEMA={:016x}", fingerprint(&std::fs::read(schema)?));
    Ok(())
}
