//! S2: hashing and encryption take the client's CPU.

use candor_plan::work::Figure;
use candor_record::fmt::{self, ratio};
use candor_record::http::CpuRates;
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::object_jobs::{self, ObjectJob};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::objects::{CRYPTO_RATE, CRYPTO_SHARE};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S2",
        title: "hashing takes the CPU",
        explanation: "A signed payload needs SHA-256 of every byte, some checksums are as slow, \
            and TLS encrypts each byte once more. One core computes 1 to 2 GB/s of SHA-256, less \
            than 1 GB/s of MD5, and 4 to 6 GB/s of AES-GCM. candor measures the time in hashes and \
            TLS, and the rates of this CPU. From 30 % of the workers' CPU time on, or 80 % of the \
            CPU's rate, this is reported. Use unsigned payloads over TLS, CRC64NVME or CRC32C as \
            checksum, or plain HTTP in a closed network.",
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
    let (hash_ns, tls_ns) = (job.http.hash_ns as f64, job.http.tls_ns as f64);
    let share = ratio(hash_ns + tls_ns, job.cpu_ns());
    let near = job.http.cpu_rates.map_or(0.0, |rates| near(job, &rates));
    if share < CRYPTO_SHARE.value && near < CRYPTO_RATE.value {
        return None;
    }
    let sentence = if share >= CRYPTO_SHARE.value {
        format!(
            "Hashing and encryption took {} of the workers' CPU time.",
            fmt::percent(share.min(1.0))
        )
    } else {
        format!("The rate is {} of this CPU's rate of hashing or encryption.", fmt::percent(near))
    };
    let advice = if hash_ns >= tls_ns {
        "Send unsigned payloads over TLS, or use CRC64NVME or CRC32C as checksum."
    } else {
        "Use more workers or hosts, or plain HTTP in a closed network."
    };
    let draft = job
        .draft("S2", Severity::Explains, sentence)
        .confidence(Confidence::Likely)
        .evidence("time in hashes", Quantity::ns(hash_ns), "candor")
        .evidence("time in TLS", Quantity::ns(tls_ns), "candor")
        .evidence("share of the CPU time", Quantity::share(share), "getrusage")
        .evidence("payload", job.http.form.payload.clone(), "x-amz-content-sha256")
        .advice(advice, None);
    Some(draft.done())
}

/// Share of the rate that all workers together can hash or encrypt.
fn near(job: &ObjectJob, rates: &CpuRates) -> f64 {
    let time_s = job.seconds() * f64::from(job.job.workers);
    let read = ratio(job.bytes_of(Figure::Read), time_s);
    let written = ratio(job.bytes_of(Figure::Write), time_s);
    let form = &job.http.form;
    // A signed payload is its SHA-256, or chunks with signatures.
    let is_signed = !["-", "", "UNSIGNED-PAYLOAD"].contains(&form.payload.as_str())
        && !form.payload.starts_with("STREAMING-UNSIGNED");
    let hashes = if is_signed { ratio(written, rates.sha256) } else { 0.0 };
    let is_tls = job.http.connections.tls_version.is_some();
    let tls = if is_tls { ratio(read + written, rates.tls) } else { 0.0 };
    let checksum = if form.checksum.is_some() { ratio(written, rates.checksum) } else { 0.0 };
    hashes.max(tls).max(checksum)
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;

    use super::*;
    use crate::testcase::TestCase;

    fn uploads() -> TestCase {
        let mut case = TestCase::on_objects(ObjectOp::Put, 8 << 20, 4, 180.0);
        case.measured().per_worker[0].cpu_user_ns = 9_000_000_000;
        case
    }

    #[test]
    fn signatures_of_payloads_take_the_cpu() {
        let mut case = uploads();
        case.http().hash_ns = 8_000_000_000;
        let found = case.found(&RULE);
        assert!(found[0].sentence.starts_with("Hashing and encryption took 73 %"), "{found:?}");
        assert!(found[0].advice.starts_with("Send unsigned payloads"));
    }

    /// SHA-256 at 1.77 GB/s per core was measured on a CPU with SHA instructions.
    #[test]
    fn a_rate_near_the_hash_is_named() {
        let mut case = uploads();
        case.http().form.payload = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD".into();
        case.http().cpu_rates = Some(CpuRates { sha256: 1.77e9, ..CpuRates::default() });
        assert!(case.found(&RULE)[0].sentence.starts_with("The rate is 85 % of this CPU's rate"));
        case.http().form.payload = "UNSIGNED-PAYLOAD".into();
        assert_eq!(case.found(&RULE), []);
    }

    #[test]
    fn a_little_hashing_is_silent() {
        let mut case = uploads();
        case.http().hash_ns = 900_000_000;
        assert_eq!(case.found(&RULE), []);
    }
}
