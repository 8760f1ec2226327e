//! Bytes as networks deliver them: cut anywhere.

/// Cuts `bytes` into chunks of these sizes, again and again; into one if there are none.
pub(crate) fn chunks<'b>(bytes: &'b [u8], sizes: &'b [usize]) -> impl Iterator<Item = &'b [u8]> {
    let mut rest = bytes;
    let mut sizes = sizes.iter().cycle();
    std::iter::from_fn(move || {
        let size = sizes.next().map_or(rest.len(), |size| (*size).clamp(1, rest.len().max(1)));
        let (chunk, tail) = rest.split_at(size.min(rest.len()));
        rest = tail;
        (!chunk.is_empty()).then_some(chunk)
    })
}
