//! Requests outside of a measurement: bucket checks, lists, removal of objects and uploads.

use candor_http::{Answer, Buffers, Request};
use candor_plan::objects::{OPERATIONS, Retry};
use candor_record::http::FailureClass;
use candor_s3::answers::{self, Answered, Created};
use candor_s3::carrier::{Carrier, Failure, Settings, Work, address};
use candor_s3::reach::{Reach, Refusal};
use candor_s3::requests::{self, Key, ListQuery, Object, Upload, UploadsQuery, Versioning};
use candor_s3::{Headers, Login, Place};

use crate::keys::Listed;

/// Attempts of each request: no measurement suffers from a repetition.
const ATTEMPTS: u32 = 4;
/// Keys of one request that deletes several.
const BATCH: usize = 1000;

/// Result of a request outside of a measurement.
pub type Answer1<T> = Result<T, Box<Failure>>;

/// A connection for requests outside of a measurement.
pub struct Admin<'a> {
    carrier: Carrier,
    reach: &'a Reach,
}

/// One request and the reader of its answer.
struct Single<'a, T> {
    place: &'a Place,
    write: &'a dyn Fn(&mut Request),
    read: &'a dyn Fn(&Answer) -> Answered<T>,
    value: Option<T>,
}

impl<T> Buffers for Single<'_, T> {
    fn bytes(&self, _slot: usize) -> &[u8] {
        &[]
    }

    fn room(&mut self, _slot: usize) -> &mut [u8] {
        &mut []
    }
}

impl<T> Work for Single<'_, T> {
    fn row(&self, _slot: usize) -> usize {
        0
    }

    fn prefix(&self, _slot: usize) -> &str {
        ""
    }

    fn build(&mut self, _slot: usize, request: &mut Request, login: &mut Login, unix_s: u64) {
        (self.write)(request);
        login.finish(request, self.place, unix_s);
        address(request, self.place);
    }

    fn read(&mut self, _slot: usize, answer: &Answer) -> Result<u64, Box<Failure>> {
        self.value = Some((self.read)(answer)?);
        Ok(0)
    }

    fn permits(&self, _slot: usize, _failure: &Failure) -> bool {
        false
    }
}

/// A refusal of a failed request on a bucket.
pub fn refusal(action: &str, bucket: &str, failure: &Failure) -> Refusal {
    let remedy = match failure.class {
        _ if !failure.remedy.is_empty() => failure.remedy.as_str(),
        FailureClass::Lookup | FailureClass::Connect => "start the server, or correct the endpoint",
        FailureClass::Timeout | FailureClass::Reset => {
            "correct the endpoint, or raise its timeouts"
        }
        FailureClass::Tls => "set ca_file to the certificate of its issuer, or insecure = true",
        FailureClass::Denied => "correct the credentials, or ask the owner for access",
        FailureClass::Clock => "correct the clock of this host",
        _ => "check the bucket's section, or read the server's log",
    };
    Refusal::new(format!("{action} {bucket}: {}", failure.message), remedy).at(culprit(failure))
}

/// Key of the bucket's section that a failure concerns.
fn culprit(failure: &Failure) -> &'static str {
    match failure.code.as_str() {
        "" if failure.status == 0 => "endpoints",
        "AuthorizationHeaderMalformed" | "PermanentRedirect" => "region",
        "AccessDenied" | "InvalidAccessKeyId" | "SignatureDoesNotMatch" => "credentials",
        _ => "bucket",
    }
}

impl<'a> Admin<'a> {
    /// A connection to the first endpoint.
    ///
    /// # Errors
    /// The kernel has no descriptor left.
    pub fn new(reach: &'a Reach) -> Result<Admin<'a>, Refusal> {
        let carrier = Carrier::new(Settings {
            transport: &reach.transport,
            slots: 1,
            first_connection: 0,
            login: reach.login(0),
            retry: Retry { attempts: ATTEMPTS, ..Retry::default() },
            table: OPERATIONS,
            seed: 1,
        });
        let carrier = carrier.map_err(|error| {
            Refusal::new(error.to_string(), "raise the limit of open files (ulimit -n)")
        })?;
        Ok(Admin { carrier, reach })
    }

    fn ask<T>(
        &mut self,
        place: &Place,
        write: &dyn Fn(&mut Request),
        read: &dyn Fn(&Answer) -> Answered<T>,
    ) -> Answer1<T> {
        let mut single = Single { place, write, read, value: None };
        self.carrier.exchange(&mut single)?;
        Ok(single.value.expect("a request that succeeded was read"))
    }

    fn place(&self, bucket: usize) -> &'a Place {
        &self.reach.places[0][bucket]
    }

    /// Checks that a bucket exists and that the user may access it.
    ///
    /// # Errors
    /// The failure.
    pub fn head_bucket(&mut self, bucket: usize) -> Answer1<()> {
        let place = self.place(bucket);
        // A list instead of HEAD: its answer has a document that names the reason.
        let query = ListQuery { max_keys: 1, ..ListQuery::default() };
        self.ask(
            place,
            &|request: &mut Request| requests::list_objects(request, place, &query),
            &|answer| answers::list_objects(answer).map(|_| ()),
        )
    }

    /// Makes a bucket; false if it existed.
    ///
    /// # Errors
    /// The failure.
    pub fn create_bucket(&mut self, bucket: usize) -> Answer1<bool> {
        let (place, site) = (self.place(bucket), &self.reach.sites[0]);
        let none = Headers::new();
        self.ask(
            place,
            &|request: &mut Request| requests::create_bucket(request, place, site, &none),
            &|answer| answers::created(answer).map(|created| created == Created::New),
        )
    }

