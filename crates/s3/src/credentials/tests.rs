use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use proptest::prelude::*;

use super::profile::Profile;
use super::*;

/// Variables and files of a test.
#[derive(Default)]
struct Made {
    variables: BTreeMap<&'static str, &'static str>,
    files: BTreeMap<&'static str, &'static str>,
}

impl Made {
    fn variable(mut self, name: &'static str, value: &'static str) -> Made {
        self.variables.insert(name, value);
        self
    }

    fn file(mut self, path: &'static str, text: &'static str) -> Made {
        self.files.insert(path, text);
        self.variable("HOME", "/home/u")
    }

    fn find(&self, profile: Option<&str>) -> Found {
        find(self, profile).unwrap()
    }

    fn error(&self, profile: Option<&str>) -> String {
        find(self, profile).unwrap_err().to_string()
    }
}

impl Surroundings for Made {
    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).map(|value| (*value).to_owned())
    }

    fn read(&self, path: &Path) -> io::Result<String> {
        match self.files.get(path.to_str().expect("a path")) {
            Some(&"unreadable") => Err(io::ErrorKind::PermissionDenied.into()),
            Some(text) => Ok((*text).to_owned()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

const CREDENTIALS: &str = "# keys\n[default]\naws_access_key_id = A\naws_secret_access_key=S=1\n\
                           [other]\nAWS_ACCESS_KEY_ID = B\naws_secret_access_key = T\n\
                           aws_session_token = K\nregion = from-credentials\n";
const CONFIG: &str = "[default]\nregion = eu-west-1\ns3 =\n  max_concurrent_requests = 20\n\
                      [profile other]\nregion = eu-north-1\nendpoint_url = http://e\n\
                      [profile sso]\nsso_session = x\n[profile half]\naws_access_key_id = C\n";

fn files() -> Made {
    Made::default()
        .file("/home/u/.aws/credentials", CREDENTIALS)
        .file("/home/u/.aws/config", CONFIG)
}

fn access(found: &Found) -> Option<&str> {
    found.credentials.as_ref().map(Credentials::access_key)
}

#[test]
fn secrets_are_not_printed() {
    let keys = Credentials::new("test", "A", "hidden", Some("covert")).unwrap();
    let text = format!("{keys:?}");
    assert!(text.contains("***") && !text.contains("hidden") && !text.contains("covert"), "{text}");
}

#[test]
fn keys_are_checked() {
    for (access, secret) in [("", "s"), ("a", ""), ("a b", "s"), ("a\r\nb", "s"), ("a", "s\n")] {
        let error = Credentials::new("--s3key", access, secret, None).unwrap_err().to_string();
        assert!(error.starts_with("--s3key: "), "{error}");
    }
    assert!(Secret::new("token", "a\r\nb: c").is_err());
}

#[test]
fn nothing_is_found_in_nothing() {
    assert_eq!(Made::default().find(None), Found::default());
}

#[test]
fn variables_are_first() {
    let made = files()
        .variable("AWS_ACCESS_KEY_ID", "V")
        .variable("AWS_SECRET_ACCESS_KEY", "W")
        .variable("AWS_SESSION_TOKEN", "X")
        .variable("AWS_DEFAULT_REGION", "r2")
        .variable("AWS_ENDPOINT_URL", "http://all")
        .variable("AWS_ENDPOINT_URL_S3", "http://s3");
    let found = made.find(None);
    assert_eq!((access(&found), found.origin.as_str()), (Some("V"), "environment"));
    assert!(found.credentials.as_ref().is_some_and(|keys| keys.session_token.is_some()));
    assert_eq!(found.region.as_deref(), Some("r2"));
    assert_eq!(found.endpoint.as_deref(), Some("http://s3"));
    assert_eq!(made.variable("AWS_REGION", "r1").find(None).region.as_deref(), Some("r1"));
}

#[test]
fn a_named_profile_precedes_variables() {
    let made = files().variable("AWS_ACCESS_KEY_ID", "V").variable("AWS_SECRET_ACCESS_KEY", "W");
    let found = made.find(Some("other"));
    assert_eq!(access(&found), Some("B"));
    assert_eq!(found.region.as_deref(), Some("from-credentials"));
    assert_eq!(found.endpoint.as_deref(), Some("http://e"));
    assert!(found.origin.starts_with("profile \"other\" of /home/u/.aws/credentials and "));
    assert_eq!(access(&made.variable("AWS_PROFILE", "other").find(None)), Some("V"));
}

#[test]
fn profiles_come_from_both_files() {
    let found = files().find(None);
    assert_eq!(found.credentials, Credentials::new("", "A", "S=1", None).ok());
    assert_eq!(found.region.as_deref(), Some("eu-west-1"));
    let made = files().variable("AWS_PROFILE", "other");
    assert_eq!(access(&made.find(None)), Some("B"));
    let made =
        Made::default().file("/k", CREDENTIALS).variable("AWS_SHARED_CREDENTIALS_FILE", "/k");
    assert_eq!(access(&made.find(None)), Some("A"));
}

#[test]
fn errors_name_place_and_remedy() {
    let sso = files().error(Some("sso"));
    assert!(sso.contains("sso_session needs a service") && sso.contains("export-cred"), "{sso}");
    assert!(files().error(Some("half")).contains("both needed"));
    let missing = files().variable("AWS_PROFILE", "gone").error(None);
    assert!(missing.contains("profile \"gone\"") && missing.contains("neither file"), "{missing}");
    let half = Made::default().variable("AWS_ACCESS_KEY_ID", "A").error(None);
    assert_eq!(half, "AWS_ACCESS_KEY_ID: set AWS_SECRET_ACCESS_KEY also");
    let broken = Made::default().file("/home/u/.aws/config", "[default]\nsecret\n").error(None);
    assert_eq!(broken, "/home/u/.aws/config:2: a setting has the form NAME = VALUE");
    let unreadable = Made::default().file("/home/u/.aws/config", "unreadable");
    assert!(unreadable.error(None).starts_with("/home/u/.aws/config: "));
    let keys = unreadable.variable("AWS_ACCESS_KEY_ID", "A").variable("AWS_SECRET_ACCESS_KEY", "S");
    assert_eq!(access(&keys.find(None)), Some("A"));
}

#[test]
fn lists_report_bad_lines() {
    let list = CredentialList::of_file("f", "# users\na:s1\n\n b : s:2 \nbroken\n:x\n");
    let names: Vec<&str> = list.users.iter().map(Credentials::access_key).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(list.users[1].secret_key.expose(), "s:2");
    let bad: Vec<String> = list.bad.iter().map(ToString::to_string).collect();
    assert_eq!(bad[0], "f:5: an entry has the form ACCESS:SECRET");
    assert!(bad[1].starts_with("f:6: ") && bad.len() == 2);
    let list = CredentialList::of_option("--s3credlist", "a:1,b:2,c");
    assert_eq!(list.users.len(), 2);
    assert_eq!(
        list.bad[0].to_string(),
        "--s3credlist, entry 3: an entry has the form ACCESS:SECRET"
    );
}

proptest! {
    #[test]
    fn no_file_panics(text in "([\\[\\]=# a-c:\n\t]|\\PC){0,60}", name in "[a-c]?") {
        let _ = Profile::read("f", &text, &name);
        let list = CredentialList::of_file("f", &text);
        for bad in &list.bad {
            prop_assert!(bad.to_string().starts_with("f:"));
        }
    }
}
