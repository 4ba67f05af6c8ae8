use std::fs;
use std::path::Path;

use candor_derive::trend::TrendChange;
use candor_record::results::{FigureKind, JobResults, Load, OpResults, PhaseResults};
use candor_record::{Report, Verdict};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;

/// The history in a directory of its own.
fn history() -> (tempfile::TempDir, History) {
    let top = tempfile::tempdir().expect("a directory");
    let history = History::at(top.path().join("history"));
    (top, history)
}

/// Results of one read job on a path, at so many minutes since 1970.
fn results(path: &str, minute: i64, ops_per_s: f64) -> Results {
    let op = OpResults {
        operation: "read".into(),
        ops_per_s: Some(ops_per_s),
        bytes_per_s: Some(ops_per_s * 4096.0),
        ..OpResults::default()
    };
    let load = Load { access: Some("randread".into()), block_bytes: Some(4096), ..Load::default() };
    let job = JobResults {
        job: "job".into(),
        load,
        targets: vec![path.into()],
        operations: vec![op],
        ..JobResults::default()
    };
    let phase = PhaseResults { name: "phase".into(), jobs: vec![job], ..PhaseResults::default() };
    Results {
        tool: "fio-3.33".into(),
        name: format!("run at {minute}"),
        started: Some(entry::started(minute * 60_000)),
        verdict: Some(Verdict::Ok),
        phases: vec![phase],
        ..Results::default()
    }
}

fn import(history: &History, results: &Results) -> RunId {
    let text = serde_json::to_string(results).expect("JSON");
    match history
        .import(Document { kind: Kind::Results, text: &text }, Note::default(), &mut |_| {})
        .expect("room")
    {
        Imported::As(kept) => {
            assert!(kept.unindexed.is_none(), "{:?}", kept.unindexed);
            kept.run
        }
        Imported::Known(run) => run,
    }
}

/// Sentences told, and the numbers of the runs that a filter leaves, newest first.
fn list(history: &History, filter: &Filter) -> (Vec<String>, Vec<RunId>) {
    let mut told = Vec::new();
    let list = history
        .with_index(&mut |sentence| told.push(sentence.to_owned()), |index| index.list(filter, 100))
        .expect("a list");
    assert_eq!(list.matching, list.runs.len() as u64);
    (told, list.runs.iter().map(|run| run.run).collect())
}

fn all(history: &History) -> (Vec<String>, Vec<RunId>) {
    list(history, &Filter::default())
}

#[test]
fn runs_are_listed_by_filters() {
    let (_top, history) = history();
    assert_eq!(all(&history).1, [0; 0]);
    assert!(!history.dir().exists(), "a look leaves nothing behind");
    for (minute, path) in ["/data", "/data/x", "/database", "/"].into_iter().enumerate() {
        import(&history, &results(path, minute as i64, 5.0));
    }
    let of = |filter: Filter| list(&history, &filter).1;
    assert_eq!(of(Filter::default()), [4, 3, 2, 1]);
    let target = |target: &str| Filter { target: Some(target.into()), ..Filter::default() };
    assert_eq!(of(target("/data")), [2, 1]);
    assert_eq!(of(target("/data/")), [2, 1]);
    assert_eq!(of(target("/data/x")), [2]);
    assert_eq!(of(target("/")), [4, 3, 2, 1]);
    let since = Filter { since_unix_ms: Some(60_000), ..Filter::default() };
    assert_eq!(of(Filter { until_unix_ms: Some(180_000), ..since }), [3, 2]);
    let tool = |tool: &str| Filter { tool: Some(tool.into()), ..Filter::default() };
    assert_eq!(
        (of(tool("fio")).len(), of(tool("fi")).len(), of(tool("fio-3.33")).len()),
        (4, 0, 4)
    );
    let name = |name: &str| Filter { name: Some(name.into()), ..Filter::default() };
    assert_eq!(of(name("RUN at 2")), [3]);
    let verdict = |verdict| Filter { verdict: Some(verdict), ..Filter::default() };
    let counts = [Verdict::Ok, Verdict::Corrupt].map(|of_run| of(verdict(of_run)).len());
    assert_eq!(counts, [4, 0]);
    let figure = |word: &str| {
        let figure = Some(FigureKind::parse(word).expect("a figure"));
        Filter { figure, ..Filter::default() }
    };
    assert_eq!((of(figure("bandwidth")).len(), of(figure("p99")).len()), (4, 0));
}

