//! The memory that arrays may take, unless the user says: 0.8 of what the machine, the cgroup and
//! the shell allow.

use std::fs;

const SHARE: f64 = 0.8;
/// The bytes that are taken for granted when nothing can be found out.
const GUESS: u64 = 4 << 30;

/// Bytes for `Budget::new`.
pub fn default_budget() -> u64 {
    let known = [available(), cgroup(), address_space()];
    let least = known.into_iter().flatten().min().unwrap_or(GUESS);
    (least as f64 * SHARE) as u64
}

/// `MemAvailable` in `/proc/meminfo`.
fn available() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// The least limit of the groups this process is in, version 2 and 1.
fn cgroup() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let paths = groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, kind, path) = (parts.next()?, parts.next()?, parts.next()?);
        match kind {
            "" => Some(("/sys/fs/cgroup", path, "memory.max")),
            "memory" => Some(("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes")),
            _ => None,
        }
    });
    // Inside a container the group is mounted as the root.
    let files = paths
        .flat_map(|(root, path, file)| [format!("{root}{path}/{file}"), format!("{root}/{file}")]);
    files.filter_map(|f| fs::read_to_string(f).ok()?.trim().parse().ok()).min()
}

/// Bytes of memory that this process has now.
pub fn resident() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    // SAFETY: a number about the machine is asked for, nothing else.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    pages.checked_mul(u64::try_from(size).ok()?)
}

/// The same after what was given back to the allocator is given back to the machine.
pub fn trimmed() -> u64 {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: glibc's allocator looks for free pages under its own locks.
    unsafe {
        libc::malloc_trim(0);
    }
    resident().unwrap_or(0)
}

fn address_space() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a whole rlimit that the call may fill.
    let done = unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) };
    (done == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_something_sensible() {
        let bytes = default_budget();
        assert!(bytes > 1 << 20 && bytes < 1 << 50, "{bytes}");
    }
}
