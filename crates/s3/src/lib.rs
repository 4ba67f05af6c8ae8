//! S3, Swift and WebDAV: keys and operations to signed requests, answers to values. No I/O, except
//! reading files of credentials.
