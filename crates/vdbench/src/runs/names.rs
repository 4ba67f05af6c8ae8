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
        let named = |set: &[String]| (format!("{name}_{}", set.join("_")), set.to_vec());
        return all.chunks(size).map(named).collect();
    }
    if word == "range" {
        let first = all.first().cloned().unwrap_or_default();
        let named = |end: usize| (format!("{name}_{first}-{}", all[end]), all[..=end].to_vec());
        return (0..all.len()).map(named).collect();
    }
    vec![(name.clone(), vec![word.clone()])]
}
