//! Comparison of result files: means, minima and maxima.

use super::csv::COLUMNS;

/// Index of the operation column; earlier columns, except the date, are settings.
const OPERATION: usize = 16;

/// Columns that distinguish configurations: the operation first.
fn configuration() -> impl Iterator<Item = &'static str> {
    COLUMNS[OPERATION..=OPERATION].iter().chain(&COLUMNS[1..OPERATION]).copied()
}

/// Metrics whose column names end with this word.
fn figures(end: &'static str) -> impl Iterator<Item = &'static str> {
    COLUMNS.iter().filter_map(move |column| column.strip_suffix(end))
}

/// Runs of one phase and configuration.
struct Group {
    configuration: Vec<String>,
    /// Fields of each run, by the columns of its file.
    runs: Vec<Vec<(String, String)>>,
}

/// The table of one or more CSV files, each with name and content.
///
/// # Errors
/// A file contains no results; the error is a sentence.
pub fn summary(files: &[(String, String)]) -> Result<String, String> {
    let mut groups: Vec<Group> = Vec::new();
    for (name, content) in files {
        for run in runs(name, content)? {
            let fields = configuration().map(|column| field(&run, column).unwrap_or_default());
            let configuration: Vec<String> = fields.map(str::to_owned).collect();
            match groups.iter_mut().find(|group| group.configuration == configuration) {
                Some(group) => group.runs.push(run),
                None => groups.push(Group { configuration, runs: vec![run] }),
            }
        }
    }
    Ok(groups.iter().map(Group::text).collect::<Vec<_>>().join("\n"))
}

/// The field of a run in a column.
fn field<'r>(run: &'r [(String, String)], column: &str) -> Option<&'r str> {
    run.iter().find(|(name, _)| name == column).map(|(_, value)| value.as_str())
}

/// The runs of a file, each as pairs of column and field.
fn runs(name: &str, content: &str) -> Result<Vec<Vec<(String, String)>>, String> {
    let mut lines = content.lines().enumerate().filter(|(_, line)| !line.is_empty()).peekable();
    let Some((_, first)) = lines.peek() else {
        return Err(format!("{name} is empty: name a file that `--csvfile` wrote"));
    };
    let columns: Vec<&str> = if first.starts_with(COLUMNS[0]) {
        lines.next().map(|(_, line)| line.split(',').collect()).unwrap_or_default()
    } else {
        // The file has no header (`--nocsvlabels`).
        COLUMNS.to_vec()
    };
    let run = |(at, line): (usize, &str)| {
        let fields: Vec<&str> = line.split(',').collect();
        if fields.len() != columns.len() {
            return Err(format!(
                "{name}:{}: {} fields where the columns are {}; name a file that `--csvfile` wrote",
                at + 1,
                fields.len(),
                columns.len()
            ));
        }
        let pairs = columns.iter().zip(fields);
        Ok(pairs.map(|(column, field)| ((*column).to_owned(), field.to_owned())).collect())
    };
    lines.map(run).collect()
}

impl Group {
    fn text(&self) -> String {
        let named = configuration().zip(&self.configuration).skip(1);
        let given = named.filter(|(_, value)| !value.is_empty());
        let settings: Vec<String> = given.map(|(name, value)| format!("{name}={value}")).collect();
        let runs = match self.runs.len() {
            1 => "1 run".into(),
            count => format!("{count} runs"),
        };
        let mut text = format!("{} ({runs}): {}\n", self.configuration[0], settings.join(", "));
        text += &format!("  {:<26}{:>30}{:>30}\n", "mean [ min max ]", "FIRST DONE", "LAST DONE");
        for name in figures(" [first]") {
            let [first, last] =
                ["first", "last"].map(|end| self.spread(&format!("{name} [{end}]")));
            if first.is_some() || last.is_some() {
                let [first, last] = [first, last].map(Option::unwrap_or_default);
                text += &format!("  {name:<26}{first:>30}{last:>30}\n");
            }
        }
        for name in figures(" [min]") {
            let of = |which: &str| self.values(&format!("{name} [{which}]"));
            let (least, mean, greatest) = (of("min"), of("avg"), of("max"));
            if let (Some(least), Some(greatest)) =
                (least.into_iter().reduce(f64::min), greatest.into_iter().reduce(f64::max))
            {
                let mean = mean.iter().sum::<f64>() / mean.len().max(1) as f64;
                let all = spread_text(mean, least, greatest);
                text += &format!("  {name:<26}{:>30}{all:>30}\n", "");
            }
        }
        text
    }

