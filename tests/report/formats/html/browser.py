"""A real browser without a window: Chromium, spoken to through two pipes, with no library."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from pathlib import Path

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PROGRAM = next(filter(None, map(shutil.which, _NAMES)), None)
"""None where there is none: then the tests that need one are skipped."""

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
)
_HAND_OVER = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); "
    "os.execv(sys.argv[3], sys.argv[3:])"
)
"""Starts the browser, which reads commands from descriptor 3 and writes answers to 4."""

_PATIENCE = 120.0
"""Seconds after which a browser that does not answer is ended."""


class Browser:
    """One page in one browser; commands are those of the DevTools protocol."""

    def __init__(self, folder: Path) -> None:
        assert PROGRAM is not None
        their_in, self._out = os.pipe()
        self._in, their_out = os.pipe()
        # (Not 3 or 4 themselves, or the one would be overlaid by the other.)
        handed = [fcntl.fcntl(pipe, fcntl.F_DUPFD, 10) for pipe in (their_in, their_out)]
        command = [PROGRAM, *_FLAGS, f"--user-data-dir={folder}", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _HAND_OVER, *map(str, handed), *command],
            pass_fds=handed,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for pipe in (their_in, their_out, *handed):
            os.close(pipe)
        self._watchdog = threading.Timer(_PATIENCE, self._process.kill)
        self._watchdog.start()
        self._number, self._rest, self._session = 0, b"", ""
        self.events: list[dict[str, Any]] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._watchdog.cancel()
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and wait for its answer; what else happens is kept in `events`."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            told = self._read()
            if told.get("id") == self._number:
                assert "error" not in told, told["error"]
                answer: dict[str, Any] = told["result"]
                return answer
            self.events.append(told)

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            data = os.read(self._in, 1 << 20)
            assert data, "the browser is gone"
            self._rest += data
        text, _, self._rest = self._rest.partition(b"\0")
        told: dict[str, Any] = json.loads(text)
        return told

    def wait_for(self, event: str) -> None:
        while not any(told.get("method") == event for told in self.events):
            self.events.append(self._read())

    def open(self, page: Path, place: str = "") -> None:
        """Load a file, to the end."""
        self.events.clear()
        self.send("Page.navigate", url=f"{page.resolve().as_uri()}{place}")
        self.wait_for("Page.loadEventFired")

    def run(self, script: str) -> Any:
        """The value of an expression in the page; promises are waited for."""
        answer = self.send(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def look(self, width: int, height: int = 900, *, dark: bool = False, media: str = "") -> None:
        """Take the page for a screen of that size, or for paper."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", media=media, features=[scheme])

    def scripts(self, *, allowed: bool) -> None:
        """Whether pages that are opened next may run scripts."""
        self.send("Emulation.setScriptExecutionDisabled", value=not allowed)

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        """The page as a picture."""
        data = self.send("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def pdf(self, path: Path) -> None:
        """The page on paper."""
        data = self.send("Page.printToPDF", printBackground=True)["data"]
        path.write_bytes(base64.b64decode(data))

    @property
    def complaints(self) -> list[str]:
        """What the page was refused or got wrong: exceptions, blocked styles, failed requests."""
        kinds = ("Runtime.exceptionThrown", "Log.entryAdded", "Network.loadingFailed")
        return [json.dumps(told) for told in self.events if told.get("method") in kinds]

    @property
    def requested(self) -> list[str]:
        """All that the page has asked for."""
        sent = [t for t in self.events if t.get("method") == "Network.requestWillBeSent"]
        return [told["params"]["request"]["url"] for told in sent]
