//! Answers about tags, access control lists, versioning and locks.

use candor_http::Answer;

use super::{Answered, Collect, number, read};
use crate::headers::{Grantee, LockMode, Permission, Tag};
use crate::requests::Versioning;
use crate::xml::Element;

/// Reads tags.
///
/// # Errors
/// An error of the server (`NoSuchTagSet` for a bucket without tags); another body.
pub fn tags(answer: &Answer) -> Answered<Vec<Tag>> {
    read::<Tagging>(answer).map(|Tagging { tags, .. }| tags)
}

#[derive(Default)]
struct Tagging {
    tags: Vec<Tag>,
    name: String,
    value: String,
}

impl Collect for Tagging {
    const ROOT: &'static str = "Tagging";

    fn take(&mut self, element: &Element<'_>) -> Result<(), String> {
        let Tagging { tags, name, value } = self;
        match (element.parent, element.name) {
            ("Tag", "Key") => element.text.clone_into(name),
            ("Tag", "Value") => element.text.clone_into(value),
            ("TagSet", "Tag") => {
                tags.push(Tag { name: std::mem::take(name), value: std::mem::take(value) });
            }
            _ => {}
        }
        Ok(())
    }
}

/// A right in an access control list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Receiver.
    pub grantee: Grantee,
    /// Right.
    pub permission: Permission,
}

/// An access control list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acl {
    /// Id of the owner.
    pub owner: String,
    /// Rights.
    pub grants: Vec<Grant>,
}

/// Reads an access control list.
///
/// # Errors
/// An error of the server; another body.
pub fn acl(answer: &Answer) -> Answered<Acl> {
    read::<AclReader>(answer).map(|AclReader { acl, .. }| acl)
}

#[derive(Default)]
struct AclReader {
    acl: Acl,
    grantee: Option<Grantee>,
    permission: Option<Permission>,
}

impl Collect for AclReader {
    const ROOT: &'static str = "AccessControlPolicy";

    fn take(&mut self, element: &Element<'_>) -> Result<(), String> {
        let AclReader { acl, grantee, permission } = self;
        let text = element.text.trim();
        match (element.parent, element.name) {
            ("Owner", "ID") => acl.owner = text.to_owned(),
            ("Grantee", "ID") => *grantee = Some(Grantee::Id(text.to_owned())),
            ("Grantee", "EmailAddress") => *grantee = Some(Grantee::Email(text.to_owned())),
            ("Grantee", "URI") => *grantee = Some(Grantee::Group(text.to_owned())),
            ("Grant", "Permission") => {
                let known = Permission::ALL.into_iter().find(|one| one.name() == text);
                *permission = Some(known.ok_or_else(|| format!("unknown permission {text:?}"))?);
            }
            (_, "Grant") => match (grantee.take(), permission.take()) {
                (Some(grantee), Some(permission)) => acl.grants.push(Grant { grantee, permission }),
                _ => return Err("<Grant> needs a grantee and a permission".to_owned()),
            },
            _ => {}
        }
        Ok(())
    }
}

/// Reads the state of versioning.
///
/// # Errors
/// An error of the server; another body.
pub fn versioning(answer: &Answer) -> Answered<Versioning> {
    read::<State>(answer).map(|State { versioning }| versioning)
}

#[derive(Default)]
struct State {
    versioning: Versioning,
}

impl Collect for State {
    const ROOT: &'static str = "VersioningConfiguration";

    fn take(&mut self, element: &Element<'_>) -> Result<(), String> {
        if element.name == "Status" {
            self.versioning = match element.text.trim() {
                "Enabled" => Versioning::Enabled,
                "Suspended" => Versioning::Suspended,
                other => return Err(format!("unknown status {other:?}")),
            };
        }
        Ok(())
    }
}

/// Time of a default lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockTime {
    /// Days after the creation of an object.
    Days(u32),
    /// Years after the creation of an object.
    Years(u32),
}

/// Lock of a bucket's new objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lock {
    /// The bucket can lock objects.
    pub is_enabled: bool,
    /// Mode of new objects; none without a default.
    pub mode: Option<LockMode>,
    /// Time of new objects; none without a default.
    pub time: Option<LockTime>,
}

/// Reads the lock of a bucket.
///
/// # Errors
/// An error of the server (`ObjectLockConfigurationNotFoundError` without a lock); another body.
pub fn lock(answer: &Answer) -> Answered<Lock> {
    read::<LockReader>(answer).map(|LockReader { lock }| lock)
}

#[derive(Default)]
struct LockReader {
    lock: Lock,
}

impl Collect for LockReader {
    const ROOT: &'static str = "ObjectLockConfiguration";

    fn take(&mut self, element: &Element<'_>) -> Result<(), String> {
        let lock = &mut self.lock;
        match element.name {
            "ObjectLockEnabled" => lock.is_enabled = element.text.trim() == "Enabled",
            "Mode" => {
                lock.mode = Some(match element.text.trim() {
                    "GOVERNANCE" => LockMode::Governance,
                    "COMPLIANCE" => LockMode::Compliance,
                    other => return Err(format!("unknown mode {other:?}")),
                });
            }
            "Days" => lock.time = Some(LockTime::Days(number(element)?)),
            "Years" => lock.time = Some(LockTime::Years(number(element)?)),
            _ => {}
        }
        Ok(())
    }
}
