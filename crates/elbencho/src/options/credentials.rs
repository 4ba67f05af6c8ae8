//! Files and variables that the options of object stores refer to: servers, users, attempts.

use candor_front::{Diagnostic, Environment, Given, Span, Word};
use candor_plan::objects::ChecksumAlgorithm;
use candor_plan::path_text::text_of;

use super::Options;
use super::rows::endpoints;
use super::s3::{Hidden, S3Access, Secret};
use crate::paths::Scheme;

/// Text in place of a secret.
const HIDDEN: &str = "***";

/// Options with a secret in their value.
const SECRETS: [&str; 4] = ["s3secret", "s3sessiontoken", "s3credlist", "s3sseckey"];

/// Variables with the servers, the first one that is set counts.
const ENDPOINTS: [&str; 2] = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"];

/// True for an option whose value is a secret.
pub(super) fn is_secret(option: &str) -> bool {
    SECRETS.contains(&option)
}

/// Hides the value of a secret option among the given ones.
pub(super) fn hide(given: &mut Given, option: &'static str) {
    if let Some(mut hidden) = given.get(option).cloned() {
        hidden.value = Some(HIDDEN.to_owned());
        given.insert(option, hidden);
    }
}

/// The words of a command line, with secrets hidden.
pub(super) fn shown(words: Vec<Word>, secrets: &[Hidden]) -> Vec<String> {
    let texts = words.into_iter().map(|word| word.text);
    texts.map(|text| secrets.iter().fold(text, |text, secret| without(text, &secret.0))).collect()
}

fn without(text: String, secret: &str) -> String {
    match text.strip_suffix(secret) {
        Some(before) if before.is_empty() || before.ends_with('=') => format!("{before}{HIDDEN}"),
        _ => text,
    }
}

/// Reads everything about object stores, if paths are in one; returns all errors.
pub(super) fn read(
    options: &mut Options,
    given: &Given,
    schemes: &[Scheme],
    environment: &mut dyn Environment,
) -> Vec<Diagnostic> {
    let mut reader = Reader { options, given, environment, errors: Vec::new() };
    reader.store(schemes);
    reader.errors
}

