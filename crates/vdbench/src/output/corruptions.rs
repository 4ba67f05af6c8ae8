//! Corruptions as in `errorlog.html`: a section per data block, with lines per key block and, if
//! they differ, per sector.

use candor_record::{BadSector, Mismatch, MismatchKind, SeenBy, VerifyStats};

/// Bytes of a sector.
const SECTOR: u64 = 512;

/// Names and times in reports of corruption.
pub struct Context<'a> {
    /// Name of the storage or file system definition of a path.
    pub name_of: &'a dyn Fn(&str) -> String,
    /// True if paths are files in trees.
    pub is_of_files: bool,
    /// A time in ms since 1970, as reports have it: `Sun Mar 23 2025 12:45:41.841 UTC`.
    pub date: &'a dyn Fn(u64) -> String,
    /// Time of the report in ms since 1970.
    pub now_unix_ms: u64,
}

impl Context<'_> {
    /// The definition of a path: `sd=NAME`, or `fsd=NAME`.
    fn definition(&self, path: &str) -> String {
        let word = if self.is_of_files { "fsd" } else { "sd" };
        format!("{word}={}", (self.name_of)(path))
    }

    /// The position with its path.
    fn place(&self, path: &str) -> String {
        let word = if self.is_of_files { "file" } else { "lun" };
        format!("{},{word}={path}", self.definition(path))
    }
}

/// Lines before the first corruption.
pub fn introduction(context: &Context<'_>) -> Vec<String> {
    let first = format!("Time of first corruption: {}", (context.date)(context.now_unix_ms));
    let lines = [
        "",
        &first,
        "",
        "At least one Data Validation error has been detected.",
        "",
        "Words used below:",
        "- Data block: the bytes of one read (xfersize=).",
        "- Key block:  the unit that has a key, which counts the writes to it.",
        "- Sector:     512 bytes.",
        "- Lba:        byte address.",
        "",
        "If all sectors of a key block are wrong in one way, only the first of them is shown.",
        "",
    ];
    lines.map(str::to_owned).into()
}

/// Lines of all corruptions, grouped by read.
pub fn lines(found: &[Mismatch], context: &Context<'_>) -> Vec<Vec<String>> {
    found.chunk_by(same_read).map(|blocks| data_block(blocks, context)).collect()
}

/// A line for each corrupted data block, as for any operation that failed.
pub fn summary(found: &[Mismatch], context: &Context<'_>) -> Vec<String> {
    let kind = if context.is_of_files { "file:" } else { "lun:" };
    found
        .chunk_by(same_read)
        .filter_map(|blocks| {
            let Mismatch { path, read_offset: lba, read_length: length, .. } = blocks.first()?;
            Some(format!(
                "op: {:<6} {kind} {path:<30} lba: {lba:>12} 0x{lba:08X} xfer: {:>8} errno: 60003: \
             'A Data Validation error was discovered'",
                "read", length.0
            ))
        })
        .collect()
}

/// A sentence about the number and kinds of corrupted key blocks.
pub fn total(found: &VerifyStats) -> String {
    let kinds = [
        (found.flipped, "flipped bits"),
        (found.torn, "parts of several writes"),
        (found.misdirected, "another block"),
        (found.stale, "an older write"),
        (found.foreign, "no data of this run"),
    ];
    let kinds = kinds.iter().filter(|(count, _)| *count > 0);
    let kinds: Vec<String> =
        kinds.map(|(count, kind)| format!("{} with {kind}", grouped(*count))).collect();
    let shown = match (found.first.len() as u64).cmp(&found.mismatches()) {
        std::cmp::Ordering::Less => format!("; the first {} are shown", found.first.len()),
        _ => String::new(),
    };
    let count = grouped(found.mismatches());
    format!("Corrupted key blocks: {count}: {}{shown}", kinds.join(", "))
}

/// A sentence about the definitions with corrupt data.
pub fn definitions(found: &[Mismatch], context: &Context<'_>) -> String {
    let mut names: Vec<String> = found.iter().map(|of| context.definition(&of.path)).collect();
    names.sort_unstable();
    names.dedup();
    format!("Corrupted data of {}: see errorlog.html", names.join(", "))
}