    /// Values of a column.
    fn values(&self, column: &str) -> Vec<f64> {
        self.runs.iter().filter_map(|run| field(run, column)?.parse().ok()).collect()
    }

    fn spread(&self, column: &str) -> Option<String> {
        let values = self.values(column);
        let (least, greatest) =
            (values.iter().copied().reduce(f64::min)?, values.iter().copied().reduce(f64::max)?);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        Some(spread_text(mean, least, greatest))
    }
}

/// `1234.5 [ 1200 1269 ]`
fn spread_text(mean: f64, least: f64, greatest: f64) -> String {
    let [mean, least, greatest] = [mean, least, greatest].map(|value| format!("{value:.1}"));
    let whole = [&mean, &least, &greatest].map(|text| text.trim_end_matches(".0"));
    format!("{} [ {} {} ]", whole[0], whole[1], whole[2])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line with these fields by column.
    fn line(columns: &[&str], fields: &[(&str, &str)]) -> String {
        let field = |column: &&str| {
            let found = fields.iter().find(|(name, _)| name == column);
            found.map_or("", |(_, value)| value).to_owned()
        };
        columns.iter().map(field).collect::<Vec<_>>().join(",") + "\n"
    }

    fn run(threads: &str, iops: &str) -> Vec<(&'static str, String)> {
        vec![
            ("ISO date", "2026-11-23T11:00:00.000+0000".into()),
            ("operation", "WRITE".into()),
            ("threads", threads.into()),
            ("IOPS [first]", iops.into()),
            ("IOPS [last]", "100".into()),
            ("IO lat us [min]", "1".into()),
            ("IO lat us [avg]", iops.into()),
            ("IO lat us [max]", "900".into()),
        ]
    }

    fn file(columns: &[&str], runs: &[Vec<(&'static str, String)>]) -> String {
        runs.iter()
            .map(|run| {
                let fields: Vec<(&str, &str)> = run.iter().map(|(n, v)| (*n, v.as_str())).collect();
                line(columns, &fields)
            })
            .collect()
    }

    #[test]
    fn equal_configurations_are_one_group() {
        let runs = [run("4", "110"), run("8", "400"), run("4", "121")];
        let labelled = COLUMNS.join(",") + "\n" + &file(&COLUMNS, &runs);
        let bare = file(&COLUMNS, &[run("4", "132")]);
        let text = summary(&[("a".into(), labelled), ("b".into(), bare)]).expect("results");
        let heads: Vec<&str> = text.lines().filter(|line| line.starts_with("WRITE")).collect();
        assert_eq!(heads, ["WRITE (3 runs): threads=4", "WRITE (1 run): threads=8"]);
        let words = |name: &str| {
            let row = text.lines().find(|line| line.trim_start().starts_with(name));
            row.expect(name).split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(words("IOPS"), "IOPS 121 [ 110 132 ] 100 [ 100 100 ]");
        assert_eq!(words("IO lat us"), "IO lat us 121 [ 1 900 ]");
        assert!(!text.contains("rwmix"), "{text}");
    }

    #[test]
    fn columns_go_by_their_names() {
        let mut columns = COLUMNS.to_vec();
        columns[1..].reverse();
        let content = columns.join(",") + "\n" + &file(&columns, &[run("4", "110")]);
        let text = summary(&[("a".into(), content)]).expect("results");
        assert!(text.starts_with("WRITE (1 run): threads=4\n"), "{text}");
    }

    #[test]
    fn files_without_results_are_named() {
        let wrong = |content: &str| summary(&[("f.csv".into(), content.into())]).expect_err("none");
        assert!(wrong("").starts_with("f.csv is empty"));
        assert!(wrong("a,b\n").starts_with("f.csv:1: 2 fields where the columns are 55"));
    }
}
