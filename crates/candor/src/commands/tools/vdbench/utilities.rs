//! `parseflat` and `compare`, which read `flatfile.html`.

use std::ffi::OsString;
use std::path::Path;

use candor_files::Use;
use candor_plan::{PathText, path_of};
use candor_vdbench::output::{ParseFlat, compare as compared, parse_flat as parsed};

use super::COMPLAINTS;
use crate::commands;

/// Utilities of vdbench that candor does not have.
pub const OTHERS: [&str; 12] = [
    "rsh",
    "sds",
    "printjournal",
    "jstack",
    "jmap",
    "edit",
    "csim",
    "dsim",
    "showlba",
    "print",
    "dvpost",
    "gui",
];

/// Refuses one of them.
pub fn refused(word: &str) -> u8 {
    COMPLAINTS.sentence(&format!(
        "the utility `{word}` is not done; candor has parseflat and compare, and `candor devices` \
         lists devices"
    ))
}

/// Makes comma-separated values of a flatfile.
pub fn parse_flat(words: &[OsString]) -> u8 {
    let told = request(words).and_then(|(input, output, request)| {
        let text = read(&input)?;
        let csv = parsed(&text, &request).map_err(|sentence| format!("{input}: {sentence}"))?;
        Ok((csv, output))
    });
    match told {
        Ok((csv, None)) => commands::printed(&csv),
        Ok((csv, Some(output))) => match candor_files::replace(&path_of(&output), csv) {
            Ok(()) => 0,
            Err(error) => COMPLAINTS.sentence(&format!("{output} cannot be written: {error}")),
        },
        Err(sentence) => COMPLAINTS.sentence(&sentence),
    }
}

/// Words of parseflat, where an option and its value may be one: `-frun`.
fn split(words: &[OsString]) -> Vec<String> {
    let mut all = Vec::new();
    for word in words {
        let word = word.text();
        match word.get(..2).filter(|front| front.starts_with('-') && word.len() > 2) {
            Some(front) => all.extend([front.to_owned(), word[2..].to_owned()]),
            None => all.push(word),
        }
    }
    all
}

/// Input, output, and what is to be taken.
fn request(words: &[OsString]) -> Result<(String, Option<String>, ParseFlat), String> {
    let mut request = ParseFlat::default();
    let (mut input, mut output, mut option) = (None, None, String::new());
    let mut column: Option<String> = None;
    for word in split(words) {
        match (word.as_str(), option.as_str()) {
            ("-a", _) => request.averages = true,
            // Nothing is told but the values.
            ("-q", _) => {}
            ("-i" | "-o" | "-c" | "-f", _) => option = word.clone(),
            (word, "-i") => input = Some(word.to_owned()),
            ("-" | "stdout", "-o") => output = None,
            (word, "-o") => output = Some(word.to_owned()),
            (word, "-c") => request.columns.push(word.to_owned()),
            (word, "-f") => match word.split_once('=') {
                Some((column, value)) => {
                    request.filters.push((column.to_owned(), value.to_owned()));
                }
                // Column and value may be two words.
                None => match column.take() {
                    Some(column) => request.filters.push((column, word.to_owned())),
                    None => column = Some(word.to_owned()),
                },
            },
            (word, _) => {
                return Err(format!("`{word}` is no option of parseflat: -i -o -c -f -a -q"));
            }
        }
    }
    if let Some(column) = column {
        return Err(format!("-f {column} has no value; write -f {column} VALUE"));
    }
    let input = input.ok_or("parseflat needs a flatfile: -i FILE")?;
    // A directory of results has its flatfile.
    let within = path_of(&input).join("flatfile.html");
    let input = if within.is_file() { within.text() } else { input };
    Ok((input, output, request))
}

/// Sets the averages of two runs side by side.
pub fn compare(words: &[OsString]) -> u8 {
    let [old, new] = words else {
        return COMPLAINTS.sentence("compare needs two directories of results: compare OLD NEW");
    };
    let flatfile = |word: &OsString| {
        let path = Path::new(word);
        let path = if path.is_dir() { path.join("flatfile.html") } else { path.to_owned() };
        read(&path.text())
    };
    match flatfile(old).and_then(|old| compared(&old, &flatfile(new)?)) {
        Ok(table) => commands::printed(&table),
        Err(sentence) => COMPLAINTS.sentence(&sentence),
    }
}

fn read(path: &str) -> Result<String, String> {
    let used = candor_files::uses(&path_of(path), Use::Input).map_err(std::io::Error::from);
    let bytes = used.and_then(|()| std::fs::read(path_of(path)));
    let bytes = bytes.map_err(|error| format!("{path} cannot be read: {error}"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
