use super::*;

const MIB: u64 = 1 << 20;

fn state(size: u64, resident: u64, dirty: u64) -> CacheState {
    CacheState {
        size_bytes: size * MIB,
        resident_bytes: resident * MIB,
        dirty_bytes: Some(dirty * MIB),
        writeback_bytes: Some(0),
    }
}

fn file(path: &str, before: CacheState, after: CacheState) -> CachedFile {
    CachedFile {
        path: path.into(),
        state: Some(after),
        before: Some(before),
        ..CachedFile::default()
    }
}

fn foreign() -> CachedFile {
    CachedFile {
        path: "/data/theirs".into(),
        trouble: Some("it is not this user's to write (it belongs to user 0)".into()),
        ..CachedFile::default()
    }
}

fn mappers() -> Vec<Mapper> {
    vec![
        Mapper { pid: 4711, command: "postgres".into() },
        Mapper { pid: 4712, command: "sh".into() },
    ]
}

fn shown(cached: &Cached) -> String {
    text(cached, &Style::default())
}

#[test]
fn status_tells_each_file_and_the_sum() {
    let now = state(64, 32, 8);
    let mapped = CachedFile { mapped_by: mappers(), ..file("/data/a", now, now) };
    let empty = file("/data/empty", state(0, 0, 0), state(0, 0, 0));
    let cached = Cached {
        files: vec![mapped, empty, foreign()],
        total: now,
        before: now,
        mounts_left_out: vec!["/data/mnt".into()],
        processes_unseen: 12,
        ..Cached::default()
    };
    insta::assert_snapshot!(shown(&cached), @r"
    32 MiB of 64 MiB in 2 files are in the page cache, 8 MiB dirty. Unknown: 1 file.

      size  in memory        dirty  writeback  file
    64 MiB     32 MiB  50 %  8 MiB        0 B  /data/a
       0 B        0 B          0 B        0 B  /data/empty
    64 MiB     32 MiB  50 %  8 MiB        0 B  together

      /data/a: mapped by postgres (4711), sh (4712)

      /data/theirs: it is not this user's to write (it belongs to user 0)

    Skipped, because other filesystems are mounted on them: /data/mnt.

    Processes with mappings hidden from this user: 12.
    ");
}

#[test]
fn what_an_old_kernel_cannot_tell_is_no_zero() {
    let now = CacheState { dirty_bytes: None, writeback_bytes: None, ..state(64, 32, 0) };
    let cached = Cached { files: vec![file("/data/a", now, now)], total: now, ..Cached::default() };
    insta::assert_snapshot!(shown(&cached), @r"
    32 MiB of 64 MiB in 1 file are in the page cache.

      size  in memory        dirty  writeback  file
    64 MiB     32 MiB  50 %      ?          ?  /data/a

    Dirty and writeback bytes are unknown: this kernel has no cachestat (since Linux 6.5).
    ");
}

#[test]
fn evict_tells_what_stays_and_why() {
    let (was, is) = (state(64, 64, 8), state(64, 2, 0));
    let cached = Cached {
        action: CacheAction::Evict,
        files: vec![
            CachedFile {
                rest_bytes: 2 * MIB,
                rest: Some("mapped by postgres (4711)".into()),
                ..file("/data/a", was, is)
            },
            file("/data/b", was, state(64, 0, 0)),
        ],
        total: state(128, 2, 0),
        before: state(128, 128, 16),
        rest_bytes: 2 * MIB,
        ..Cached::default()
    };
    insta::assert_snapshot!(shown(&cached), @r"
    2 files, 128 MiB: 2 MiB stay in the page cache, of 128 MiB.

       size  in memory         dirty  writeback  file
     64 MiB      2 MiB  3.1 %    0 B        0 B  /data/a
     64 MiB        0 B    0 %    0 B        0 B  /data/b
    128 MiB      2 MiB  1.6 %    0 B        0 B  together

      /data/a: 2 MiB stay in memory: mapped by postgres (4711)
    ");
}

#[test]
fn evict_and_warm_that_worked_say_so_in_a_line() {
    let (cold, warm) = (state(64, 0, 0), state(64, 64, 0));
    let evicted = Cached {
        action: CacheAction::Evict,
        files: vec![file("/data/a", warm, cold)],
        total: cold,
        before: warm,
        ..Cached::default()
    };
    insta::assert_snapshot!(shown(&evicted), @r"
    1 file, 64 MiB: evicted; 64 MiB were in the page cache.

      size  in memory       dirty  writeback  file
    64 MiB        0 B  0 %    0 B        0 B  /data/a
    ");
    let warmed = Cached {
        action: CacheAction::Warm,
        files: vec![file("/data/a", cold, warm)],
        total: warm,
        before: cold,
        ..Cached::default()
    };
    insta::assert_snapshot!(shown(&warmed), @r"
    1 file, 64 MiB: loaded into the page cache; 0 B were there before.

      size  in memory         dirty  writeback  file
    64 MiB     64 MiB  100 %    0 B        0 B  /data/a
    ");
}

#[test]
fn warm_tells_what_is_lacking() {
    let (was, is) = (state(64, 0, 0), state(64, 40, 0));
    let lacking = CachedFile {
        rest_bytes: 24 * MIB,
        rest: Some("dropped again: more than memory holds".into()),
        ..file("/data/a", was, is)
    };
    let cached = Cached {
        action: CacheAction::Warm,
        files: vec![lacking],
        total: is,
        before: was,
        rest_bytes: 24 * MIB,
        interrupted: true,
        ..Cached::default()
    };
    insta::assert_snapshot!(shown(&cached), @r"
    Interrupted. 1 file, 64 MiB: 24 MiB are not in the page cache.

      size  in memory        dirty  writeback  file
    64 MiB     40 MiB  62 %    0 B        0 B  /data/a

      /data/a: 24 MiB missing: dropped again: more than memory holds
    ");
}

#[test]
fn of_many_files_those_with_most_in_memory_are_reported() {
    let one = |n: u64| file(&format!("/data/{n}"), state(100, n, 0), state(100, n, 0));
    let cached = Cached { files: (0..100).map(one).collect(), ..Cached::default() };
    let text = shown(&cached);
    assert!(text.contains("/data/99\n") && text.contains("/data/50\n"), "{text}");
    assert!(!text.contains("/data/49\n"), "{text}");
    assert!(text.contains("50 other files with less in memory"), "{text}");
}
