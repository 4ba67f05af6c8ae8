//! Invariants of every run, whatever happens, and figures of calm ones.

use std::collections::BTreeSet;

use super::*;
use crate::node::{CHILDREN_MAX, HOST_TIMEOUT_NS, STALL_NS, orphaned_ns};

/// Checks what holds at the end of any run.
fn check(ran: &Ran, agents: usize) {
    let hosts: Vec<u32> =
        ran.reply.hosts.iter().filter_map(|host| Some(host.member.as_ref()?.index)).collect();
    let distinct: BTreeSet<u32> = hosts.iter().copied().collect();
    assert_eq!(hosts.len(), distinct.len(), "a host has answered twice");
    if let [sum] = ran.reply.measurements.as_slice() {
        let expected: u64 = hosts.iter().map(|host| ops_of(*host)).sum();
        assert_eq!(sum.last_done.ops, expected, "every count once");
        assert_eq!(sum.workers as usize, hosts.len());
    }
    let lost: BTreeSet<u32> = ran.lost.iter().copied().collect();
    assert_eq!(lost.len(), ran.lost.len(), "a host was lost twice");
    let all = distinct.union(&lost).count();
    assert_eq!(all, agents, "each host has answered or is lost");
    // Whoever is alive has left the run soon after its end.
    let mut world = ran.world.borrow_mut();
    let end_ns = world.now_ns + orphaned_ns(HOST_TIMEOUT_NS) + 2000 * MS;
    while world.advance(end_ns) {}
    let left = world.agents.iter().filter(|of| of.in_run && !of.is_dead && !of.is_frozen).count();
    assert_eq!(left, 0, "agents are still in a run that has ended");
}

/// Greatest distance of a host's start from the agreed moment, clocks that jumped left out.
fn skew_ns(ran: &Ran) -> u64 {
    let world = ran.world.borrow();
    let begun = world.agents.iter().filter(|of| !of.had_step).filter_map(|of| of.begun_ns);
    begun.map(|at_ns| at_ns.abs_diff(ran.started_ns)).max().unwrap_or(0)
}

#[test]
fn a_thousand_agents_are_ready_and_started_within_two_seconds() {
    let ran = run(1000, 1, CALM, &[]);
    check(&ran, 1000);
    assert_eq!(ran.lost, [] as [u32; 0]);
    assert!(ran.started_ns < 2000 * MS, "started after {} ms", ran.started_ns / MS);
    assert!(skew_ns(&ran) <= ran.errors_ns, "{} ns apart", skew_ns(&ran));
    println!(
        "1000 agents at 1 ms: ready after {} ms, started after {} ms, {} messages",
        ran.ready_ns / MS,
        ran.started_ns / MS,
        ran.world.borrow().messages
    );
}

#[test]
fn ten_thousand_agents_run_behind_a_tree_that_keeps_the_root_small() {
    let ran = run(10_000, 2, CALM, &[]);
    check(&ran, 10_000);
    let world = ran.world.borrow();
    assert_eq!(world.root_children.len(), CHILDREN_MAX);
    let share = world.root_messages as f64 / world.messages as f64;
    assert!(share < 0.1, "{share} of all messages go through the root");
    assert!(ran.started_ns < 2000 * MS, "started after {} ms", ran.started_ns / MS);
    drop(world);
    assert!(skew_ns(&ran) <= ran.errors_ns, "{} ns apart", skew_ns(&ran));
}

#[test]
fn loss_delay_and_slow_hosts_make_a_run_late_and_nothing_else() {
    for seed in 0..20 {
        let weather = Weather {
            jitter_ns: 20 * MS,
            loss: 200,
            doubling: 50,
            slow_hosts: 20,
            phase_ns: 20 * MS,
            ..CALM
        };
        let agents = 1 + seed as usize * 17;
        let ran = run(agents, seed, weather, &[]);
        check(&ran, agents);
        if ran.lost.is_empty() {
            assert_eq!(ran.reply.measurements.len(), 1, "seed {seed}");
        }
    }
}

