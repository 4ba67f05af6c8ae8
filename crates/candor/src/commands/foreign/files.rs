//! Files that a session returns as data.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::PathBuf;

use candor_files::Replacement;
use candor_front::session::{FileText, LogLine, LogRows, LogToFiles, Row, Write};
use candor_plan::{PathText, path_of};

/// Checks files before the run, which will replace them. The error is a sentence.
pub fn prepare(files: &[PathBuf]) -> Result<(), String> {
    files.iter().try_for_each(|path| {
        candor_files::prepare(path)
            .map_err(|error| format!("{} cannot be written: {error}", path.text()))
    })
}

/// Writes text to a file. The error is a sentence.
pub fn write(FileText { path, text, write }: &FileText) -> Result<(), String> {
    let written = match write {
        Write::Replace => candor_files::replace(path, text),
        Write::Append => {
            candor_files::append(path).and_then(|mut file| file.write_all(text.as_bytes()))
        }
    };
    written.map_err(|error| format!("{} cannot be written: {error}", path.text()))
}

/// Writes the files of a log, if the run has made it, and removes it. The error is a sentence.
pub fn convert(LogToFiles { log, rows }: LogToFiles) -> Result<(), String> {
    if !log.exists() {
        return Ok(());
    }
    let converted = File::open(&log).and_then(|file| write_rows(BufReader::new(file), rows));
    converted
        .and_then(|()| fs::remove_file(&log))
        .map_err(|error| format!("the times of {} cannot be written: {error}", log.text()))
}

fn write_rows(log: impl BufRead, mut rows: Box<dyn LogRows>) -> io::Result<()> {
    let mut files = BTreeMap::new();
    put(&mut files, rows.begin())?;
    for line in log.lines() {
        // An earlier run may have left a partial line.
        if let Ok(line) = serde_json::from_str::<LogLine>(&line?) {
            put(&mut files, rows.line(line))?;
        }
    }
    put(&mut files, rows.end())?;
    files.into_values().try_for_each(Replacement::commit)
}

fn put(
    files: &mut BTreeMap<String, Replacement>,
    rows: impl IntoIterator<Item = Row>,
) -> io::Result<()> {
    for Row { file, text } in rows {
        if !files.contains_key(&file) {
            files.insert(file.clone(), candor_files::create(&path_of(&file))?);
        }
        if let Some(out) = files.get_mut(&file) {
            out.write_all(text.as_bytes())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row with the operation of each line, and a last one.
    struct Names(String);

    impl LogRows for Names {
        fn line(&mut self, line: LogLine) -> Option<Row> {
            Some(Row { file: self.0.clone(), text: line.op_name + "\n" })
        }

        fn end(&mut self) -> Vec<Row> {
            vec![Row { file: self.0.clone(), text: "end\n".into() }]
        }
    }

    #[test]
    fn a_log_becomes_files() {
        let directory = tempfile::tempdir().expect("a directory");
        let (log, file) = (directory.path().join("log"), directory.path().join("rows"));
        let convert_log = || {
            let rows = Box::new(Names(file.text()));
            convert(LogToFiles { log: log.clone(), rows })
        };
        assert_eq!(convert_log(), Ok(()), "no log, no files");
        let line = "{\"elapsed_ns\":1,\"worker_rank\":0,\"entry_name\":\"f\",\
                    \"is_finished\":true,\"op_name\":\"stat\"}\n";
        fs::write(&log, format!("{line}{line}{{\"elapsed")).expect("written");
        assert_eq!(convert_log(), Ok(()));
        assert_eq!(fs::read_to_string(&file).expect("rows"), "stat\nstat\nend\n");
        assert!(!log.exists());
    }

    #[test]
    fn text_is_appended_or_replaces() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("file");
        for (text, how, expected) in
            [("a", Write::Append, "a"), ("b", Write::Append, "ab"), ("c", Write::Replace, "c")]
        {
            let file = FileText { path: path.clone(), text: text.into(), write: how };
            write(&file).expect("written");
            assert_eq!(fs::read_to_string(&path).expect("text"), expected);
        }
    }
}
