//! `$host`, `#host` and `#hosts`: definitions that are repeated for each host.

use super::HostName;
use crate::parameters::Written;

/// Keywords of definitions that may be repeated.
const REPEATED: &[&str] = &["sd", "fsd", "wd", "fwd"];
/// Keywords that begin any definition.
const BEGINS: &[&str] = &["hd", "host", "rg", "sd", "fsd", "wd", "fwd", "rd"];

/// Copies definitions per host if they contain `#host`; `#hosts` is the number of hosts.
pub fn replicate(written: Vec<Written>, hosts: &[HostName]) -> Vec<Written> {
    let count = hosts.len().to_string();
    let written: Vec<Written> = written
        .into_iter()
        .map(|parameter| changed(parameter, |text| text.replace("#hosts", &count)))
        .collect();
    let mut all = Vec::with_capacity(written.len());
    for definition in definitions(&written) {
        let repeats = definition.first().is_some_and(|first| {
            REPEATED.contains(&first.keyword.text.as_str()) && definition.iter().any(names_host)
        });
        if repeats {
            hosts.iter().enumerate().for_each(|(number, host)| {
                all.extend(definition.iter().cloned().map(|of| {
                    changed(of, |text| {
                        let label = host.label.as_str();
                        let text = text.replace("$host", label).replace("!host", label);
                        text.replace("#host", &number.to_string())
                    })
                }));
            });
        } else {
            all.extend_from_slice(definition);
        }
    }
    all
}

/// Parameters per definition. After `wd=` and `rd=`, `sd=` and `wd=` are parameters.
fn definitions(written: &[Written]) -> Vec<&[Written]> {
    let mut cuts = vec![0];
    let mut stage = 0;
    for (at, parameter) in written.iter().enumerate() {
        let keyword = parameter.keyword.text.as_str();
        let of = BEGINS.iter().position(|known| *known == keyword);
        let begins = of.filter(|of| begins_at(stage, *of));
        if let Some(of) = begins {
            stage = of;
            cuts.push(at);
        }
    }
    cuts.push(written.len());
    cuts.windows(2).map(|cut| &written[cut[0]..cut[1]]).filter(|part| !part.is_empty()).collect()
}

/// True if a keyword begins a definition after one of that stage; both are indices of [`BEGINS`].
fn begins_at(stage: usize, of: usize) -> bool {
    let name = |at: usize| BEGINS[at];
    let is_parameter = matches!(
        (name(stage), name(of)),
        ("wd", "sd")
            | ("fwd", "fsd")
            | ("rd", "sd" | "wd" | "fsd" | "fwd")
            | ("sd" | "fsd" | "wd" | "fwd" | "rd", "hd" | "host")
    );
    !is_parameter
}

fn names_host(parameter: &Written) -> bool {
    ["$host", "!host", "#host"].iter().any(|name| parameter.value.text.contains(name))
}

fn changed(mut parameter: Written, change: impl Fn(&str) -> String) -> Written {
    parameter.value.text = change(&parameter.value.text);
    parameter
}
