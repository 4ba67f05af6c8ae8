//! Files of profiles: `~/.aws/credentials` and `~/.aws/config`.
//!
//! ```text
//! [default]                 # in both files
//! [NAME]                    # in credentials
//! [profile NAME]            # in config
//! setting = value
//!     nested = value        # skipped
//! ```

use super::CredentialError;

/// Settings of one profile.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Profile {
    settings: Vec<Setting>,
}

#[derive(Debug, PartialEq, Eq)]
struct Setting {
    name: String,
    value: String,
}

impl Profile {
    /// Reads a profile from the text of a file; none if the file has no such section.
    ///
    /// # Errors
    /// A section without its end, and a line of the section without `=`, with the line's number.
    pub fn read(path: &str, text: &str, name: &str) -> Result<Option<Profile>, CredentialError> {
        let mut found: Option<Profile> = None;
        let mut is_inside = false;
        for (at, line) in text.lines().enumerate() {
            let content = line.trim();
            if content.is_empty() || content.starts_with(['#', ';']) {
                continue;
            }
            if let Some(header) = content.strip_prefix('[') {
                let Some((section, _)) = header.split_once(']') else {
                    return Err(bad_line(path, at, "a section has the form [NAME]"));
                };
                is_inside = section_name(section) == name;
                if is_inside {
                    found.get_or_insert_default();
                }
            } else if let Some(profile) = found.as_mut().filter(|_| is_inside)
                && !line.starts_with([' ', '\t'])
            {
                let Some((name, value)) = content.split_once('=') else {
                    return Err(bad_line(path, at, "a setting has the form NAME = VALUE"));
                };
                let (name, value) = (name.trim().to_lowercase(), value.trim().to_owned());
                profile.settings.push(Setting { name, value });
            }
        }
        Ok(found)
    }

    /// Value of a setting, the last one if it is repeated; none if the value is empty.
    pub fn value(&self, name: &str) -> Option<&str> {
        let mut settings = self.settings.iter().rev();
        let setting = settings.find(|setting| setting.name == name)?;
        Some(setting.value.as_str()).filter(|value| !value.is_empty())
    }

    /// Adds the settings of another file, which count only if they are missing here.
    pub fn extend(&mut self, other: Profile) {
        self.settings.splice(0..0, other.settings);
    }
}

fn bad_line(path: &str, at: usize, rule: &str) -> CredentialError {
    CredentialError::new(format!("{path}:{}", at + 1), rule)
}

/// Name of the profile of a section.
fn section_name(section: &str) -> &str {
    let section = section.trim();
    let name = section.strip_prefix("profile").filter(|rest| rest.starts_with([' ', '\t']));
    name.map_or(section, str::trim)
}
