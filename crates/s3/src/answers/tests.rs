use candor_http::Answer;
use proptest::prelude::*;

use super::*;
use crate::headers::{Grantee, LockMode, Permission, Tag};
use crate::requests::Versioning;

fn answer(body: &str) -> Answer {
    Answer { status: 200, body: body.as_bytes().to_vec(), ..Answer::default() }
}

fn listed(key: &str, size: u64, etag: &str) -> Listed {
    Listed { key: key.to_owned(), size, etag: etag.to_owned() }
}

#[test]
fn etags_have_no_quotes() {
    for text in ["\"e-2\"", "e-2", "W/\"e-2\""] {
        let head = format!("ETag: {text}\r\n").into_bytes();
        assert_eq!(etag(&Answer { head, ..Answer::default() }), Some("e-2"));
    }
    assert_eq!(etag(&Answer::default()), None);
}

#[test]
fn a_page_of_keys() {
    let page = list_objects(&answer(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name>\
         <Prefix>p</Prefix><IsTruncated>true</IsTruncated><EncodingType>url</EncodingType>\
         <Contents><Key>p/a+b%2Bc</Key><ETag>&#34;e1&#34;</ETag><Size>7</Size></Contents>\
         <Contents><Key>p/d</Key><ETag>&quot;e2-2&quot;</ETag><Size>8</Size>\
         <Owner><ID>x</ID></Owner></Contents>\
         <CommonPrefixes><Prefix>p/e%2F/</Prefix></CommonPrefixes>\
         <NextContinuationToken>1/t==</NextContinuationToken></ListBucketResult>",
    ))
    .unwrap();
    assert_eq!(page.objects, [listed("p/a b+c", 7, "e1"), listed("p/d", 8, "e2-2")]);
    assert_eq!(page.prefixes, ["p/e//"]);
    assert!(page.is_truncated);
    assert_eq!(page.next_token.as_deref(), Some("1/t=="));
}

#[test]
fn keys_without_an_encoding_are_kept() {
    let page = list_objects(&answer(
        "<ListBucketResult><Contents><Key>a%20b</Key></Contents></ListBucketResult>",
    ))
    .unwrap();
    assert_eq!(page.objects[0].key, "a%20b");
    let error = list_objects(&answer(
        "<ListBucketResult><Contents><Size>many</Size></Contents></ListBucketResult>",
    ))
    .unwrap_err();
    assert!(error.message.contains("<Size> is not a number: \"many\""), "{error}");
}

#[test]
fn uploads_give_ids_and_etags() {
    let body = "<InitiateMultipartUploadResult><Bucket>b</Bucket><UploadId>u/1</UploadId>\
                </InitiateMultipartUploadResult>";
    assert_eq!(upload_id(&answer(body)).unwrap(), "u/1");
    let body = " \n<?xml version=\"1.0\"?><CompleteMultipartUploadResult><ETag>\"e-2\"</ETag>\
                </CompleteMultipartUploadResult>";
    assert_eq!(completed(&answer(body)).unwrap(), "e-2");
    let body = "<CopyObjectResult><ETag>\"e\"</ETag></CopyObjectResult>";
    assert_eq!(copied(&answer(body)).unwrap(), "e");
}

#[test]
fn parts_and_open_uploads() {
    let page = list_parts(&answer(
        "<ListPartsResult><IsTruncated>false</IsTruncated><Part><PartNumber>1</PartNumber>\
         <ETag>&quot;e&quot;</ETag><Size>5</Size></Part></ListPartsResult>",
    ))
    .unwrap();
    assert_eq!(page.parts, [ListedPart { number: 1, etag: "e".to_owned(), size: 5 }]);
    let page = list_uploads(&answer(
        "<ListMultipartUploadsResult><EncodingType>url</EncodingType><Upload><Key>a+b</Key>\
         <UploadId>u+1</UploadId><Initiator><ID>x</ID></Initiator></Upload>\
         <NextKeyMarker>a+b</NextKeyMarker><NextUploadIdMarker>u+1</NextUploadIdMarker>\
         <IsTruncated>true</IsTruncated></ListMultipartUploadsResult>",
    ))
    .unwrap();
    assert_eq!(page.uploads, [OpenUpload { key: "a b".to_owned(), id: "u+1".to_owned() }]);
    assert_eq!((page.next_key.as_str(), page.next_upload.as_str()), ("a b", "u+1"));
    assert!(page.is_truncated);
}

#[test]
fn versions_and_delete_markers() {
    let page = list_versions(&answer(
        "<ListVersionsResult><Version><Key>a%2B</Key><VersionId>v1</VersionId>\
         <IsLatest>false</IsLatest><ETag>\"e\"</ETag><Size>3</Size><Owner><ID>o</ID></Owner>\
         </Version><DeleteMarker><Key>a%2B</Key><VersionId>v2</VersionId>\
         <IsLatest>true</IsLatest></DeleteMarker><EncodingType>url</EncodingType>\
         <NextKeyMarker>a%2B</NextKeyMarker><NextVersionIdMarker>v2</NextVersionIdMarker>\
         </ListVersionsResult>",
    ))
    .unwrap();
    let [first, second] = &page.versions[..] else { panic!("{page:?}") };
    assert_eq!((first.key.as_str(), first.size, first.etag.as_str()), ("a+", 3, "e"));
    assert!(!first.is_latest && !first.is_delete_marker);
    assert!(second.is_latest && second.is_delete_marker);
    assert_eq!((page.next_key.as_str(), page.next_version.as_str()), ("a+", "v2"));
}