/// True for blocks of one read, in their order.
fn same_read(a: &Mismatch, b: &Mismatch) -> bool {
    (&a.path, a.read_offset, a.read_length) == (&b.path, b.read_offset, b.read_length)
        && a.offset < b.offset
}

fn data_block(blocks: &[Mismatch], context: &Context<'_>) -> Vec<String> {
    let Some(first) = blocks.first() else { return Vec::new() };
    let place = context.place(&first.path);
    let (lba, length, key_bytes) = (first.read_offset, first.read_length.0, first.length.0.max(1));
    let (all, bad) = ((length / key_bytes).max(1), blocks.len() as u64);
    let mut lines = vec![
        String::new(),
        format!(
            "Corrupted data block for {place}; {}lba: {} (0x{lba:08x}) xfersize={length}",
            if context.is_of_files { "file " } else { "" },
            grouped(lba)
        ),
        String::new(),
        format!("Data block has {all} key block(s) of {key_bytes} bytes each."),
        if bad == all {
            "All key blocks are corrupted.".to_owned()
        } else {
            format!("{bad} of {all} key blocks are corrupted.")
        },
    ];
    for block in blocks {
        key_block(block, context, &mut lines);
    }
    lines
}

fn key_block(block: &Mismatch, context: &Context<'_>, lines: &mut Vec<String>) {
    let sectors = block.length.0 / SECTOR;
    lines.push(format!("Key block lba: 0x{:08x}", block.offset));
    lines.push(format!(
        "   Key block of {} bytes has {sectors} 512-byte sectors.",
        grouped(block.length.0)
    ));
    timeline(block, context, lines);
    if block.sectors.is_empty() {
        lines.push(format!("   All {sectors} sectors in this key block are corrupted."));
        lines.push("   All corruptions are of the same type:".to_owned());
        lines.extend(flags(block, None, context).into_iter().map(|flag| format!("   ===> {flag}")));
        lines.push("   Only the FIRST sector will be reported:".to_owned());
        sector(block, None, context, lines);
    } else {
        let bad = block.sectors.len() as u64;
        lines.push(format!("   {bad} of {sectors} sectors are corrupted."));
        lines.push(format!("   All {bad} corrupted sectors will be reported."));
        for wrong in &block.sectors {
            sector(block, Some(wrong), context, lines);
        }
    }
    lines.push(format!("        candor: {}", block.detail));
}

fn timeline(block: &Mismatch, context: &Context<'_>, lines: &mut Vec<String>) {
    lines.push("   Timeline:".to_owned());
    let mut moments = Vec::new();
    if let Some(written_s) = block.found.and_then(|found| found.written_unix_s) {
        let what = "Sector last written. (As found in the first corrupted sector.)";
        moments.push((written_s * 1000, what.to_owned()));
    }
    if let Some(last) = block.last_use {
        let how = if last.is_write { "written" } else { "read" };
        moments.push((last.unix_ms, format!("Key block was last {how}.")));
    }
    let why = match block.seen_by {
        SeenBy::Read => "workload requested read",
        SeenBy::ReadBeforeWrite => "read-before-write",
        SeenBy::ReadBack => "read-after-write",
    };
    let found = format!("Key block first found to be corrupted during a {why}.");
    moments.push((context.now_unix_ms, found));
    moments.sort_by_key(|(at_ms, _)| *at_ms);
    for (at_ms, what) in moments {
        lines.push(format!("   {} {what}", (context.date)(at_ms)));
    }
    lines.push(String::new());
}

