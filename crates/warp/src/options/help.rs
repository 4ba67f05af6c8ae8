//! Help of the tool and of each command, and the page of the options.

use candor_front::{Coverage, Group, Row, Support, Table, Takes, ValueKind};

use super::Command;
use super::rows::{Value, table};

/// A command of warp that candor does not run.
pub struct RefusedCommand {
    /// The name.
    pub name: &'static str,
    /// The reason and a remedy.
    pub why: &'static str,
}

/// All commands that candor does not run.
pub const REFUSED: &[RefusedCommand] = &[
    RefusedCommand {
        name: "versioned",
        why: "candor reads and deletes current versions only; measure the mix with `warp mixed`",
    },
    RefusedCommand {
        name: "retention",
        why: "candor does not lock objects; measure uploads with `warp put`",
    },
    RefusedCommand {
        name: "append",
        why: "only directory buckets append to objects; measure uploads with `warp put`",
    },
    RefusedCommand {
        name: "fanout",
        why: "only MinIO copies an upload to several keys; measure uploads with `warp put`",
    },
    RefusedCommand {
        name: "zip",
        why: "only MinIO reads files inside a zip object; measure `warp get --range`",
    },
    RefusedCommand {
        name: "snowball",
        why: "only MinIO unpacks an uploaded archive; measure small uploads with `warp put`",
    },
    RefusedCommand {
        name: "iceberg",
        why: "candor sends no requests to table catalogs; measure the objects with `warp mixed`",
    },
    RefusedCommand {
        name: "client",
        why: "agents of warp have no login; start `candor agent` on the host",
    },
    RefusedCommand {
        name: "run",
        why: "candor reads no templates of warp; write the options on a command line",
    },
];

/// The text of `--version`.
pub fn version() -> String {
    let candor = env!("CARGO_PKG_VERSION");
    format!("candor {candor} with the command lines and result files of warp\n")
}

/// The command line of a command in short.
pub fn usage(command: Command) -> String {
    let operands = match command {
        Command::Analyze => " FILE",
        Command::Compare => " BEFORE AFTER",
        Command::Merge => " FILE FILE… [--benchdata NAME]",
        _ => " [OPTIONS]",
    };
    format!("warp {}{operands}", command.word())
}

/// Help of the tool: its commands.
pub fn help() -> String {
    let mut text = "Usage: warp COMMAND [OPTIONS]\n\nCommands:\n".to_owned();
    for choice in Command::CHOICES {
        text.push_str(&format!("  {:<14} {}\n", choice.word, choice.help));
    }
    let refused: Vec<_> = REFUSED.iter().map(|refused| refused.name).collect();
    text.push_str(&format!("\nRefused:\n  {}\n", refused.join(", ")));
    text.push_str("\n`warp COMMAND --help` lists the options of a command.\n");
    text
}

/// Groups that the short help of a benchmark leaves out.
const RARE: &[&str] = &["Uploads", "Clients", "Result file", "Output", "Analysis"];

/// Help of a command: its own options and the usual ones.
pub fn help_of(command: Command) -> String {
    let mut text = head(command);
    for group in table(command).0 {
        if command.is_benchmark() && RARE.contains(&group.title) {
            continue;
        }
        text.push_str(&lines(group));
    }
    let word = command.word();
    text.push_str(&format!("\n`warp {word} --help-all` lists all options.\n"));
    text
}

/// Help of a command: all its options, except refused ones.
pub fn help_all_of(command: Command) -> String {
    let groups: String = table(command).0.iter().map(lines).collect();
    let end = "\n`candor options warp` lists the refused options, and why.\n";
    head(command) + &groups + end
}

fn head(command: Command) -> String {
    let choice = Command::CHOICES.iter().find(|choice| choice.word == command.word());
    let about = choice.map_or("", |choice| choice.help);
    format!("{about}\n\nUsage: {}\n", usage(command))
}

fn lines(group: &Group<Value>) -> String {
    let rows = group.rows.iter().filter(|row| works(row));
    format!("\n{}:\n{}", group.title, rows.map(line).collect::<String>())
}

fn line(row: &Row<Value>) -> String {
    let form = match row.kind.takes() {
        Takes::One(form) => format!("--{}={form}", row.name),
        _ => format!("--{}", row.name),
    };
    let default = match row.default {
        "" | "false" => String::new(),
        default => format!(" [default: {default}]"),
    };
    format!("  {form:<26} {}{default}\n", row.help)
}

fn works(row: &Row<Value>) -> bool {
    matches!(row.support, Support::Exact | Support::Approximate(_))
}

/// Tables of all options: the own options of each benchmark, then the shared ones.
fn tables() -> Vec<Table<Value>> {
    let benchmarks = Command::ALL.iter().filter(|command| command.is_benchmark());
    let own = benchmarks.map(|command| Table(&table(*command).0[..1]));
    own.chain([Table(&table(Command::Get).0[1..])]).collect()
}

/// Number of options that work.
pub fn coverage() -> Coverage {
    tables().iter().map(Table::coverage).sum()
}

/// The page of the options.
pub fn page() -> String {
    let mut refused = String::new();
    for RefusedCommand { name, why } in REFUSED {
        refused.push_str(&format!("| `{name}` | {why} |\n"));
    }
    let options: String = tables().iter().map(Table::matrix).collect();
    let text = include_str!("../page.md.in").replace("{REFUSED}", refused.trim_end());
    text.replace("{OPTIONS}", options.trim_end())
}
