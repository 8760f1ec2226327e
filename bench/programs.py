"""Whole programs: their wall time, processor time and peak memory.

Standard output goes to a regular file: some programs lose what does not fit into a pipe.
"""

import dataclasses
import os
import pathlib
import subprocess
import tempfile
import threading
import time

TIMEOUT_S = 120


@dataclasses.dataclass
class Finished:
    """A program that ended well. Times are in nanoseconds, `start` is on the monotonic clock."""

    start: int
    wall: int
    cpu: int
    stdout: str


def run(command, env=None, cwd=None, timeout_s=TIMEOUT_S):
    """Runs a program to its end; one that fails or takes too long is an error."""
    command = [str(part) for part in command]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic_ns()
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env, cwd=cwd)
        timer = threading.Timer(timeout_s, child.kill)
        timer.start()
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic_ns() - start
        timer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if child.returncode != 0:
            told = err.read().decode(errors="replace")[-2000:]
            raise SystemExit(f"{command[0]} ended with {child.returncode} after {wall / 1e9:.1f} s: {told}")
        return Finished(start, wall, int((usage.ru_utime + usage.ru_stime) * 1e9), out.read().decode())


def run_with_peak(command, env=None, cwd=None, timeout_s=TIMEOUT_S):
    """The same, and the peak memory in KiB.

    By time(1), which is small: until a child replaces itself its memory is that of its parent,
    which the kernel counts, and Python is larger than most programs here.
    """
    with tempfile.TemporaryDirectory() as folder:
        note = pathlib.Path(folder) / "peak"
        done = run(["/usr/bin/time", "--format", "%M", "--output", note, *command], env, cwd, timeout_s)
        return done, int(note.read_text().split()[-1])


def best_and_median(figures):
    figures = sorted(figures)
    return figures[0], figures[len(figures) // 2]