fn sector(
    block: &Mismatch,
    wrong: Option<&BadSector>,
    context: &Context<'_>,
    lines: &mut Vec<String>,
) {
    let number = u64::from(wrong.map_or(0, |wrong| wrong.sector));
    let process = std::process::id();
    lines.push(String::new());
    lines.push(format!("        Data Validation error for {}", context.place(&block.path)));
    lines.push(format!(
        "        Block lba: 0x{:08x}; sector lba: 0x{:08x}; Key block size: {}; relative sector in \
         data block: 0x{number:02x} ({number:2}); current pid: {process} (0x{process:x})",
        block.offset,
        block.offset + number * SECTOR,
        block.length.0
    ));
    if wrong.is_some() {
        let flags = flags(block, wrong, context);
        lines.extend(flags.into_iter().map(|flag| format!("        ===> {flag}")));
    }
    if let Some(written_s) = block.found.and_then(|found| found.written_unix_s) {
        let date = (context.date)(written_s * 1000);
        lines.push(format!("        Timestamp found in sector: {date}"));
    }
    if let Some(bit) = wrong.and_then(|wrong| wrong.bit) {
        lines.push(format!(
            "        One bit differs: bit {} of byte 0x{:03x} of the sector.",
            bit % 8,
            bit / 8
        ));
    }
}

/// Kinds of corruption of a block or a sector.
fn flags(block: &Mismatch, wrong: Option<&BadSector>, context: &Context<'_>) -> Vec<String> {
    const BEYOND: &str = "Data Corruption beyond fixed sector header.";
    let expected = block.expected.and_then(|expected| expected.key).unwrap_or(0);
    let key = |found: u32| {
        format!(
            "Data Validation Key miscompare. Expecting key=0x{expected:02x} received \
             key=0x{found:02x} ({expected}/{found})"
        )
    };
    let found = block.found.unwrap_or_default();
    match (block.kind, wrong) {
        (MismatchKind::Torn, Some(BadSector { key: Some(found), .. })) => vec![key(*found)],
        (MismatchKind::Torn | MismatchKind::Flipped, _) => vec![BEYOND.to_owned()],
        (MismatchKind::Misdirected, _) if found.offset != block.offset => vec![format!(
            "Logical byte address miscompare. Expecting 0x{:08x}, receiving 0x{:08x}",
            block.offset, found.offset
        )],
        (MismatchKind::Misdirected, _) => {
            let own = (context.name_of)(&block.path);
            let other = block.detail.split('`').nth(1).map(context.name_of).unwrap_or_default();
            vec![format!("SD or FSD name miscompare. Expecting '{own}', receiving '{other}'")]
        }
        (MismatchKind::Stale, _) => {
            let same_run = block.expected.is_none_or(|expected| expected.seed == found.seed);
            let run = (!same_run).then(|| "Bad process id.".to_owned());
            run.into_iter().chain([key(found.key.unwrap_or(0))]).collect()
        }
        // No key of any write to this block is there.
        (MismatchKind::Foreign, _) => vec![key(0), BEYOND.to_owned()],
    }
}

/// A number with commas between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let first = (digits.len() + 2) % 3 + 1;
    let (head, tail) = digits.split_at(first.min(digits.len()));
    let groups = tail.as_bytes().chunks(3).map(|group| String::from_utf8_lossy(group));
    groups.fold(head.to_owned(), |sum, group| format!("{sum},{group}"))
}

#[cfg(test)]
mod tests {
    use candor_plan::Bytes;
    use candor_record::{BlockIdentity, LastUse};

    use super::*;

    fn mismatch(kind: MismatchKind, offset: u64) -> Mismatch {
        let expected = BlockIdentity { offset, key: Some(7), seed: 1, written_unix_s: None };
        Mismatch {
            path: "/dev/sdx".into(),
            offset,
            length: Bytes(4096),
            kind,
            detail: "why".into(),
            read_offset: 20480,
            read_length: Bytes(16384),
            seen_by: SeenBy::ReadBeforeWrite,
            expected: Some(expected),
            ..Mismatch::default()
        }
    }

    fn text(found: &[Mismatch]) -> String {
        let context = Context {
            name_of: &|path| if path == "/dev/sdx" { "sd1".into() } else { "sd2".into() },
            is_of_files: found[0].path.starts_with("/tree"),
            date: &|at_ms| format!("T{at_ms}"),
            now_unix_ms: 9000,
        };
        let process = std::process::id();
        let pid = format!("current pid: {process} (0x{process:x})");
        let blocks = lines(found, &context);
        blocks.concat().join("\n").replace(&pid, "current pid: 1 (0x1)")
    }

