//! Patterns as fio's users write them into patterns of the plan.

use candor_plan::blocks::Pattern;
use candor_plan::path_of;

use crate::lower::instance::Instance;
use crate::values::{self, PatternPart};
use candor_front::{Diagnostics, ReadAs};

/// The pattern of an option; reports invalid patterns.
pub(in crate::lower) fn lower(
    from: &Instance<'_>,
    option: &str,
    text: &str,
    diagnostics: &mut Diagnostics,
) -> Option<Pattern> {
    let parts = match values::pattern(text) {
        Ok(read) => read.value,
        Err(refused) => {
            diagnostics.refuse(from, option, &refused.message);
            return None;
        }
    };
    let mut pattern = Pattern::empty();
    for part in parts {
        pattern = match part {
            PatternPart::Bytes(bytes) => pattern.then(&bytes),
            PatternPart::Offset => pattern.then_offset(),
            PatternPart::File(name) => {
                // The part of the file that fits.
                let room = Pattern::BYTES_MAX.saturating_sub(pattern.len());
                let mut bytes =
                    match from.host.first_bytes(&path_of(&name), ReadAs::Input, room + 1) {
                        Ok(bytes) => bytes,
                        Err(cause) => {
                            let why = format!("`{name}` cannot be read: {cause}");
                            diagnostics.refuse(from, option, &why);
                            return None;
                        }
                    };
                if bytes.len() > room {
                    bytes.truncate(room);
                    let did = format!("the first {room} bytes of `{name}`, over and over");
                    let why = "a pattern has 256 KiB at most";
                    diagnostics.note(from, option, &did, why);
                }
                pattern.then(&bytes)
            }
        };
    }
    let pattern = pattern.finish();
    if pattern.is_none() {
        diagnostics.refuse(from, option, "a pattern has 1 byte to 256 KiB");
    }
    pattern
}