#[test]
fn the_same_document_is_imported_once() {
    let (_top, history) = history();
    let runs = [7, 8, 7].map(|minute| import(&history, &results("/data", minute, 1.0)));
    assert_eq!((runs, all(&history).1), ([1, 2, 1], vec![2, 1]));
    let refused = history
        .import(Document { kind: Kind::Report, text: "{}" }, Note::default(), &mut |_| {})
        .expect_err("no report");
    assert!(refused.to_string().contains("not a candor report"), "{refused}");
}

#[test]
fn a_report_is_kept_as_it_is() {
    let (_top, history) = history();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../judge/tests/recorded/direct-read.json");
    let text = fs::read_to_string(path).expect("a report");
    let read = |text: &str| -> Report {
        let mut report = candor_record::read_unjudged(text).expect("a report");
        report.judgement = candor_judge::judge_again(&report);
        report
    };
    let kept = history.keep(&read(&text), &text, Path::new("/here")).expect("room");
    assert!(kept.is_first && kept.unindexed.is_none());
    assert_eq!(history.document(kept.run).expect("it is kept"), (Kind::Report, text.clone()));
    let mut relative = read(&text);
    relative.plan.targets[0].path = "data/file".into();
    let text = serde_json::to_string(&relative).expect("JSON");
    let kept = history.keep(&relative, &text, Path::new("/here")).expect("room");
    let target = Filter { target: Some("/here/data".into()), ..Filter::default() };
    assert_eq!((kept.is_first, list(&history, &target).1), (false, vec![kept.run]));
    fs::remove_file(index::path(history.dir())).expect("the index");
    assert_eq!(list(&history, &target).1, [kept.run], "made again from the documents");
    assert!(history.results(kept.run).is_ok() && history.results(99).is_err());
}

#[test]
fn runs_of_many_writers_all_stay() {
    let (_top, history) = history();
    std::thread::scope(|threads| {
        for writer in 0..4 {
            let history = &history;
            threads.spawn(move || {
                for run in 0..5 {
                    import(history, &results("/data", writer * 100 + run, 1.0));
                }
            });
        }
    });
    let mut runs = all(&history).1;
    runs.sort_unstable();
    assert_eq!(runs, (1..=20).collect::<Vec<RunId>>());
}

#[test]
fn a_damaged_index_is_put_aside_and_made_again() {
    let (_top, history) = history();
    for minute in 0..30 {
        import(&history, &results("/data", minute, 1.0));
    }
    tag(&history, 3, "base", true);
    let path = index::path(history.dir());
    for (damage, from) in [("its head", 0), ("its tables", 4096)] {
        let mut bytes = fs::read(&path).expect("an index");
        let end = bytes.len().min(from + 40_000);
        bytes[from..end].fill(0xa5);
        fs::write(&path, bytes).expect("it can be written");
        let (told, runs) = all(&history);
        assert_eq!(runs.len(), 30, "{damage}");
        assert!(told.iter().any(|of| of.contains("is damaged")), "{damage}: {told:?}");
        assert_eq!(all(&history).0, [""; 0], "{damage}: it is in order now");
    }
    let tagged = Filter { tag: Some("base".into()), ..Filter::default() };
    assert_eq!(list(&history, &tagged).1, [3], "tags stand beside the documents");
    let aside = fs::read_dir(history.dir()).expect("it is there").flatten();
    let is_aside = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().contains("damaged");
    assert_eq!(aside.filter(is_aside).count(), 2);
}

