//! F6: the drive got too hot.

use candor_record::fmt;
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity, Temperature};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::series;
use crate::stage::Stage;
use crate::thresholds::{HOT_C, THROTTLED};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "F6",
        title: "the drive ran hot",
        explanation: "A drive at its own temperature limit slows down until it is cooler, and \
            minutes of full speed heat many drives to this limit. candor reads the drive's sensor \
            and limit before and after the phase. Heat explains a fall of the rate by a tenth or \
            more from the first third to the last, if the drive is within two degrees of the \
            limit. Cool the drive, and pause between phases.",
    },
    stage: Stage::Derating,
    limit: Some(LimitClass::Throttle),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let hot = observed.host.after.state.temperatures.iter().find_map(|sensor| {
        let limit = sensor.max_mc.into_iter().chain(sensor.critical_mc).min()?;
        let ours = observed.devices().iter().any(|device| device.name == sensor.device);
        let near = sensor.now_mc as f64 >= limit as f64 - HOT_C.value * 1000.0;
        (ours && near).then_some((sensor, limit))
    });
    let Some((sensor, limit)) = hot else { return Outcome::Nothing };
    let fell = observed.ran.iter().filter(|ran| !ran.paced()).find_map(|ran| {
        let seconds = series::seconds(ran.measured, |_| true);
        let rates: Vec<f64> = seconds.iter().map(|second| second.bytes_per_s).collect();
        let thirds = candor_stats::windows(&rates, 3);
        let [first, _, last] = thirds[..] else { return None };
        (last < THROTTLED.value * first).then_some((first, last))
    });
    fell.map_or(Outcome::Nothing, |(first, last)| {
        Outcome::one(finding(observed, sensor, limit, first, last))
    })
}

fn finding(
    observed: &Observed,
    sensor: &Temperature,
    limit: i64,
    first: f64,
    last: f64,
) -> Finding {
    let degrees = |mc: i64| Quantity::celsius(mc as f64 / 1000.0);
    let sentence = format!(
        "{} reached {} of at most {}, and the rate fell from {} to {}: the drive slowed itself \
         down.",
        sensor.device,
        degrees(sensor.now_mc),
        degrees(limit),
        fmt::rate_decimal(first),
        fmt::rate_decimal(last)
    );
    let before = &observed.host.before.state.temperatures;
    let before = before.iter().find(|earlier| earlier.device == sensor.device);
    let from = format!("temp1_input of {}", sensor.device);
    let of_limit = format!("temp1_max and temp1_crit of {}", sensor.device);
    FindingBuilder::new("F6", Severity::Caution, sentence)
        .confidence(Confidence::Likely)
        .limits(Limit::Temperature { device: sensor.device.clone() })
        .evidence("temperature at the end", degrees(sensor.now_mc), from.clone())
        .evidence("temperature limit of the drive", degrees(limit), of_limit)
        .evidence_if(before.map(|b| ("temperature before".into(), degrees(b.now_mc), from.clone())))
        .advice("Cool the drive, and pause between phases.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::TestCase;

    fn at(now_mc: i64, falls: bool) -> TestCase {
        let rate = move |i| if falls && i > 30 { 9_000.0 } else { 20_000.0 };
        let mut case = TestCase::direct(4096, 32, 1, 20_000.0).seconds(60, rate);
        case.host.after.state.temperatures = vec![Temperature {
            device: "vda".into(),
            now_mc,
            max_mc: Some(82_850),
            critical_mc: Some(84_850),
        }];
        case
    }

    #[test]
    fn hot_and_slower() {
        let case = at(81_850, true);
        assert!(
            case.found(&RULE)[0].sentence.starts_with("vda reached 81.8 °C of at most 82.8 °C")
                || case.found(&RULE)[0].sentence.starts_with("vda reached 81.9 °C"),
            "{}",
            case.found(&RULE)[0].sentence
        );
        assert_eq!(case.judge().limit().as_deref(), Some("the temperature of vda"));
        assert!(case.judge().finding("G2").is_none(), "the spread is folded into it");
    }

    #[test]
    fn hot_and_steady_or_cool_and_slower_are_silent() {
        assert_eq!(at(81_850, false).found(&RULE), []);
        assert_eq!(at(50_000, true).found(&RULE), []);
    }
}
