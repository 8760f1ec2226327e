//! How many programs run at once.
//!
//! Each agent CLI takes 150 to 500 MB and, while it starts, a core for seconds. More of them than
//! the machine holds would end each other; so they take seats, and who finds none waits. Other
//! processes are not asked: each has seats of its own.

use std::fs;
use std::sync::LazyLock;

use tokio::sync::{Semaphore, SemaphorePermit};

/// The memory that one is reckoned to take.
const MEMORY_BYTES: u64 = 512 * 1024 * 1024;

/// How many share a core: most of the time they wait for a model.
const SEATS_PER_CORE: usize = 4;

static SEATS: LazyLock<Semaphore> = LazyLock::new(|| {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Semaphore::new(count(cores, available_bytes()))
});

/// A seat, which is given back when it is dropped.
pub(crate) type Seat = SemaphorePermit<'static>;

/// Takes a seat if one is free, so that who finds none can be told that it waits.
pub(crate) fn free_seat() -> Option<Seat> {
    SEATS.try_acquire().ok()
}

/// Returns the seat that was `free`, else waits for one. The semaphore is never closed, so there
/// always comes one.
pub(super) async fn take(free: Option<Seat>) -> Option<Seat> {
    match free {
        Some(seat) => Some(seat),
        None => SEATS.acquire().await.ok(),
    }
}

/// Returns how many seats there are; one at least.
fn count(cores: usize, available_bytes: Option<u64>) -> usize {
    let by_memory = available_bytes.map(|bytes| usize::try_from(bytes / MEMORY_BYTES));
    let by_memory = by_memory.and_then(Result::ok).unwrap_or(usize::MAX);
    cores.saturating_mul(SEATS_PER_CORE).min(by_memory).clamp(1, Semaphore::MAX_PERMITS)
}

/// Returns how much memory programs can still take, by the machine and by the container; none if
/// neither says.
fn available_bytes() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|table| available(&table));
    let container = fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let container = container.and_then(|limit| limit.trim().parse().ok());
    machine.into_iter().chain(container).min()
}

fn available(table: &str) -> Option<u64> {
    let line = table.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Returns how many seats there are here.
#[cfg(test)]
pub(super) fn all() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    count(cores, available_bytes())
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    const GIB: u64 = 1024 * 1024 * 1024;

    #[test_case(2, Some(64 * GIB) => 8; "cores are short")]
    #[test_case(64, Some(4 * GIB) => 8; "memory is short")]
    #[test_case(2, Some(0) => 1; "one at least")]
    #[test_case(2, None => 8; "memory is not known")]
    fn seats_are_limited_by_what_is_short(cores: usize, available_bytes: Option<u64>) -> usize {
        count(cores, available_bytes)
    }

    #[test]
    fn available_memory_is_read_from_the_table() {
        let table = "MemTotal:       24683452 kB\nMemAvailable:   2048 kB\nBuffers: 1 kB\n";
        assert_eq!(available(table), Some(2 * 1024 * 1024));
        assert_eq!(available("MemTotal: 1 kB\n"), None);
    }
}
