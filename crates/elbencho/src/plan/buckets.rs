//! Buckets of a plan.

use candor_plan::bucket::{Addressing, CredentialSource, Existing, KeyPrefix, Keys};
use candor_plan::{Bucket, Bytes};

use super::tree;
use crate::setup::{PhaseKind, Setup, Store};

/// Prefix of the names of buckets with all objects that exist.
const ALL: &str = "all of ";

/// Least number of `%` that stand for digits.
const DIGITS_MIN: usize = 3;

/// Each bucket with the objects of the benchmark, and, for the deletion of all objects, with the
/// objects that exist.
pub(super) fn buckets(setup: &Setup) -> Vec<Bucket> {
    let Some(store) = &setup.store else { return Vec::new() };
    let of_plan = store.buckets.iter().map(|name| bucket(setup, store, name));
    let mut all: Vec<Bucket> = of_plan.collect();
    if setup.asked.s3.phases.delete_many > 0 {
        let existing: Vec<Bucket> = all.iter().map(everything).collect();
        all.extend(existing);
    }
    all
}

/// Names of the buckets that a phase uses.
pub(super) fn names(setup: &Setup, kind: PhaseKind) -> Vec<String> {
    let names = setup.store.iter().flat_map(|store| &store.buckets);
    let of_all = kind == PhaseKind::OfStore(crate::setup::StorePhase::DeleteMany);
    names.map(|name| if of_all { format!("{ALL}{name}") } else { name.clone() }).collect()
}

fn bucket(setup: &Setup, store: &Store, name: &str) -> Bucket {
    let access = &setup.asked.s3.access;
    let users = access.users.iter().map(|user| user.access_key.clone());
    Bucket {
        name: name.to_owned(),
        bucket: name.to_owned(),
        prefix: prefix(&setup.asked.s3.requests.prefix),
        keys: match &store.members {
            Some(members) => Keys::Members(members.clone()),
            None => Keys::Tree(Box::new(tree::shape(setup))),
        },
        endpoints: access.endpoints.clone(),
        region: access.region.clone(),
        addressing: if access.virtual_host { Addressing::VirtualHost } else { Addressing::Path },
        credentials: match access.users[..] {
            [] => CredentialSource::Environment,
            _ => CredentialSource::Given(users.collect()),
        },
        insecure: access.insecure,
        keep: true,
        overwrite: true,
        ..Bucket::default()
    }
}

/// The same bucket with all objects that exist below the literal begin of the prefix.
fn everything(bucket: &Bucket) -> Bucket {
    Bucket {
        name: format!("{ALL}{}", bucket.name),
        prefix: KeyPrefix::literal(&bucket.prefix.before),
        keys: Keys::Existing(Existing::default()),
        ..bucket.clone()
    }
}

/// Replaces a run of `%` by as many digits.
fn prefix(text: &str) -> KeyPrefix {
    let Some((before, rest)) = text.split_once("%%%") else { return KeyPrefix::literal(text) };
    let after = rest.trim_start_matches('%');
    let digits = DIGITS_MIN + rest.len() - after.len();
    let (before, after) = (before.to_owned(), after.to_owned());
    // The reader of the option allows 16 digits.
    KeyPrefix { before, digits: digits as u8, after }
}

/// Largest number of bytes that divides blocks and objects.
pub(super) fn interval(setup: &Setup) -> Bytes {
    let members = setup.store.iter().filter_map(|store| store.members.as_ref());
    let sizes = members.flat_map(|members| &members.objects).filter_map(|object| object.size);
    Bytes(sizes.map(|size| size.0).fold(super::content::interval(setup).0, super::content::gcd))
}
