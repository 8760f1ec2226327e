//! Every tool on real files, shells and sockets, called as the model calls them.

mod fetching;
mod files;
mod shell;
