use candor_http::Answer;

use super::*;

fn answer(body: &str) -> Answer {
    Answer { status: 200, body: body.as_bytes().to_vec(), ..Answer::default() }
}

fn listed(key: &str, size: u64, etag: &str) -> Listed {
    Listed { key: key.to_owned(), size, etag: etag.to_owned() }
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
