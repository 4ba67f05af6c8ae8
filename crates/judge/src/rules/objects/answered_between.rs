//! S17: something between client and server answered.

use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, MeasuredInstead, Quantity, Severity};

use crate::object_jobs::{self, ObjectJob};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::objects::CACHE_BETWEEN;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S17",
        title: "a proxy or cache answered",
        explanation: "A proxy, a CDN or a load balancer between client and object store can answer \
            from its own cache, and limits the rate by itself. Signs are the headers Via, Age and \
            X-Cache, a proxy in the environment, or several values of the header Server from one \
            address. If a cache marked at least 5 % of the answers as hits, the result is its \
            rate. Other signs leave the origin of reads unknown. Bypass the proxy: use the \
            server's own address, and unset the proxy variables.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    object_jobs::find(observed, of)
}

fn of(_: &Observed, job: &ObjectJob) -> Option<Finding> {
    let between = &job.http.between;
    let hits = between.cache_hits.max(between.aged);
    let share = ratio(hits as f64, job.attempts());
    let (severity, sentence) = if hits > 0 {
        let is_most = share >= CACHE_BETWEEN.value;
        let severity = if is_most { Severity::Wrong } else { Severity::Caution };
        let share = fmt::percent(share);
        (severity, format!("A cache between client and server gave {share} of the answers."))
    } else {
        let unknown = job.http.objects.reads > 0;
        let severity = if unknown { Severity::Unverified } else { Severity::Caution };
        let sign = sign(job)?;
        (severity, format!("{sign}: the server behind it was not measured alone."))
    };
    let draft = job
        .draft("S17", severity, sentence)
        .confidence(if hits > 0 { Confidence::Certain } else { Confidence::Likely })
        .evidence("answers of a cache", Quantity::count(hits as f64), "Age, X-Cache")
        .evidence("answers with Via", Quantity::count(between.via as f64), "Via")
        .evidence_if(between.example.as_ref().map(|header| {
            ("first such header".into(), header.clone(), "answer of the server".into())
        }))
        .advice("Bypass it: use the server's own address, without a proxy.", None);
    let draft = if severity == Severity::Wrong {
        draft.measures(MeasuredInstead::CacheBetween)
    } else {
        draft
    };
    Some(draft.done())
}

/// Signs of a proxy, without proof that it answered itself.
fn sign(job: &ObjectJob) -> Option<String> {
    let between = &job.http.between;
    if let Some(proxy) = &between.proxy {
        return Some(format!("The requests passed the proxy {proxy}"));
    }
    if between.via > 0 {
        return Some(format!("A proxy passed on {} answers", fmt::count(between.via as f64)));
    }
    let several = job.http.peers.iter().find(|peer| peer.servers.len() > 1)?;
    Some(format!("{} gave {} names of servers", several.address, several.servers.len()))
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;
    use candor_record::Verdict;

    use super::*;
    use crate::testcase::TestCase;

    fn reads() -> TestCase {
        TestCase::on_objects(ObjectOp::Get, 65_536, 8, 2000.0)
    }

    #[test]
    fn hits_of_a_cache_are_its_number() {
        let mut case = reads();
        case.http().between.cache_hits = 19_000;
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "A cache between client and server gave 95 % of the answers."
        );
        let judgement = case.judge();
        assert_eq!(judgement.verdict, Verdict::Wrong);
        assert!(judgement.headline.contains("(a cache between client and server)"));
        case.http().between.cache_hits = 10;
        assert_eq!(case.judge().verdict, Verdict::Caution);
    }

    #[test]
    fn a_proxy_leaves_the_origin_of_reads_unknown() {
        let mut case = reads();
        case.http().between.via = 20_000;
        assert!(case.found(&RULE)[0].sentence.starts_with("A proxy passed on 20k answers:"));
        assert_eq!(case.judge().verdict, Verdict::Unverified);
        let mut case = TestCase::on_objects(ObjectOp::Put, 4096, 1, 3500.0);
        case.http().between.proxy = Some("http://192.0.2.1:3128".into());
        assert_eq!(case.judge().verdict, Verdict::Caution);
    }

    #[test]
    fn two_names_at_one_address_are_a_balancer() {
        let mut case = reads();
        case.http().peers[0].servers.push("nginx".into());
        assert!(case.found(&RULE)[0].sentence.contains("gave 2 names of servers"));
    }

    #[test]
    fn a_direct_way_is_silent() {
        assert_eq!(reads().found(&RULE), []);
    }
}