struct Reader<'a> {
    options: &'a mut Options,
    given: &'a Given,
    environment: &'a mut dyn Environment,
    errors: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn store(&mut self, schemes: &[Scheme]) {
        let names_bucket = schemes.contains(&Scheme::S3);
        let names_file = schemes.contains(&Scheme::File);
        if names_bucket && names_file {
            let remedy = "give s3:// paths alone, or file:// paths";
            self.wrong("path", "paths are files and buckets", remedy);
        }
        let has_endpoints = !self.options.s3.access.endpoints.is_empty();
        self.options.s3.is_on = names_bucket || (has_endpoints && !names_file);
        let scanned = self.options.list.tree_scan.as_deref().unwrap_or_default();
        if scanned.starts_with("s3://") {
            let message = "candor does not list a bucket for --treefile yet";
            let remedy = "write a line `f BYTES KEY` per object to the file, and leave out \
                          --treescan";
            self.wrong("treescan", message, remedy);
        }
        if !self.options.s3.is_on {
            return;
        }
        if names_bucket && !has_endpoints {
            self.endpoints();
        }
        self.users();
        self.sdk();
    }

    fn wrong(&mut self, option: &str, message: impl Into<String>, remedy: &str) {
        let at = self.given.at(option).unwrap_or(Span { text: 0, start: 0, end: 0 });
        self.errors.push(Diagnostic::new(at, "s3", option, message).remedy(remedy));
    }

    /// Reads the servers of the environment.
    fn endpoints(&mut self) {
        let texts = ENDPOINTS.map(|name| (name, self.environment.variable(name)));
        let named = texts.into_iter().find_map(|(name, text)| Some((name, text?)));
        let Some((name, text)) = named.filter(|(_, text)| !text.is_empty()) else { return };
        if let Err(refused) = endpoints(self.options, &text) {
            self.wrong("path", format!("{name}: {}", refused.message), &refused.remedy);
        }
    }

    /// Reads the variables of elbencho's SDK.
    fn sdk(&mut self) {
        let requests = &mut self.options.s3.requests;
        let attempts = self.environment.variable("AWS_MAX_ATTEMPTS");
        let attempts = attempts.and_then(|text| text.parse().ok()).filter(|count| *count > 0);
        requests.attempts = attempts.unwrap_or(requests.attempts);
        let checksums = self.environment.variable("AWS_REQUEST_CHECKSUM_CALCULATION");
        let always = checksums.is_some_and(|text| text.eq_ignore_ascii_case("when_supported"));
        if always && requests.checksum.is_none() {
            requests.checksum = Some(ChecksumAlgorithm::Crc64nvme);
            requests.checksum_after = true;
        }
    }

    /// Reads the users.
    fn users(&mut self) {
        let access = self.options.s3.access.clone();
        let has_one = access.key.is_some() || access.secret.is_some() || access.token.is_some();
        let has_two = access.users_file.is_some() && access.users_list.is_some();
        if has_two || (access.has_list() && has_one) {
            let message = "users are given in several ways";
            let remedy = "give one of --s3credfile, --s3credlist, and --s3key with --s3secret";
            return self.wrong("s3key", message, remedy);
        }
        let found = if access.has_list() {
            listed(&access, self.environment)
        } else if has_one {
            one(&access, self.environment).map(|user| Users { users: vec![user], skipped: 0 })
        } else {
            return;
        };
        match found {
            Ok(found) if found.users.is_empty() => {
                let message = "the list has no user";
                self.wrong("s3credfile", message, "write a line ACCESS_KEY:SECRET_KEY");
            }
            Ok(found) => {
                let access = &mut self.options.s3.access;
                (access.users, access.users_skipped) = (found.users, found.skipped);
            }
            Err(message) => {
                self.wrong("s3key", message, "give both parts of a user, or neither");
            }
        }
    }
}

/// Users of a list.
struct Users {
    users: Vec<Secret>,
    /// Entries that are no user.
    skipped: usize,
}

/// The users of a file or a list.
fn listed(access: &S3Access, environment: &mut dyn Environment) -> Result<Users, String> {
    let text = match (&access.users_file, &access.users_list) {
        (Some(file), _) => {
            let read = environment.file(file);
            text_of(&read.map_err(|why| format!("{file} cannot be read: {why}"))?)
        }
        (None, list) => list.clone().unwrap_or_default().0.replace(',', "\n"),
    };
    let mut found = Users { users: Vec::new(), skipped: 0 };
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match line.split_once(':') {
            _ if line.starts_with('#') => {}
            Some((key, secret)) if !key.is_empty() && !secret.is_empty() => {
                let (access_key, secret) = (key.to_owned(), Hidden(secret.to_owned()));
                found.users.push(Secret { access_key, secret, token: None });
            }
            _ => found.skipped += 1,
        }
    }
    Ok(found)
}

/// The one user: a missing half comes from the environment.
fn one(access: &S3Access, environment: &dyn Environment) -> Result<Secret, String> {
    let key = access.key.clone().filter(|key| !key.is_empty());
    let key = key.or_else(|| environment.variable("AWS_ACCESS_KEY_ID"));
    let secret = access.secret.clone().filter(|secret| !secret.0.is_empty());
    let secret = secret.or_else(|| environment.variable("AWS_SECRET_ACCESS_KEY").map(Hidden));
    // A token of the environment belongs to the secret of the environment.
    let token = match (&access.token, &access.secret) {
        (None, None) => environment.variable("AWS_SESSION_TOKEN").map(Hidden),
        (token, _) => token.clone(),
    };
    match (key, secret) {
        (Some(access_key), Some(secret)) => Ok(Secret { access_key, secret, token }),
        (None, _) => Err("there is no access key: --s3key is missing".into()),
        (_, None) => Err("there is no secret key: --s3secret is missing".into()),
    }
}
