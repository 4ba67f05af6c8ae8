//! Parts of the path and how they stand below each other.

use candor_plan::Work;
use candor_record::facts::{DeviceFacts, Facts, Link, TargetFacts, value};
use candor_record::fmt::column;
use candor_record::{Ceiling, Limit, LimitClass, PhaseRecord, Report};
use candor_show::describe;

use crate::parts::phase_name;

/// A part of the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// The workers, and all that lies in the process or the host's CPUs.
    Load,
    /// The page cache.
    Cache,
    /// A target of the plan, by its path.
    Target(String),
    /// A filesystem, by its mount point.
    Filesystem(String),
    /// The other end of a network.
    Remote(String),
    /// A link, by its kind and place.
    Link(String),
    /// A block device.
    Device(String),
}

/// A part with its words.
#[derive(Clone, Debug)]
pub struct Node {
    /// The part.
    pub part: Part,
    /// Distance from the workers.
    pub level: usize,
    /// Name.
    pub title: String,
    /// More of it, a short line each.
    pub lines: Vec<String>,
    /// Share of its ceiling that was used, and the same as people read it.
    pub used: Option<(f64, String)>,
    /// Results that it limited; `all results` where it limited each.
    pub limits: Option<String>,
}

impl Node {
    /// All that is to be said of the part, without its name.
    pub fn words(&self) -> String {
        let mut parts = self.lines.clone();
        parts.extend(self.used.iter().map(|(_, text)| format!("{text} used")));
        parts.extend(self.limits.iter().map(|of| format!("limits {of}")));
        parts.join("; ")
    }
}

/// All parts, and which stands above which, by their indexes.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The parts; each stands behind those above it.
    pub nodes: Vec<Node>,
    /// (upper, lower).
    pub edges: Vec<(usize, usize)>,
}

impl Graph {
    fn at(&self, part: &Part) -> Option<usize> {
        self.nodes.iter().position(|node| node.part == *part)
    }

    /// Adds a part below another one, or only the edge where the part is there.
    fn below(&mut self, upper: usize, part: Part, title: String, lines: Vec<String>) -> usize {
        let level = self.nodes[upper].level + 1;
        let at = match self.at(&part) {
            Some(at) => {
                self.sink(at, level);
                at
            }
            None => {
                let (used, limits) = (None, None);
                self.nodes.push(Node { part, level, title, lines, used, limits });
                self.nodes.len() - 1
            }
        };
        if !self.edges.contains(&(upper, at)) {
            self.edges.push((upper, at));
        }
        at
    }

    /// Moves a part down to a level at least, and all below it.
    fn sink(&mut self, at: usize, level: usize) {
        // Devices stand on each other without end only in damaged reports.
        if self.nodes[at].level >= level || level > LEVELS_MAX {
            return;
        }
        self.nodes[at].level = level;
        let lower: Vec<usize> =
            self.edges.iter().filter(|(upper, _)| *upper == at).map(|(_, lower)| *lower).collect();
        lower.into_iter().for_each(|lower| self.sink(lower, level + 1));
    }
}

/// Levels of a picture.
const LEVELS_MAX: usize = 24;
/// Targets, and devices below one device, that are drawn.
const SIDE_BY_SIDE_MAX: usize = 12;

/// The graph of a report; none where there are no facts of targets.
pub fn of(report: &Report) -> Option<Graph> {
    let facts = report.facts();
    if facts.targets.is_empty() {
        return None;
    }
    let mut graph = Graph::default();
    graph.nodes.push(Node {
        part: Part::Load,
        level: 0,
        title: "Workers".into(),
        lines: loads(report),
        used: None,
        limits: None,
    });
    let mut top = 0;
    if uses_cache(report) {
        top = graph.below(top, Part::Cache, "Page cache".into(), Vec::new());
    }
    for target in facts.targets.iter().take(SIDE_BY_SIDE_MAX) {
        self::target(&mut graph, facts, target, top);
    }
    used(&mut graph, report);
    limits(&mut graph, report);
    Some(graph)
}

