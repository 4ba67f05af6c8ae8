use proptest::prelude::*;

use super::*;
use crate::answers::{check, completed, copied, list_objects, upload_id};

fn answer(status: u16, head: &str, body: &str) -> Answer {
    let (head, body) = (head.as_bytes().to_vec(), body.as_bytes().to_vec());
    Answer { status, head, body, ..Answer::default() }
}

fn of_code(status: u16, code: &str) -> AnswerError {
    let body = format!("<Error><Code>{code}</Code><Message>m.</Message></Error>");
    AnswerError::of(&answer(status, "", &body))
}

#[test]
fn an_error_document_is_read() {
    let body = "<?xml version=\"1.0\"?>\n<Error><Code>AuthorizationHeaderMalformed</Code>\
                <Message>the region is wrong; expecting &apos;eu-west-1&apos;.</Message>\
                <Region>eu-west-1</Region><RequestId>R1</RequestId><Resource>/b</Resource></Error>";
    let error = AnswerError::of(&answer(400, "", body));
    assert_eq!((error.class, error.region.as_deref()), (Class::Client, Some("eu-west-1")));
    assert_eq!(
        error.to_string(),
        "HTTP 400 AuthorizationHeaderMalformed: the region is wrong; expecting 'eu-west-1' (/b), \
         request R1"
    );
    assert_eq!(error.remedy().as_deref(), Some("use region eu-west-1"));
}

#[test]
fn classes_follow_status_and_code() {
    for (status, code, class, retryable) in [
        (503, "SlowDown", Class::Throttled, true),
        (429, "", Class::Throttled, true),
        (509, "", Class::Throttled, false),
        (503, "ServiceUnavailable", Class::Server, true),
        (500, "InternalError", Class::Server, true),
        (501, "NotImplemented", Class::Server, false),
        (404, "NoSuchKey", Class::Missing, false),
        (403, "AccessDenied", Class::Denied, false),
        (403, "RequestTimeTooSkewed", Class::Clock, false),
        (301, "PermanentRedirect", Class::Redirected, false),
        (307, "TemporaryRedirect", Class::Redirected, false),
        (412, "PreconditionFailed", Class::Precondition, false),
        (400, "RequestTimeout", Class::Client, true),
        (409, "OperationAborted", Class::Client, false),
        (200, "InternalError", Class::InsideSuccess, true),
    ] {
        let error = of_code(status, code);
        assert_eq!((error.class, error.is_retryable()), (class, retryable), "{status} {code}");
    }
}

#[test]
fn wait_times_come_in_seconds_and_as_dates() {
    let seconds = AnswerError::of(&answer(503, "Retry-After: 7\r\n", ""));
    assert_eq!(seconds.retry_after, Some(Duration::from_secs(7)));
    assert_eq!(seconds.class, Class::Throttled);
    let head =
        "Date: Fri, 24 May 2013 00:00:00 GMT\r\nRetry-After: Fri, 24 May 2013 00:01:00 GMT\r\n";
    let date = AnswerError::of(&answer(503, head, ""));
    assert_eq!(date.retry_after, Some(Duration::from_secs(60)));
    assert_eq!(AnswerError::of(&answer(503, "Retry-After: soon\r\n", "")).retry_after, None);
}

#[test]
fn other_bodies_give_their_first_line() {
    let error = AnswerError::of(&answer(503, "", "\n  too many connections\nbye"));
    assert_eq!((error.message.as_str(), error.class), ("too many connections", Class::Server));
    let page = AnswerError::of(&answer(502, "", "<html><h1>Bad Gateway</h1></html>"));
    assert_eq!(page.to_string(), "HTTP 502: bad gateway");
    let head = AnswerError::of(&answer(404, "", ""));
    assert_eq!(head.to_string(), "HTTP 404: not found");
    let redirect = AnswerError::of(&answer(301, "x-amz-bucket-region: eu-north-1\r\n", ""));
    assert_eq!(redirect.remedy().as_deref(), Some("use region eu-north-1"));
}

#[test]
fn errors_inside_success_are_errors() {
    let error = "<Error><Code>InternalError</Code><Message>try again</Message></Error>";
    for status in [200, 500] {
        let answer = answer(status, "", error);
        for read in [completed, copied, upload_id] {
            let error = read(&answer).unwrap_err();
            let class = if status == 200 { Class::InsideSuccess } else { Class::Server };
            assert_eq!((error.class, error.is_retryable()), (class, true));
        }
    }
}

#[test]
fn another_document_is_malformed() {
    let error = list_objects(&answer(200, "", "<html></html>")).unwrap_err();
    assert_eq!(error.class, Class::Malformed);
    assert_eq!(error.to_string(), "HTTP 200: the body is no ListBucketResult: found <html>");
    let error = upload_id(&answer(200, "", "<InitiateMultipartUploadResult/>")).unwrap_err();
    assert!(error.message.contains("<UploadId> is missing"), "{error}");
}

#[test]
fn common_codes_have_remedies() {
    for code in ["InvalidAccessKeyId", "SignatureDoesNotMatch", "NoSuchBucket", "EntityTooSmall"] {
        assert!(of_code(400, code).remedy().is_some(), "{code}");
    }
    assert_eq!(of_code(404, "NoSuchKey").remedy(), None);
}

proptest! {
    #[test]
    fn no_answer_panics(
        status in 0u16..1000,
        head in any::<String>(),
        body in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let mut answer = answer(status, &head, "");
        answer.body = body;
        let _ = AnswerError::of(&answer).to_string();
        let _ = (check(&answer), completed(&answer), list_objects(&answer));
    }
}
