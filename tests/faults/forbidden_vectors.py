"""Where a tenant may try to send webhooks to. From the lists of smokescreen, Svix and OWASP, and the traps of parsers.

`{port}` is one that the policy allows and this machine listens on, `{other}` one that it does not allow.
"""

# Every one of these reaches a listener of this machine, for a sender that checks nothing.
LOOPBACK = (
    "127.0.0.1", "127.0.0.1.", "127.1", "127.0.1", "127.0.0.2", "127.1.2.3", "127.255.255.254",
    "2130706433", "017700000001", "0x7f000001", "0X7F000001", "0x7f.0x0.0x0.0x1", "0x7F.1", "0177.0.0.1", "0177.0.0.01",
    "00000177.0.0.1", "127.0x0.0.1", "127.00.0.1", "0", "0.0.0.0", "0x0", "000.000.000.000", "0.0",
    "127。0。0。1", "１２７．０．０．１", "①②⑦.⓪.⓪.①", "127.0.0.①",
    "[::1]", "[0:0:0:0:0:0:0:1]", "[0000::0001]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:127.0.0.1]", "[::FFFF:127.0.0.2]", "[::ffff:0.0.0.0]",
)  # fmt: skip
# Addresses of other machines and of none.
PRIVATE = (
    "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255", "0xc0a80001",
    "3232235521", "192.168.1", "10.1", "012.0.0.1",
    "100.64.0.1", "100.127.255.255", "100.100.100.200",
    "169.254.169.254", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518", "169.254.170.2",
    "169.254.0.23", "⑯⑨.②⑤④.⑯⑨.②⑤④", "192.0.0.192", "168.63.129.16", "0xa83f8110",
    "0.1.2.3", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "192.88.99.1",
    "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
    "[::127.0.0.1]", "[::7f00:1]", "[::ffff:10.0.0.1]", "[::ffff:169.254.169.254]", "[::ffff:0:127.0.0.1]",
    "[64:ff9b::127.0.0.1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b::8.8.8.8]", "[64:ff9b:1::127.0.0.1]",
    "[2002:7f00:1::]", "[2002:a9fe:a9fe::1]", "[2001:0:53aa:64c:0:fffe:80ff:fffe]", "[2001::1]", "[2001:db8::1]",
    "[2001:10::1]", "[2001:20::1]", "[3fff::1]", "[5f00::1]", "[100::1]", "[fe80::1]", "[febf::1]", "[fec0::1]",
    "[fc00::1]", "[fd00:ec2::254]", "[fd20:ce::254]", "[ff02::1]", "[ff0e::1]", "[4000::1]",
)  # fmt: skip
INNER_NAMES = (
    "localhost", "LOCALHOST", "localhost.", "any.localhost", "localhost.localdomain", "ip6-localhost", "broadcasthost",
    "metadata", "instance-data", "metadata.google.internal", "kubernetes.default.svc.cluster.local", "printer.local",
    "router.lan", "gateway.home.arpa", "intranet", "wiki.corp", "ｌｏｃａｌｈｏｓｔ", "loc\u00adalhost",
)  # fmt: skip
URLS = (
    # Whose host is it?
    "http://public.example@127.0.0.1:{port}/", "http://user:word@127.0.0.1:{port}/", "http://@127.0.0.1:{port}/",
    "http://127.0.0.1:{port}@public.example:{port}/", "http://public.example:{port}#@127.0.0.1:{port}/",
    "http://127.0.0.1:{port}#@public.example:{port}/", "http://127.0.0.1:{port}\\@public.example:{port}/",
    "http://public.example\\@127.0.0.1:{port}/", "http://127.0.0.1:{port}\\.public.example:{port}/",
    "http://public.example:{port}\\127.0.0.1:{port}/", "http://public.example&@127.0.0.1:{port}/",
    "http://1.1.1.1 &@127.0.0.1:{port}# @public.example/", "http://public.example%2f@127.0.0.1:{port}/",
    "http://127.0.0.1:{port}:{port}/", "http://127.0.0.1:{port}%00.public.example/",
    "http://127.0.0.1%00.public.example:{port}/", "http://127.0.0.1%2f.public.example:{port}/",
    "http://%31%32%37.0.0.1:{port}/", "http://127%2e0%2e0%2e1:{port}/", "http://[::1]public.example:{port}/",
    "http://public.example[::1]:{port}/", "http://[::1%25lo]:{port}/", "http://[::1%lo]:{port}/",
    "http://[fe80::1%25eth0]:{port}/", "http://[127.0.0.1]:{port}/", "http://[::1:{port}/", "http://::1:{port}/",
    "http://[v1.127.0.0.1]:{port}/", "http://127.0.0.1,public.example:{port}/", "http://127.0.0.1;public.example:{port}",
    "http://public.example℀@127.0.0.1:{port}/", "http://127.0.0.1／@public.example:{port}/",
    "http://127.0.0.1:{port}？@public.example:{port}/", "http://127.0.0.1.public..example:{port}/",
    # Where does it begin, and where does it end?
    " http://127.0.0.1:{port}/", "\thttp://127.0.0.1:{port}/", "http://127.0.0.1:{port}/ ", "ht\ntp://127.0.0.1:{port}/",
    "http://127.0.0\t.1:{port}/", "http://127.0.0.1\n:{port}/", "http://public.example\r\nHost: 127.0.0.1:{port}/",
    "http://public.example:{port}/\r\nHost: 127.0.0.1", "http://public.example:{port}/x y", "\x00http://127.0.0.1:{port}/",
    "//127.0.0.1:{port}/", "http:/127.0.0.1:{port}/", "http:127.0.0.1:{port}/", "http:///127.0.0.1:{port}/",
    "http:\\\\127.0.0.1:{port}\\", "http://", "http://:{port}/", "127.0.0.1:{port}", "",
    # Other protocols.
    "gopher://127.0.0.1:{port}/_PING", "file:///etc/passwd", "file://127.0.0.1:{port}/", "ftp://127.0.0.1:{port}/",
    "dict://127.0.0.1:{port}/info", "ldap://127.0.0.1:{port}/", "jar:http://127.0.0.1:{port}/!/", "ws://127.0.0.1:{port}/",
    "unix:///run/docker.sock", "http+unix://%2Frun%2Fdocker.sock/", "javascript:alert(1)", "data:text/plain,x",
    "netdoc://127.0.0.1:{port}/", "http2://127.0.0.1:{port}/",
    # Ports.
    "http://127.0.0.1:{other}/", "http://public.example:{other}/", "http://public.example:22/",
    "http://public.example:6379/", "http://public.example:0/", "http://public.example:65536/",
    "http://public.example:99999/", "http://public.example:-1/", "http://public.example:+{port}/",
    "http://public.example:{port}x/", "http://public.example:０/", "http://public.example/", "http://[::1]:{other}/",
)  # fmt: skip
# What a tenant's own name server answers for a name that looks like any other.
ANSWERS = (
    ("127.0.0.1",), ("127.0.0.2",), ("0.0.0.0",), ("10.0.0.1",), ("172.16.0.1",), ("192.168.0.1",), ("100.64.0.1",),
    ("169.254.169.254",), ("168.63.129.16",), ("224.0.0.1",), ("255.255.255.255",), ("::1",), ("::",),
    ("::ffff:127.0.0.1",), ("::ffff:169.254.169.254",), ("64:ff9b::7f00:1",), ("64:ff9b::8.8.8.8",), ("2002:7f00:1::",),
    ("2001:0:53aa:64c::1",), ("fe80::1",), ("fe80::1%1",), ("fec0::1",), ("fd00::1",), ("ff02::1",), ("::127.0.0.1",),
    # One that would do beside one that does not, in either order.
    ("93.184.216.34", "127.0.0.1"), ("127.0.0.1", "93.184.216.34"), ("93.184.216.34", "::1"),
    ("2606:2800:220:1::1", "fd00::1"), ("93.184.216.34", "10.0.0.1", "93.184.216.35"),
)  # fmt: skip
REDIRECTS = (301, 302, 303, 307, 308)
REDIRECTED = ("http://127.0.0.2:{port}/", "http://169.254.169.254/latest/meta-data/", "//127.0.0.2:{port}/")
