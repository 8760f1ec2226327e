//! Model providers over HTTP.
//!
//! A [`ModelName`] says whose model it is, an [`Endpoint`] where it is served and with which key,
//! a [`Provider`] talks to it. The environment is not read here: the caller passes what it holds.

mod endpoint;
mod model;
mod retry;
mod transport;

pub use endpoint::{Endpoint, EndpointError, Privacy, parse_base_url};
pub use model::{Carried, KeyVariable, ModelName, ModelNameError, Vendor};
pub use retry::{Retries, retry_after};
pub use transport::{End, Exchange, Provider, Timeouts};