#[test]
fn a_run_beside_a_damaged_index_is_kept() {
    let (_top, history) = history();
    import(&history, &results("/data", 1, 1.0));
    fs::write(index::path(history.dir()), [7; 9000]).expect("it can be written");
    let text = serde_json::to_string(&results("/data", 2, 1.0)).expect("JSON");
    let read = Read::document(Kind::Results, &text).expect("results");
    let kept = history.keep_document(
        &read,
        Document { kind: Kind::Results, text: &text },
        Note::default(),
    );
    let kept = kept.expect("the document can be written");
    assert!(kept.unindexed.is_some_and(|why| why.is_damage()));
    let later = history.keep_document(
        &read,
        Document { kind: Kind::Results, text: &text },
        Note::default(),
    );
    assert!(later.expect("room").unindexed.is_some(), "nobody has made the index again");
    assert_eq!(all(&history).1, [3, 2, 1]);
    assert_eq!(history.files.unindexed(), [0; 0]);
}

#[test]
fn an_import_after_one_that_died_before_the_index_keeps_nothing_twice() {
    let (_top, history) = history();
    let of_run = results("/data", 1, 1.0);
    let text = serde_json::to_string(&of_run).expect("JSON");
    history.files.prepare().expect("room");
    let note = Note { tags: vec!["left".into()], ..Note::default() };
    history.files.keep(1, Document { kind: Kind::Results, text: &text }, &note).expect("room");
    assert_eq!(import(&history, &of_run), 1);
    assert_eq!((all(&history).1, history.files.unindexed()), (vec![1], vec![]));

    // The next one died earlier still: its number has a note and no document.
    history.files.write_note(2, &note).expect("room");
    assert_eq!(import(&history, &results("/data", 2, 1.0)), 2);
    assert_eq!(history.files.note(2).expect("none is there"), Note::default());
}

#[test]
fn repair_brings_index_and_documents_together() {
    let (_top, history) = history();
    for minute in 0..3 {
        import(&history, &results("/data", minute, 1.0));
    }
    let repaired = |history: &History| {
        let mut told = Vec::new();
        let runs = history.repair(&mut |sentence| told.push(sentence.to_owned()));
        (runs.expect("it can be repaired"), told)
    };
    let good = |runs| Repaired { runs, unreadable: 0 };
    assert_eq!(repaired(&history), (good(3), vec![]));
    history.files.remove(1).expect("it is there");
    history.with_index(&mut |_| {}, |index| index.remove(&[2])).expect("it is there");
    let (runs, told) = repaired(&history);
    assert_eq!((runs, told.len()), (good(2), 2), "{told:?}");
    assert_eq!(all(&history).1, [3, 2]);
}

#[test]
fn repair_names_and_counts_what_cannot_be_read() {
    let (_top, history) = history();
    for minute in 0..4 {
        import(&history, &results("/data", minute, 1.0));
    }
    let document = |run| {
        let kinds = Kind::ALL.into_iter();
        kinds.map(|kind| history.files.document(run, kind)).find(|path| path.exists())
    };
    let write = |run, bytes: &[u8]| {
        std::fs::write(document(run).expect("kept"), bytes).expect("written");
    };
    write(1, b"garbage");
    write(2, b"");
    let zeros = vec![b'0'; 1 << 20];
    let mut bomb = GzEncoder::new(Vec::new(), Compression::fast());
    for _ in 0..=256 {
        std::io::Write::write_all(&mut bomb, &zeros).expect("in memory");
    }
    write(3, &bomb.finish().expect("in memory"));
    let mut told = Vec::new();
    let repaired = history.repair(&mut |sentence| told.push(sentence.to_owned()));
    assert_eq!(repaired.expect("looked at"), Repaired { runs: 4, unreadable: 3 });
    assert_eq!(told.len(), 3, "each once: {told:?}");
    assert!(told[2].contains("more than 268435456 bytes"), "{told:?}");
}

fn tag(history: &History, run: RunId, tag: &str, on: bool) -> bool {
    history.with_index(&mut |_| {}, |index| history.tag(index, run, tag, on)).expect("a run")
}

