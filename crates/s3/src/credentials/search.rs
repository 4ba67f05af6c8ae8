//! The search for keys, region and endpoint in variables and files, as AWS's tools do it.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::profile::Profile;
use super::{CredentialError, Credentials};

/// Settings of profiles that need a service to get keys.
const INDIRECT: [&str; 5] =
    ["role_arn", "sso_session", "sso_start_url", "credential_process", "web_identity_token_file"];

/// Variables and files of a process.
pub trait Surroundings {
    /// Value of an environment variable.
    fn variable(&self, name: &str) -> Option<String>;

    /// Text of a file.
    ///
    /// # Errors
    /// Errors of the file system; a text that is no UTF-8.
    fn read(&self, path: &Path) -> io::Result<String>;
}

/// Variables of this process, and files of this host.
#[derive(Clone, Copy, Debug)]
pub struct Host;

impl Surroundings for Host {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn read(&self, path: &Path) -> io::Result<String> {
        std::fs::read_to_string(path)
    }
}

/// Result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Keys; none if no place has any.
    pub credentials: Option<Credentials>,
    /// Place of the keys, for messages; empty without keys.
    pub origin: String,
    /// `AWS_REGION`, `AWS_DEFAULT_REGION`, or `region` of the profile.
    pub region: Option<String>,
    /// `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, or `endpoint_url` of the profile.
    pub endpoint: Option<String>,
}

/// Searches for keys: in a profile if its name is given; else in variables, then in the profile
/// `AWS_PROFILE`, then in the profile `default`.
///
/// # Errors
/// One key without the other; a profile that no file has, or that needs a service to get keys; a
/// file that cannot be read, unless variables have keys.
pub fn find(at: &dyn Surroundings, profile: Option<&str>) -> Result<Found, CredentialError> {
    let search = Search { at };
    let variables = search.keys_of_variables()?;
    let from_variables = variables.is_some() && profile.is_none();
    let settings = search.profile(profile);
    let settings = if from_variables { settings.unwrap_or_default() } else { settings? };
    let keys = if from_variables { variables } else { settings.keys()? };
    let region = search.first(&["AWS_REGION", "AWS_DEFAULT_REGION"]);
    let endpoint = search.first(&["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"]);
    let origin = if from_variables { "environment" } else { &settings.place };
    Ok(Found {
        origin: keys.as_ref().map(|_| origin.to_owned()).unwrap_or_default(),
        credentials: keys,
        region: region.or_else(|| settings.value("region")),
        endpoint: endpoint.or_else(|| settings.value("endpoint_url")),
    })
}

/// Settings of a profile, with its place.
#[derive(Default)]
struct Settings {
    profile: Profile,
    place: String,
}

impl Settings {
    fn value(&self, name: &str) -> Option<String> {
        self.profile.value(name).map(str::to_owned)
    }

    fn keys(&self) -> Result<Option<Credentials>, CredentialError> {
        let access = self.profile.value("aws_access_key_id");
        let secret = self.profile.value("aws_secret_access_key");
        let token = self.profile.value("aws_session_token");
        if access.is_some() || secret.is_some() {
            let (access, secret) = (access.unwrap_or_default(), secret.unwrap_or_default());
            return Credentials::new(&self.place, access, secret, token).map(Some);
        }
        match INDIRECT.iter().find(|name| self.profile.value(name).is_some()) {
            Some(name) => {
                let remedy = "export keys: `aws configure export-credentials --format env`";
                let rule = format!("{name} needs a service to get keys; {remedy}");
                Err(CredentialError::new(&self.place, rule))
            }
            None => Ok(None),
        }
    }
}

struct Search<'a> {
    at: &'a dyn Surroundings,
}

impl Search<'_> {
    /// Value of a variable that is set and not empty.
    fn variable(&self, name: &str) -> Option<String> {
        self.at.variable(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    fn first(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.variable(name))
    }

    fn keys_of_variables(&self) -> Result<Option<Credentials>, CredentialError> {
        const NAMES: [&str; 2] = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];
        let token = self.variable("AWS_SESSION_TOKEN");
        match NAMES.map(|name| self.variable(name)) {
            [Some(access), Some(secret)] => {
                Credentials::new(NAMES[0], &access, &secret, token.as_deref()).map(Some)
            }
            [None, None] => Ok(None),
            [None, Some(_)] => Err(CredentialError::new(NAMES[1], "set AWS_ACCESS_KEY_ID also")),
            [Some(_), None] => {
                Err(CredentialError::new(NAMES[0], "set AWS_SECRET_ACCESS_KEY also"))
            }
        }
    }

    /// Settings of a profile in both files; the file of credentials decides.
    fn profile(&self, requested: Option<&str>) -> Result<Settings, CredentialError> {
        let requested = requested.map(str::to_owned).or_else(|| self.variable("AWS_PROFILE"));
        let name = requested.as_deref().unwrap_or("default");
        let credentials = self.path("AWS_SHARED_CREDENTIALS_FILE", "credentials");
        let config = self.path("AWS_CONFIG_FILE", "config");
        let mut found: Option<Profile> = None;
        for path in [&credentials, &config].into_iter().flatten() {
            if let Some(profile) = self.read(path, name)? {
                found.get_or_insert_default().extend(profile);
            }
        }
        let paths: Vec<String> =
            [credentials, config].iter().flatten().map(|path| path.display().to_string()).collect();
        let paths = paths.join(" and ");
        let place = format!("profile {name:?} of {paths}");
        if found.is_none() && requested.is_some() {
            return Err(CredentialError::new(place, "neither file has the profile"));
        }
        Ok(Settings { profile: found.unwrap_or_default(), place })
    }

    /// Path in a variable, or of a file in `~/.aws`.
    fn path(&self, variable: &str, name: &str) -> Option<PathBuf> {
        let given = self.variable(variable).map(PathBuf::from);
        given.or_else(|| Some(PathBuf::from(self.variable("HOME")?).join(".aws").join(name)))
    }

    fn read(&self, path: &Path, name: &str) -> Result<Option<Profile>, CredentialError> {
        let shown = path.display().to_string();
        match self.at.read(path) {
            Ok(text) => Profile::read(&shown, &text, name),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(CredentialError::new(shown, error.to_string())),
        }
    }
}
