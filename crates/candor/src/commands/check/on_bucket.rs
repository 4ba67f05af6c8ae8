//! `candor check s3://BUCKET/PREFIX`.

use candor_explore::ObjectCheck;
use candor_plan::{Bucket, Plan};
use clap::ArgMatches;

use super::{GROUPS, Given};
use crate::commands::bucket::{self, Url};
use crate::commands::run::{self, How};
use crate::flag::{self, CommandLine};
use crate::hosts::{self, Hosts};
use crate::output::{self, Output};
use crate::{exit, screen};

/// Runs the series on new objects of a bucket, and gives the exit code.
pub fn main(url: Result<Url, String>, matches: &ArgMatches, mut line: CommandLine) -> u8 {
    let (mut given, mut output) = (Given::default(), Output::default());
    let (mut hosts, mut servers) = (Hosts::default(), Bucket::default());
    let mut problems = flag::apply(output::OF_RUNS, matches, &mut line, &mut output);
    problems.extend(flag::apply(GROUPS, matches, &mut line, &mut given));
    problems.extend(flag::apply(hosts::FLAGS, matches, &mut line, &mut hosts));
    problems.extend(flag::apply(bucket::SERVERS, matches, &mut line, &mut servers));
    if !problems.is_empty() {
        screen::problems(&problems, &line.source, output.color);
        return exit::USAGE;
    }
    let plan = match url.and_then(|url| plan(&url, given, servers)) {
        Ok(plan) => plan,
        Err(sentence) => {
            screen::error(&sentence);
            return exit::USAGE;
        }
    };
    let options = candor_run::Options { command: line.words().to_vec(), ..Default::default() };
    run::execute(&plan, &line.source, How::on(hosts), &options, output)
}

fn plan(url: &Url, given: Given, servers: Bucket) -> Result<Plan, String> {
    let Given { time, size, write, keep, force } = given;
    if let Some(flag) = write.then_some("write").or(force.map(|_| "force")) {
        return Err(format!(
            "--{flag} is for files and devices, and PATH is a bucket; leave it out"
        ));
    }
    let servers = Bucket { keep, ..servers };
    let bucket = url.on(&servers, &format!("candor-check.{}/", std::process::id()));
    let size = size.unwrap_or(ObjectCheck::SIZE);
    Ok(candor_explore::object_check(&ObjectCheck { bucket, time, size }))
}
