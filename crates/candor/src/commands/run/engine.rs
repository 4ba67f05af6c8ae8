//! The engine of a run that names none, although it wants several operations in flight.

use candor_plan::{Engine, Plan, PlanPath};
use candor_record::Note;
use clap::ArgMatches;

/// An engine that was chosen, and the depth for which it was.
#[derive(Debug, PartialEq, Eq)]
pub struct Chosen {
    engine: Engine,
    depth: u32,
    place: PlanPath,
}

/// The engine that was chosen for a run by flags; none where one was named, or none is needed.
pub fn chosen(matches: &ArgMatches, plan: &Plan) -> Option<Chosen> {
    if ["FILE", "like", "engine"].into_iter().any(|name| matches.get_one::<String>(name).is_some())
    {
        return None;
    }
    let jobs = plan
        .phases
        .iter()
        .enumerate()
        .flat_map(|(nth, phase)| phase.jobs.first().map(|job| (nth, job.blocks())));
    let mut blocks = jobs.filter_map(|(nth, blocks)| Some((nth, blocks?)));
    let (nth, blocks) = blocks.find(|(_, blocks)| blocks.depth > 1 && blocks.engine.is_async())?;
    let place = PlanPath::from(format!("phase[{nth}].job[0].work.blocks.engine").as_str());
    Some(Chosen { engine: blocks.engine, depth: blocks.depth, place })
}

impl Chosen {
    /// For the report.
    pub fn note(&self) -> Note {
        let name = self.engine.name();
        let Chosen { engine, depth, .. } = self;
        let not_allowed = match engine {
            Engine::Libaio(_) => ", and io_uring is not allowed here",
            Engine::Threads => ", and neither io_uring nor aio is allowed here",
            _ => "",
        };
        Note {
            asked: format!("depth {depth} and no engine"),
            did: format!("the engine is {name}"),
            why: format!("psync keeps one operation in flight per worker{not_allowed}"),
            place: None,
        }
    }

    /// For the plan, with its place there.
    pub fn comment(&self) -> (PlanPath, String) {
        let Note { asked, did, why, .. } = self.note();
        (self.place.clone(), format!("{asked}: {did}; {why}"))
    }
}
