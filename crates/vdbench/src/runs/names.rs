//! `sd=single`, `sd=setsofN`, `sd=range` of a run: a run of each lun, of each few, of ever more.

use crate::definitions::Definition;
use crate::definitions::rd::Rd;
use crate::definitions::sd::Sd;

/// Names of the runs of a definition, each with the luns that it is for.
pub fn sets(rd: &Definition<Rd>, sds: &[Definition<Sd>]) -> Vec<(String, Vec<String>)> {
    let name = &rd.name.text;
    let all: Vec<String> = sds.iter().map(|sd| sd.name.text.clone()).collect();
    let [word] = &rd.options.sds[..] else {
        return vec![(name.clone(), rd.options.sds.clone())];
    };
    let size = match word.as_str() {
        "single" => Some(1),
        word => word.strip_prefix("setsof").and_then(|number| number.parse().ok()),
    };
    if all.iter().any(|sd| sd == word) {
        return vec![(name.clone(), vec![word.clone()])];
    }
    if let Some(size) = size.filter(|size| *size > 0) {
        return all
            .chunks(size)
            .map(|set| (format!("{name}_{}", set.join("_")), set.to_vec()))
            .collect();
    }
    if word == "range" {
        let first = all.first().cloned().unwrap_or_default();
        return (0..all.len())
            .map(|end| (format!("{name}_{first}-{}", all[end]), all[..=end].to_vec()))
            .collect();
    }
    vec![(name.clone(), vec![word.clone()])]
}
