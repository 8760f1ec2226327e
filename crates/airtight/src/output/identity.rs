//! Ids of sessions and lines.

/// Returns a random UUID, version 4. It tells lines apart; it is no secret.
pub(crate) fn uuid() -> String {
    let bits = fastrand::u128(..) & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{bits:032x}");
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_uuids_of_version_four() {
        for _ in 0..100 {
            let id = uuid();
            let lengths: Vec<usize> = id.split('-').map(str::len).collect();
            assert_eq!(lengths, [8, 4, 4, 4, 12]);
            assert_eq!(id.as_bytes()[14], b'4');
            assert!(b"89ab".contains(&id.as_bytes()[19]));
        }
    }
}