#[test]
fn old_runs_go_and_those_with_a_tag_stay() {
    let (_top, history) = history();
    for minute in 0..10 {
        import(&history, &results("/data", minute, 1.0));
    }
    assert!(tag(&history, 2, "base", true) && !tag(&history, 2, "base", true));
    let prune = |filter: &Filter, keep| {
        history
            .with_index(&mut |_| {}, |index| history.prune(index, filter, keep))
            .expect("it can be changed")
    };
    assert_eq!(prune(&Filter { until_unix_ms: Some(120_000), ..Filter::default() }, 0), 1);
    assert_eq!(prune(&Filter::default(), 3), 5);
    assert_eq!((all(&history).1, history.files.all()), (vec![10, 9, 8, 2], vec![2, 8, 9, 10]));
    assert!(tag(&history, 2, "base", false));
    assert_eq!(prune(&Filter::default(), 0), 4);
    assert_eq!(import(&history, &results("/data", 20, 1.0)), 11, "numbers are not used again");
    let gone = history.with_index(&mut |_| {}, |index| history.tag(index, 2, "base", true));
    assert!(gone.expect_err("it is gone").to_string().contains("no run 2"));
}

#[test]
fn a_trend_names_the_run_in_which_it_changed() {
    let (_top, history) = history();
    for run in 0..30 {
        let level = if run < 20 { 1000.0 } else { 800.0 };
        let mut of_run = results("/data", run, level + f64::from((run % 5) as i32));
        if run == 25 {
            of_run.phases[0].verdict = Some(Verdict::Wrong);
        }
        import(&history, &of_run);
    }
    import(&history, &results("/other", 99, 1.0));
    let trends = |work: &Work| {
        history
            .with_index(&mut |_| {}, |index| history.trends(index, &Filter::default(), work))
            .expect("trends")
    };
    let found = trends(&Work::default());
    assert_eq!((found.single, found.trends.len()), (1, 1));
    let trend = &found.trends[0];
    assert_eq!((trend.points.len(), trend.left_out()), (30, 1));
    let [TrendChange { run: 21, run_before: 20, runs_before: 20, runs_after: 9, .. }] =
        trend.changes[..]
    else {
        panic!("{:?}", trend.changes)
    };
    assert!((trend.changes[0].change_share + 0.2).abs() < 0.01 && trend.level == Some(802.0));
    let other = Work { operation: Some("write".into()), ..Work::default() };
    assert_eq!(trends(&other).trends.len(), 0);
}

#[test]
fn a_table_has_a_row_per_figure() {
    let (_top, history) = history();
    import(&history, &results("/data", 1, 10.5));
    import(&history, &results("/data,\"x\"", 2, 7.0));
    let mut table = Vec::new();
    history
        .with_index(&mut |_| {}, |index| {
            let mut part = Vec::new();
            index.export_csv(&Filter::default(), &mut part).map(|count| (count, part))
        })
        .map(|(count, part)| {
            assert_eq!(count, 4);
            table = part;
        })
        .expect("a table");
    let table = String::from_utf8(table).expect("text");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 5);
    assert_eq!(
        lines[1],
        "1,1970-01-01T00:01:00Z,60000,fio-3.33,run at 1,,ok,1,,/data,phase,0,,job,\
         randread,4096,,,read,iops,1/s,10.5"
    );
    assert!(lines[4].contains("\"/data,\"\"x\"\"\"") && lines[4].ends_with("bandwidth,B/s,28672"));
}

