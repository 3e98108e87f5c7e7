//! The connection file: where to listen and the key. Refused in one sentence where it is partial,
//! open to others, or asks for more than this machine.

use jupyter_protocol::{ConnectionInfo, Transport};
use std::fs::{self, Metadata};
use std::net::{IpAddr, TcpListener};
use std::path::{Path, PathBuf};

/// The permissions of the user beyond the defaults.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allow {
    /// Addresses that other machines reach.
    pub remote: bool,
    /// An empty key: whoever reaches the ports may run code.
    pub unsigned: bool,
}

/// A connection to this machine with free ports and a key of its own. Errors: no port is free.
pub fn fresh() -> std::io::Result<ConnectionInfo> {
    // All are held until all are known, so that they differ.
    let held = [(); 5].map(|()| TcpListener::bind("127.0.0.1:0"));
    let mut ports = [0; 5];
    for (port, listener) in ports.iter_mut().zip(&held) {
        *port = match listener {
            Ok(listener) => listener.local_addr()?.port(),
            Err(e) => return Err(e.kind().into()),
        };
    }
    let [shell_port, iopub_port, stdin_port, control_port, hb_port] = ports;
    let key = uuid::Uuid::new_v4().to_string();
    let (ip, signature_scheme) = ("127.0.0.1".into(), "hmac-sha256".into());
    let transport = Transport::TCP;
    let kernel_name = Some(super::install::NAME.into());
    Ok(ConnectionInfo {
        ip,
        transport,
        shell_port,
        iopub_port,
        stdin_port,
        control_port,
        hb_port,
        key,
        signature_scheme,
        kernel_name,
    })
}

/// Writes a connection file that only its owner can read.
pub fn write(path: &Path, info: &ConnectionInfo) -> std::io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let mut file =
        fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(&serde_json::to_vec(info)?)
}

/// A connection file as it is named: a path, or, of those that Jupyter keeps, the name or what
/// stands behind `kernel-`. Errors: a sentence that says where they are, and which came last.
pub fn find(named: &Path) -> Result<PathBuf, String> {
    if named.exists() {
        return Ok(named.into());
    }
    let folder = runtime_folder();
    let name = named.display();
    let is_bare = named.components().count() == 1;
    let mut tries =
        [format!("{name}"), format!("{name}.json"), format!("kernel-{name}.json")].into_iter();
    let found =
        tries.find_map(|n| folder.as_ref().map(|f| f.join(n)).filter(|p| is_bare && p.is_file()));
    found.ok_or_else(|| {
        let (Some(folder), newest) = (&folder, folder.as_deref().and_then(newest)) else {
            return format!("no such connection file: {name}");
        };
        let last = newest.map_or("none is there".into(), |n| format!("the newest is {n}"));
        format!(
            "no such connection file: {name}; Jupyter keeps them in {}: {last}",
            folder.display()
        )
    })
}

/// The folder in which servers put connection files.
fn runtime_folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let home = || set("HOME").map(|h| h.join(".local/share/jupyter"));
    set("JUPYTER_RUNTIME_DIR")
        .or_else(|| set("JUPYTER_DATA_DIR").or_else(home).map(|d| d.join("runtime")))
}

fn newest(folder: &Path) -> Option<String> {
    let files = fs::read_dir(folder).ok()?.flatten();
    let own = files.filter_map(|f| {
        f.file_name().into_string().ok().zip(f.metadata().and_then(|m| m.modified()).ok())
    });
    let kernels = own.filter(|(name, _)| name.starts_with("kernel-") && name.ends_with(".json"));
    kernels.max_by_key(|(_, at)| *at).map(|(name, _)| name)
}

/// Connection files have a few hundred bytes.
const LARGEST: u64 = 1 << 20;

/// Errors: a sentence that names the file.
pub fn read(path: &Path, allow: Allow) -> Result<ConnectionInfo, String> {
    let says = |what: String| format!("{}: {what}", path.display());
    let about = fs::metadata(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => format!("no such connection file: {}", path.display()),
        _ => says(e.to_string()),
    })?;
    if !about.is_file() || about.len() > LARGEST {
        return Err(says("this is no connection file".into()));
    }
    private(&about).map_err(says)?;
    let text = fs::read_to_string(path).map_err(|e| says(e.to_string()))?;
    parse(&text, allow).map_err(says)
}

