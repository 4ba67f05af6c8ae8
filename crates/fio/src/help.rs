//! `--help`, `--cmdhelp` and `--enghelp`, from the tables.

use super::flags;
use super::options::{self, ENGINES, Row, TABLE};
use candor_front::{Coverage, unknown};

/// The version of fio whose manual and output candor follows. Parsers read it to select the fields
/// to expect.
pub const VERSION: &str = "fio-3.42";

/// The help.
pub fn usage(version: &str) -> String {
    let head = format!(
        "{VERSION} (candor {version})\nfio [flags] [options of jobs] [job files]\n\n\
         Options of jobs follow --name=NAME, which begins a job; before it they are defaults.\n\
         --cmdhelp lists them.\n\n"
    );
    head + &flags::TABLE.usage()
}

/// The text of `--cmdhelp`: one option, or all that are done.
///
/// # Errors
/// The option is unknown; the sentence names the nearest.
pub fn of_option(name: Option<&str>) -> Result<String, String> {
    TABLE.explain(name.filter(|name| *name != "all"))
}

/// Describes the option nearest to an unknown name.
///
/// # Errors
/// No name is near.
pub fn of_nearest_option(name: &str) -> Result<String, String> {
    match candor_plan::nearest(name, TABLE.names()) {
        Some(near) => of_option(Some(near)),
        None => Err(unknown("option", name, TABLE.names())),
    }
}

/// The text of `--enghelp`: all engines, one of them, or an option of it.
///
/// # Errors
/// The engine or option is unknown.
pub fn of_engine(name_and_option: Option<&str>) -> Result<String, String> {
    let Some(name_and_option) = name_and_option else {
        let known = ENGINES.iter().filter(|engine| engine.refused.is_empty());
        return Ok(format!(
            "Available IO engines:\n{}",
            known.map(|engine| format!("\t{}\n", engine.name)).collect::<String>()
        ));
    };
    let (name, option) = match name_and_option.split_once(',') {
        Some((name, option)) => (name, Some(option)),
        None => (name_and_option, None),
    };
    let Some(engine) = options::engine(name) else {
        return Err(unknown("engine", name, ENGINES.iter().map(|engine| engine.name)));
    };
    let rows = || TABLE.rows().filter(|row| row.engines.contains(&engine.name));
    match option {
        Some(option) => match rows().find(|row| row.names().any(|name| name == option)) {
            Some(row) => Ok(row.long()),
            None => Err(unknown("option", option, rows().flat_map(Row::names))),
        },
        None if !engine.refused.is_empty() => {
            Ok(format!("{}: {} (refused: {})\n", engine.name, engine.help, engine.refused))
        }
        None => Ok(rows().filter(|row| row.is_done()).map(Row::short).collect()),
    }
}

const ENGINES_HEAD: &str =
    "| engine | support | what it does | remark |\n| --- | --- | --- | --- |\n";

/// How many of the options of jobs have an effect.
pub fn coverage() -> Coverage {
    TABLE.coverage()
}

/// The matrix of engines and options as tables in Markdown.
pub fn matrix() -> String {
    let engines = ENGINES.iter().map(|engine| {
        let support = if engine.refused.is_empty() { "done" } else { "refused" };
        format!("| `{}` | {support} | {} | {} |\n", engine.name, engine.help, engine.refused)
    });
    let engines: String = engines.collect();
    format!("## Engines\n\n{ENGINES_HEAD}{engines}\n{}", TABLE.matrix())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_explained() {
        let text = of_option(Some("blocksize")).expect("an alias will do");
        assert!(text.starts_with("                  bs: "), "{text}");
        assert!(text.contains("               alias: blocksize\n"), "{text}");
        assert!(text.contains("             default: 4096\n"), "{text}");
        let all = of_option(None).expect("all");
        let done = TABLE.rows().filter(|row| row.is_done());
        assert_eq!(all.lines().count(), done.count());
        assert!(!all.contains("block_error_percentiles"), "{all}");
        assert!(of_option(Some("block_error_percentiles")).is_ok());
        assert_eq!(of_option(Some("all")), Ok(all));
        let wrong = of_option(Some("blocksze")).unwrap_err();
        assert_eq!(wrong, "there is no option `blocksze`; did you mean blocksize?");
        let rw = of_option(Some("rw")).expect("rw");
        assert!(rw.contains("        valid values: read\n                    : write\n"), "{rw}");
    }

    #[test]
    fn engines_are_listed_and_explained() {
        let all = of_engine(None).expect("all");
        assert!(
            all.starts_with("Available IO engines:\n\t") && all.contains("\tio_uring\n"),
            "{all}"
        );
        assert!(!all.contains("\trbd\n"), "{all}");
        let uring = of_engine(Some("io_uring")).expect("io_uring");
        assert!(uring.contains("hipri") && uring.contains("sqthread_poll"), "{uring}");
        let one = of_engine(Some("io_uring,hipri")).expect("hipri");
        assert!(one.starts_with("               hipri: "), "{one}");
        assert!(of_engine(Some("rbd")).is_ok_and(|text| text.contains("refused")));
        assert!(
            of_engine(Some("iouring")).is_err_and(|text| text.contains("did you mean io_uring"))
        );
        assert!(of_engine(Some("io_uring,bs")).is_err());
    }

    #[test]
    fn the_matrix_has_a_line_for_every_engine_and_every_option() {
        let lines = matrix().lines().filter(|line| line.starts_with("| `")).count();
        assert_eq!(lines, ENGINES.len() + TABLE.rows().count());
    }

    #[test]
    fn every_flag_is_in_the_help() {
        let text = usage("0");
        assert!(text.starts_with("fio-3.42 (candor 0)\n"));
        assert!(
            flags::TABLE.rows().all(|flag| text.contains(&format!("--{}", flag.name))),
            "{text}"
        );
    }
}
