//! `candor watch [PATH|DEVICE…]`: what goes on on the devices, again and again.

pub mod iostat;
mod pace;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use candor_iostat::moment::Clock;
use candor_live::WatchScreen;
use candor_plan::{PathText, path_of};
use candor_record::Watched;
use candor_run::{Control, DeviceSelection, DeviceWatch};
use candor_show::{json, watch};
use clap::{Arg, ArgAction, ArgMatches, Command};

use self::pace::Pace;
use crate::exporter::WatchExporter;
use crate::flag::{self, CommandLine, Flag, Group, Takes, put, put_some};
use crate::output::{self, Output};
use crate::{commands, exit, live, parse, screen};

const ABOUT: &str = "Show device activity from all processes";

const LONG_ABOUT: &str = "\
Show the activity of the devices under paths, or of all devices: rates, sizes, waits, queues, \
flushes, what links and limits let through, and where it is allowed (root, or CAP_BPF and \
CAP_PERFMON) percentiles, sizes and alignment of single requests and the processes that issue \
them.

candor itself reads and writes nothing. A terminal of 80 columns and 24 rows gets a screen with \
histories; its last line lists the keys; elsewhere each report follows the previous one. The \
command ends after --count reports, or on an interrupt.";

/// Options of the command.
struct WatchOptions {
    interval: Duration,
    count: Option<u64>,
    json: bool,
    metrics: Option<SocketAddr>,
    devices: DeviceSelection,
}

const GROUPS: &[Group<WatchOptions>] = &[Group {
    title: "Watching",
    flags: &[
        Flag {
            long: "interval",
            takes: Takes::One("SECONDS"),
            help: "Time between reports, at least 0.1 [default: 1]",
            fields: &[],
            set: |options, text| {
                let seconds = parse::seconds(text)?.as_secs_f64();
                if (0.1..=1e6).contains(&seconds) {
                    options.interval = Duration::from_secs_f64(seconds);
                } else {
                    return Err(format!("{text} is not between 0.1 and 1000000 seconds"));
                }
                Ok(())
            },
        },
        Flag {
            long: "count",
            takes: Takes::One("N"),
            help: "Stop after N reports [default: until interrupted]",
            fields: &[],
            set: |options, text| {
                options.count = Some(parse::number(text)?);
                match options.count {
                    Some(0) => Err("0 reports show nothing".to_owned()),
                    _ => Ok(()),
                }
            },
        },
        Flag {
            long: "partitions",
            takes: Takes::Nothing,
            help: "The partitions of each disk too",
            fields: &[],
            set: |options, _| put(&mut options.devices.partitions, Ok(true)),
        },
        Flag {
            long: "group",
            takes: Takes::Many("NAME=PATH,…"),
            help: "Also what the devices under these paths do together, under a name",
            fields: &[],
            set: |options, text| {
                options.devices.groups.push(group(text)?);
                Ok(())
            },
        },
        Flag {
            long: "pid",
            takes: Takes::Many("N"),
            help: "Show only requests of process N and of all that it starts; may be given several \
                   times",
            fields: &[],
            set: |options, text| {
                options.devices.pids.push(parse::process(text)?);
                Ok(())
            },
        },
        Flag {
            long: "json",
            takes: Takes::Nothing,
            help: "Print one JSON object per line for each report, instead of text",
            fields: &[],
            set: |options, _| put(&mut options.json, Ok(true)),
        },
        Flag {
            long: "metrics",
            takes: Takes::One("[ADDRESS:]PORT"),
            help: output::METRICS_HELP,
            fields: &[],
            set: |options, text| put_some(&mut options.metrics, candor_metrics::address(text)),
        },
    ],
}];

fn group(text: &str) -> Result<(String, Vec<PathBuf>), String> {
    let parts = text.split_once('=').map(|(name, paths)| (name, paths.split(',').collect()));
    let (name, paths): (&str, Vec<&str>) = parts.unwrap_or_default();
    if name.is_empty() || paths.iter().any(|path| path.is_empty()) {
        return Err(format!("`{text}` is no group; write NAME=PATH,PATH"));
    }
    Ok((name.to_owned(), paths.into_iter().map(path_of).collect()))
}