/// The load of each result, alike ones once.
fn loads(report: &Report) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for phase in report.results() {
        let Some(planned) = report.plan.phases.get(phase.phase) else { continue };
        for job in &planned.jobs {
            let workers = candor_record::fmt::counted(u64::from(job.workers), "worker");
            let line = match job.blocks() {
                Some(blocks) => format!("{workers}, depth {}", blocks.depth),
                None => workers,
            };
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    if lines.len() > LOADS_MAX {
        lines.truncate(LOADS_MAX - 1);
        lines.push("and other loads".into());
    }
    lines
}

/// Loads that are told one by one.
const LOADS_MAX: usize = 3;

/// Whether any work goes through the page cache, or was answered by it.
fn uses_cache(report: &Report) -> bool {
    let is_buffered = |work: &Work| match work {
        Work::Blocks(blocks) => !blocks.direct,
        _ => false,
    };
    let mut jobs = report.plan.phases.iter().flat_map(|phase| &phase.jobs);
    let limits = || report.judged().filter_map(|(_, judged)| judged.limited_by.as_ref());
    jobs.any(|job| is_buffered(&job.work)) || limits().any(is_of_page_cache)
}

fn is_of_page_cache(limit: &Limit) -> bool {
    use Limit::{LaterPasses, Memory, NfsClientCache, PageCache, PageCacheWrites};
    matches!(limit, PageCache | PageCacheWrites | LaterPasses | Memory | NfsClientCache)
}

/// A target, its filesystems, and what is below.
fn target(graph: &mut Graph, facts: &Facts, target: &TargetFacts, top: usize) {
    let kind = describe::path_kind(target.kind).to_owned();
    let mut at =
        graph.below(top, Part::Target(target.path.clone()), target.path.clone(), vec![kind]);
    for on in target.filesystem.iter().chain(&target.held_on) {
        let lines = vec![format!("at {}", on.mount_point)];
        let part = Part::Filesystem(on.mount_point.clone());
        at = graph.below(at, part, describe::filesystem(on), lines);
    }
    if let Some(remote) = &target.remote {
        let (part, title) = (Part::Remote(remote.server.value.clone()), describe::remote(remote));
        at = graph.below(at, part, title, Vec::new());
    }
    if let Some(device) = value(&target.device).and_then(|name| facts.device(name)) {
        self::device(graph, facts, device, at);
    }
}

/// A device below its links, and those below it.
fn device(graph: &mut Graph, facts: &Facts, device: &DeviceFacts, mut at: usize) {
    if graph.nodes[at].level > LEVELS_MAX {
        return;
    }
    if device.below.is_empty() {
        let links = if device.way.is_empty() { device.link.as_slice() } else { &device.way };
        for link in links {
            at = graph.below(at, link_part(link, device), link_title(link, device), rates(link));
        }
        if let Some(remote) = &device.remote {
            let part = Part::Remote(remote.server.value.clone());
            at = graph.below(at, part, describe::remote(remote), Vec::new());
        }
    }
    let known = graph.at(&Part::Device(device.name.clone())).is_some();
    at = graph.below(at, Part::Device(device.name.clone()), device.name.clone(), of_device(device));
    if known {
        return;
    }
    for below in device.below.iter().take(SIDE_BY_SIDE_MAX) {
        if let Some(below) = facts.device(below) {
            self::device(graph, facts, below, at);
        }
    }
}

fn of_device(device: &DeviceFacts) -> Vec<String> {
    let kind = match device.array_level() {
        Some(level) => format!("{}, {level}", describe::kind(device.kind)),
        None => describe::kind(device.kind).to_owned(),
    };
    let model = value(&device.model).map(|model| model.trim().to_owned());
    let model = model.filter(|model| !model.is_empty());
    let size = Some(device.size_bytes).filter(|size| *size > 0).map(column::device_size);
    let first = [Some(kind), size].into_iter().flatten().collect::<Vec<_>>().join(", ");
    std::iter::once(first).chain(model).collect()
}

/// Devices behind one link share it.
fn link_part(link: &Link, device: &DeviceFacts) -> Part {
    let at = if link.at.is_empty() { &device.name } else { &link.at };
    Part::Link(format!("{} {at}", link.kind))
}

fn link_title(link: &Link, device: &DeviceFacts) -> String {
    if link.at.is_empty() {
        format!("{} link of {}", link.kind, device.name)
    } else {
        format!("{} link ({})", link.kind, link.at)
    }
}

fn rates(link: &Link) -> Vec<String> {
    let at_most = format!("{} at most", column::rate(link.ceiling_bytes_per_s as f64));
    vec![link.negotiated.value.clone(), at_most]
}

/// The largest share of each link's ceiling that any result used.
fn used(graph: &mut Graph, report: &Report) {
    let facts = report.facts();
    for ceiling in report.judged().flat_map(|(_, judged)| &judged.ceilings) {
        let (Some(used), Some(at)) = (ceiling.used, link_of(graph, facts, ceiling)) else {
            continue;
        };
        let node = &mut graph.nodes[at];
        if node.used.as_ref().is_none_or(|(known, _)| *known < used) {
            node.used = Some((used, column::share(used)));
        }
    }
}

/// The link that a ceiling is of.
fn link_of(graph: &Graph, facts: &Facts, ceiling: &Ceiling) -> Option<usize> {
    named_link(graph, facts, &ceiling.element)
}

/// The link that is named by its kind and devices, such as `SATA link of sda`.
fn named_link(graph: &Graph, facts: &Facts, name: &str) -> Option<usize> {
    for device in &facts.devices {
        for link in device.way.iter().chain(&device.link) {
            let kind =
                name.strip_prefix(&link.kind).and_then(|rest| rest.strip_prefix(" link of "));
            let names = kind.unwrap_or_default().split(" (").next().unwrap_or_default();
            let is_at = !link.at.is_empty() && name.ends_with(&format!("({})", link.at));
            let has_place = name.ends_with(')');
            let is_named = names.split(", ").any(|name| name == device.name);
            if is_named && (is_at || !has_place) {
                return graph.at(&link_part(link, device));
            }
        }
    }
    None
}

/// Marks the parts that limited results.
fn limits(graph: &mut Graph, report: &Report) {
    let judged: Vec<_> = report.judged().collect();
    let mut limited: Vec<(usize, Vec<String>)> = Vec::new();
    for (phase, judged) in &judged {
        let Some(at) = judged.limited_by.as_ref().and_then(|limit| home(graph, phase, limit))
        else {
            continue;
        };
        let name = phase_name(phase);
        match limited.iter_mut().find(|(known, _)| *known == at) {
            Some((_, names)) => names.push(name),
            None => limited.push((at, vec![name])),
        }
    }
    for (at, names) in limited {
        let all = names.len() == judged.len();
        let text = match (all, judged.len()) {
            (true, 1) => "the result".to_owned(),
            (true, _) => "all results".to_owned(),
            _ => names.join("; "),
        };
        graph.nodes[at].limits = Some(text);
    }
}

/// The part in which a limit lies.
fn home(graph: &Graph, phase: &PhaseRecord, limit: &Limit) -> Option<usize> {
    let facts = &phase.host().facts;
    let device = |name: &str| graph.at(&Part::Device(name.to_owned()));
    let first = |is: &dyn Fn(&Part) -> bool| graph.nodes.iter().position(|node| is(&node.part));
    let top = || first(&|part| matches!(part, Part::Device(_)));
    let filesystem = || first(&|part| matches!(part, Part::Filesystem(_)));
    let remote = || first(&|part| matches!(part, Part::Remote(_)));
    let target = || first(&|part| matches!(part, Part::Target(_)));
    let by_name = match limit {
        Limit::Link { link } => named_link(graph, facts, link),
        Limit::SharedLink { link, .. } => {
            let links = || {
                (0..graph.nodes.len()).filter(|at| {
                    let kind = format!("{link} ");
                    matches!(&graph.nodes[*at].part, Part::Link(name) if name.starts_with(&kind))
                })
            };
            links()
                .find(|node| graph.edges.iter().filter(|(upper, _)| upper == node).count() > 1)
                .or_else(|| links().next())
        }
        Limit::SerialCommands { device: name } | Limit::Temperature { device: name } => {
            device(name)
        }
        Limit::NetworkToDevice { device: name } => remote().or_else(|| device(name)),
        Limit::Network { .. } => remote(),
        Limit::ArrayMember { member, .. } | Limit::SlowMember { member, .. } => device(member),
        Limit::ParityReads { array } | Limit::PathToMembers { array } => device(array),
        Limit::PathToDevice { .. } => filesystem().or_else(target),
        Limit::Holes | Limit::UnwrittenBlocks => filesystem().or_else(target),
        Limit::HostMemory => filesystem().or_else(top),
        Limit::LoopPageCache | Limit::LoopHoles | Limit::BlankBlocks => top(),
        Limit::BurstLimiter { .. } | Limit::UnseenLimiter { .. } => bottom(graph),
        of_cache if is_of_page_cache(of_cache) => graph.at(&Part::Cache),
        _ => None,
    };
    by_name.or_else(|| match limit.class() {
        LimitClass::Filesystem => filesystem(),
        LimitClass::Array => top(),
        LimitClass::Device => bottom(graph),
        LimitClass::Link | LimitClass::Server => remote().or_else(|| bottom(graph)),
        LimitClass::Memory
        | LimitClass::Plan
        | LimitClass::Throttle
        | LimitClass::Cpu
        | LimitClass::Load
        | LimitClass::Candor => Some(0),
    })
}

/// The one device at the end of the path, or the one above all of them where there are several.
fn bottom(graph: &Graph) -> Option<usize> {
    let is_device = |at: &usize| matches!(graph.nodes[*at].part, Part::Device(_));
    let is_end = |at: &usize| graph.edges.iter().all(|(upper, _)| upper != at);
    let mut ends = (0..graph.nodes.len()).filter(|at| is_device(at) && is_end(at));
    match (ends.next(), ends.next()) {
        (Some(end), None) => Some(end),
        (None, _) => None,
        _ => (0..graph.nodes.len()).find(is_device),
    }
}
