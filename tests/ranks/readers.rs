//! Readers of the tools' outputs, written from descriptions of the formats as users of the tools
//! write them. Nothing here is shared with the code that writes these formats.

use std::collections::BTreeMap;

/// Columns of IOR's table since version 3.3.
const IOR_COLUMNS: [&str; 11] =
    ["access", "bw", "IOPS", "Latency", "block", "xfer", "open", "wr/rd", "close", "total", "iter"];

/// Columns of IOR's summary.
pub const IOR_SUMMARY: [&str; 27] = [
    "Operation",
    "Max(MiB)",
    "Min(MiB)",
    "Mean(MiB)",
    "StdDev(MiB)",
    "Max(OPs)",
    "Min(OPs)",
    "Mean(OPs)",
    "StdDev(OPs)",
    "Mean(s)",
    "Stonewall(s)",
    "Stonewall(MiB)",
    "Test#",
    "#Tasks",
    "tPN",
    "reps",
    "fPP",
    "reord",
    "reordoff",
    "reordrand",
    "seed",
    "segcnt",
    "blksiz",
    "xsize",
    "aggs(MiB)",
    "API",
    "RefNum",
];

/// A row by the names of its columns.
pub type Row = BTreeMap<String, String>;

/// IOR's text output.
pub struct Ior {
    /// Rows of the tables, in order.
    pub rows: Vec<Row>,
    /// Rows of the summary of all tests.
    pub summary: Vec<Row>,
    /// Values of the option blocks, by name; those of later tests come later.
    pub options: Vec<(String, String)>,
}

/// Reads IOR's text output.
pub fn ior(text: &str) -> Result<Ior, String> {
    let mut found = Ior { rows: Vec::new(), summary: Vec::new(), options: Vec::new() };
    let (mut in_table, mut in_summary) = (false, false);
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["access", "bw(MiB/s)", ..] => in_table = true,
            ["Operation", "Max(MiB)", ..] => {
                in_summary = true;
                if words.len() != 27 {
                    return Err(format!("the summary's header has {} columns", words.len()));
                }
            }
            ["Max", "Write:" | "Read:", ..] => in_table = false,
            ["write" | "read" | "remove", ..] if in_table && !in_summary => {
                found.rows.push(named(&IOR_COLUMNS, &words)?);
            }
            ["write" | "read" | "remove", ..] if in_summary => {
                found.summary.push(named(&IOR_SUMMARY, &words)?);
            }
            ["Finished" | "Options:", ..] => (in_table, in_summary) = (false, false),
            _ => {
                let pair = line.split_once(':');
                let pair = pair.map(|(name, value)| (name.trim().into(), value.trim().into()));
                found.options.extend(pair);
            }
        }
    }
    Ok(found)
}

fn named(names: &[&str], words: &[&str]) -> Result<Row, String> {
    if names.len() != words.len() {
        return Err(format!("{} fields, not {}: {}", words.len(), names.len(), words.join(" ")));
    }
    let pairs = names.iter().zip(words);
    Ok(pairs.map(|(name, word)| ((*name).to_owned(), (*word).to_owned())).collect())
}

/// Mean rates of mdtest's block of rates, by the names of the rows.
pub fn mdtest_rates(text: &str) -> BTreeMap<String, Vec<f64>> {
    let from = text.lines().skip_while(|line| !line.contains("SUMMARY rate")).skip(1);
    let block = from.take_while(|line| !line.contains("SUMMARY") && !line.starts_with("--"));
    block
        .filter_map(|line| {
            let is_number = |word: &&str| word.parse::<f64>().is_ok();
            let words: Vec<&str> = line.split_whitespace().filter(|word| *word != ":").collect();
            let name = words.iter().take_while(|word| !is_number(word)).copied();
            let name = name.collect::<Vec<_>>().join(" ").trim_end_matches(':').trim().to_owned();
            let numbers: Vec<f64> = words.iter().filter_map(|word| word.parse().ok()).collect();
            (numbers.len() == 4).then_some((name, numbers))
        })
        .collect()
}

/// Figures of md-workbench's lines of a phase: what stands behind names and colons. Latencies are
/// seven, and ascend.
pub fn md_workbench(text: &str, phase: &str) -> Result<Vec<Row>, String> {
    let begin = format!("{phase} process max:");
    text.lines().filter(|line| line.starts_with(&begin)).map(figures).collect()
}

fn figures(line: &str) -> Result<Row, String> {
    let mut row = Row::new();
    // A blank may follow the colon.
    for word in line.replace(": ", ":").split_whitespace() {
        if let Some((name, value)) = word.split_once(':') {
            row.insert(name.to_owned(), value.to_owned());
        }
    }
    for name in ["read", "stat", "create", "delete"] {
        let Some((_, rest)) = line.split_once(&format!(" {name}(")) else { continue };
        let inside = rest.split(')').next().unwrap_or_default();
        let seconds = inside.split(", ").map(|of| of.trim_end_matches('s').parse::<f64>());
        let seconds: Vec<f64> = seconds.collect::<Result<_, _>>().map_err(|_| inside.to_owned())?;
        if seconds.len() != 7 || !seconds.is_sorted() {
            return Err(format!("latencies of {name} are {inside}"));
        }
    }
    if let Some((before, _)) = line.split_once(" errs") {
        let count = before.rsplit('(').next().unwrap_or_default();
        row.insert("errs".to_owned(), count.to_owned());
    }
    Ok(row)
}