/// The command line. `--iostat` never gets here: what follows it are words of another tool.
pub fn command() -> Command {
    let path = Arg::new("PATH").action(ArgAction::Append).num_args(0..);
    let iostat = Arg::new("iostat").long("iostat").num_args(0..).value_name("WORDS");
    let iostat = iostat.help("Print what sysstat's iostat prints; all other words are iostat's");
    Command::new("watch")
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .arg(
            path.help(
                "Files, directories or block devices, also by name: sda [default: all devices]",
            ),
        )
        .args(flag::args(GROUPS))
        .args(flag::args(output::OF_SCREENS))
        .arg(iostat.help_heading("As iostat"))
        .mut_arg("pid", |arg| arg.conflicts_with_all(["group", "partitions"]))
        .after_help(exit::HELP)
}

/// Runs it.
pub fn main(matches: &ArgMatches, mut line: CommandLine) -> u8 {
    let mut options = WatchOptions {
        interval: Duration::from_secs(1),
        count: None,
        json: false,
        metrics: None,
        devices: DeviceSelection::default(),
    };
    let output = match commands::flags(output::OF_SCREENS, GROUPS, matches, &mut line, &mut options)
    {
        Ok(output) => output,
        Err(code) => return code,
    };
    let control = candor_run::interrupts();
    options.devices.paths = commands::paths(matches);
    if let Some(number) = options.devices.paths.iter().find(|path| is_number(path)) {
        let number = number.text();
        screen::error(&format!(
            "there is no `{number}`; write --interval {number} for the time between reports, \
             --count {number} for their number"
        ));
        return exit::USAGE;
    }
    let watch = match DeviceWatch::new(&options.devices) {
        Ok(watch) => watch,
        Err(error) => return commands::fail(&error, &line.source, &output),
    };
    match WatchExporter::open(options.metrics) {
        Ok(exporter) => commands::exit_code(looks(watch, &options, &output, &control, &exporter)),
        Err(sentence) => {
            screen::error(&sentence);
            exit::USAGE
        }
    }
}

/// True for the interval and the count as users of iostat write them.
fn is_number(path: &Path) -> bool {
    path.to_str().is_some_and(|text| text.parse::<f64>().is_ok()) && !path.exists()
}

/// Looks until there were enough, or nobody reads them, or it is interrupted.
fn looks(
    mut watch: DeviceWatch,
    options: &WatchOptions,
    output: &Output,
    control: &Control,
    exporter: &WatchExporter,
) -> Result<(), String> {
    let clock = Clock::new(Some("ISO"));
    let named = !(options.devices.paths.is_empty() && options.devices.groups.is_empty());
    let mut pace = Pace::new(options.interval, control.clone());
    let shown = WatchScreen::new(named);
    let mut session = if options.json || output.no_live || options.count == Some(1) {
        None
    } else {
        live::start(shown, output, 1.0, live::end_by(control))
    };
    let mut left = options.count.unwrap_or(u64::MAX);
    while left > 0 {
        pace.wait();
        left -= 1;
        // An interrupt ends it with what happened until then.
        let is_last = control.is_stopped() || left == 0;
        let watched = watch.look();
        exporter.take(&watched);
        let text = match (options.json, &session) {
            (true, _) => json::watched(&watched).map_err(|error| error.to_string())?,
            (false, None) => look(&watched, &clock, named, output),
            (false, Some(session)) if !is_last => {
                let title = title(&watched, &clock);
                session.change(|screen, _| screen.look(watched, title));
                continue;
            }
            // The last one stays when the screen has been left.
            (false, Some(_)) => {
                session = None;
                let style = screen::style(output.color);
                watch::text(&watched, &title(&watched, &clock), named, &style)
            }
        };
        if !screen::stream(&text)? || is_last {
            break;
        }
    }
    Ok(())
}

fn title(watched: &Watched, clock: &Clock) -> String {
    format!("{}, the last {:.1} s", clock.moment(), watched.elapsed_s)
}

fn look(watched: &Watched, clock: &Clock, named: bool, output: &Output) -> String {
    let style = screen::style(output.color);
    let text = watch::text(watched, &title(watched, clock), named, &style);
    match screen::room() {
        // Home, each line over the one before, and away with what was below.
        Some((rows, columns)) => {
            let fitted = watch::fitted(&text, rows, columns);
            format!("\x1b[H{}\x1b[J", fitted.replace('\n', "\x1b[K\n"))
        }
        None => format!("{text}\n"),
    }
}
