"""AddressBook: which host an address belongs to, as far as the hosts' own lines and their names tell."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from functools import lru_cache

from nccl_logscan.expressions import deferred

_PRINTED = deferred(r"[\w.-]{1,32}:([0-9A-Fa-f:.]{3,64})(?:%[\w.-]{1,32})?<\d{1,5}>", re.ASCII)
_IN_NAME = deferred(r"(?:^|[^\d])(\d{1,3})[-_](\d{1,3})[-_](\d{1,3})[-_](\d{1,3})$", re.ASCII)
_SIDE_OF_NAME = deferred(r"-(?:ib|eth|en|bond|rdma|roce|data|hsn|opa)\d{0,2}$", re.ASCII)
# What every host has, or may have, for itself: loopback, link-local, Docker's and libvirt's bridges.
_ON_EVERY_HOST = tuple(
    map(ipaddress.ip_network, ("127.0.0.0/8", "169.254.0.0/16", "172.17.0.0/16", "192.168.122.0/24"))
)


def prints_addresses(message: str) -> bool:
    """Return whether a message names addresses as `learn_printed` reads them."""
    return _PRINTED.search(message) is not None


class AddressBook:
    """Learns addresses from hosts' own lines; answers once the scan is over. At most `limit` addresses are kept.

    An address that two hosts call theirs belongs to neither: containers and bridges repeat addresses.
    """

    def __init__(self, limit: int = 65_536) -> None:
        self._limit = limit
        self._claims: dict[str, str | None] = {}
        self._same: dict[str, str] = {}

    def learn_printed(self, message: str, host: str) -> None:
        """Learn the addresses in `Using [0]eth0:10.0.0.1<0>` that `host` printed of its own interfaces."""
        for address in _PRINTED.findall(message):
            self.claim(address, host)

    def claim(self, address: str, host: str) -> None:
        """Learn that `host` calls `address` its own."""
        name = canonical(address)
        if name is None:
            return
        if name not in self._claims:
            if len(self._claims) < self._limit:
                self._claims[name] = host
        elif self._claims[name] != host:
            self._claims[name] = None

    def same(self, address: str, other: str) -> None:
        """Learn that two names are of one end."""
        one, two = canonical(address), canonical(other)
        if one is None or two is None or len(self._same) >= self._limit:
            return
        first, second = self._root(one), self._root(two)
        if first != second:
            self._same[second] = first

    def learn_hosts(self, hosts: Iterable[str]) -> None:
        """Learn the addresses that stand in hosts' names, as in ip-10-0-0-3."""
        for host in hosts:
            found = _IN_NAME.search(host)
            if found:
                name = canonical(".".join(found.groups()))
                if name is not None:
                    self._claims.setdefault(name, host)

    def ends(self, hosts: Iterable[str]) -> Ends:
        """Return what is known once all lines have passed; `hosts` are those that spoke."""
        claimants: dict[str, set[str | None]] = {}
        for name, host in self._claims.items():
            claimants.setdefault(self._root(name), set()).add(host)
        return Ends(claimants, {name: self._root(name) for name in self._same}, frozenset(hosts))

    def _root(self, name: str) -> str:
        while name in self._same:
            name = self._same[name]
        return name


class Ends:
    """Names ends: a host's name where one is known, an address where none is."""

    def __init__(self, claimants: dict[str, set[str | None]], roots: dict[str, str], hosts: frozenset[str]) -> None:
        self._claimants = claimants
        self._roots = roots
        self._hosts = hosts

    def named(self, address: str) -> str | None:
        """Return the end at an address or host name; None if several hosts may be meant."""
        name = canonical(address)
        if name is None:
            return None
        root = self._roots.get(name, name)
        claimants = self._claimants.get(root, set())
        if claimants:
            return next(iter(claimants)) if len(claimants) == 1 else None
        return self._as_host(root)

    def host(self, address: str) -> str | None:
        """Return the host of an address, by a name that stands in the log; None where only the address is known."""
        end = self.named(address)
        return end if end is not None and not is_address(end) else None

    def _as_host(self, name: str) -> str:
        """wren0417-ib.site → wren0417, where a host of that name spoke."""
        if is_address(name):
            return name
        label = name.partition(".")[0]
        plain = _SIDE_OF_NAME.sub("", label)
        return next((host for host in (name, label, plain) if host in self._hosts), label)


def is_address(name: str) -> bool:
    """Return whether a name is an IP address or a GID rather than a host's name."""
    return _parsed(name) is not None


@lru_cache(maxsize=65_536)
def canonical(address: str) -> str | None:
    """Return one spelling for an address or name, a port taken off; None where it may be any host's own.

    A GID that maps an IPv4 address is that address: `::ffff:10.0.0.3` → `10.0.0.3`.
    """
    name = address.partition("<")[0].partition("%")[0].strip("[]")
    parsed = _parsed(name)
    if parsed is None:
        return name if name and name.isprintable() and name.lower() != "localhost" else None
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped
    if parsed.is_loopback or parsed.is_unspecified:
        return None
    if isinstance(parsed, ipaddress.IPv4Address) and any(parsed in network for network in _ON_EVERY_HOST):
        return None
    return str(parsed)


def _parsed(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    if not name or len(name) > 64 or not (name[0].isalnum() or name[0] == ":"):
        return None
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None
