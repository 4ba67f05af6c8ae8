//! Ranks of tools that MPI launches: threads of this host, of a launcher's hosts, or of those that
//! candor's own words name in front of the tool's.

use std::ffi::OsString;

use candor_fleet::{FleetOptions, Identity};
use candor_front::{Nodes, ranks};
use clap::Arg;

use super::Complaints;
use super::hosts::Hosts as Paths;
use super::launch::{self, Launch, Led as Launched};
use super::lead::{Led, lead};
use crate::flag::{self, Flag, Group, Takes, put_some};
use crate::hosts::{self, Hosts};

/// The number of ranks, as it is written.
const RANKS: &[Group<Option<String>>] = &[Group {
    title: "Ranks",
    flags: &[Flag {
        long: "ranks",
        takes: Takes::One("N"),
        help: "Number of ranks, each a thread; hosts have as many each [default: $CANDOR_RANKS, \
               else one on each host]",
        fields: &[],
        set: |ranks, text| put_some(ranks, Ok(text.to_owned())),
    }],
}];

/// Words of a tool, and the hosts that have its ranks.
pub struct Ranked {
    /// The words with the number of ranks, the program's name first.
    pub argv: Vec<OsString>,
    /// The hosts, where this one does not have all ranks.
    pub hosts: Option<RankHosts>,
}

/// Hosts that have the ranks of a tool.
pub struct RankHosts {
    /// How they let us in.
    pub identity: Identity,
    /// Where they are, in the order of their ranks.
    pub options: FleetOptions,
    /// Ranks on each of them.
    ranks_per_host: u32,
    agents: Agents,
}

/// Agents that end with the run.
enum Agents {
    /// This process is one of those that a launcher has started on all hosts.
    Launched { _launch: Box<Launch> },
    /// The user has named hosts, of which this one need not be one.
    Named { _led: Box<Led> },
}

impl RankHosts {
    /// Number of hosts.
    pub fn count(&self) -> u32 {
        self.options.hosts.len() as u32
    }

    /// Description for the tool.
    pub fn nodes(&self) -> Nodes {
        Nodes {
            count: self.count(),
            ranks_each: self.ranks_per_host,
            elsewhere: self.first_elsewhere().map(str::to_owned),
        }
    }

    /// Looks at paths of the hosts, where this one need not be among them.
    ///
    /// # Errors
    /// One of them cannot be reached, or refuses, in a sentence.
    pub fn paths(&self) -> Result<Option<Paths>, String> {
        match self.agents {
            Agents::Launched { .. } => Ok(None),
            Agents::Named { .. } => Paths::join(&self.identity, &self.options).map(Some),
        }
    }

    /// The first host's name, where this one need not be among them.
    pub fn first_elsewhere(&self) -> Option<&str> {
        match self.agents {
            Agents::Launched { .. } => None,
            Agents::Named { .. } => self.options.hosts.first().map(String::as_str),
        }
    }
}

/// Candor's own words in front of those of a tool, for completions and manual pages.
pub fn args() -> impl Iterator<Item = Arg> {
    flag::args(RANKS).into_iter().chain(flag::args(hosts::FLAGS))
}

/// The same as lines of a help.
pub fn help() -> String {
    let listed = flag::listed(RANKS) + &flag::listed(hosts::FLAGS);
    format!(
        "\n\
             candor's own options, before all others:\n\
             {listed}"
    )
}

/// The ways to ranks, and candor's own words for them, as Markdown.
pub fn page(tool: &str) -> String {
    let rows = flag::rows(RANKS) + &flag::rows(hosts::FLAGS);
    format!(
        "MPI is not needed: `candor {tool} --ranks N …`, or `CANDOR_RANKS=N`, sets the number of \
         tasks, which are threads of this host.\n\
         `candor {tool} --hosts a,b --ranks N …` divides them equally among these hosts; an \
         [agent](how-to/many-hosts.md) runs on each, and files are\n\
         on the hosts. Launch lines such as `mpirun -n 4 {tool} …` (Open MPI, MPICH, `srun`) work on one \
         host and on several: the first process of\n\
         each host has the tasks of its host as threads, on all CPUs that the launcher may use, \
         and the others end at once.\n\
         \n\
         | candor's own options, before all others | |\n\
         | --- | --- |\n\
         {rows}"
    )
}

