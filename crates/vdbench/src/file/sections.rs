//! Sections of a parameter file, in their fixed order: general parameters, hosts, replay groups,
//! then luns and workloads or file systems and their workloads, then runs.

use super::replicate::replicate;
use super::{DEFAULT, Definition, Definitions, FORMAT, HostName, ParameterFile};
use crate::definitions::transfer::TransferSize;
use crate::definitions::{Defined, fsd, fwd, general, host, rd, sd, wd};
use crate::kind::{LETTERS_MIN, meant};
use crate::parameters::Written;
use candor_front::{Assignment, Diagnostic, GivenOption, Word};

/// Sections in their order, each with the keywords that end it.
const ORDER: &[(&str, &[&str])] = &[
    ("", &["hd", "host", "rg", "sd", "fsd", "wd", "fwd", "rd"]),
    ("hd", &["rg", "sd", "fsd", "wd", "fwd", "rd"]),
    ("rg", &["sd", "fsd", "wd", "fwd", "rd"]),
    ("fsd", &["sd", "wd", "fwd", "rd"]),
    ("sd", &["wd", "fwd", "rd"]),
    ("wd", &["fwd", "rd"]),
    ("fwd", &["rd"]),
    ("rd", &[]),
];

/// Reads sections.
#[derive(Default)]
pub struct Sections {
    file: ParameterFile,
    /// Everything wrong.
    pub errors: Vec<Diagnostic>,
    /// The section that is read, as an index into [`ORDER`].
    section: usize,
    /// The current definition sets defaults.
    is_default: bool,
    /// A definition of the section has begun.
    has_begun: bool,
}

impl Sections {
    /// Reads all parameters.
    pub fn read(&mut self, written: Vec<Written>) {
        let behind_hosts = written.iter().position(|parameter| {
            let keyword = parameter.keyword.text.as_str();
            ORDER[1].1.contains(&keyword)
        });
        let mut hosts = written;
        let rest = hosts.split_off(behind_hosts.unwrap_or(hosts.len()));
        hosts.into_iter().for_each(|parameter| self.parameter(parameter));
        self.settle_hosts();
        let rest = replicate(rest, &self.file.hosts);
        rest.into_iter().for_each(|parameter| self.parameter(parameter));
    }

    /// The definitions, and everything wrong with them.
    pub fn finish(mut self) -> (ParameterFile, Vec<Diagnostic>) {
        sd::counted(&mut self.file.sds.all);
        fsd::counted(&mut self.file.fsds.all);
        self.file.format = formatting(&mut self.file.fwds.all);
        let mut errors = self.errors;
        duplicates(&self.file.sds, &mut errors);
        duplicates(&self.file.wds, &mut errors);
        duplicates(&self.file.fsds, &mut errors);
        duplicates(&self.file.fwds, &mut errors);
        duplicates(&self.file.rds, &mut errors);
        if self.file.rds.all.is_empty() && errors.is_empty() {
            let message = "there is no run: no rd= but rd=default";
            let remedy = "add a run, such as rd=run1,wd=*,iorate=max,elapsed=30";
            errors.push(Diagnostic::nowhere("no-run", message).remedy(remedy));
        }
        (self.file, errors)
    }

    /// Hosts by label; each client is a host.
    fn settle_hosts(&mut self) {
        let mut hosts = Vec::new();
        for host in &self.file.host_definitions.all {
            let (name, at) = (&host.name.text, Some(host.name.at));
            let system = host.options.system.clone().unwrap_or_else(|| name.clone());
            match host.options.clients {
                None => hosts.push(HostName { label: name.clone(), system, at }),
                Some(clients) => hosts.extend((0..clients).map(|number| {
                    let label = format!("{name}_cl{number}");
                    HostName { label, system: system.clone(), at }
                })),
            }
        }
        if hosts.is_empty() {
            let (label, system) = ("localhost".to_owned(), "localhost".to_owned());
            let clients = self.file.host_definitions.default.options.clients;
            match clients {
                None => hosts.push(HostName { label, system, at: None }),
                Some(clients) => hosts.extend((0..clients).map(|number| HostName {
                    label: format!("{label}_cl{number}"),
                    system: system.clone(),
                    at: None,
                })),
            }
        }
        self.file.hosts = hosts;
    }

    fn parameter(&mut self, written: Written) {
        self.file.scanned.push(written.clone());
        let keyword = written.keyword.text.clone();
        if ORDER[self.section].1.contains(&keyword.as_str()) {
            let section = if keyword == "host" { "hd" } else { keyword.as_str() };
            let at = ORDER.iter().position(|(word, _)| *word == section);
            (self.section, self.has_begun) = (at.unwrap_or(self.section), false);
        }
        let file = &mut self.file;
        let begins = keyword == ORDER[self.section].0 || (keyword == "host" && self.section == 1);
        let mut reader = Definer {
            errors: &mut self.errors,
            section: self.section,
            is_default: &mut self.is_default,
            has_begun: &mut self.has_begun,
        };
        match ORDER[self.section].0 {
            "" => reader.assign(&mut file.general, written, true),
            "hd" => reader.define(&mut file.host_definitions, written, begins),
            "rg" => reader.define(&mut file.groups, written, begins),
            "sd" => reader.define(&mut file.sds, written, begins),
            "wd" => reader.define(&mut file.wds, written, begins),
            "fsd" => reader.define(&mut file.fsds, written, begins),
            "fwd" => reader.define(&mut file.fwds, written, begins),
            _ => reader.define(&mut file.rds, written, begins),
        }
    }
}