/// Names of the columns of vdbench's flatfile.
pub fn flatfile_header(text: &str) -> Option<Vec<&str>> {
    let mut lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines.find(|words| words.first() == Some(&"tod"))
}

/// Rows of vdbench's flatfile, by the names in its header line.
pub fn flatfile(text: &str) -> Result<Vec<Row>, String> {
    let names = flatfile_header(text).ok_or("the flatfile has no header line")?;
    fn is_row(words: &Vec<&str>) -> bool {
        words.first().is_some_and(|word| word.contains(':') && !word.starts_with('*'))
    }
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines.filter(is_row).map(|words| named(&names, &words)).collect()
}

/// A run in vdbench's summary.
pub struct Run {
    /// Text behind `RD=`.
    pub heading: String,
    /// Numbers of the intervals, in order.
    pub intervals: Vec<u64>,
    /// Numbers behind the number of each interval.
    pub widths: Vec<usize>,
    /// Labels of the lines of averages, such as `avg_2-5`.
    pub averages: Vec<String>,
}

impl Run {
    fn new(heading: String) -> Run {
        let (intervals, widths, averages) = (Vec::new(), Vec::new(), Vec::new());
        Run { heading, intervals, widths, averages }
    }

    /// The run's label.
    pub fn label(&self) -> &str {
        let end = self.heading.find([';', ' ', '<']).unwrap_or(self.heading.len());
        &self.heading[..end]
    }
}

/// Runs in vdbench's summary or in what it writes to the screen.
pub fn runs(text: &str) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for line in text.lines() {
        let line = without_tags(line);
        let start =
            ["Starting RD=", "Simulating RD="].iter().find_map(|start| line.split_once(start));
        if let Some((_, heading)) = start {
            let heading = heading.trim().to_owned();
            runs.push(Run::new(heading));
            continue;
        }
        let mut words = line.split_whitespace();
        let is_time = words.next().is_some_and(|word| {
            word.len() == 12 && word.chars().filter(|c| *c == ':').count() == 2
        });
        let (Some(run), true, Some(second)) = (runs.last_mut(), is_time, words.next()) else {
            continue;
        };
        let width = words.filter(|word| word.parse::<f64>().is_ok()).count();
        match second.parse() {
            Ok(interval) if width > 0 => {
                run.intervals.push(interval);
                run.widths.push(width);
            }
            _ if second.starts_with("avg_") && width > 0 => run.averages.push(second.to_owned()),
            _ => {}
        }
    }
    runs
}

fn without_tags(line: &str) -> String {
    let mut text = String::new();
    let mut depth = 0;
    for c in line.chars() {
        match c {
            '<' => depth += 1,
            '>' if depth > 0 => depth -= 1,
            _ if depth == 0 => text.push(c),
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_ior_are_read() {
        let header = IOR_SUMMARY.map(|name| name.split("(MiB)").next().unwrap_or(name));
        assert_eq!((header.len(), header[25]), (27, "API"));
        let text = "Options: \napi : POSIX\n\nResults: \n\n\
            access    bw(MiB/s)  IOPS  Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   \
            close(s)   total(s)   iter\n------    ---------\n\
            write     100.00     400.00 0.002500 1024.00 256.00 0.000100 0.010000 0.000050 \
            0.010150 0   \nMax Write: 100.00 MiB/sec\n";
        let table = ior(text).expect("a table");
        assert_eq!((table.rows.len(), table.rows[0]["xfer"].as_str()), (1, "256.00"));
        assert_eq!(table.options[0], ("api".to_owned(), "POSIX".to_owned()));
        assert!(ior(&text.replace("0.010150 0", "0.010150")).is_err(), "a field is missing");
    }

    #[test]
    fn rates_of_mdtest_are_read() {
        let text = "SUMMARY rate: (of 1 iterations)\n   Operation  Max Min Mean Std Dev\n   \
            ---------   ---   ---   ----   -------\n   File creation      12.500  12.500  \
            12.500   0.000\n   Tree removal : 1.0 1.0 1.0 0.0\n-- finished at 1\n";
        let rates = mdtest_rates(text);
        assert_eq!(rates["File creation"], [12.5, 12.5, 12.5, 0.0]);
        assert_eq!((rates.len(), rates.contains_key("Tree removal")), (2, true));
    }

    #[test]
    fn reports_of_vdbench_are_read() {
        let flat = "* comment\n  tod timestamp Run Interval rate\n10:00:00.000 \
            01/02/2026-10:00:00-UTC rd1 avg_2-3 7.5\n";
        assert_eq!(flatfile(flat).expect("rows")[0]["rate"], "7.5");
        assert!(flatfile(&flat.replace(" 7.5", "")).is_err(), "a field is missing");
        let summary = "<i><b>10:00:00.000 Starting RD=rd1; elapsed=3; For loops: None</b></i>\n\n\
            10:00:01.000  1  10.0 2.0\n10:00:02.000  2 11.0 2.0\n10:00:02.000 avg_2-2 11.0 2.0\n";
        let runs = runs(summary);
        assert_eq!((runs.len(), runs[0].label()), (1, "rd1"));
        assert_eq!((&runs[0].intervals[..], &runs[0].widths[..]), (&[1, 2][..], &[2, 2][..]));
        assert_eq!(runs[0].averages, ["avg_2-2"]);
    }
}
