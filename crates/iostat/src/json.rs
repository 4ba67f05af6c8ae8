//! Reports as JSON, in iostat's shape: hosts → statistics → disk.

use super::Host;
use super::columns::{self, Value};
use super::options::Options;
use super::rows::{Report, Row};
use super::text::{in_unit, whole};

pub(super) fn head(host: &Host) -> String {
    let Host { nodename, sysname, release, machine, cpus, date } = host;
    let texts =
        [("nodename", nodename), ("sysname", sysname), ("release", release), ("machine", machine)];
    let mut text = "{\"sysstat\": {\n\t\"hosts\": [\n\t\t{\n".to_owned();
    for (key, value) in texts {
        text += &format!("\t\t\t\"{key}\": {},\n", quoted(value));
    }
    text += &format!("\t\t\t\"number-of-cpus\": {cpus},\n\t\t\t\"date\": {},\n", quoted(date));
    text + "\t\t\t\"statistics\": [\n"
}

pub(super) fn report(
    options: &Options,
    report: &Report,
    timestamp: Option<&str>,
    is_first: bool,
) -> String {
    let mut members = Vec::new();
    if let Some(timestamp) = timestamp {
        members.push(format!("\t\t\t\t\t\"timestamp\": {}", quoted(timestamp)));
    }
    if options.cpu {
        members.push(format!("\t\t\t\t\t\"avg-cpu\":  {{{}}}", cpu(&report.cpu)));
    }
    if options.devices {
        let rows: Vec<String> = report.rows.iter().map(|row| disk(options, row)).collect();
        members.push(format!("\t\t\t\t\t\"disk\": [\n{}\n\t\t\t\t\t]", rows.join(",\n")));
    }
    let comma = if is_first { "" } else { ",\n" };
    format!("{comma}\t\t\t\t{{\n{}\n\t\t\t\t}}", members.join(",\n"))
}

pub(super) fn tail() -> String {
    "\n\t\t\t]\n\t\t}\n\t]\n}}\n".to_owned()
}

fn cpu(percent: &[f64; 6]) -> String {
    let keys = ["user", "nice", "system", "iowait", "steal", "idle"];
    let pairs = keys.iter().zip(percent).map(|(key, value)| format!("\"{key}\": {value:.2}"));
    pairs.collect::<Vec<_>>().join(", ")
}

fn disk(options: &Options, row: &Row) -> String {
    let mut text = format!("\t\t\t\t\t\t{{\"disk_device\": {}", quoted(&row.name));
    for column in columns::of_json(options) {
        let value = match (column.value)(&row.did) {
            Value::Plain(value) | Value::Percent(value) => format!("{value:.2}"),
            Value::Sectors(sectors) => format!("{:.2}", in_unit(sectors, options.unit)),
            Value::Total(sectors) => whole(sectors, options.unit).to_string(),
            Value::Size(sectors) => format!("{:.2}", sectors / 2.0),
        };
        text += &format!(", \"{}\": {value}", column.key(options));
    }
    text + "}"
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c < ' ' => quoted += &format!("\\u{:04x}", u32::from(c)),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}
