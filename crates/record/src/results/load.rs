//! The load of a job on its targets.

use std::fmt::{Display, Formatter};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::FigureKind;
use crate::fmt;

/// Load of a job; absent is what its work does not have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Load {
    /// Access in fio's word, such as `randread`, or the steps on names, such as `create,write`.
    pub access: Option<String>,
    /// Bytes of an operation, the largest where there are several.
    pub block_bytes: Option<u64>,
    /// Operations in flight of each worker.
    pub depth: Option<u32>,
    /// Number of workers.
    pub workers: Option<u32>,
    /// A rate or think time set its pace: it did less than it could.
    #[serde(default)]
    pub is_paced: bool,
    /// Operations per second at which it was held, in even gaps.
    #[serde(default)]
    pub held_ops_per_s: Option<f64>,
    /// Bytes per second at which it was held, in even gaps.
    #[serde(default)]
    pub held_bytes_per_s: Option<f64>,
}

/// The work in a few words: `randread 4 KiB, depth 32`.
impl Display for Load {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let size = self.block_bytes.map(|bytes| fmt::size(bytes as f64));
        let access: Vec<String> = self.access.iter().cloned().chain(size).collect();
        let depth = self.depth.map(|depth| format!("depth {depth}"));
        let workers = self.workers.filter(|workers| *workers > 1);
        let workers = workers.map(|workers| format!("{workers} workers"));
        let access = Some(access.join(" ")).filter(|access| !access.is_empty());
        let held = [
            (FigureKind::OpsPerS, self.held_ops_per_s),
            (FigureKind::BytesPerS, self.held_bytes_per_s),
        ];
        let held: Vec<String> = held
            .iter()
            .filter_map(|(kind, rate)| Some(format!("held at {}", kind.text((*rate)?))))
            .collect();
        let paced = (self.is_paced && held.is_empty()).then(|| "paced".to_owned());
        let words = access.into_iter().chain(depth).chain(workers).chain(held).chain(paced);
        f.write_str(&words.collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_reads_as_people_say_it() {
        let load = Load {
            access: Some("randread".into()),
            block_bytes: Some(4096),
            depth: Some(32),
            workers: Some(4),
            ..Load::default()
        };
        assert_eq!(load.to_string(), "randread 4 KiB, depth 32, 4 workers");
        assert_eq!(Load { workers: Some(1), ..Load::default() }.to_string(), "");
        let paced = Load { is_paced: true, depth: Some(4), ..Load::default() };
        assert_eq!(paced.to_string(), "depth 4, paced");
        let held = Load { held_ops_per_s: Some(1800.0), ..paced };
        assert_eq!(held.to_string(), "depth 4, held at 1800 IOPS");
    }
}
