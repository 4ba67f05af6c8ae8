//! Errors that do not end a job.

use candor_plan::Tolerated;
use candor_plan::units::Direction;

use crate::lower::instance::Instance;
use crate::options::ContinueOn;
use candor_front::Diagnostics;

/// Errors that `continue_on_error` tolerates: EIO and EILSEQ.
const NON_FATAL: [i32; 2] = [5, NOT_AS_WRITTEN];

/// `EILSEQ`: the one error of verification.
const NOT_AS_WRITTEN: i32 = 84;

/// Names of errors on Linux, with their numbers.
const NAMES: &[(&str, i32)] = &[
    ("EPERM", 1),
    ("ENOENT", 2),
    ("EINTR", 4),
    ("EIO", 5),
    ("ENXIO", 6),
    ("EBADF", 9),
    ("EAGAIN", 11),
    ("ENOMEM", 12),
    ("EACCES", 13),
    ("EFAULT", 14),
    ("EBUSY", 16),
    ("EEXIST", 17),
    ("ENODEV", 19),
    ("EINVAL", 22),
    ("ENFILE", 23),
    ("EMFILE", 24),
    ("ETXTBSY", 26),
    ("EFBIG", 27),
    ("ENOSPC", 28),
    ("EROFS", 30),
    ("ENODATA", 61),
    ("ENOLINK", 67),
    ("EREMOTEIO", 121),
    ("EDQUOT", 122),
    ("EILSEQ", 84),
    ("EOPNOTSUPP", 95),
    ("ETIMEDOUT", 110),
    ("ESTALE", 116),
    ("ECANCELED", 125),
    ("EBADE", 52),
    ("EBADMSG", 74),
    ("EOVERFLOW", 75),
];

/// `continue_on_error`, overridden by `ignore_error` for the kinds in its list.
pub(in crate::lower) fn tolerated(
    from: &Instance<'_>,
    diagnostics: &mut Diagnostics,
) -> Vec<Tolerated> {
    let options = &from.options.errors;
    let lists =
        options.ignore.as_deref().map_or_else(Vec::new, |text| lists(from, text, diagnostics));
    let listed = |kind: usize| lists.get(kind).filter(|list| !list.is_empty());
    let goes_on = |kind: ContinueOn| {
        options.continue_on == kind
            || matches!(options.continue_on, ContinueOn::Io | ContinueOn::All)
    };
    let of = |op: Direction, kind: usize, which: ContinueOn| {
        let errnos = match listed(kind) {
            Some(list) => list.clone(),
            None if goes_on(which) => NON_FATAL.to_vec(),
            None => Vec::new(),
        };
        errnos.into_iter().map(move |errno| Tolerated { op, errno })
    };
    let reads = of(Direction::Read, 0, ContinueOn::Read);
    let writes = of(Direction::Write, 1, ContinueOn::Write);
    // A trim changes data, as a write does.
    reads.chain(writes).chain(of(Direction::Trim, 1, ContinueOn::Write)).collect()
}

/// Lists of error numbers: of reads, of writes, of verification.
fn lists(from: &Instance<'_>, text: &str, diagnostics: &mut Diagnostics) -> Vec<Vec<i32>> {
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        let message = format!("`{text}` has {} lists, and there are three kinds", parts.len());
        diagnostics.wrong(
            from,
            "ignore_error",
            message,
            "give lists for reads, writes, verification",
        );
    }
    let lists: Vec<Vec<i32>> = parts
        .iter()
        .map(|part| {
            let words = part.split(':').filter(|word| !word.is_empty());
            words
                .filter_map(|word| errno(word.trim()).or_else(|| unknown(from, word, diagnostics)))
                .collect()
        })
        .collect();
    match lists.get(2) {
        Some(verify) if verify.contains(&NOT_AS_WRITTEN) => {
            diagnostics.refuse(from, "ignore_error", "all errors of verification are reported");
        }
        Some(verify) if !verify.is_empty() => {
            let why = "a block that is not as written is EILSEQ, which is not among them";
            diagnostics.note(from, "ignore_error", "no error of verification is ignored", why);
        }
        _ => {}
    }
    lists
}

fn errno(word: &str) -> Option<i32> {
    word.parse()
        .ok()
        .filter(|errno| (1..4096).contains(errno))
        .or_else(|| NAMES.iter().find(|(name, _)| *name == word).map(|(_, errno)| *errno))
}

fn unknown(from: &Instance<'_>, word: &str, diagnostics: &mut Diagnostics) -> Option<i32> {
    let message = format!("`{word}` is no error that candor knows by name");
    diagnostics.wrong(from, "ignore_error", message, "give its number, such as 28 for ENOSPC");
    None
}
