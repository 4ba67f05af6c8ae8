//! Buckets and objects of a benchmark, and checks of their options.

use candor_front::Host;
use candor_plan::bucket::Members;
use candor_plan::listing::{Deal, Listing};
use candor_plan::path_text::text_of;
use candor_plan::{Bytes, Member, path_of};

use super::{Listed, PathKind, Settling};
use crate::options::s3::AclOptions;

/// Buckets and their objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Store {
    /// Names of the buckets.
    pub buckets: Vec<String>,
    /// Objects by key; absent means that names follow from ranks.
    pub members: Option<Members>,
    /// Bytes of the largest object.
    pub object_bytes_max: u64,
}

/// Phases that only object stores have, in run order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorePhase {
    /// Access control lists of buckets are put.
    PutBucketAcl,
    /// Tags, versioning and locks of buckets are put.
    PutBucketSettings,
    /// Attributes of buckets are requested.
    StatBuckets,
    /// Tags, versioning and locks of buckets are read.
    GetBucketSettings,
    /// Uploads that hosts share are started.
    CreateUploads,
    /// Uploads that hosts share are completed.
    CompleteUploads,
    /// Access control lists of objects are put.
    PutObjectAcl,
    /// Tags of objects are put.
    PutObjectTags,
    /// Tags of objects are read.
    GetObjectTags,
    /// Access control lists of objects are read.
    GetObjectAcl,
    /// Buckets are listed.
    List,
    /// Each worker lists its directories.
    ListParallel,
    /// Tags of objects are deleted.
    DeleteObjectTags,
    /// All objects are deleted, many per request.
    DeleteMany,
    /// Tags of buckets are deleted, and versioning is suspended.
    DeleteBucketSettings,
    /// Access control lists of buckets are read.
    GetBucketAcl,
}

impl StorePhase {
    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            StorePhase::PutBucketAcl => "PUTBACL",
            StorePhase::PutBucketSettings => "PUTBUCKETMD",
            StorePhase::StatBuckets => "STATDIRS",
            StorePhase::GetBucketSettings => "GETBUCKETMD",
            StorePhase::CreateUploads => "MPUCREATE",
            StorePhase::CompleteUploads => "MPUCOMPL",
            StorePhase::PutObjectAcl => "PUTOBJACL",
            StorePhase::PutObjectTags => "PUTOBJMD",
            StorePhase::GetObjectTags => "GETOBJMD",
            StorePhase::GetObjectAcl => "GETOBJACL",
            StorePhase::List => "LISTOBJ",
            StorePhase::ListParallel => "LISTOBJ_P",
            StorePhase::DeleteObjectTags => "DELOBJMD",
            StorePhase::DeleteMany => "MULTIDEL",
            StorePhase::DeleteBucketSettings => "DELBUCKETMD",
            StorePhase::GetBucketAcl => "GETBACL",
        }
    }

    /// True if each entry is a bucket.
    pub fn is_of_buckets(self) -> bool {
        matches!(
            self,
            StorePhase::PutBucketAcl
                | StorePhase::PutBucketSettings
                | StorePhase::StatBuckets
                | StorePhase::GetBucketSettings
                | StorePhase::DeleteBucketSettings
                | StorePhase::GetBucketAcl
        )
    }
}

/// Most parts of an upload.
const PARTS_MAX: u64 = 10_000;

/// Length of a customer's key in base64.
const CUSTOMER_KEY_LETTERS: usize = 44;

/// True for 32 bytes in base64.
fn is_customer_key(text: &str) -> bool {
    let letters = text.strip_suffix('=').unwrap_or_default();
    let is_letter =
        letters.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(&byte));
    is_letter && text.len() == CUSTOMER_KEY_LETTERS
}

/// A path as bucket and key; the key is empty for a bucket.
struct ObjectPath<'p> {
    bucket: &'p str,
    key: &'p str,
}

impl<'p> ObjectPath<'p> {
    fn of(path: &'p str) -> ObjectPath<'p> {
        let path = path.trim_end_matches('/');
        let (bucket, key) = path.split_once('/').unwrap_or((path, ""));
        ObjectPath { bucket, key }
    }
}

impl Settling<'_> {
    /// Settles a benchmark of an object store.
    pub(super) fn store(&mut self, host: &dyn Host) {
        self.setup.path_kind = PathKind::Directory;
        self.options_of_files();
        if !self.buckets(host) {
            return;
        }
        self.sizes(&[]);
        self.objects();
        self.data();
        self.mixes();
        self.store_mixes();
        self.engine();
        self.uploads();
        self.random_objects();
        self.lists();
        self.access();
        self.settings();
        self.acl();
    }

