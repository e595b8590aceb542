"""The check of URLs and addresses: what is refused, with which code, and what operators may allow besides."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.webhooks.addresses import ForbiddenAddress, Policy
from tests.faults import forbidden_vectors as vectors

STRICT = Policy(True, frozenset({443, 8443}))
PLAIN = Policy(False, frozenset({80, 443}))
PREMISES = Policy(False, frozenset({80}), (ip_network("10.20.0.0/16"), ip_network("fd12::/32")))


def code(policy: Policy, url: str) -> str:
    with pytest.raises(ForbiddenAddress) as refused:
        policy.check_url(url)
    return refused.value.code


def permits(policy: Policy, address: str) -> bool:
    try:
        policy.check_address(ip_address(address))
    except ForbiddenAddress:
        return False
    return True


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.example.com/speech",
        "https://hooks.example.com:8443/a/b?c=d&e={f}",
        "HTTPS://Hooks.Example.COM",
        "https://hooks.example.com.",
        "https://hooks.example.com?only=query",
        "https://my_hooks.example.com/",
        "https://語音.example.com/",
        "https://xn--fiq228c.example/",
        "https://8.8.8.8/",
        "https://0x08080808/",
        "https://[2606:4700:4700::1111]:8443/hook",
        "https://1.2.3.4.example.com/",
        "https://internal.example.com/",
        "https://localhost.example.com/",
    ],
)
def test_public_urls_are_allowed(url):
    STRICT.check_url(url)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://hooks.example.com:443/", "scheme_not_allowed"),
        ("hooks.example.com", "scheme_not_allowed"),
        ("https://hooks.example.com:22/", "port_not_allowed"),
        ("https://user:word@hooks.example.com/", "credentials_in_url"),
        ("https://hooks.example.com/#part", "fragment_in_url"),
        ("https://hooks.example.com/#", "fragment_in_url"),
        ("https:///path", "invalid_url"),
        ("https://hooks.example.com/a b", "invalid_url"),
        ("https://hooks.example.com/語音", "invalid_url"),
        ("https://-.." + "x" * 64 + ".example.com/", "invalid_url"),
        ("https://" + "long." * 60 + "example.com/", "invalid_url"),
        ("https://hooks.example.com/" + "x" * 2000, "invalid_url"),
        ("https://999.1.1.1/", "invalid_url"),
        ("https://1.2.3.4.5/", "invalid_url"),
        ("https://127.0.0.1/", "address_forbidden"),
        ("https://localhost/", "address_forbidden"),
    ],
)
def test_a_refusal_has_a_code(url, expected):
    assert code(STRICT, url) == expected


def test_a_refusal_says_what_is_wrong():
    with pytest.raises(ForbiddenAddress, match="port 22"):
        STRICT.check_url("https://hooks.example.com:22/")
    with pytest.raises(ForbiddenAddress, match="https://") as refused:
        STRICT.check_url("http://hooks.example.com/")
    assert refused.value.message % refused.value.params == str(refused.value)


@pytest.mark.parametrize("host", [*vectors.LOOPBACK, *vectors.PRIVATE, *vectors.INNER_NAMES])
def test_private_hosts_are_refused_in_every_spelling(host):
    assert code(PLAIN, f"http://{host}/") == "address_forbidden"


@pytest.mark.parametrize("url", vectors.URLS)
def test_urls_that_parsers_disagree_about_are_refused(url):
    policy = Policy(False, frozenset({4711}), (ip_network("0.0.0.0/0"), ip_network("::/0")))
    plain = url.replace("{port}", "4711").replace("{other}", "4712")
    assert code(policy, plain) in {
        "invalid_url",
        "scheme_not_allowed",
        "port_not_allowed",
        "credentials_in_url",
        "fragment_in_url",
    }


@pytest.mark.parametrize("address", sorted({address for answer in vectors.ANSWERS for address in answer}))
def test_what_a_name_stands_for_is_judged_by_the_address(address):
    public = {"93.184.216.34", "93.184.216.35", "2606:2800:220:1::1"}
    assert permits(PLAIN, address) is (address in public)


def test_networks_of_the_premises_are_allowed_and_no_others():
    PREMISES.check_url("http://10.20.3.4/hook")
    PREMISES.check_url("http://[fd12::7]/hook")
    PREMISES.check_url("http://receiver/hook")
    PREMISES.check_url("http://receiver.internal/hook")
    assert permits(PREMISES, "8.8.8.8")
    assert code(PREMISES, "http://10.21.0.1/") == "address_forbidden"
    assert not permits(PREMISES, "10.21.0.1")
    assert not permits(PREMISES, "127.0.0.1")
    assert not permits(PREMISES, "::ffff:10.20.0.1")


def test_a_translating_network_leads_only_where_its_addresses_may():
    """An operator without IPv4 names the prefix of NAT64, and means the internet by it."""
    policy = Policy(True, frozenset({443}), (ip_network("64:ff9b::/96"),))
    assert permits(policy, "64:ff9b::8.8.8.8")
    assert not permits(policy, "64:ff9b::127.0.0.1")
    assert not permits(policy, "64:ff9b::169.254.169.254")


PRIVATE_BLOCKS = [
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16",
    "198.18.0.0/15", "224.0.0.0/3", "::/3", "4000::/2", "8000::/1", "2002::/16", "2001::/32", "2001:db8::/32",
]  # fmt: skip


@settings(deadline=None)
@given(st.sampled_from(PRIVATE_BLOCKS), st.integers(min_value=0))
def test_no_address_of_a_private_block_is_permitted(block, offset):
    network = ip_network(block)
    assert not permits(PLAIN, str(network[offset % network.num_addresses]))


@settings(deadline=None)
@given(st.ip_addresses())
def test_what_is_permitted_is_global_by_the_registries_too(address):
    """Ours is the narrower one: where they differ, it says no."""
    assert not permits(PLAIN, str(address)) or (address.is_global and not address.is_multicast)


@settings(deadline=None)
@given(st.ip_addresses(v=4))
def test_every_spelling_of_an_address_gets_the_answer_of_the_usual_one(address):
    number = int(address)
    first, rest = number >> 24, number & 0xFFFFFF
    for spelling in (str(number), hex(number), f"0{number:o}", f"{first}.{rest}", f"{first:#x}.0{rest:o}"):
        url = f"http://{spelling}/"
        if permits(PLAIN, str(address)):
            target = PLAIN.target(url)
            assert (target.address, target.host) == (address, str(address))
        else:
            assert code(PLAIN, url) == "address_forbidden"


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_a_url_or_refused(text):
    for url in (text, f"http://{text}", f"http://public.example/{text}"):
        try:
            target = PLAIN.target(url)
        except ForbiddenAddress:
            continue
        assert target.port in PLAIN.ports
        assert target.authority.isascii()
        assert target.path.isascii()


def test_a_url_is_read_once_into_what_is_connected_to_and_asked_for():
    target = Policy(False, frozenset({80, 8080})).target("http://Hooks.Example.com.:8080?x=1")
    assert (target.host, target.port, target.path) == ("hooks.example.com", 8080, "/?x=1")
    assert target.authority == "hooks.example.com:8080"
    assert Policy(False, frozenset({80})).target("http://[2606:4700::1]/").authority == "[2606:4700::1]"


def test_networks_of_one_family_leave_the_other_alone():
    policy = Policy(False, frozenset({80}), (IPv4Network("0.0.0.0/0"),))
    policy.check_address(IPv4Address("127.0.0.1"))
    with pytest.raises(ForbiddenAddress):
        policy.check_address(IPv6Address("::1"))
