//! Words that tell their writer and their place.

use super::sizes::fixed;
use super::{Found, View};
use crate::blocks::{Access, Content, Fill, Format, Share};
use crate::{Bytes, PlanPath};

/// Bytes of a word.
const WORD: u64 = 8;

/// Words are all of a content, and say what they are.
pub(super) fn check_content(content: &Content, at: &PlanPath, out: &mut Found) {
    if content.fill != Fill::Words {
        return;
    }
    if content.words.is_none() {
        let message = "fill = \"words\" needs the kind of words";
        let remedy = "add words = { kind = \"offset\", seed = 1 }";
        out.error("no-words", at.key("fill"), message, remedy);
    }
    if content.compressible_percent > 0 || content.duplicate_percent > 0 {
        let message = "words are neither compressible nor alike in a given share";
        out.error("words", at.clone(), message, "remove the percentages");
    }
}

pub(super) fn check(view: &View<'_>, out: &mut Found) {
    let (blocks, at) = (view.blocks, view.key("content"));
    let writes = blocks.content.fill == Fill::Words;
    let verify = blocks.verify.as_ref().filter(|verify| verify.format == Format::Words);
    if !writes && verify.is_none() {
        return;
    }
    let size = fixed(blocks).filter(|size| size.0 > 0 && blocks.jump_size.is_none());
    let is_fixed = size.is_some_and(|size| size.0.is_multiple_of(WORD))
        && !blocks.short_last
        && !matches!(blocks.access, Access::Trace(_));
    if !is_fixed {
        let message = "words need operations of one size, a multiple of 8 bytes";
        let remedy = "give one size, without short_last, or another content";
        out.error("words", view.key("size"), message, remedy);
    }
    if let (Some(verify), Some(size)) = (verify, size.filter(|size| verify_interval(view) != *size))
    {
        let message = format!(
            "words are checked by whole operations of {size}, not by intervals of {}",
            verify.interval
        );
        let place = view.key("verify").key("interval");
        out.error("verify-interval", place, message, format!("set interval = \"{size}\""));
    }
    let others = blocks
        .verify
        .as_ref()
        .filter(|verify| writes && !matches!(verify.format, Format::Words | Format::Nothing));
    if others.is_some() {
        let message = "words are written, and something else is checked";
        let remedy = "set format = \"words\", or remove verify";
        out.error("words", view.key("verify").key("format"), message, remedy);
    }
    if verify.is_some() && !writes && blocks.mix.write > 0 {
        let message = "words are checked, and something else is written";
        out.error("words", at.key("fill"), message, "set fill = \"words\"");
    }
    if verify.is_some() && blocks.content.words.is_none() && !writes {
        let message = "blocks contain words, but their kind is not set";
        let remedy = "add content.words = { kind = \"offset\", seed = 1 }";
        out.error("no-words", view.key("verify").key("format"), message, remedy);
    }
    rank_block(view, &at.key("words").key("rank_block"), out);
}

fn verify_interval(view: &View<'_>) -> Bytes {
    view.blocks.verify.as_ref().map_or(Bytes(0), |verify| verify.interval)
}

/// The writer is known by the place only where the worker does not write it itself.
fn rank_block(view: &View<'_>, place: &PlanPath, out: &mut Found) {
    let Some(block) = view.blocks.content.words.and_then(|words| words.rank_block) else { return };
    let size = fixed(view.blocks).map_or(1, |size| size.0.max(1));
    if block.0 == 0 || !block.0.is_multiple_of(size) {
        let message = format!("a rank's block of {block} is not one or more operations");
        out.error("words", place.clone(), message, "give a multiple of the size");
    }
    if view.blocks.mix.write > 0 || view.blocks.share != Share::Whole {
        let message = "rank_block identifies the writer of data that is read anywhere in a file";
        let remedy = "remove it, or only read, with share = \"whole\"";
        out.error("words", place.clone(), message, remedy);
    }
}
