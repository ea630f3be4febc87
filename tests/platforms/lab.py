"""JupyterLab in a real browser."""

import contextlib
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

TOKEN = "token-of-a-test"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 180.0  # seconds; a busy machine is no failure
# Cells that are out of sight are in the page as well.
SETTINGS = "@jupyterlab/notebook-extension/tracker.jupyterlab-settings"


@contextlib.contextmanager
def serve(folder: Path, private: Path) -> Iterator[str]:
    """Run JupyterLab in `folder`, its settings in `private`; its address."""
    settings = private / "settings" / SETTINGS
    settings.parent.mkdir(parents=True)
    settings.write_text('{"windowingMode": "none"}', encoding="utf-8")
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += ["--ip=127.0.0.1", f"--IdentityProvider.token={TOKEN}"]
    command += [f"--LabApp.user_settings_dir={private / 'settings'}"]
    command += ["--LabApp.news_url=None"]
    env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    env["JUPYTER_RUNTIME_DIR"] = str(private / "runtime")
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    with (private / "log").open("w") as log:
        server = subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log)
        try:
            yield wait(private / "runtime", server)
        finally:
            server.terminate()
            server.wait(30)


def wait(runtime: Path, server: subprocess.Popen[bytes]) -> str:
    """Its address, once it answers; it takes a port that is free, and writes down which."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and server.poll() is None:
        for path in runtime.glob("jpserver-*.json"):
            with contextlib.suppress(OSError, ValueError):
                address = f"http://127.0.0.1:{json.loads(path.read_bytes())['port']}"
                urllib.request.urlopen(f"{address}/api?token={TOKEN}", timeout=5).close()
                return address
        time.sleep(0.2)
    raise AssertionError("JupyterLab does not start")


@contextlib.contextmanager
def browse() -> Iterator[Page]:
    """A page of a browser, which is logged in wherever it goes first with the token."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        page = browser.new_page(viewport={"width": 1300, "height": 1000})
        page.set_default_timeout(PATIENCE * 1000)
        yield page
        browser.close()
