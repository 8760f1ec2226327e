//! A real PostgreSQL on a free loopback port, in a temporary folder.
//!
//! Tests run in processes of their own, and share one server: every user holds a shared lock on a
//! file, and a keeper ends the server when it gets that lock for itself. The kernel drops the locks
//! of processes that are killed, so no server outlives its tests.

use std::fs::{self, File};
use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

/// A server, and the lock that keeps it.
pub(crate) struct Server {
    folder: PathBuf,
    port: u16,
    _user: File,
}

static SHARED: OnceLock<Server> = OnceLock::new();

/// Ends when nobody holds the lock for two seconds: with it held, nobody can begin to use the server.
const KEEPER: &str = r#"
folder=$1; shift
exec 9<"$folder/users"
while :; do
  flock -x 9; flock -u 9; sleep 2
  flock -xn 9 && break
done
"$@" -D "$folder/data" -m immediate -w stop
rm -rf "$folder/data" "$folder/port"
"#;

impl Server {
    /// Returns the server that all tests share.
    pub(crate) fn shared() -> &'static Self {
        SHARED.get_or_init(|| {
            let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
            let name = target.to_string_lossy().replace('/', "-");
            Self::in_folder(std::env::temp_dir().join(format!("airtight-postgres{name}")))
        })
    }

    /// Returns a server for one test, which it may restart.
    pub(crate) fn own() -> Self {
        let name = format!("airtight-postgres-{}", fastrand::u64(..));
        Self::in_folder(std::env::temp_dir().join(name))
    }

    fn in_folder(folder: PathBuf) -> Self {
        fs::create_dir_all(&folder).unwrap();
        let user = File::create(folder.join("users")).unwrap();
        user.lock_shared().unwrap();
        let start = File::create(folder.join("start")).unwrap();
        start.lock().unwrap();
        let port = running(&folder).unwrap_or_else(|| launch(&folder));
        Self { folder, port, _user: user }
    }

    /// Makes an empty database and returns its URL.
    pub(crate) fn database(&self) -> String {
        let name = format!("t{}", fastrand::u64(..));
        // Databases are copied from one that must not be in use: one at a time.
        let making = File::create(self.folder.join("making")).unwrap();
        making.lock().unwrap();
        let port = self.port.to_string();
        let arguments =
            ["-h", "127.0.0.1", "-p", &port, "-U", "postgres", "-T", "template0", &name];
        let done = Command::new(program("createdb")).args(arguments).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        format!("postgres://postgres@127.0.0.1:{port}/{name}")
    }

    /// Returns the port.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Cuts every connection, and is back in a moment.
    pub(crate) fn restart(&self) {
        let data = self.folder.join("data");
        let mut command = as_server("pg_ctl");
        command.arg("-D").arg(data).args(["-m", "immediate", "-w", "restart"]);
        let done = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        assert!(done.success());
    }
}

impl Drop for Server {
    /// Ends a server of one test; the shared one is never dropped, and is its keeper's.
    fn drop(&mut self) {
        let mut stop = as_server("pg_ctl");
        stop.arg("-D").arg(self.folder.join("data")).args(["-m", "immediate", "-w", "stop"]);
        drop(stop.stdout(Stdio::null()).stderr(Stdio::null()).status());
        drop(fs::remove_dir_all(&self.folder));
    }
}

/// Returns the port of the server that runs in `folder`.
fn running(folder: &Path) -> Option<u16> {
    let port: u16 = fs::read_to_string(folder.join("port")).ok()?.trim().parse().ok()?;
    let address = ([127, 0, 0, 1], port).into();
    TcpStream::connect_timeout(&address, Duration::from_secs(5)).ok().map(|_| port)
}

fn launch(folder: &Path) -> u16 {
    let data = folder.join("data");
    drop(fs::remove_dir_all(&data));
    fs::create_dir(&data).unwrap();
    if rustix::process::geteuid().is_root() {
        // PostgreSQL refuses to run as root.
        let owned = Command::new("chown").arg("-R").arg(server_user()).arg(&data).status().unwrap();
        assert!(owned.success());
    }
    let arguments = ["--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-sync"];
    let mut initdb = as_server("initdb");
    let done = initdb.args(arguments).arg("-D").arg(&data).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let options = format!(
        "-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off \
         -c max_connections=200 -c shared_buffers=32MB"
    );
    let mut command = as_server("pg_ctl");
    command.arg("-D").arg(&data).arg("-o").arg(options).arg("-l").arg(data.join("log"));
    let done = command.args(["-w", "start"]).stdout(Stdio::null()).status().unwrap();
    let mut log = String::new();
    drop(File::open(data.join("log")).map(|mut file| file.read_to_string(&mut log)));
    assert!(done.success(), "the server does not start: {log}");
    keep(folder);
    fs::write(folder.join("port"), port.to_string()).unwrap();
    port
}

/// Starts the keeper, which outlives this process.
fn keep(folder: &Path) {
    let stop = as_server("pg_ctl");
    let mut keeper = Command::new("sh");
    keeper.args(["-c", KEEPER, "sh"]).arg(folder);
    keeper.arg(stop.get_program()).args(stop.get_args());
    let streams = keeper.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // It is meant to be left behind: it ends by itself.
    drop(streams.process_group(0).spawn().unwrap());
}

/// Returns a command that runs as a user PostgreSQL accepts.
fn as_server(name: &str) -> Command {
    if !rustix::process::geteuid().is_root() {
        return Command::new(program(name));
    }
    let mut command = Command::new("setpriv");
    let user = server_user();
    command.arg(format!("--reuid={user}")).args(["--clear-groups", "--"]).arg(program(name));
    command.current_dir("/");
    command
}

fn server_user() -> &'static str {
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    if users.lines().any(|line| line.starts_with("postgres:")) { "postgres" } else { "nobody" }
}

/// Finds a program of PostgreSQL, which Debian keeps out of the path.
fn program(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    folders.extend(versions.map(|version| version.path().join("bin")));
    let found = folders.into_iter().map(|folder| folder.join(name)).find(|path| path.exists());
    found.unwrap_or_else(|| panic!("no `{name}` here: `make test` installs PostgreSQL"))
}
