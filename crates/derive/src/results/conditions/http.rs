//! Conditions of requests on objects: endpoints, form of requests, settings of the bucket.

use candor_record::HttpStats;
use candor_record::fmt;
use candor_record::results::{Area, Condition};

use super::condition;

/// Value of a condition that is off.
const NONE: &str = "none";

/// Conditions of the requests of a job, as the servers answered them.
pub fn of_http(http: &HttpStats) -> Vec<Condition> {
    let form = &http.form;
    let tls = http.connections.tls_version.clone().unwrap_or_else(|| NONE.to_owned());
    let lock = form.object_lock.map(|on| if on { "on" } else { "off" }.to_owned());
    let part = http.objects.part_bytes.map(|bytes| match bytes {
        0 => NONE.to_owned(),
        bytes => fmt::size(bytes as f64),
    });
    let payload = Some(form.payload.clone()).filter(|payload| !payload.is_empty());
    let known = [
        ("endpoints", joined(http.endpoints.iter().map(|endpoint| endpoint.url.clone()))),
        ("server software", joined(http.peers.iter().flat_map(|peer| peer.servers.clone()))),
        ("payload form", payload),
        ("checksum of uploads", Some(form.checksum.clone().unwrap_or_else(|| NONE.to_owned()))),
        ("TLS", Some(tls)),
        ("versioning", form.versioning.clone()),
        ("object lock", lock),
        ("storage class", form.storage_class.clone()),
        ("encryption", form.encryption.clone()),
        ("part size of objects", part),
        ("region", form.region.clone()),
    ];
    let all = known.into_iter();
    all.filter_map(|(name, value)| condition(Area::Storage, name, value, true)).collect()
}

/// Distinct texts in order; absent if there are none.
fn joined(texts: impl Iterator<Item = String>) -> Option<String> {
    let mut all: Vec<String> = texts.collect();
    all.sort();
    all.dedup();
    (!all.is_empty()).then(|| all.join(", "))
}

#[cfg(test)]
mod tests {
    use candor_record::http::{EndpointFacts, RequestForm};

    use super::*;

    fn value(http: &HttpStats, name: &str) -> Option<String> {
        of_http(http).into_iter().find(|of| of.name == name).map(|of| of.value)
    }

    #[test]
    fn features_of_the_bucket_are_conditions() {
        let form = RequestForm { versioning: Some("enabled".into()), ..RequestForm::default() };
        let endpoints = ["http://b:9000", "http://a:9000"]
            .map(|url| EndpointFacts { url: url.into(), ..EndpointFacts::default() })
            .to_vec();
        let http = HttpStats { endpoints, form, ..HttpStats::default() };
        assert_eq!(value(&http, "endpoints").as_deref(), Some("http://a:9000, http://b:9000"));
        assert_eq!(value(&http, "versioning").as_deref(), Some("enabled"));
        assert_eq!(value(&http, "TLS").as_deref(), Some("none"));
        assert_eq!(value(&http, "storage class"), None);
        assert!(of_http(&http).iter().all(|of| of.matters));
    }
}