    /// Refuses options of files, and notes what has no meaning.
    fn options_of_files(&mut self) {
        const REFUSED: [&str; 6] =
            ["strided", "mmap", "flock", "statinline", "readinline", "verifydirect"];
        const UNUSED: [&str; 9] = [
            "direct",
            "nodiocheck",
            "nofdsharing",
            "trunc",
            "trunctosize",
            "preallocfile",
            "fadv",
            "madv",
            "norandalign",
        ];
        for option in self.set_among(&REFUSED) {
            let message = format!("--{option} does not apply to objects");
            self.wrong(option, message, "remove it, or name a file or a directory");
        }
        for option in self.set_among(&UNUSED) {
            self.out.note(self.reading, option, "nothing", "it does not apply to objects");
        }
        const IDLE: [&str; 4] = ["s3nocompress", "s3targetgbps", "s3log", "s3logprefix"];
        for option in self.set_among(&IDLE) {
            let row = crate::options::TABLE.find(option);
            let why = row.map_or("", |row| row.support.reason());
            self.out.note(self.reading, option, "nothing", why);
        }
        let asked = &mut self.setup.asked;
        (asked.io.direct, asked.io.map_advice) = (false, Vec::new());
        asked.access.random_unaligned = false;
    }

    /// Reads the names of buckets and objects; false if they are wrong.
    fn buckets(&mut self, host: &dyn Host) -> bool {
        let paths = self.setup.asked.paths.clone();
        let named: Vec<ObjectPath<'_>> = paths.iter().map(|path| ObjectPath::of(path)).collect();
        let (objects, buckets): (Vec<_>, Vec<_>) =
            named.iter().partition(|path| !path.key.is_empty());
        let mut names: Vec<String> = Vec::new();
        for path in &named {
            if !names.iter().any(|name| name == path.bucket) {
                names.push(path.bucket.to_owned());
            }
        }
        let message = match (&objects[..], &buckets[..]) {
            ([_, ..], [_, ..]) => "a path is a bucket, and another one an object",
            ([_, ..], []) if names.len() > 1 => "the objects are in several buckets",
            (_, _) if names.iter().any(String::is_empty) => "a path has no name of a bucket",
            ([], all) if all.len() > names.len() => "a bucket is named twice",
            _ => "",
        };
        if !message.is_empty() {
            self.wrong("path", message, "give buckets alone, or objects of one bucket");
            return false;
        }
        self.setup.asked.paths.clone_from(&names);
        let members = match (&objects[..], self.setup.asked.list.tree_file.clone()) {
            ([], None) => None,
            ([], Some(file)) => match self.listed_in(&file, &names, host) {
                Some(members) => Some(members),
                None => return false,
            },
            (objects, None) => self.named(objects.iter().map(|path| path.key)),
            (_, Some(_)) => {
                let message = "the paths name objects, and a list names others";
                self.wrong("treefile", message, "name the bucket alone");
                return false;
            }
        };
        self.options_of_lists(members.is_some());
        let members = members.map(|objects| self.members(objects));
        self.setup.store = Some(Store { buckets: names, members, object_bytes_max: 0 });
        true
    }

    /// Notes options that have no meaning with listed objects, or without them.
    fn options_of_lists(&mut self, is_listed: bool) {
        let of_files = self.setup.asked.list.tree_file.is_some();
        let unused: &[&'static str] = match (is_listed, of_files) {
            (false, _) => &["sharesize", "treeroundup", "treerand", "treeroundrob"],
            (true, false) => &["treeroundup", "dirs", "files", "dirsharing", "rankoffset"],
            (true, true) => &["size", "dirs", "files", "dirsharing", "rankoffset"],
        };
        let why = if is_listed { "objects are listed by key" } else { "no objects are listed" };
        for option in self.set_among(unused) {
            self.out.note(self.reading, option, "nothing", why);
        }
    }

