//! A line that a text cannot hold, so that nothing in the text can end it.

/// The shortest fence: long enough to be seen.
const SHORTEST: usize = 5;

/// Returns a line of equals signs, more than stand in a row anywhere in `text`.
pub(crate) fn fence(text: &str) -> String {
    let longest = text.split(|character| character != '=').map(str::len).max().unwrap_or(0);
    "=".repeat((longest + 1).max(SHORTEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_in_the_text() {
        assert_eq!(fence("no signs"), "=====");
        assert_eq!(fence("a == b\n=======\n"), "========");
    }
}
