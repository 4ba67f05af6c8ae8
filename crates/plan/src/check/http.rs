//! Blocks in objects of a bucket.

use super::access::does;
use super::{Found, View};
use crate::blocks::{Engine, Http, ObjectMode, OpenSync};
use crate::objects::UploadHeaders;
use crate::units::Direction;
use crate::{Bucket, Plan, TargetKind};

pub(super) fn check(plan: &Plan, view: &View<'_>, out: &mut Found) {
    let Engine::Http(options) = view.blocks.engine else {
        return check_others(view, out);
    };
    let at = view.key("bucket");
    match view.blocks.bucket.as_deref().map(|name| (name, plan.bucket(name))) {
        None => {
            let message = format!("job {} has the engine http, and no bucket", view.job.name);
            let remedy = "add a [[bucket]] section and name it in bucket";
            out.error("no-bucket", at, message, remedy);
        }
        Some((name, None)) => {
            let message = format!("the plan has no bucket {name}");
            out.error("no-bucket", at, message, "name a bucket of the plan");
        }
        Some((_, Some(bucket))) => check_bucket(bucket, view, out),
    }
    let mut targets = view.targets.iter();
    let names_file =
        targets.find(|of| of.kind != TargetKind::Null || !of.path.as_os_str().is_empty());
    if let Some(target) = names_file {
        let message = format!("target {} names a file, and http opens none", target.name);
        let remedy = "set kind = \"null\" at the target, and file_name to the object's key";
        out.error("http-target", view.key("engine"), message, remedy);
    }
    check_files_only(view, out);
    check_writes(view, options, out);
}

/// Bucket and headers of objects, for an engine without objects.
fn check_others(view: &View<'_>, out: &mut Found) {
    let has_headers = view.blocks.headers != UploadHeaders::default();
    let given = [("bucket", view.blocks.bucket.is_some()), ("headers", has_headers)];
    for (key, _) in given.into_iter().filter(|(_, given)| *given) {
        let message = format!("{} has no objects", view.blocks.engine.name());
        let remedy = format!("set engine = \"http\", or remove {key}");
        out.error("bucket", view.key(key), message, remedy);
    }
}

fn check_bucket(bucket: &Bucket, view: &View<'_>, out: &mut Found) {
    if bucket.prefix.digits > 0 {
        let message = "keys of blocks follow from the target's name, without a hash";
        out.error("bucket-keys", view.key("bucket"), message, "set a prefix without `{hash:N}`");
    }
    let changes = does(view, Direction::Write) || does(view, Direction::Trim);
    if changes && !bucket.keep {
        let message = format!("objects of blocks stay in bucket {} after the run", bucket.name);
        out.error("bucket-keep", view.key("bucket"), message, "set keep = true at the bucket");
    }
}

/// Settings that only files have.
fn check_files_only(view: &View<'_>, out: &mut Found) {
    let blocks = view.blocks;
    let rules = [
        ("direct", blocks.direct, "HTTP has no page cache to bypass"),
        ("zones", blocks.zones.is_some(), "objects have no zones"),
        ("durability", blocks.durability.open != OpenSync::None, "objects are not opened"),
        ("headers", blocks.headers.retention.is_some(), "blocks set no retention"),
    ];
    for (key, _, message) in rules.into_iter().filter(|(_, applies, _)| *applies) {
        out.error("http", view.key(key), message, format!("remove {key}"));
    }
}

/// A write smaller than the object replaces all of it.
fn check_writes(view: &View<'_>, options: Http, out: &mut Found) {
    if options.object_mode != ObjectMode::Range || !does(view, Direction::Write) {
        return;
    }
    let size = view.blocks.size.write.min();
    let sizes = view.targets.iter().filter_map(|target| target.size);
    if let Some(target) = sizes.max().filter(|target| *target > size) {
        let message = format!("each write of {size} replaces the one object of {target}");
        let remedy = format!("set size to {target}, or object_mode = \"block\"");
        out.warning("object-mode", view.key("size"), message, remedy);
    }
}
