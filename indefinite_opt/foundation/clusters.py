"""Connections to Dask clusters, whose workers take cells of studies and nodes of brackets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from indefinite_opt.errors import DataError, ParameterError

SECONDS_TO_CONNECT = 20
"""Time for a cluster to answer."""


@contextmanager
def connected(cluster: Any) -> Iterator[Any]:
    """A client of a cluster, closed at the end unless it is the caller's.

    The cluster is a Client or Cluster of dask.distributed, or the address of a scheduler, such as
    `"tcp://host:8786"`; `DataError` says that it does not answer.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ParameterError(
            "cluster", "None without dask.distributed", repr(cluster),
            "Install it in the checkout: pip install '.[cluster]'.",
        ) from None  # fmt: skip
    own = not isinstance(cluster, Client)
    try:
        client = Client(cluster, timeout=SECONDS_TO_CONNECT) if own else cluster
    except (OSError, ValueError) as error:
        raise DataError(
            "cluster", "the address of a Dask scheduler", f"{cluster}: {error}"
        ) from None
    try:
        yield client
    finally:
        if own:
            client.close()