/// Takes candor's own words, and finds the hosts; else the exit code of a process that
/// has nothing more to do, or of ranks that cannot be had.
pub fn ranked(argv: &[OsString], complaints: Complaints<'_>) -> Result<Ranked, u8> {
    let complain = |sentence: String| complaints.sentence(&sentence);
    let mut argv = argv.to_owned();
    let (ranks, hosts) = taken(&mut argv).map_err(complain)?;
    let is_named = hosts.is_given() && !(hosts.launched && launch::is_launched());
    if is_named {
        let Some(led) = lead(&hosts).map_err(complain)? else { return Err(0) };
        let (count, asked) = (led.options.hosts.len() as u32, ranks.or_else(of_environment));
        let ranks = asked.unwrap_or_else(|| count.to_string());
        let ranks_per_host = per_host(&ranks, count).map_err(complain)?;
        put(&mut argv, Some(ranks));
        let options = FleetOptions { at_once: true, ..led.options.clone() };
        let identity = led.identity.clone();
        let agents = Agents::Named { _led: Box::new(led) };
        let hosts = Some(RankHosts { identity, options, ranks_per_host, agents });
        return Ok(Ranked { argv, hosts });
    }
    put(&mut argv, ranks);
    let Launched { argv, fleet } = launch::led(&argv, &hosts, complaints)?;
    let hosts = fleet.map(|launch| RankHosts {
        identity: launch.identity.clone(),
        options: launch.options.clone(),
        ranks_per_host: launch.ranks_per_host,
        agents: Agents::Launched { _launch: Box::new(launch) },
    });
    Ok(Ranked { argv, hosts })
}

/// Takes candor's own words from behind the program's name, in whatever order.
fn taken(argv: &mut Vec<OsString>) -> Result<(Option<String>, Hosts), String> {
    let (mut ranks, mut hosts) = (None, Hosts::default());
    while let Some(taken) = flag::take_first(RANKS, argv, &mut ranks)
        .or_else(|| flag::take_first(hosts::FLAGS, argv, &mut hosts))
    {
        taken?;
    }
    hosts.check()?;
    Ok((ranks, hosts))
}

/// Puts the number of ranks where the tool's reader takes it from.
fn put(argv: &mut Vec<OsString>, ranks: Option<String>) {
    if let Some(ranks) = ranks {
        argv.splice(1..1, [ranks::FLAG.into(), ranks.into()]);
    }
}

fn of_environment() -> Option<String> {
    std::env::var(ranks::VARIABLE).ok().filter(|ranks| !ranks.is_empty())
}

/// Ranks of each host; what is no number is left to the tool's reader.
fn per_host(ranks: &str, hosts: u32) -> Result<u32, String> {
    let all: u32 = ranks.parse().unwrap_or(hosts);
    if all.is_multiple_of(hosts) {
        return Ok(all / hosts);
    }
    let below = all / hosts * hosts;
    let either =
        if below > 0 { format!("{below} or {}", below + hosts) } else { hosts.to_string() };
    Err(format!("{all} ranks cannot be dealt to {hosts} hosts alike; give --ranks {either}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of ranks and the hosts, as they are written.
    type Taken = Result<(Option<String>, Vec<String>), String>;

    fn of(words: &str) -> (Taken, String) {
        let mut argv: Vec<OsString> = words.split(' ').map(Into::into).collect();
        let taken = taken(&mut argv).map(|(ranks, hosts)| (ranks, hosts.list));
        let rest: Vec<String> = argv.iter().map(|word| word.display().to_string()).collect();
        (taken, rest.join(" "))
    }

    #[test]
    fn own_words_stand_in_front_in_any_order() {
        let both = |ranks: &str, hosts: &[&str]| {
            Ok((Some(ranks.to_owned()), hosts.iter().map(|host| (*host).to_owned()).collect()))
        };
        for (words, rest) in [
            ("ior --hosts a,b --ranks 4 -w", "ior -w"),
            ("ior --ranks=4 --keys k --hosts=a,b -w --hosts c", "ior -w --hosts c"),
            ("ior --hosts a --ssh --hosts b --ranks 4 -- -w", "ior -- -w"),
        ] {
            assert_eq!(of(words), (both("4", &["a", "b"]), rest.into()), "{words}");
        }
        assert_eq!(of("ior -w --ranks 4").0, Ok((None, Vec::new())));
        for (words, why) in [
            ("ior --hosts", "--hosts has no value"),
            ("ior --hosts a,a", "host a is named twice: its agent is a:4730; --hosts HOST,…"),
            ("ior --keys k -w", "no host is named"),
            ("ior --launched --hosts a -w", "--launched takes the hosts of the launcher"),
            ("ior --ssh --launched -w", "--launched takes agents that the launcher has started"),
        ] {
            let wrong = of(words).0.expect_err(words);
            assert!(wrong.starts_with(why), "{wrong}");
        }
    }

    #[test]
    fn ranks_are_dealt_to_hosts_alike() {
        assert_eq!((per_host("16", 2), per_host("3", 3)), (Ok(8), Ok(1)));
        assert_eq!(per_host("x", 2), Ok(1), "the reader tells of it");
        let wrong = |ranks, hosts| per_host(ranks, hosts).expect_err("not alike");
        assert!(wrong("7", 2).ends_with("cannot be dealt to 2 hosts alike; give --ranks 6 or 8"));
        assert!(wrong("1", 2).ends_with("give --ranks 2"));
        assert_eq!(per_host("0", 2), Ok(0), "the reader tells of it");
    }

    #[test]
    fn every_own_word_is_in_the_help() {
        let help = help();
        let names: Vec<String> =
            args().filter_map(|arg| arg.get_long().map(str::to_owned)).collect();
        assert!(names.len() > 5 && names.iter().all(|name| help.contains(&format!("--{name}"))));
    }
}
