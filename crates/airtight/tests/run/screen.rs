//! A terminal to sit in front of.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// A terminal, and everything that was written to it.
pub(crate) struct Terminal {
    pub(crate) device: File,
    keyboard: File,
    pieces: Receiver<String>,
    seen: String,
}

impl Terminal {
    pub(crate) fn open() -> Self {
        let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&screen).unwrap();
        unlockpt(&screen).unwrap();
        let name = ptsname(&screen, Vec::new()).unwrap();
        let path = OsStr::from_bytes(name.as_bytes());
        let device = File::options().read(true).write(true).open(path).unwrap();
        let (show, pieces) = channel();
        let mut screen = File::from(screen);
        let keyboard = screen.try_clone().unwrap();
        thread::spawn(move || {
            let mut piece = [0; 4096];
            // An error means that everybody has closed the device.
            while let Ok(count) = screen.read(&mut piece) {
                let text = String::from_utf8_lossy(&piece[..count]).into_owned();
                if count == 0 || show.send(text).is_err() {
                    return;
                }
            }
        });
        Self { device, keyboard, pieces, seen: String::new() }
    }

    /// Waits until all of `words` were seen.
    pub(crate) fn shows(&mut self, words: &[&str]) {
        while !words.iter().all(|word| self.seen.contains(word)) {
            self.seen.push_str(&self.pieces.recv().unwrap());
        }
    }

    /// Types a line.
    #[cfg(feature = "embedded")]
    pub(crate) fn types(&mut self, line: &str) {
        std::io::Write::write_all(&mut self.keyboard, format!("{line}\n").as_bytes()).unwrap();
    }

    /// Returns everything that was seen once everybody has closed the device.
    pub(crate) fn close(self) -> String {
        let Self { device, keyboard, pieces, mut seen } = self;
        drop((device, keyboard));
        seen.extend(pieces.iter());
        seen
    }
}
