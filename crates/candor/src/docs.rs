//! The documentation says what the program does: tables are derived, examples run through the
//! checks they illustrate.

mod plan_keys;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use candor_plan::{check, text};

use crate::commands::foreign::tool::Page;
use crate::commands::{options, run, tools, tree};
use crate::flag::Group;

/// Set it to write derived pages instead of comparing them.
const BLESS: &str = "CANDOR_BLESS";

fn path(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs")).join(name)
}

fn page(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap_or_default()
}

/// The table of options as a page.
fn options() -> String {
    let mut page = String::from(
        "# Options of candor run and candor tree\n\n\
         This page is reference: every option that sets keys of the plan. [The plan \
         file](reference/plan.md) describes the keys.\nDerived from the table of options; a test \
         keeps the page up to date.\n",
    );
    tables("candor run", run::GROUPS, &mut page);
    tables("candor tree", tree::GROUPS, &mut page);
    page
}

/// The tables of some groups of options of a command.
fn tables<T>(command: &str, groups: &[Group<T>], page: &mut String) {
    for group in groups {
        page.push_str(&format!(
            "\n## {command}: {}\n\n| flag | key | meaning |\n",
            group.title.to_lowercase()
        ));
        page.push_str("| --- | --- | --- |\n");
        for flag in group.flags {
            let keys: Vec<_> =
                flag.fields.iter().map(|field| format!("`{}`", key(field))).collect();
            // A bar would end the cell.
            let row = format!("`{}`", flag.form()).replace('|', "\\|");
            let help = flag.help.replace('|', "\\|");
            page.push_str(&format!("| {row} | {} | {help} |\n", keys.join(" ")));
        }
    }
}

/// A key as the pages name it: by its section, without counting.
fn key(field: &str) -> String {
    let short = field.replace("[0]", "").replace("[]", "");
    let short = short.replace("phase.job.work.entries.", "entries.");
    short.replace("phase.job.work.blocks.", "blocks.").replace("phase.job.", "job.")
}

/// Compares a file below `docs/` with the text that the program gives, or writes it.
fn check(name: &str, derived: &str) {
    if std::env::var_os(BLESS).is_some() {
        std::fs::write(path(name), derived).unwrap();
    }
    assert!(page(name) == derived, "{name}: run `{BLESS}=1 cargo test -p candor --bins docs`");
}

#[test]
fn the_page_of_options_is_derived() {
    check("options.md", &options());
}

#[test]
fn the_page_of_csv_is_derived() {
    check("csv.md", &candor_show::csv::page());
}

#[test]
fn the_pages_of_tools_are_derived() {
    for tool in tools::TOOLS.iter().filter(|tool| matches!(tool.page, Page::Derived)) {
        check(&tool.page_name(), &tool.matrix());
    }
}

#[test]
fn the_readmes_table_of_tools_is_derived() {
    let readme = page("../README.md");
    let (before, rest) = readme.split_once(options::SUMMARY_HEAD).expect("the table's head");
    let (_, after) = rest.split_once("\n\n").expect("the table's end");
    check("../README.md", &format!("{before}{}\n{after}", options::summary()));
}

/// The index of rules and a page for each.
#[test]
fn the_pages_of_rules_are_derived() {
    let all = candor_judge::explanations();
    let list = candor_show::rules::list(&all, &Default::default());
    let page_of = |rule| {
        let name = candor_show::rules::page_name(rule);
        (format!("rules/{name}"), candor_show::rules::page(rule, &all))
    };
    let mut pages: BTreeMap<String, String> = all.iter().map(page_of).collect();
    assert_eq!(pages.len(), all.len(), "each has its own page");
    pages.insert("rules.md".into(), candor_show::rules::index(&all));
    for of in all.iter().map(|rule| &rule.rule) {
        assert!(list.contains(&format!("\n  {of:<4}")), "no line for {of}");
    }
    let folder = std::fs::read_dir(path("rules")).into_iter().flatten();
    let there = folder.map(|entry| format!("rules/{}", entry.unwrap().file_name().display()));
    let surplus: Vec<String> = there.filter(|name| !pages.contains_key(name)).collect();
    if std::env::var_os(BLESS).is_some() {
        surplus.iter().for_each(|name| std::fs::remove_file(path(name)).unwrap());
    } else {
        assert_eq!(surplus, Vec::<String>::new(), "pages of rules that are gone");
    }
    pages.iter().for_each(|(name, text)| check(name, text));
}

#[test]
fn the_page_of_plan_keys_is_derived() {
    let schema: serde_json::Value = serde_json::from_str(&page("plan-schema.json")).unwrap();
    check("reference/plan-keys.md", &plan_keys::page(&schema));
}

/// Line of the summary that the pages of tools follow.
const TOOLS_IN_SUMMARY: &str = "- [Come from another tool](how-to/from-other-tools.md)\n";
/// Line of the summary that the pages of rules follow.
const RULES_IN_SUMMARY: &str = "- [Rules by id](rules.md)\n";

/// mdBook renders only pages that the summary lists.
#[test]
fn the_summarys_lists_of_tools_and_rules_are_derived() {
    // Other tools have a section of a page.
    let tools: Vec<String> = tools::TOOLS
        .iter()
        .filter(|tool| !tool.page_name().contains('#'))
        .map(|tool| format!("  - [{}]({})\n", tool.name(), tool.page_name()))
        .collect();
    let rules: Vec<String> = candor_judge::explanations()
        .iter()
        .map(|rule| {
            let name = candor_show::rules::page_name(rule);
            format!("  - [{}: {}](rules/{name})\n", rule.rule, rule.title)
        })
        .collect();
    let summary = with_list(&page("SUMMARY.md"), TOOLS_IN_SUMMARY, &tools);
    check("SUMMARY.md", &with_list(&summary, RULES_IN_SUMMARY, &rules));
}

