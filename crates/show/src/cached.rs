//! Page of `candor cache`: files in the page cache, and what stayed that should not.

#[cfg(test)]
mod tests;

use candor_record::fmt::column::{share, size};
use candor_record::fmt::{counted, exact};
use candor_record::{CacheAction, CacheState, Cached, CachedFile, Mapper};

use crate::layout::{Align, Cell, Page, Table};
use crate::style::{Style, Tone};

/// Files that are told by themselves; the document for machines has all.
const FILES_MAX: usize = 50;
/// Explanations of one kind that are told by themselves.
const REASONS_MAX: usize = 20;

/// The page.
pub fn text(cached: &Cached, style: &Style) -> String {
    let mut page = Page::new(style);
    page.paragraph("", &headline(cached));
    files(&mut page, cached);
    reasons(&mut page, cached, |file| match (cached.action, &file.rest) {
        (CacheAction::Status, _) => mapped(&file.mapped_by),
        (CacheAction::Evict, Some(why)) => {
            Some(format!("{} stay in memory: {why}", size(file.rest_bytes)))
        }
        (CacheAction::Warm, Some(why)) => Some(format!("{} missing: {why}", size(file.rest_bytes))),
        (_, None) => None,
    });
    reasons(&mut page, cached, |file| file.trouble.clone());
    for aside in asides(cached) {
        page.blank();
        page.aside("", &aside);
    }
    page.finish()
}

fn headline(cached: &Cached) -> String {
    let unknown = cached.files.iter().filter(|file| file.state.is_none()).count();
    let known = cached.files.len() - unknown;
    let mut sentences = Vec::new();
    if cached.interrupted {
        sentences.push("Interrupted.".to_owned());
    }
    if known > 0 || unknown == 0 {
        sentences.push(outcome(cached, &counted(known as u64, "file")));
    }
    if unknown > 0 {
        sentences.push(format!("Unknown: {}.", counted(unknown as u64, "file")));
    }
    sentences.join(" ")
}

/// A sentence about the files that could be looked at.
fn outcome(cached: &Cached, files: &str) -> String {
    let total = cached.total;
    let (all, rest) = (size(total.size_bytes), size(cached.rest_bytes));
    let (was, is) = (size(cached.before.resident_bytes), size(total.resident_bytes));
    match (cached.action, cached.rest_bytes) {
        (CacheAction::Status, _) => {
            format!("{is} of {all} in {files} are in the page cache{}.", unwritten(&total))
        }
        (CacheAction::Evict, 0) => {
            format!("{files}, {all}: evicted; {was} were in the page cache.")
        }
        (CacheAction::Evict, _) => {
            format!("{files}, {all}: {rest} stay in the page cache, of {was}.")
        }
        (CacheAction::Warm, 0) => {
            format!("{files}, {all}: loaded into the page cache; {was} were there before.")
        }
        (CacheAction::Warm, _) => format!("{files}, {all}: {rest} are not in the page cache."),
    }
}

fn unwritten(state: &CacheState) -> String {
    let parts: Vec<String> =
        [("dirty", state.dirty_bytes), ("being written", state.writeback_bytes)]
            .into_iter()
            .filter_map(|(what, bytes)| Some(format!("{} {what}", size(bytes.filter(|b| *b > 0)?))))
            .collect();
    if parts.is_empty() { String::new() } else { format!(", {}", parts.join(", ")) }
}

/// The table: the files with the most in memory where there are many, and all of them together.
fn files(page: &mut Page, cached: &Cached) {
    let mut known: Vec<(&CachedFile, CacheState)> =
        cached.files.iter().filter_map(|file| Some((file, file.state?))).collect();
    if known.is_empty() {
        return;
    }
    let others = known.len().saturating_sub(FILES_MAX);
    if others > 0 {
        // Stable, so that equal ones stay in the order of their names.
        known.sort_by_key(|(_, state)| std::cmp::Reverse(state.resident_bytes));
        known.truncate(FILES_MAX);
    }
    let right = ["size", "in memory", "", "dirty", "writeback"].map(|name| (name, Align::Right));
    let mut table = Table::new(&[&right[..], &[("file", Align::Left)]].concat());
    for (file, state) in &known {
        table.row(row(state, file.path.clone()));
    }
    if known.len() > 1 {
        table.row(row(&cached.total, "together".to_owned()));
    }
    page.blank();
    for line in table.lines(page.style) {
        page.line(&line);
    }
    if others > 0 {
        let files = counted(others as u64, "other file");
        page.aside("", &format!("{files} with less in memory: --json FILE has all files."));
    }
}

fn row(state: &CacheState, name: String) -> Vec<Cell> {
    let part = state.resident_bytes as f64 / state.size_bytes as f64;
    let known = |bytes: Option<u64>| bytes.map_or("?".to_owned(), size);
    vec![
        size(state.size_bytes).into(),
        size(state.resident_bytes).into(),
        if state.size_bytes == 0 { Cell::default() } else { share(part).into() },
        known(state.dirty_bytes).into(),
        known(state.writeback_bytes).into(),
        name.into(),
    ]
}

fn mapped(by: &[Mapper]) -> Option<String> {
    let names: Vec<String> =
        by.iter().map(|mapper| format!("{} ({})", mapper.command, mapper.pid)).collect();
    (!names.is_empty()).then(|| format!("mapped by {}", names.join(", ")))
}

/// Reasons of single files.
fn reasons(page: &mut Page, cached: &Cached, reason: impl Fn(&CachedFile) -> Option<String>) {
    let reasons: Vec<_> =
        cached.files.iter().filter_map(|file| Some((file, reason(file)?))).collect();
    if reasons.is_empty() {
        return;
    }
    page.blank();
    for (file, reason) in reasons.iter().take(REASONS_MAX) {
        let name = page.style.paint(Tone::Strong, &file.path);
        page.paragraph("  ", &format!("{name}: {reason}"));
    }
    if let Some(more) = reasons.len().checked_sub(REASONS_MAX).filter(|more| *more > 0) {
        let files = counted(more as u64, "other file");
        page.aside("  ", &format!("and {files}: --json FILE has all files."));
    }
}

fn asides(cached: &Cached) -> Vec<String> {
    let mut asides = Vec::new();
    if cached.total.dirty_bytes.is_none() {
        asides.push(
            "Dirty and writeback bytes are unknown: this kernel has no cachestat (since Linux \
             6.5)."
                .to_owned(),
        );
    }
    if !cached.mounts_left_out.is_empty() {
        let places = cached.mounts_left_out.join(", ");
        asides.push(format!("Skipped, because other filesystems are mounted on them: {places}."));
    }
    let matters = cached.action == CacheAction::Status || cached.rest_bytes > 0;
    if cached.processes_unseen > 0 && matters && cached.action != CacheAction::Warm {
        let processes = exact(cached.processes_unseen);
        asides.push(format!("Processes with mappings hidden from this user: {processes}."));
    }
    asides
}
