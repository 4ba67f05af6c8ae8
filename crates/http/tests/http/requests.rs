//! Requests, settings and buffers of tests.

use candor_http::{Buffers, Client, Method, Piece, Request, Settings, Transport};

/// Settings with one endpoint.
pub fn settings(url: &str) -> Settings {
    Settings { endpoints: vec![url.parse().unwrap()], ..Settings::default() }
}

/// A client of a new transport.
pub fn client(settings: Settings, slots: usize) -> Client {
    Client::new(&Transport::new(settings).unwrap(), slots, 0).unwrap()
}

/// A request for a resource.
pub fn get(target: &str) -> Request {
    let mut request = Request { target: target.to_owned(), ..Request::default() };
    request.header("Host", "store");
    request
}

/// An upload.
pub fn put(pieces: Vec<Piece>, own: &[u8]) -> Request {
    let mut request = Request { method: Method::Put, pieces, own: own.to_vec(), ..get("/key") };
    let length = request.length().to_string();
    request.header("Content-Length", &length);
    request
}

/// One buffer for all slots.
pub struct OneBuffer(pub Vec<u8>);

impl Buffers for OneBuffer {
    fn bytes(&self, _slot: usize) -> &[u8] {
        &self.0
    }

    fn room(&mut self, _slot: usize) -> &mut [u8] {
        &mut self.0
    }
}
