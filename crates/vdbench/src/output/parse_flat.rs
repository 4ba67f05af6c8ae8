//! `parseflat` and `compare`: utilities that read `flatfile.html`.

/// Name prefix of format runs, which are skipped.
const FORMAT: [&str; 2] = ["format_for_", "SD_format"];

/// The rows and columns that `parseflat` is to take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Columns to take, in that order; all without any.
    pub columns: Vec<String>,
    /// Averages instead of intervals.
    pub averages: bool,
    /// Required values of a row: column and value.
    pub filters: Vec<(String, String)>,
}

/// The rows of a flatfile, by columns.
struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Of a file's text; none without a line of names.
    fn of(text: &str) -> Option<Table> {
        let mut columns: Vec<String> = Vec::new();
        let mut rows = Vec::new();
        for line in text.lines() {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            if words.first().is_some_and(|word| word == "tod") {
                columns = words;
            } else if !columns.is_empty()
                && words.len() >= columns.len()
                && !line.starts_with(['*', '<'])
            {
                rows.push(words);
            }
        }
        (!columns.is_empty()).then_some(Table { columns, rows })
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.eq_ignore_ascii_case(name))
    }

    fn is_format(&self, row: &[String]) -> bool {
        let name = self.column("Run").and_then(|run| row.get(run));
        name.is_some_and(|name| FORMAT.iter().any(|format| name.starts_with(format)))
    }
}

/// Converts a flatfile to CSV.
///
/// # Errors
/// A sentence.
pub fn parse_flat(text: &str, request: &Request) -> Result<String, String> {
    let table =
        Table::of(text).ok_or("the file has no line of column names, which begins with tod")?;
    let index =
        |name: &String| table.column(name).ok_or_else(|| format!("there is no column `{name}`"));
    let wanted: Vec<usize> = if request.columns.is_empty() {
        (0..table.columns.len()).collect()
    } else {
        request.columns.iter().map(index).collect::<Result<_, _>>()?
    };
    let mut filters = Vec::new();
    for (name, value) in &request.filters {
        filters.push((index(name)?, value.as_str()));
    }
    let interval = table.column("Interval");
    let line = |row: &[String]| {
        let cells = wanted.iter().map(|column| match row[*column].as_str() {
            "?" => "0",
            cell => cell,
        });
        cells.collect::<Vec<_>>().join(",") + "\n"
    };
    // Names appear as requested.
    let mut csv = if request.columns.is_empty() {
        line(&table.columns)
    } else {
        request.columns.join(",") + "\n"
    };
    let mut rows = 0;
    for row in &table.rows {
        let is_average = interval.is_some_and(|interval| row[interval].starts_with("avg"));
        if filters.iter().all(|(column, value)| row[*column].eq_ignore_ascii_case(value))
            && !table.is_format(row)
            && is_average == request.averages
        {
            csv += &line(row);
            rows += 1;
        }
    }
    match rows {
        0 => Err("no row is left: check the values after -f, and -a".to_owned()),
        _ => Ok(csv),
    }
}

/// Sets averages of two flatfiles side by side, run by run.
///
/// # Errors
/// A sentence.
pub fn compare(old: &str, new: &str) -> Result<String, String> {
    let averages = |text: &str, which: &str| {
        let table = Table::of(text).ok_or_else(|| format!("the {which} file is no flatfile"))?;
        let column = |name| {
            table.column(name).ok_or_else(|| {
                format!("the {which} file has no columns Run, Interval, rate and resp")
            })
        };
        let [run, interval, rate, response] =
            [column("Run")?, column("Interval")?, column("rate")?, column("resp")?];
        let rows = table.rows.iter().filter(|row| row[interval].starts_with("avg"));
        let number = |cell: &String| cell.parse::<f64>().unwrap_or(0.0);
        Ok::<_, String>(
            rows.filter(|row| !table.is_format(row))
                .map(|row| (row[run].clone(), number(&row[rate]), number(&row[response])))
                .collect::<Vec<_>>(),
        )
    };
    let (old, new) = (averages(old, "old")?, averages(new, "new")?);
    let mut text = format!(
        "{:<24} {:>12} {:>12} {:>8} {:>10} {:>10} {:>8}\n",
        "Run", "old rate", "new rate", "delta", "old resp", "new resp", "delta"
    );
    let delta = |old: f64, new: f64| {
        if old > 0.0 { format!("{:+.1}%", 100.0 * (new - old) / old) } else { "n/a".to_owned() }
    };
    let mut left: Vec<_> = new.iter().collect();
    for (name, old_rate, old_resp) in &old {
        let Some(at) = left.iter().position(|(other, ..)| other == name) else {
            text += &format!("{name:<24} {old_rate:12.1} {:>12}\n", "missing");
            continue;
        };
        let (_, new_rate, new_resp) = left.remove(at);
        text += &format!(
            "{name:<24} {old_rate:12.1} {new_rate:12.1} {:>8} {old_resp:10.3} {new_resp:10.3} \
             {:>8}\n",
            delta(*old_rate, *new_rate),
            delta(*old_resp, *new_resp)
        );
    }
    for (name, rate, _) in left {
        text += &format!("{name:<24} {:>12} {rate:12.1}\n", "missing");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAT: &str = "<title>x</title><pre>\n* rate: Observed\n \
        tod timestamp Run Interval rate resp\n \
        1 2 SD_format 1 9 9\n 1 2 rd1 1 10.0 ?\n 1 2 rd1 avg_2-3 20.0 1.5\n 1 2 rd2 avg_2-3 5 2\n";

    #[test]
    fn rows_become_values_between_commas() {
        let of = |request: Request| parse_flat(FLAT, &request);
        let columns = ["run", "resp"].map(str::to_owned).to_vec();
        let all = of(Request { columns: columns.clone(), ..Request::default() });
        assert_eq!(all.as_deref(), Ok("run,resp\nrd1,0\n"), "intervals, and no averages");
        let of_run = |run: &str| vec![("Run".to_owned(), run.to_owned())];
        let averages =
            |run| of(Request { columns: columns.clone(), averages: true, filters: of_run(run) });
        assert_eq!(averages("RD1").as_deref(), Ok("run,resp\nrd1,1.5\n"));
        assert!(averages("rd3").is_err_and(|sentence| sentence.contains("no row")));
        let unknown = of(Request { columns: vec!["x".into()], ..Request::default() });
        assert!(unknown.is_err_and(|sentence| sentence.contains('x')));
        assert!(parse_flat("nothing", &Request::default()).is_err());
    }

    #[test]
    fn averages_are_compared_run_by_run() {
        let new = FLAT.replace("20.0", "30.0").replace("rd2", "rd3");
        let text = compare(FLAT, &new).expect("a table");
        assert!(text.contains("+50.0%") && text.matches("missing").count() == 2, "{text}");
        assert!(compare(FLAT, "").is_err());
    }
}
