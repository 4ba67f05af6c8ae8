//! Metrics of each task as CSV.

use super::results::{TaskRun, TestResult};
use crate::setup::{Setup, Test};
use candor_ior_family::results::exponent;

/// A header, a line for all tasks, and a line per iteration and task: rate and time of each row.
pub fn rank_file(setup: &Setup, runs: &[TaskRun]) -> String {
    let head: String =
        Test::ALL.into_iter().map(|test| format!(",rate-{0},time-{0}", test.name())).collect();
    let mut text = format!("rank,items{head}\n");
    for run in runs {
        text += &format!("all,{}", setup.items);
        let first = run.iterations.first();
        for test in Test::ALL {
            let result = first.and_then(|rows| rows.get(&test));
            text += &pair(
                result
                    .filter(|result| result.items > 0)
                    .map(|result| (result.items as f64 / result.seconds, result.seconds)),
            );
        }
        text.push('\n');
        for iteration in &run.iterations {
            for rank in 0..run.tasks as usize {
                text += &format!("{rank},");
                for test in Test::ALL.into_iter().filter(|test| !test.is_of_tree()) {
                    text += &pair(iteration.get(&test).and_then(|result| of_rank(result, rank)));
                }
                text.push('\n');
            }
        }
    }
    text
}

/// Rate and time of a task; `None` without operations.
fn of_rank(result: &TestResult, rank: usize) -> Option<(f64, f64)> {
    let rank = result.ranks.get(rank).filter(|rank| rank.items > 0.0)?;
    Some((rank.rate(), rank.seconds))
}

fn pair(figures: Option<(f64, f64)>) -> String {
    match figures {
        Some((rate, time)) => format!(",{},{}", exponent(rate, 10), exponent(time, 10)),
        None => ",,".to_owned(),
    }
}
