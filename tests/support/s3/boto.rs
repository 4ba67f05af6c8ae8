//! boto3, the client that servers are tested with: an independent opinion on objects.

use std::process::Command;

use super::Server;
use super::server::missing;
use crate::support::python_folder;

/// Makes `s3`, a client of the endpoint without retries, and `failure`, which gives the code of a
/// failing call. With TLS, uploads have no checksum: boto3 would append the checksum to a chunked
/// body, after which versitygw 1.8.0 sometimes misreads the next request of a kept connection.
const PRELUDE: &str = "\
import os, sys
import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

certificate = os.environ.get('CERTIFICATE')

def client(endpoint):
    return boto3.client(
        's3',
        endpoint_url=endpoint,
        region_name='us-east-1',
        aws_access_key_id=os.environ['ACCESS'],
        aws_secret_access_key=os.environ['SECRET'],
        verify=certificate,
        config=Config(
            signature_version='s3v4',
            request_checksum_calculation='when_required' if certificate else 'when_supported',
            s3={'addressing_style': 'path'},
            retries={'total_max_attempts': 1},
            proxies={},
            max_pool_connections=32,
            connect_timeout=10,
            read_timeout=20,
        ),
    )

def failure(call, **words):
    try:
        call(**words)
        return 'none'
    except ClientError as error:
        return error.response['Error']['Code']
    except Exception as error:
        return type(error).__name__

s3 = client(sys.argv[1])
";

/// Runs a script with boto3 against a server, at one of its endpoints or at a proxy of it; gives
/// standard output. `s3` is the client, `sys.argv[2:]` are the words. A sentence where boto3 is
/// missing.
pub fn boto(
    server: &Server,
    endpoint: &str,
    script: &str,
    words: &[&str],
) -> Result<String, String> {
    let python = python_folder().join("python3");
    if !python.exists() {
        return Err(missing("boto3"));
    }
    let mut command = Command::new(python);
    command.args(["-c", &format!("{PRELUDE}{script}"), endpoint]).args(words);
    command.env("ACCESS", Server::ACCESS_KEY).env("SECRET", Server::SECRET_KEY);
    if let Some(certificate) = server.certificate() {
        command.env("CERTIFICATE", certificate);
    }
    // Settings of the user do not reach the client.
    command.env("AWS_CONFIG_FILE", "/dev/null").env("AWS_SHARED_CREDENTIALS_FILE", "/dev/null");
    let ran = command.output().expect("python starts");
    let err = String::from_utf8_lossy(&ran.stderr);
    if err.contains("No module named 'boto") {
        return Err(missing("boto3"));
    }
    assert!(ran.status.success(), "boto3 against {}:\n{script}\n{err}", server.name());
    Ok(String::from_utf8(ran.stdout).expect("text"))
}