#[test]
fn every_run_ends_soon_whatever_fails_and_says_who() {
    let faults =
        [Fault::Killed, Fault::Frozen, Fault::Restarted, Fault::ClockStep, Fault::Panicked];
    let mut seen = BTreeSet::new();
    for seed in 0..200_u64 {
        let mut random = Random(seed * 7919);
        let agents = 2 + random.below(160) as usize;
        let fault = faults[random.below(5) as usize];
        let victim = random.below(agents as u64) as usize;
        let at_ns = random.below(700) * MS;
        let weather = Weather { jitter_ns: MS, phase_ns: 2000 * MS, ..CALM };
        let ran = run(agents, seed, weather, &[(at_ns, victim, fault)]);
        check(&ran, agents);
        let within_ns = ran.ended_ns.saturating_sub(at_ns.max(ran.started_ns));
        // Only silence needs the timeout: a closed connection ends the run at once.
        let is_silent = fault == Fault::Frozen;
        let limit_ns = if is_silent { HOST_TIMEOUT_NS + 3000 * MS } else { 5000 * MS };
        assert!(within_ns < limit_ns, "seed {seed}: {fault:?} took {} ms", within_ns / MS);
        let names_victim = ran.lost.contains(&(victim as u32));
        if fault == Fault::ClockStep {
            assert_eq!(ran.lost, [] as [u32; 0], "seed {seed}");
        } else if ran.started_ns > at_ns || ran.ended_ns > at_ns + 2000 * MS {
            assert!(names_victim, "seed {seed}: {fault:?} of {victim} at {} ms", at_ns / MS);
        }
        seen.insert((format!("{fault:?}"), ran.started_ns > 0));
    }
    assert!(seen.len() >= 7, "faults before and after the start: {seen:?}");
}

/// Moments from before the first word to after the last, in ms.
const MOMENTS_MS: [u64; 6] = [0, 20, 60, 200, 900, 2100];

#[test]
fn a_host_that_is_slow_to_answer_is_no_lost_host() {
    for (nth, at_ms) in MOMENTS_MS.iter().enumerate() {
        for stall_ms in [500, 1900, 7200, 19_000] {
            let agents = 2 + 40 * nth;
            let victim = agents / 2;
            let weather = Weather { phase_ns: 2000 * MS, ..CALM };
            let fault = (at_ms * MS, victim, Fault::Stalled(stall_ms));
            let ran = run(agents, nth as u64, weather, &[fault]);
            check(&ran, agents);
            let case = format!("{stall_ms} ms at {at_ms} ms");
            assert_eq!(ran.lost, [] as [u32; 0], "{case}");
            assert_eq!(ran.reply.hosts.len(), agents, "{case}");
            // Before its first word, a host is not there yet.
            let of_victim = ran.stalls.iter().filter(|stall| stall.host == victim as u32);
            let silent_ns = of_victim.map(|stall| stall.silent_ns).max().unwrap_or(0);
            let has_stalled = stall_ms * MS > STALL_NS + 250 * MS && *at_ms > 0;
            assert_eq!(silent_ns > 0, has_stalled, "{case}: {:?}", ran.stalls);
            if has_stalled {
                let off_ns = silent_ns.abs_diff(stall_ms * MS);
                assert!(off_ns < 300 * MS, "{case}: {:?}", ran.stalls);
            }
        }
    }
}

#[test]
fn a_host_that_is_silent_beyond_the_timeout_is_lost_and_leads_the_others_no_more() {
    let weather = Weather { phase_ns: 2000 * MS, ..CALM };
    let fault = (900 * MS, 1, Fault::Stalled(40_000));
    let ran = run(3, 1, weather, &[fault]);
    check(&ran, 3);
    assert_eq!(ran.lost, [1]);
    let lasted_ns = ran.ended_ns - 900 * MS;
    assert!(lasted_ns.abs_diff(HOST_TIMEOUT_NS) < 1000 * MS, "{} ms", lasted_ns / MS);
}
