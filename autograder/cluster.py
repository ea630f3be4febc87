"""Judges on other machines: the workers of a Dask cluster, behind the interface of the local pool.

Dask's workers belong to whoever runs the grader; student code runs in sandboxes that each of them
starts, as it does here. A worker must have the same kit and the same assignment, to the byte, since
it computes the verdicts. When a worker is lost, Dask gives its submissions to another.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Collection, Mapping
from concurrent.futures import Future
from typing import Any

from autograder import pool
from autograder.assignment import load
from autograder.digest import Digester
from autograder.errors import KitError
from autograder.results import Judgement
from autograder.sandbox import Station, Zygote

CONNECT_SECONDS = 20
LOSSES = 5  # workers that may be lost over one submission before it is given up
WEAKEST_FIRST = ("process", "full")
_lock = threading.Lock()  # a process judges one submission at a time, however many threads it has


def connect(address: str, assignment_id: str, isolation: str = "auto") -> ClusterPool:
    """Reaches a cluster and makes sure that its workers can judge this assignment.

    Raises:
        KitError: it cannot be reached, has no workers, or some of them have another kit.
    """
    from distributed import Client

    try:
        client: Any = Client(  # type: ignore[no-untyped-call]
            address, timeout=CONNECT_SECONDS, set_as_default=False
        )
    except (OSError, ValueError, TimeoutError) as error:
        said = str(error).strip().splitlines()
        raise KitError(
            f"no cluster answers at {address} ({said[0] if said else type(error).__name__}). "
            "Start one with: dask scheduler"
        ) from None
    try:
        return ClusterPool(client, assignment_id, isolation)
    except BaseException:
        client.close()
        raise


class ClusterPool:
    """The workers of a cluster; `submit` sends them submissions, `isolation` is their weakest."""

    def __init__(self, client: Any, assignment_id: str, isolation: str) -> None:
        self._client = client
        self._digest = Digester(load(assignment_id)).kit
        self._arguments = (assignment_id, isolation)
        self.isolation = self._look_around()
        self.jobs = sum(client.nthreads().values())
        self._executor = client.get_executor(pure=False, retries=LOSSES)

    def _look_around(self) -> str:
        found = self._client.run(describe, *self._arguments, on_error="return")
        if not found:
            raise KitError("the cluster has no workers. Start some with: dask worker ADDRESS")
        for address, facts in found.items():
            if isinstance(facts, BaseException):
                raise KitError(f"the worker {address} cannot judge: {facts}")
            if facts["kit"] != self._digest:
                raise KitError(
                    f"the worker {address} has another version of the kit, of {self._arguments[0]} "
                    "or of Python than this machine. Bring it up to date and start it again."
                )
        levels: list[str] = [facts["isolation"] for facts in found.values()]
        return min(levels, key=WEAKEST_FIRST.index)

    def submit(
        self, files: Mapping[str, bytes], exercises: Collection[str] = ()
    ) -> Future[Judgement]:
        """Judges one submission, or some exercises of it, wherever there is room."""
        work = (dict(files), tuple(exercises))
        future: Future[Judgement] = self._executor.submit(
            judge, *self._arguments, self._digest, *work
        )
        return future

    def close(self) -> None:
        """Waits for what is being judged, and leaves the cluster as it is."""
        self._executor.shutdown(wait=True)
        self._client.close()

    def stop(self) -> None:
        """Gives up what is being judged. To be closed all the same."""
        self._executor.shutdown(wait=False)


async def describe(assignment_id: str, isolation: str) -> dict[str, str]:
    """On a worker: which kit it has, and how far it can keep submissions apart."""
    return await asyncio.to_thread(_describe, assignment_id, isolation)


def _describe(assignment_id: str, isolation: str) -> dict[str, str]:
    zygote = Zygote.spawn(1, isolation)
    try:
        level = Station(zygote.channels[0]).wait_ready()
    finally:
        zygote.close()
    return {"kit": Digester(load(assignment_id)).kit, "isolation": level}


def judge(
    assignment_id: str,
    isolation: str,
    kit: str,
    files: dict[str, bytes],
    exercises: tuple[str, ...],
) -> Judgement:
    """On a worker: judges one submission.

    Raises:
        KitError: this worker, which has joined later, has another kit.
    """
    with _lock:
        if Digester(load(assignment_id)).kit != kit:
            raise KitError("a worker of the cluster has another version of the kit")
        return pool.judge_here(assignment_id, isolation, files, exercises)