    /// Objects with these keys, each with the requested size.
    fn named<'k>(&mut self, keys: impl Iterator<Item = &'k str>) -> Option<Vec<Member>> {
        let phases = self.setup.asked.phases;
        let size = self.setup.asked.access.file_bytes.filter(|bytes| *bytes > 0);
        if size.is_none() && (phases.write || phases.read) {
            let message = "objects have no bytes to use, and no size is given";
            self.wrong("size", message, "give a size with -s");
        }
        let size = Some(Bytes(size.unwrap_or(0)));
        Some(keys.map(|key| Member { name: key.to_owned(), size }).collect())
    }

    /// Objects in a list of files; `None` if it cannot be read.
    fn listed_in(
        &mut self,
        file: &str,
        buckets: &[String],
        host: &dyn Host,
    ) -> Option<Vec<Member>> {
        let [bucket] = buckets else {
            self.wrong("treefile", "a list is of one bucket", "give one bucket");
            return None;
        };
        let round_up = Bytes(self.setup.asked.list.round_up_bytes);
        let listing = Listing { file: Some(path_of(file)), round_up, ..Listing::default() };
        match host.list(&path_of(bucket), &listing) {
            Ok(list) => {
                let files = 0..list.files() as usize;
                let members = files.map(|nth| Member {
                    name: text_of(list.file(nth)),
                    size: Some(Bytes(list.size(nth))),
                });
                Some(members.collect())
            }
            Err(error) => {
                self.wrong("treefile", error.message, error.remedy);
                None
            }
        }
    }

    /// Objects by key, and their totals.
    fn members(&mut self, objects: Vec<Member>) -> Members {
        let asked = self.setup.asked.clone();
        let share = asked.list.share_bytes.filter(|bytes| *bytes > 0);
        let share = share.unwrap_or(asked.access.block_bytes.saturating_mul(32));
        let sizes = objects.iter().filter_map(|object| object.size).map(|size| size.0);
        let sizes: Vec<u64> = sizes.collect();
        let shared = sizes.iter().filter(|bytes| **bytes >= share).count() as u64;
        let is_endless = asked.run.infinite_loop && asked.phases.write && shared > 0;
        if is_endless {
            let why = "workers that repeat their parts never complete an object together";
            self.out.note(self.reading, "infloop", "each object belongs to one worker", why);
        }
        let listing = Listing::default();
        self.setup.listed = Some(Listed {
            listing,
            dirs: 0,
            files: objects.len() as u64,
            shared_files: if is_endless { 0 } else { shared },
            bytes: sizes.into_iter().fold(0, u64::saturating_add),
        });
        let share_above = (shared > 0 && !is_endless).then_some(Bytes(share));
        let deal = if asked.list.round_robin { Deal::InTurn } else { Deal::ByBytes };
        Members { objects, share_above, deal }
    }

    /// The size of the largest object, and checks of sizes.
    fn objects(&mut self) {
        let file_bytes = self.setup.file_bytes;
        let Some(store) = &mut self.setup.store else { return };
        let sizes = store.members.iter().flat_map(|members| &members.objects);
        let sizes: Vec<u64> = sizes.filter_map(|object| object.size).map(|size| size.0).collect();
        store.object_bytes_max = sizes.iter().copied().max().unwrap_or(file_bytes);
        let is_odd = sizes.iter().any(|bytes| !bytes.is_multiple_of(8));
        if is_odd && self.setup.asked.data.verify_salt > 0 {
            let message = "objects are verified in words of 8 bytes";
            self.wrong("verify", message, "give sizes in multiples of 8");
        }
    }

    fn has_members(&self) -> bool {
        self.setup.listed.is_some()
    }

    /// Mixes of reads and writes.
    fn store_mixes(&mut self) {
        if self.is_set("rwmixpct") {
            let message = "an upload has no reads between its parts";
            self.wrong("rwmixpct", message, "let some workers read with --rwmixthr");
        }
        if self.setup.asked.mix.read_threads.is_some() && self.has_members() {
            let message = "readers and writers would use the same listed objects";
            self.wrong("rwmixthr", message, "name the bucket alone, and give -n and -N");
        }
    }

    /// Parts of uploads.
    fn uploads(&mut self) {
        let (asked, block) = (self.setup.asked.clone(), self.setup.block_bytes);
        let largest = self.setup.object_bytes_max();
        if !asked.phases.write {
            if asked.s3.requests.shares_uploads {
                let message = "no phase writes objects that hosts could share";
                self.wrong("s3mpusharing", message, "add -w");
            }
            return;
        }
        if block > 0 && largest.div_ceil(block) > PARTS_MAX {
            let message =
                format!("an object of {largest} bytes has more than {PARTS_MAX} parts of {block}");
            self.wrong("block", message, "give a larger block with -b");
        }
        if asked.access.random && largest > block {
            let why = "an upload has each part once";
            self.out.note(self.reading, "rand", "parts are uploaded from last to first", why);
        }
        let hosts = u64::from(asked.hosts.hosts());
        let shared = self.setup.listed.as_ref().map_or(0, |listed| listed.shared_files);
        if !asked.s3.requests.shares_uploads {
            if hosts > 1 && shared > 0 && !asked.hosts.own_data {
                let message = "several hosts upload parts of one object";
                self.wrong("hosts", message, "add --s3mpusharing, or use one host");
            }
            return;
        }
        let least = block.saturating_mul(asked.threads_of_all()).max(block + 1);
        let store = self.setup.store.as_ref().and_then(|store| store.members.as_ref());
        let small = store.into_iter().flat_map(|members| &members.objects);
        let small = small.filter(|object| object.size.is_some_and(|size| size.0 < least)).count();
        let (message, remedy) = if asked.hosts.list.is_empty() {
            ("no hosts share uploads".to_owned(), "add --hosts, or remove it")
        } else if shared == 0 {
            ("no object is shared".to_owned(), "name objects, such as s3://BUCKET/OBJECT[1-4]")
        } else if small > 0 {
            let message = format!("{small} objects are smaller than a part of each worker");
            (message, "give a smaller block, or larger objects")
        } else {
            return;
        };
        self.wrong("s3mpusharing", message, remedy);
    }

    /// Reads of drawn objects.
    fn random_objects(&mut self) {
        let asked = self.setup.asked.clone();
        if !asked.s3.requests.random_object {
            for option in self.set_among(&["randamount"]) {
                let why = "each worker reads its objects once, unless --s3randobj is given";
                self.out.note(self.reading, option, "nothing", why);
            }
            return;
        }
        if self.has_members() {
            let message = "objects are drawn from the trees of -n and -N";
            return self.wrong("s3randobj", message, "name the bucket alone");
        }
        if !asked.phases.read {
            let why = "no phase reads objects";
            return self.out.note(self.reading, "s3randobj", "nothing", why);
        }
        let all = self.setup.small_files_bytes();
        let bytes = asked.access.random_bytes.filter(|bytes| *bytes > 0).unwrap_or(all);
        let turn = self.setup.block_bytes.saturating_mul(asked.threads_of_data_set()).max(1);
        if bytes < turn {
            let message = format!("{bytes} bytes are less than a block of each worker");
            return self.wrong("randamount", message, "give more, or use fewer workers");
        }
        self.setup.random_bytes = bytes / turn * turn;
    }

    /// Lists and deletions of many objects.
    fn lists(&mut self) {
        let asked = self.setup.asked.s3.clone();
        let lists =
            [("s3listobj", asked.phases.list > 0), ("s3listobjpar", asked.phases.list_parallel)];
        for (option, _) in lists.into_iter().filter(|(_, wanted)| *wanted) {
            if self.has_members() {
                let message = format!("--{option} lists objects of -n and -N");
                self.wrong(option, message, "name the bucket alone");
            }
        }
        if asked.phases.list > 0 && asked.access.endpoints.is_empty() {
            self.wrong("s3listobj", "no server is named", "add --s3endpoints");
        }
        if asked.phases.list_parallel && asked.requests.prefix.contains("%%%") {
            let message = "objects of a directory have different random prefixes";
            self.wrong("s3listobjpar", message, "use --s3listobj, or a prefix without %%%");
        }
        if asked.phases.list_verify && !lists.iter().any(|(_, wanted)| *wanted) {
            let why = "--s3listobj and --s3listobjpar are not given";
            self.out.note(self.reading, "s3listverify", "nothing", why);
        }
        if asked.phases.list_parallel && self.setup.asked.tree.dirs == 0 {
            let message = "objects have no directories to list";
            self.wrong("s3listobjpar", message, "use --s3listobj, or give directories with -n");
        }
    }

    /// Servers, users, keys.
    fn access(&mut self) {
        let asked = self.setup.asked.s3.clone();
        let endpoints = &mut self.setup.asked.s3.access.endpoints;
        if asked.access.single {
            endpoints.truncate(1);
        }
        let is_tls = endpoints.iter().any(|url| url.starts_with("https://"));
        if is_tls && !asked.access.insecure && self.is_set("s3endpoints") {
            let did = "certificates are verified";
            let why = "elbencho accepts any certificate; --s3insecure does so, too";
            self.out.note(self.reading, "s3endpoints", did, why);
        }
        if asked.access.users_skipped > 0 {
            let option =
                if asked.access.users_file.is_some() { "s3credfile" } else { "s3credlist" };
            let did = format!("{} entries are left out", asked.access.users_skipped);
            self.out.note(self.reading, option, &did, "an entry is ACCESS_KEY:SECRET_KEY");
        }
        if asked.access.has_list() && self.setup.asked.phases.make_dirs {
            let option =
                if asked.access.users_file.is_some() { "s3credfile" } else { "s3credlist" };
            let why = "all users need access, and elbencho does the same";
            self.out.note(self.reading, option, "any client may read and write new buckets", why);
        }
        let requests = &asked.requests;
        let ways = [requests.sse, requests.customer_key.is_some(), requests.kms_key.is_some()];
        if ways.into_iter().filter(|wanted| *wanted).count() > 1 {
            let message = "objects are encrypted in several ways";
            self.wrong("s3sse", message, "give one of --s3sse, --s3sseckey and --s3ssekmskey");
        }
        if requests.customer_key.as_ref().is_some_and(|key| !is_customer_key(&key.0)) {
            let message = "the key is not 32 bytes in base64";
            self.wrong("s3sseckey", message, "make one with `openssl rand -base64 32`");
        }
        if requests.fast_get && self.setup.asked.data.verify_salt > 0 {
            let message = "discarded bytes cannot be verified";
            self.wrong("s3fastget", message, "remove it, or --verify");
        }
    }

    /// Tags, versioning and locks.
    fn settings(&mut self) {
        let phases = self.setup.asked.s3.phases;
        let all = [
            ("s3otagverify", "s3otag", phases.object_tags),
            ("s3btagverify", "s3btag", phases.bucket_tags),
            ("s3bversionverify", "s3bversion", phases.versioning),
            ("s3olockcfgverify", "s3olockcfg", phases.locks),
        ];
        for (option, needed, _) in all.into_iter().filter(|(.., of)| of.verify && !of.wanted) {
            let why = format!("--{needed} is not given");
            self.out.note(self.reading, option, "nothing", &why);
        }
    }

    /// Access control lists.
    fn acl(&mut self) {
        let acl = self.setup.asked.s3.acl.clone();
        let option = ["s3aclput", "s3aclputinl", "s3baclput"].into_iter().find(|o| self.is_set(o));
        let AclOptions { grantee, grantee_kind, grants, .. } = &acl;
        if let Some(option) = option.filter(|_| acl.writes() && !acl.is_canned()) {
            if grantee.is_empty() {
                let remedy = "name it with --s3aclgrantee, such as public-read";
                self.wrong(option, "an ACL has no grantee", remedy);
            } else if grantee_kind.is_none() {
                let remedy = "give --s3aclgtype, such as id";
                self.wrong(option, "the kind of grantee is unknown", remedy);
            } else if grants.is_empty() {
                let message = "the ACL grants nothing, and S3 has no request for this";
                self.wrong(option, message, "give --s3aclgrants, or --s3aclgrantee private");
            }
        }
        let gets = acl.get || acl.get_bucket;
        if acl.verify && !gets {
            let why = "--s3aclget and --s3baclget are not given";
            self.out.note(self.reading, "s3aclverify", "nothing", why);
        } else if acl.verify && (acl.is_canned() || grants.is_empty()) {
            let message = "a server's answer has grants, which a canned ACL does not list";
            let remedy = "give --s3aclgrantee, --s3aclgtype and --s3aclgrants, or remove it";
            self.wrong("s3aclverify", message, remedy);
        }
    }
}