/// Reads parameters into the definition that is open.
struct Definer<'a> {
    errors: &'a mut Vec<Diagnostic>,
    section: usize,
    is_default: &'a mut bool,
    has_begun: &'a mut bool,
}

impl Definer<'_> {
    /// Begins a definition, or reads a parameter of the one that is open.
    fn define<O: Defined>(&mut self, all: &mut Definitions<O>, written: Written, begins: bool) {
        if !begins {
            if *self.has_begun {
                let is_default = *self.is_default;
                self.assign(all, written, is_default);
            } else {
                self.out_of_place(&written);
            }
            return;
        }
        let at = written.keyword.at.to(written.value.at);
        let name = Word { text: written.value.text.trim_matches('"').to_owned(), at };
        if name.text.starts_with('(') {
            let message = format!("`{}` are several names", name.text);
            let remedy = format!("begin a definition for each, or write {}=*", O::WORD);
            self.errors.push(Diagnostic::new(name.at, "name", &name.text, message).remedy(remedy));
        }
        (*self.is_default, *self.has_begun) = (name.text == DEFAULT, true);
        if *self.is_default {
            all.default.name.at = name.at;
        } else {
            all.all.push(Definition { name, ..all.default.clone() });
        }
    }

    fn out_of_place(&mut self, written: &Written) {
        let (word, at) = (&written.keyword.text, written.keyword.at);
        let message = format!("{word}= comes before any {}=", ORDER[self.section].0);
        self.errors.push(Diagnostic::new(at, "order", word, message));
    }

    /// Reads a parameter into the last definition, or into the defaults.
    fn assign<O: Defined>(&mut self, all: &mut Definitions<O>, written: Written, default: bool) {
        let last = if default { None } else { all.all.last_mut() };
        let definition = last.unwrap_or(&mut all.default);
        let Written { keyword, value } = written;
        let Some(row) = meant(&O::TABLE, &keyword.text) else {
            let diagnostic = self.unknown::<O>(&keyword);
            self.errors.push(diagnostic);
            return;
        };
        let (name_at, at) = (keyword.at, value.at);
        let text = value.text.clone();
        let assignment = Assignment { name: keyword, value: Some(value) };
        match row.apply(&mut definition.options, Some(&text)) {
            Ok(applied) => {
                let is_default = applied.is_default;
                let given = GivenOption { value: Some(text), name_at, at, is_default };
                definition.given.insert(row.name, given);
            }
            Err(refused) => self.errors.push(assignment.refused(row.name, &refused)),
        }
    }

    /// A keyword that a section does not know: perhaps another section does.
    fn unknown<O: Defined>(&self, keyword: &Word) -> Diagnostic {
        let word = keyword.text.as_str();
        let here = match O::WORD {
            "" => "the general parameters have no",
            _ => O::WHAT,
        };
        let message = match O::WORD {
            "" => format!("{here} `{word}`"),
            _ => format!("a {here} has no parameter `{word}`"),
        };
        let diagnostic = Diagnostic::new(keyword.at, "unknown-parameter", word, message);
        if let Some(at) = ORDER.iter().position(|(known, _)| *known == word && !known.is_empty()) {
            let here = ORDER[self.section].0;
            let order = "general, hd=, rg=, then sd=, wd= or fsd=, fwd=, then rd=";
            return if at < self.section {
                diagnostic
                    .remedy(format!("{word}= must come before all {here}=; the order is {order}"))
            } else {
                diagnostic.remedy(format!("the order is {order}"))
            };
        }
        let owners = owners(word);
        let diagnostic = diagnostic.nearest(O::TABLE.names());
        match (&diagnostic.nearest, owners.is_empty()) {
            (None, false) => diagnostic.remedy(format!("it belongs to {}", owners.join(" or "))),
            (None, true) if word.len() < LETTERS_MIN => diagnostic.remedy("write more of it"),
            _ => diagnostic.remedy("`candor options vdbench` has all parameters"),
        }
    }
}

/// Removes `fwd=format`, which is not a workload of a run. Defaults of other workloads do not set
/// its size.
fn formatting(fwds: &mut Vec<Definition<fwd::Fwd>>) -> Option<Definition<fwd::Fwd>> {
    let at = fwds.iter().position(|fwd| fwd.name.text == FORMAT)?;
    let mut format = fwds.remove(at);
    let own = format.given.get("xfersizes").is_some_and(|given| given.at > format.name.at);
    if !own {
        format.options.transfer_size = TransferSize::Fixed(128 << 10);
    }
    Some(format)
}

/// Definitions with a keyword that must not be abbreviated.
fn owners(word: &str) -> Vec<String> {
    fn knows<O: Defined>(word: &str) -> Option<String> {
        let name = if O::WORD.is_empty() { "the top".to_owned() } else { format!("{}=", O::WORD) };
        O::TABLE.find(word).map(|_| name)
    }
    [
        knows::<general::General>(word),
        knows::<host::Host>(word),
        knows::<sd::Sd>(word),
        knows::<wd::Wd>(word),
        knows::<fsd::Fsd>(word),
        knows::<fwd::Fwd>(word),
        knows::<rd::Rd>(word),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Names that two definitions of a kind have.
fn duplicates<O: Defined>(all: &Definitions<O>, errors: &mut Vec<Diagnostic>) {
    let mut seen = std::collections::HashSet::new();
    for Definition { name, .. } in &all.all {
        if !seen.insert(name.text.as_str()) {
            let message = format!("{}={} is defined twice", O::WORD, name.text);
            let diagnostic = Diagnostic::new(name.at, "duplicate", &name.text, message);
            errors.push(diagnostic.remedy("give one of them another name"));
        }
    }
}
