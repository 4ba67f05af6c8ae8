//! The command `counts`: what the fronts and the house style cost now, and the goals.

use std::fmt;
use std::path::Path;

use super::ceilings::CEILINGS;
use super::tokens::{self, File};
use super::{Source, fronts};

/// The tool whose cost is counted.
const NEWEST_TOOL: &str = "md-workbench";

/// One line of the table.
struct Row {
    title: String,
    count: String,
    goal: &'static str,
}

impl Row {
    fn new(title: &str, count: usize, goal: &'static str) -> Row {
        Row { title: title.to_owned(), count: count.to_string(), goal }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Row { title, count, goal } = self;
        write!(f, "{title:<46} {count:>12}   {goal}")
    }
}

/// Prints the table, or every position of one count; true if it could.
pub fn command(root: &Path, key: Option<&str>) -> bool {
    let sources = match super::sources(root) {
        Ok(sources) => sources,
        Err(sentence) => {
            eprintln!("{sentence}");
            return false;
        }
    };
    let files = tokens::files(&sources);
    let Some(key) = key else {
        let head = Row { title: "count".to_owned(), count: "now".to_owned(), goal: "goal" };
        println!("{head}");
        for row in rows(&sources, &files) {
            println!("{row}");
        }
        return true;
    };
    let Some(ceiling) = CEILINGS.iter().find(|ceiling| ceiling.key == key) else {
        let keys: Vec<&str> = CEILINGS.iter().map(|ceiling| ceiling.key).collect();
        eprintln!("no count is named {key}; names: {}", keys.join(", "));
        return false;
    };
    for position in ceiling.positions(&sources, &files) {
        println!("{position}");
    }
    true
}

/// Every line of the table.
fn rows(sources: &[Source], files: &[File]) -> Vec<Row> {
    let crossing = fronts::crossing_paths(files, &fronts::tools(sources));
    let named = fronts::files_that_name(sources, NEWEST_TOOL);
    let mut rows = vec![
        Row::new("paths from `candor` into tools and `front`", crossing.len(), "≤ 15"),
        Row::new("distinct names on these paths", fronts::last_names(&crossing), ""),
        Row::new("methods of `Session`", fronts::session_methods(files).len(), "≤ 5"),
        Row::new("implementors of `Session`", fronts::session_implementors(files).len(), "any"),
        Row::new("shared files that name md-workbench", named.len(), "2"),
    ];
    let lines: usize = files.iter().map(|file| file.source.text.lines().count()).sum();
    for ceiling in CEILINGS {
        let count = ceiling.positions(sources, files).len();
        if ceiling.key == "named_closures" {
            let rate = (count * 10_000 + lines / 2) / lines.max(1);
            let title = format!("{} per 10,000 lines ({count} in all)", ceiling.title);
            rows.push(Row { title, count: rate.to_string(), goal: ceiling.goal });
        } else {
            rows.push(Row::new(ceiling.title, count, ceiling.goal));
        }
    }
    rows.push(Row {
        title: "main plan keys that only one tool can write".to_owned(),
        count: "not counted".to_owned(),
        goal: "≤ 40 (needs each tool's options at run time)",
    });
    rows.push(Row::new("lines in `crates/`", lines, "≤ 245000"));
    let architecture = sources.iter().find(|source| source.path == "ARCHITECTURE.md");
    let lines = architecture.map_or(0, |source| source.text.lines().count());
    rows.push(Row::new("lines of ARCHITECTURE.md", lines, "≤ 200"));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_count_is_one_line_with_its_goal() {
        let sources = [
            Source::new("crates/a/src/lib.rs", "fn f() {\n    let g = |h| h;\n}\n"),
            Source::new("ARCHITECTURE.md", "# A\n\nb\n"),
        ];
        let rows = rows(&sources, &tokens::files(&sources));
        let lines: Vec<String> = rows.iter().map(Row::to_string).collect();
        assert_eq!(lines.len(), CEILINGS.len() + 8);
        assert!(lines[0].ends_with("  0   ≤ 15"), "{}", lines[0]);
        assert!(lines.iter().any(|line| line.contains("(1 in all)") && line.contains("3333")));
        assert!(lines[lines.len() - 1].ends_with("  3   ≤ 200"));
    }
}
