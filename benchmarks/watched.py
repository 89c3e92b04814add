"""A command at a terminal, watched from outside: its memory, its silences; killed if asked for."""

from __future__ import annotations

import os
import pty
import select
import signal
import time
from pathlib import Path

_LOOK = 0.1  # seconds
_PAGE = os.sysconf("SC_PAGE_SIZE")


def _stat(process: int | str) -> list[str]:
    """Return what /proc tells of a process, from its state on; nothing if it has ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return []


def resident(process: int) -> int:
    """Return the resident bytes of a process and all that it started, mapped files counted too."""
    stats = {place.name: _stat(place.name) for place in Path("/proc").glob("[0-9]*")}
    family, before = {str(process)}, set[str]()
    while family != before:
        before = family
        family = family | {name for name, stat in stats.items() if stat and stat[1] in family}
    return sum(int(stats[name][21]) * _PAGE for name in family if stats.get(name))


def processor_seconds(process: int) -> float:
    """Return the processor time of a process that is alive, with that of children that ended."""
    return sum(map(int, _stat(process)[11:15])) / os.sysconf("SC_CLK_TCK")


def watch(command: list[str], log: Path, kill_after: float = float("inf")) -> int | None:
    """Run a command at a terminal, and print what was seen; its exit code, None if it was killed.

    A line is printed at each new peak of memory. A silence is a time without any output.
    """
    started = last = time.monotonic()
    child, terminal = pty.fork()
    if child == 0:
        os.execv(command[0], command)
    peak, told, spent, silence, line, killed = 0, 0, 0.0, (0.0, ""), "", False
    with log.open("ab") as file:
        while True:
            ready = select.select([terminal], [], [], _LOOK)[0]
            now = time.monotonic()
            try:
                said = os.read(terminal, 65536) if ready else b""
            except OSError:  # the command has ended
                break
            if said:
                silence, last = max(silence, (now - last, line)), now
                file.write(said)
                line = said.decode(errors="replace").replace("\r", " ").strip()[-100:] or line
            held, spent = resident(child), max(spent, processor_seconds(child))
            if held > 1.03 * told:
                told = held
                print(f"{now - started:7.1f} s {held / 1e9:.2f} GB  {line[:90]}", flush=True)
            peak = max(peak, held)
            if now - started > kill_after and not killed:
                os.kill(child, signal.SIGKILL)
                killed = True
    silence = max(silence, (time.monotonic() - last, line))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(
        f"{'killed' if killed else f'ended with {code}'} after {time.monotonic() - started:.0f} s, "
        f"{spent:.0f} s of processor time: peak memory {peak / 1e9:.2f} GB, longest silence "
        f"{silence[0]:.1f} s (after: {silence[1]})",
        flush=True,
    )
    return None if killed else code