    #[test]
    fn a_stale_block_names_both_keys_and_its_times() {
        let found = BlockIdentity { key: Some(6), seed: 1, written_unix_s: Some(5), offset: 24576 };
        let last_use = Some(LastUse { unix_ms: 6500, is_write: true });
        let stale =
            Mismatch { found: Some(found), last_use, ..mismatch(MismatchKind::Stale, 24576) };
        insta::assert_snapshot!(text(&[stale]));
    }

    #[test]
    fn key_blocks_of_one_read_are_one_data_block() {
        let torn = Mismatch {
            sectors: vec![
                BadSector { sector: 6, key: Some(6), bit: None },
                BadSector { sector: 7, key: None, bit: None },
            ],
            ..mismatch(MismatchKind::Torn, 20480)
        };
        let flipped = Mismatch {
            sectors: vec![BadSector { sector: 1, key: None, bit: Some(4001) }],
            ..mismatch(MismatchKind::Flipped, 28672)
        };
        insta::assert_snapshot!(text(&[torn, flipped]));
    }

    #[test]
    fn misdirected_and_foreign_blocks_have_the_words_that_scripts_look_for() {
        let elsewhere = |offset, detail: &str| Mismatch {
            found: Some(BlockIdentity { offset, key: Some(7), seed: 1, written_unix_s: None }),
            detail: detail.into(),
            ..mismatch(MismatchKind::Misdirected, 20480)
        };
        for (found, said) in [
            (
                elsewhere(4096, ""),
                "===> Logical byte address miscompare. Expecting 0x00005000, receiving 0x00001000",
            ),
            (
                elsewhere(20480, "it holds the block of offset 20480 of `/dev/sdy`"),
                "===> SD or FSD name miscompare. Expecting 'sd1', receiving 'sd2'",
            ),
            (
                mismatch(MismatchKind::Foreign, 20480),
                "===> Data Validation Key miscompare. Expecting key=0x07 received key=0x00 (7/0)",
            ),
        ] {
            let text = text(&[found]);
            assert!(text.contains(said), "{text}");
        }
    }

    #[test]
    fn a_file_of_a_tree_has_the_words_of_file_systems() {
        let path = "/tree/vdb.1_1.dir/vdb_f0001.file".into();
        let found = [Mismatch { path, ..mismatch(MismatchKind::Stale, 20480) }];
        let text = text(&found);
        for said in [
            "Corrupted data block for fsd=sd2,file=/tree/vdb.1_1.dir/vdb_f0001.file; file lba: \
             20,480 (0x00005000) xfersize=16384",
            "Data Validation error for fsd=sd2,file=/tree/vdb.1_1.dir/vdb_f0001.file",
        ] {
            assert!(text.contains(said), "{text}");
        }
    }

    #[test]
    fn definitions_are_named_once() {
        let context = Context {
            name_of: &|path| path.to_owned(),
            is_of_files: false,
            date: &|_| String::new(),
            now_unix_ms: 0,
        };
        let found = ["b", "a", "b"]
            .map(|path| Mismatch { path: path.into(), ..mismatch(MismatchKind::Stale, 0) });
        let said = definitions(&found, &context);
        assert_eq!(said, "Corrupted data of sd=a, sd=b: see errorlog.html");
    }

    #[test]
    fn the_total_has_all_kinds() {
        let found = VerifyStats { torn: 1200, stale: 1, ..VerifyStats::default() };
        assert_eq!(
            total(&found),
            "Corrupted key blocks: 1,201: 1,200 with parts of several writes, 1 with an older \
             write; the first 0 are shown"
        );
    }

    #[test]
    fn numbers_have_commas() {
        let said = [0, 999, 1000, 20480, 1_234_567].map(grouped);
        assert_eq!(said, ["0", "999", "1,000", "20,480", "1,234,567"]);
    }
}
