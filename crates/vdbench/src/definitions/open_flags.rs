//! `openflags=`: flags of `open`.

use crate::values;
use candor_front::Refused;

/// Durability of writes by open flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SyncFlag {
    /// Neither.
    #[default]
    None,
    /// `O_DSYNC`.
    Dsync,
    /// `O_SYNC`.
    Sync,
}

/// Flags of an open file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenFlags {
    /// `O_DIRECT`.
    pub direct: bool,
    /// `O_DSYNC` or `O_SYNC`.
    pub sync: SyncFlag,
    /// `fsync` before a file is closed.
    pub fsync_at_close: bool,
}

impl OpenFlags {
    /// True if each write to the file is durable with all its metadata.
    pub fn is_sync(self) -> bool {
        self.sync == SyncFlag::Sync
    }
}

/// Flags of Linux.
const WORDS: &[&str] = &["o_direct", "directio", "o_dsync", "o_sync", "o_rsync", "fsync"];
/// Flags of other systems.
const ELSEWHERE: &[&str] = &["directio_off", "clear_cache", "clearcache", "f_nocache"];

/// Note of all parameters with these flags.
pub const SYNC_NOTE: &str = "o_sync opens with O_SYNC; vdbench's o_sync is O_DSYNC on Linux";

const O_DSYNC: u32 = 0x1000;
/// `O_SYNC` contains `O_DSYNC`.
const O_SYNC: u32 = 0x10_1000;
const O_DIRECT: u32 = 0x4000;

/// Reads one or several flags.
///
/// # Errors
/// A word is not a flag of Linux.
pub fn open_flags(text: &str) -> Result<OpenFlags, Refused> {
    let mut flags = OpenFlags::default();
    for item in values::items(text, false)? {
        let word = item.text.to_ascii_lowercase();
        match word.as_str() {
            "o_direct" | "directio" => flags.direct = true,
            "o_dsync" => flags.sync = flags.sync.max(SyncFlag::Dsync),
            "o_sync" | "o_rsync" => flags.sync = SyncFlag::Sync,
            "fsync" => flags.fsync_at_close = true,
            _ if word.starts_with("0x") => hexadecimal(&mut flags, text, &word)?,
            _ if ELSEWHERE.contains(&word.as_str()) => {
                let message = format!("`{}` is a flag of other systems than Linux", item.text);
                return Err(item.refused(text, message, "remove it"));
            }
            _ => return Err(values::no_choice(text, &item.text, WORDS)),
        }
    }
    Ok(flags)
}

/// Reads flags as the number that vdbench passes to `open` on x86.
fn hexadecimal(flags: &mut OpenFlags, text: &str, word: &str) -> Result<(), Refused> {
    let refused = |why: &str| {
        let remedy = "use 0x4000 (O_DIRECT), 0x1000 (O_DSYNC), 0x101000 (O_SYNC), or their sums";
        Refused::whole(text, format!("`{word}` {why}"), remedy)
    };
    let bits = u32::from_str_radix(&word[2..], 16).map_err(|_| refused("is no number"))?;
    if bits & !(O_DIRECT | O_SYNC) != 0 || bits & O_SYNC == O_SYNC & !O_DSYNC {
        return Err(refused("has flags that candor does not know"));
    }
    flags.direct |= bits & O_DIRECT != 0;
    flags.sync = flags.sync.max(match bits & O_SYNC {
        O_SYNC => SyncFlag::Sync,
        O_DSYNC => SyncFlag::Dsync,
        _ => SyncFlag::None,
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_words_or_numbers() {
        let of = |direct, sync, fsync_at_close| OpenFlags { direct, sync, fsync_at_close };
        for (text, flags) in [
            ("o_direct", of(true, SyncFlag::None, false)),
            ("DirectIO", of(true, SyncFlag::None, false)),
            ("(o_dsync,o_direct)", of(true, SyncFlag::Dsync, false)),
            ("(o_sync,fsync)", of(false, SyncFlag::Sync, true)),
            ("0x4000", of(true, SyncFlag::None, false)),
            ("0x5000", of(true, SyncFlag::Dsync, false)),
            ("0x101000", of(false, SyncFlag::Sync, false)),
        ] {
            assert_eq!(open_flags(text), Ok(flags), "{text}");
        }
        for text in ["o_direkt", "clear_cache", "0x", "0x40000", "0x100000", "16384", ""] {
            assert!(open_flags(text).is_err(), "{text}");
        }
    }
}
