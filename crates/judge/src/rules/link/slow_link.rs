//! Links that carry nearly all they can, one kind at a time.

use candor_record::facts::value;

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::shared::{self, Hop};
use candor_record::{Limit, Quantity, fmt};

/// A link that carries nearly all it can.
pub struct Full<'a> {
    /// The link and what lies behind it.
    pub hop: Hop<'a>,
    /// Bytes per second through it, over its ceiling.
    pub used: f64,
}

impl Full<'_> {
    /// The traffic of the link, in bytes per second.
    pub fn bytes_per_s(&self) -> f64 {
        self.used * self.hop.link.ceiling_bytes_per_s as f64
    }

    /// `262 MB/s (250 MiB/s) is 87 % of it`.
    pub fn share(&self) -> String {
        format!(
            "{} is {} of the link speed",
            fmt::rate(self.bytes_per_s()),
            fmt::percent(self.used)
        )
    }

    /// The speed that both ends could do, or the negotiated one where that is not known.
    pub fn possible(&self) -> &str {
        value(&self.hop.link.possible).unwrap_or(&self.hop.link.negotiated.value)
    }

    /// The numbers that a finding about it rests on.
    pub fn evidence(&self, draft: FindingBuilder) -> FindingBuilder {
        let link = self.hop.link;
        let possible = link.possible.as_ref();
        let possible = possible.map(|p| ("possible".into(), p.value.clone(), p.from.clone()));
        draft
            .limits(Limit::Link { link: format!("{} link of {}", link.kind, self.hop.names()) })
            .evidence("negotiated", link.negotiated.value.clone(), link.negotiated.from.clone())
            .evidence_if(possible)
            .evidence(
                "ceiling",
                Quantity::bytes_per_s(link.ceiling_bytes_per_s as f64),
                &*link.arithmetic,
            )
            .evidence("used", Quantity::share(self.used), "candor")
    }
}

/// The links of a kind that carry nearly all they can; what the device did not move did not cross
/// its link, however near the figures are.
pub fn full<'a>(observed: &Observed<'a>, kind: &str) -> Vec<Full<'a>> {
    if observed.working_top().is_none() {
        return Vec::new();
    }
    let hops = shared::hops(observed).into_iter().filter(|hop| hop.link.kind == kind);
    hops.filter_map(|hop| Some(Full { used: hop.bound(observed).reached()?, hop })).collect()
}

/// A link of that kind lies on the way, and whether its traffic is known.
pub fn is_known(observed: &Observed, kind: &str) -> bool {
    let hops = shared::hops(observed);
    !hops.iter().any(|hop| hop.link.kind == kind) || observed.top.is_some()
}