#[test]
fn a_parquet_table_has_the_same_cells() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    let (top, history) = history();
    for minute in 1..=4 {
        import(&history, &results(&format!("/data/ö, {minute}"), minute, 10.5));
    }
    // No row at all, and eight in groups of three.
    let none = Filter { name: Some("none".into()), ..Filter::default() };
    for (filter, groups, rows) in [(none, 0, 0), (Filter::default(), 3, 8)] {
        let path = top.path().join("table.parquet");
        let (csv, count) = history
            .with_index(&mut |_| {}, |index| {
                let mut csv = Vec::new();
                index.export_csv(&filter, &mut csv)?;
                let file = fs::File::create(&path).expect("a file");
                Ok((csv, index.export_groups(&filter, file, 3)?))
            })
            .expect("tables");
        let table = SerializedFileReader::new(fs::File::open(&path).expect("it is there"));
        let table = table.expect("it is Parquet");
        assert_eq!((table.num_row_groups(), count), (groups, rows));
        let mut csv = csv::Reader::from_reader(&csv[..]);
        let names = csv.headers().expect("names").clone();
        let text = |field: &Field| match field {
            Field::Null => String::new(),
            Field::Str(text) => text.clone(),
            Field::Long(number) => number.to_string(),
            Field::Double(number) => number.to_string(),
            other => panic!("{other:?}"),
        };
        let mut expected = csv.records().map(|record| record.expect("a record"));
        for row in table.get_row_iter(None).expect("rows") {
            let row = row.expect("a row");
            let cells: Vec<(&str, String)> =
                row.get_column_iter().map(|(name, field)| (name.as_str(), text(field))).collect();
            let record = expected.next().expect("as many");
            let record = record.iter().map(str::to_owned);
            assert_eq!(cells, names.iter().zip(record).collect::<Vec<_>>());
        }
        assert!(expected.next().is_none());
    }
}

/// A few thousand runs; `CANDOR_BENCH=DIR cargo test -p candor-history many_runs -- --nocapture`
/// makes a history of a hundred thousand in DIR, for `CANDOR_HISTORY=DIR candor history`.
#[test]
fn many_runs_answer_in_time() {
    let bench = std::env::var_os("CANDOR_BENCH");
    let runs: u64 = if bench.is_some() { 100_000 } else { 3_000 };
    let top = tempfile::tempdir().expect("a directory");
    let dir = bench.map_or(top.path().into(), PathBuf::from);
    let history = History::at(dir);
    history.files.prepare().expect("room");
    let entries = |part: std::ops::Range<u64>| -> Vec<_> {
        let entry = |run: u64| {
            // Half of the runs are of one kind of work, the others of fifty.
            let path =
                if run.is_multiple_of(2) { "/data".into() } else { format!("/{}", run % 50) };
            let level = if run < runs * 9 / 10 { 1000.0 } else { 900.0 };
            let noise = (run.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / f64::from(1 << 24);
            let minute = i64::try_from(run).expect("small") * 5;
            let mut results = results(&path, minute, level * (0.98 + 0.04 * noise));
            let job = &mut results.phases[0].jobs[0];
            let mut write = job.operations[0].clone();
            write.operation = "write".into();
            job.operations.push(write);
            let entry = Read::results(results).entry(&run.to_string(), &Note::default());
            (run + 1, entry, Note::default())
        };
        part.map(entry).collect()
    };
    Index::make(history.dir(), |index| {
        let batches = (0..runs).step_by(BATCH);
        batches
            .into_iter()
            .try_for_each(|first| index.insert(&entries(first..first + BATCH as u64)))
    })
    .expect("room");
    let timed = |what: &str, limit_s: f64, act: &dyn Fn()| {
        let began = std::time::Instant::now();
        act();
        let took_s = began.elapsed().as_secs_f64();
        println!("{what}: {took_s:.3} s");
        assert!(took_s < limit_s, "{what}: {took_s} s");
    };
    timed("list", 0.3, &|| assert_eq!(list_newest(&history, &Filter::default()), runs));
    let data = Filter { target: Some("/data".into()), ..Filter::default() };
    timed("list of a target", 0.3, &|| assert_eq!(list_newest(&history, &data), runs / 2));
    let read = Work { operation: Some("read".into()), ..Work::default() };
    timed("trend of a target", 1.0, &|| {
        let act = |index: &mut Index| history.trends(index, &data, &read);
        let trends = history.with_index(&mut |_| {}, act).expect("trends");
        let changes: Vec<RunId> = trends.trends[0].changes.iter().map(|of| of.run).collect();
        assert_eq!(changes, [runs * 9 / 10 + 1]);
    });
}

/// Number of the runs that match, of which twenty are read.
fn list_newest(history: &History, filter: &Filter) -> u64 {
    let list = history.with_index(&mut |_| {}, |index| index.list(filter, 20)).expect("a list");
    assert_eq!(list.runs.len(), 20);
    list.matching
}