    /// Deletes an empty bucket.
    ///
    /// # Errors
    /// The failure.
    pub fn delete_bucket(&mut self, bucket: usize) -> Answer1<()> {
        let place = self.place(bucket);
        self.ask(
            place,
            &|request: &mut Request| requests::delete_bucket(request, place),
            &answers::check,
        )
    }

    /// Lists the objects of a bucket with a prefix, `max` at most.
    ///
    /// # Errors
    /// The failure.
    pub fn list(&mut self, bucket: usize, prefix: &str, max: u64) -> Answer1<Vec<Listed>> {
        let (place, mut all, mut token) = (self.place(bucket), Vec::new(), String::new());
        loop {
            let left = max.saturating_sub(all.len() as u64);
            let max_keys = left.min(1000) as u32;
            let query = ListQuery { prefix, token: &token, max_keys, ..ListQuery::default() };
            let page = self.ask(
                place,
                &|request: &mut Request| requests::list_objects(request, place, &query),
                &answers::list_objects,
            )?;
            let listed = page.objects.into_iter().map(|object| Listed {
                key: object.key,
                bytes: object.size,
                bucket: bucket as u32,
            });
            all.extend(listed);
            token = page.next_token.unwrap_or_default();
            if !page.is_truncated || token.is_empty() || all.len() as u64 >= max {
                return Ok(all);
            }
        }
    }

    /// Deletes objects; returns the number that the server confirmed.
    ///
    /// # Errors
    /// The failure.
    pub fn delete(&mut self, bucket: usize, keys: &[String]) -> Answer1<u64> {
        let (place, mut deleted) = (self.place(bucket), 0);
        for batch in keys.chunks(BATCH) {
            let failed = self.ask(
                place,
                &|request: &mut Request| {
                    let keys = batch.iter().map(|key| Key { key, version: None });
                    requests::delete_objects(request, place, keys, None);
                },
                &answers::failed_keys,
            )?;
            deleted += (batch.len() - failed.len()) as u64;
        }
        Ok(deleted)
    }

    /// Open uploads of a bucket with a prefix: key and id.
    ///
    /// # Errors
    /// The failure.
    pub fn uploads(&mut self, bucket: usize, prefix: &str) -> Answer1<Vec<answers::OpenUpload>> {
        let (place, mut all) = (self.place(bucket), Vec::new());
        let (mut key, mut id) = (String::new(), String::new());
        loop {
            let query = UploadsQuery {
                prefix,
                after_key: &key,
                after_upload: &id,
                ..UploadsQuery::default()
            };
            let page = self.ask(
                place,
                &|request: &mut Request| requests::list_uploads(request, place, &query),
                &answers::list_uploads,
            )?;
            let is_last = !page.is_truncated || page.uploads.is_empty();
            all.extend(page.uploads);
            (key, id) = (page.next_key, page.next_upload);
            if is_last {
                return Ok(all);
            }
        }
    }

    /// Aborts an upload. An upload that does not exist is no failure.
    ///
    /// # Errors
    /// The failure.
    pub fn abort(&mut self, bucket: usize, key: &str, id: &str) -> Answer1<()> {
        let place = self.place(bucket);
        let object = Object { place, key, version: None };
        self.ask(
            place,
            &|request: &mut Request| requests::abort_upload(request, &Upload { object, id }),
            &|answer| match answer.status {
                404 => Ok(()),
                _ => answers::check(answer),
            },
        )
    }

    /// Versioning of a bucket.
    ///
    /// # Errors
    /// The failure.
    pub fn versioning(&mut self, bucket: usize) -> Answer1<Versioning> {
        let place = self.place(bucket);
        self.ask(
            place,
            &|request: &mut Request| requests::get_versioning(request, place),
            &answers::versioning,
        )
    }

    /// Bytes of the first part of an object; 0 if the object has no parts.
    ///
    /// # Errors
    /// The failure.
    pub fn part_bytes(&mut self, bucket: usize, key: &str) -> Answer1<u64> {
        let place = self.place(bucket);
        let object = Object { place, key, version: None };
        let none = Headers::new();
        self.ask(
            place,
            &|request: &mut Request| requests::head(request, &object, Some(1), &none),
            &|answer| {
                answers::check(answer)?;
                let count =
                    answer.header("x-amz-mp-parts-count").and_then(|text| text.parse().ok());
                let length = answer.header("content-length").and_then(|text| text.parse().ok());
                Ok(count.filter(|count: &u64| *count > 1).and(length).unwrap_or(0))
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use candor_record::http::FailureClass;

    use super::*;

    #[test]
    fn refusals_have_the_remedy_and_the_key_of_the_failure() {
        let mut failure = *Failure::of_client(FailureClass::Connect, "no answer".into());
        let refused = refusal("bucket", "data", &failure);
        assert_eq!(
            (refused.message.as_str(), refused.key),
            ("bucket data: no answer", "endpoints")
        );
        failure.status = 403;
        failure.code = "AccessDenied".into();
        failure.message = "HTTP 403 AccessDenied: no; really, request X".into();
        failure.remedy = "check the policy".into();
        let refused = refusal("list bucket", "data", &failure);
        assert_eq!(refused.remedy, "check the policy");
        assert!(refused.message.ends_with("no; really, request X"), "{}", refused.message);
        assert_eq!(refused.key, "credentials");
    }
}