#[test]
fn failed_keys_are_counted_by_key() {
    let failed = failed_keys(&answer(
        "<DeleteResult><Deleted><Key>a</Key></Deleted><Error><Key>b</Key>\
         <Code>AccessDenied</Code><Message>no</Message></Error></DeleteResult>",
    ))
    .unwrap();
    let [KeyError { key, code, .. }] = &failed[..] else { panic!("{failed:?}") };
    assert_eq!((key.as_str(), code.as_str()), ("b", "AccessDenied"));
    assert!(failed_keys(&answer("<DeleteResult/>")).unwrap().is_empty());
}

fn error(status: u16, code: &str) -> Answer {
    Answer { status, ..answer(&format!("<Error><Code>{code}</Code></Error>")) }
}

#[test]
fn existing_buckets_are_no_errors() {
    assert_eq!(created(&answer("")).unwrap(), Created::New);
    assert_eq!(created(&error(409, "BucketAlreadyOwnedByYou")).unwrap(), Created::Owned);
    assert_eq!(created(&error(409, "BucketAlreadyExists")).unwrap(), Created::Existing);
    assert!(created(&error(400, "InvalidBucketName")).unwrap_err().remedy().is_some());
    let names = list_buckets(&answer(
        "<ListAllMyBucketsResult><Owner><ID>o</ID></Owner><Buckets><Bucket><Name>b</Name>\
         </Bucket></Buckets></ListAllMyBucketsResult>",
    ));
    assert_eq!(names.unwrap(), ["b"]);
}

#[test]
fn settings_are_read() {
    let found = tags(&answer(
        "<Tagging><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tagging>",
    ));
    assert_eq!(found.unwrap(), [Tag { name: "k".to_owned(), value: "v".to_owned() }]);
    let body = "<AccessControlPolicy><Owner><ID>o</ID></Owner><AccessControlList><Grant>\
                <Grantee><ID>i</ID><DisplayName>d</DisplayName></Grantee>\
                <Permission>READ_ACP</Permission></Grant></AccessControlList>\
                </AccessControlPolicy>";
    let grant = Grant { grantee: Grantee::Id("i".to_owned()), permission: Permission::ReadAcp };
    assert_eq!(acl(&answer(body)).unwrap(), Acl { owner: "o".to_owned(), grants: vec![grant] });
    let error = acl(&answer(&body.replace("READ_ACP", "FLY"))).unwrap_err();
    assert!(error.message.contains("\"FLY\""), "{error}");
    assert_eq!(versioning(&answer("<VersioningConfiguration/>")).unwrap(), Versioning::Never);
    let body = "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>";
    assert_eq!(versioning(&answer(body)).unwrap(), Versioning::Enabled);
    let lock = lock(&answer(
        "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule>\
         <DefaultRetention><Mode>COMPLIANCE</Mode><Days>1</Days></DefaultRetention></Rule>\
         </ObjectLockConfiguration>",
    ))
    .unwrap();
    assert_eq!((lock.mode, lock.time), (Some(LockMode::Compliance), Some(LockTime::Days(1))));
    assert!(lock.is_enabled);
}

/// Texts that resemble documents of S3.
fn documents() -> impl Strategy<Value = String> {
    let names = "(ListBucketResult|Error|Contents|Key|Size|Version|Part|Grant|Tag|Status|Mode)";
    let pieces = prop_oneof![
        names.prop_map(|name| format!("<{name}>")),
        names.prop_map(|name| format!("</{name}>")),
        "[0-9a-z&;#%+ ]{0,5}",
    ];
    prop::collection::vec(pieces, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_document_panics(body in documents()) {
        let roots = ["ListBucketResult", "ListVersionsResult", "ListPartsResult", "Tagging",
            "ListMultipartUploadsResult", "DeleteResult", "AccessControlPolicy",
            "VersioningConfiguration", "ObjectLockConfiguration", "ListAllMyBucketsResult"];
        for text in roots.map(|root| format!("<{root}>{body}</{root}>")).iter().chain([&body]) {
            every_reader(&answer(text));
        }
    }
}

/// Reads an answer as each operation would.
fn every_reader(answer: &Answer) {
    let _ = (list_objects(answer), list_versions(answer), list_parts(answer));
    let _ = (list_uploads(answer), failed_keys(answer), acl(answer), tags(answer));
    let _ = (versioning(answer), lock(answer), list_buckets(answer), created(answer));
    let _ = (upload_id(answer), completed(answer), copied(answer));
}