/// Whoever reads the key may run code here.
fn private(about: &Metadata) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;
    // SAFETY: geteuid takes nothing and cannot fail.
    let own = unsafe { libc::geteuid() };
    if about.uid() != own && own != 0 {
        return Err("it belongs to another user, who could know the key".into());
    }
    if about.mode() & 0o077 != 0 {
        return Err(format!(
            "other users may open it (mode {:o}), and it holds the key: chmod 600",
            about.mode() & 0o777
        ));
    }
    Ok(())
}

/// Errors: a sentence without the file.
pub fn parse(text: &str, allow: Allow) -> Result<ConnectionInfo, String> {
    let info: ConnectionInfo =
        serde_json::from_str(text).map_err(|e| format!("this is no connection file: {e}"))?;
    let ports =
        [info.shell_port, info.stdin_port, info.control_port, info.hb_port, info.iopub_port];
    if info.signature_scheme != "hmac-sha256" {
        return Err(format!(
            "the signature scheme {} is not known; hmac-sha256 is",
            info.signature_scheme
        ));
    }
    if info.key.is_empty() && !allow.unsigned {
        return Err(
            "the key is empty, so anyone could run code here; --allow-unsigned permits it".into()
        );
    }
    if ports.contains(&0) {
        return Err("a port is 0".into());
    }
    match info.transport {
        Transport::TCP => {
            let address = if info.ip == "localhost" {
                Some(IpAddr::from([127, 0, 0, 1]))
            } else {
                info.ip.parse().ok()
            };
            let loopback = address.is_some_and(|a| a.is_loopback());
            if address.is_none() && info.ip != "*" {
                return Err(format!("{:?} is no IP address", info.ip));
            }
            if !loopback && !allow.remote {
                return Err(format!(
                    "{} can be reached from other machines; --allow-remote permits it",
                    info.ip
                ));
            }
        }
        Transport::IPC if info.ip.is_empty() || info.ip.contains('\0') => {
            return Err("the ip of an ipc connection is the path of its sockets".into());
        }
        Transport::IPC => {}
    }
    // A socket is bound to an address, not to a name.
    let info = match info.transport == Transport::TCP && info.ip == "localhost" {
        true => ConnectionInfo { ip: "127.0.0.1".into(), ..info },
        false => info,
    };
    // ZeroMQ wants an IPv6 address in brackets.
    let ip = if info.ip.contains(':') && info.transport == Transport::TCP {
        format!("[{}]", info.ip)
    } else {
        info.ip
    };
    Ok(ConnectionInfo { ip, ..info })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"ip":"127.0.0.1","transport":"tcp","shell_port":1,"iopub_port":2,
    "stdin_port":3,
        "control_port":4,"hb_port":5,"key":"k","signature_scheme":"hmac-sha256"}"#;

    fn refusal(text: &str) -> String {
        parse(text, Allow::default()).err().unwrap_or_default()
    }

    #[test]
    fn every_part_of_a_connection_file_is_asked_for() {
        assert_eq!(refusal(GOOD), "");
        for field in [
            "ip",
            "transport",
            "shell_port",
            "iopub_port",
            "stdin_port",
            "control_port",
            "hb_port",
            "key",
        ] {
            let broken = GOOD.replace(&format!("\"{field}\""), "\"other\"");
            assert!(refusal(&broken).contains(field), "{field}: {}", refusal(&broken));
        }
        for end in 0..GOOD.len() {
            assert!(!refusal(&GOOD[..end]).is_empty(), "cut at {end}");
        }
    }

    #[test]
    fn other_machines_and_empty_keys_need_permission() {
        let with = |from: &str, to: &str| GOOD.replace(from, to);
        assert!(refusal(&with("127.0.0.1", "0.0.0.0")).contains("--allow-remote"));
        assert!(refusal(&with("127.0.0.1", "*")).contains("--allow-remote"));
        assert!(refusal(&with("127.0.0.1", "tcp://x\\u0000")).contains("no IP address"));
        assert!(refusal(&with("\"k\"", "\"\"")).contains("--allow-unsigned"));
        assert!(refusal(&with("sha256", "md5")).contains("md5"));
        assert!(refusal(&with(":5,", ":0,")).contains("port"));
        assert!(refusal(&with(":5,", ":70000,")).contains("70000"));
        let all = Allow { remote: true, unsigned: true };
        assert!(
            parse(&with("127.0.0.1", "::").replace("\"k\"", "\"\""), all)
                .is_ok_and(|i| i.ip == "[::]")
        );
    }
}