/// The summary with this list after a line, instead of the one there.
fn with_list(summary: &str, head: &str, list: &[String]) -> String {
    let (before, rest) = summary.split_once(head).expect("the line before the list");
    let listed = rest.lines().take_while(|line| line.starts_with("  - "));
    let after = &rest[listed.map(|line| line.len() + 1).sum::<usize>()..];
    format!("{before}{head}{}{after}", list.concat())
}

/// Every page below `docs/`, by its path from there.
fn pages() -> BTreeMap<String, String> {
    fn walk(folder: &Path, pages: &mut BTreeMap<String, String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let file = entry.unwrap().path();
            if file.is_dir() {
                walk(&file, pages);
            } else if file.extension().is_some_and(|end| end == "md") {
                let name = file.strip_prefix(path("")).unwrap().display().to_string();
                pages.insert(name, std::fs::read_to_string(&file).unwrap());
            }
        }
    }
    let mut pages = BTreeMap::new();
    walk(&path(""), &mut pages);
    pages
}

/// The plans in the pages, with the name of their page.
fn plans() -> Vec<(String, String)> {
    let mut plans = Vec::new();
    for (name, page) in pages() {
        let blocks = page.split("```toml\n").skip(1).filter_map(|rest| rest.split_once("```"));
        plans.extend(blocks.map(|(plan, _)| (name.clone(), plan.to_owned())));
    }
    plans
}

#[test]
fn plans_in_the_pages_are_good() {
    assert!(plans().len() >= 3);
    for (name, plan) in plans() {
        match text::read(&name, &plan) {
            Ok((plan, _)) => assert_eq!(check::check(&plan), []),
            Err((problems, source)) => {
                panic!("{}", candor_show::problems::text(&problems, &source, false))
            }
        }
    }
}

/// The pages that explain the plan: derived ones, which name every key, are left out.
fn hand_written_pages_of_the_plan() -> String {
    let names = ["plan.md", "blocks.md", "entries.md", "objects.md", "engines.md", "units.md"];
    names.map(|name| page(&format!("reference/{name}"))).concat()
}

/// Every key that a plan has is explained by hand, and is in the table of keys.
#[test]
fn the_pages_name_every_key() {
    let (by_hand, table) = (hand_written_pages_of_the_plan(), page("reference/plan-keys.md"));
    let mut keys = BTreeSet::new();
    for (name, plan) in plans() {
        let (plan, _) = text::read(&name, &plan).unwrap();
        collect(&serde_json::from_str(&text::to_json(&plan)).unwrap(), &mut keys);
    }
    assert!(keys.len() > 50, "{keys:?}");
    let is_named = |page: &str, key: &String| {
        page.contains(&format!("`{key}`"))
            || page.contains(&format!("{key} ="))
            || page.contains(&format!("[{key}]"))
            || page.contains(&format!(".{key}]"))
    };
    let missing: Vec<_> = keys.iter().filter(|key| !is_named(&by_hand, key)).collect();
    assert_eq!(missing, Vec::<&String>::new());
    let missing: Vec<_> = keys.iter().filter(|key| !is_in_table(&table, key)).collect();
    assert_eq!(missing, Vec::<&String>::new());
}

/// True if the table has a row for a key.
fn is_in_table(table: &str, key: &str) -> bool {
    table.contains(&format!("| `{key}` |")) || table.contains(&format!(".{key}` |"))
}

/// Every command of candor in a shell block is a command line that the program accepts.
#[test]
fn commands_of_the_pages_parse() {
    let (mut parsed, mut wrong) = (0, Vec::new());
    for (name, page) in pages() {
        let blocks = page.split("```sh\n").skip(1).filter_map(|rest| rest.split_once("```"));
        let joined = blocks.map(|(block, _)| block.replace("\\\n", " ")).collect::<String>();
        for line in joined.lines().filter(|line| line.starts_with("candor ")) {
            let words = shell_words(without_redirection(line));
            parsed += 1;
            if let Err(error) = crate::cli::command().try_get_matches_from(words) {
                wrong.push(format!("{name}: {line}: {error}"));
            }
        }
    }
    assert!(parsed > 60, "{parsed}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A command line up to its first pipe or redirection outside of quotes.
fn without_redirection(line: &str) -> &str {
    let is_quoted = |at: usize| !line[..at].matches('\'').count().is_multiple_of(2);
    let ends = [" | ", " > "].iter().flat_map(|end| line.match_indices(end));
    let end = ends.map(|(at, _)| at).filter(|at| !is_quoted(*at)).min();
    &line[..end.unwrap_or(line.len())]
}

/// The words of a command line, as a shell splits them.
fn shell_words(line: &str) -> Vec<String> {
    let script = format!("set -f; printf '%s\\n' {line}");
    let out = std::process::Command::new("sh").args(["-c", &script]).output().expect("a shell");
    String::from_utf8(out.stdout).expect("text").lines().map(str::to_owned).collect()
}

#[test]
fn the_pages_name_every_engine() {
    let engines = page("reference/engines.md");
    let missing = candor_plan::Engine::ALL.map(|engine| engine.name()).into_iter();
    let missing: Vec<_> = missing.filter(|name| !engines.contains(&format!("`{name}`"))).collect();
    assert_eq!(missing, Vec::<&str>::new());
}

fn collect(value: &serde_json::Value, keys: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(object) => {
            for (key, value) in object {
                keys.insert(key.clone());
                collect(value, keys);
            }
        }
        serde_json::Value::Array(list) => list.iter().for_each(|value| collect(value, keys)),
        _ => {}
    }
}
