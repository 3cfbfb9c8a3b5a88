"""Which machines may be asked: whoever writes a page may name any, also ones inside a network.

A page elsewhere never leads into the network of who syncs it: an address is used only when it is
public, or of the kind that the source's own address is (this machine, this network).
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

Resolve: TypeAlias = Callable[[str, int], Sequence[str]]
"""The addresses of a host and port, the best first; raises OSError where there is none."""

PUBLIC: Final = "public"


def resolve_host(host: str, port: int) -> list[str]:
    """The addresses of a host by the system's resolver. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found))


def tell_kind(address: str) -> str:
    """Where an address leads: public, loopback, link-local, private, or elsewhere."""
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    if ip.is_loopback:
        return "loopback"
    if ip.is_link_local:
        return "link-local"
    if ip.is_multicast or ip.is_unspecified or (ip.is_reserved and not ip.is_global):
        return "elsewhere"
    return PUBLIC if ip.is_global else "private"


def find_kinds(host: str, port: int, resolve: Resolve) -> frozenset[str]:
    """The kinds of address that a source at this host may be led to. Raises OSError."""
    return frozenset({PUBLIC, *map(tell_kind, resolve(host, port))}) - {"elsewhere"}


def admit(host: str, port: int, kinds: frozenset[str], resolve: Resolve) -> list[str]:
    """The addresses of a host that may be asked. Raises OSError where there is none."""
    found = resolve(host, port)
    allowed = [address for address in found if tell_kind(address) in kinds]
    if not allowed:
        raise PermissionError(f"{host} lies inside a network, where the source itself does not")
    return allowed
