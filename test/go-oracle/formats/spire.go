package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"github.com/spiffe/spire/pkg/common/idutil"
	"github.com/spiffe/spire/pkg/common/x509util"
)

// durations: [text, nanoseconds, seconds on the wire] or [text]
var durations = table{file: "durations.jsonl", share: 1,
	chosen: texts("", "0", "-0", "+0", "00", "+", "-", "1", "1h", "1.5h", "-500ms", "1d", "1h30m", "1m1h", "1h 30m", " 1h", "1h ", ".5s", "5.s", ".s", "-.s", "1..5s", "1us", "1µs", "1μs", "1Μs",
		"1H", "1min", "1e3s", "0x1s", "1_000s", "١s", "--1s", "+1s", "1s+1s", "1s-1s", "9223372036854775807ns", "9223372036854775808ns", "-9223372036854775808ns", "-9223372036854775809ns",
		"9223372036854775808ns9223372036854775808ns", "9223372036854775807ns1ns", "-9223372036854775807ns1ns", "2562047h47m16.854775807s", "2562047h47m16.854775808s", "-2562047h47m16.854775808s",
		"2562048h", "99999999999999999999h", "00000000000000000000000000000001h", "0.3333333333333333333h", "0.9223372036854775807s", "0.9223372036854775808s", "0.9223372036854775809s", "0.00000000000000000000000000000000000000001h",
		"0.100000000000000000000h", "0.99999999999999999999999h", "1500ms", "596523h", "596524h", "1193046h28m16s", "1193047h", "-1h", "-1ns", "999999999ns", "-1999ms", "720h", "876000h", "2147483647s", "2147483648s", "-2147483649s", "1h\n", "１h", "1.h1.m"),
	random: randomDuration, answer: answerDuration}

func answerDuration(input any) []any {
	parsed, err := time.ParseDuration(input.(string))
	if err != nil {
		return []any{input}
	}
	return []any{input, fmt.Sprint(int64(parsed)), int32(parsed / time.Second)} //nolint:gosec // as spire-controller-manager sends it
}

func randomDuration(random *rand.Rand) any {
	text := pick(random, []string{"", "", "", "-", "+"})
	for range 1 + random.IntN(3) {
		text += several(random, 4, []string{"0", "1", "9", "25", "2562047", "922337203685477580", "7", "8"})
		if random.IntN(2) == 0 {
			text += "." + several(random, 5, []string{"0", "1", "3", "9", "922337203685477580", "7", "8"})
		}
		text += pick(random, []string{"h", "m", "s", "ms", "us", "µs", "μs", "ns", "h", "s", "", "d"})
	}
	return text
}

// dnsNames: [name, accepted]
var dnsNames = table{file: "dns-names.jsonl", share: 1.5,
	chosen: texts("", " ", "\t\n", "a", "A.example", "_a", "a_b", "<no value>", "ex ample", " a.example", "a.example ", "a/b", "a:80", "::1", "a\n", "a\n.", "1", "*.com", "*", "*.", "*. ", "*.*", "*a.x", "a.*", "a*", " *.a", "*. a", "*.a.",
		".", "..", ".a", "a.", "a..b", "-a", "a-", "a.-b", "ab--c", "ab--", "a--b", "abc--d", "xn--", "xn--a", "xn--9ca", "XN--9CA", "xn--9CA", "Xn--9ca", "xn--ls8h.org", "xn--bcher-kva", "xn--Bcher-kva", "xn--b_cher-kva", "xn--abc-", "xn---abc", "xn--a-",
		"xn--99zzzzzzz", "xn--0", "xn--mgbh0fb.example", "xn--wgbl6a", "xn--3e0b707e", "xn--fiqs8s", "xn--zca", "xn--4ca", "xn--a-ecp", "xn--1ch", "*.xn--9ca", "x.xn--a", "xn--9ca.-", "xn--9ca.xn--4dbrk0ce", "xn--4dbrk0ce.1a", "xn--l1acc",
		"é", "a.é", "\u212a", "a\u00a0", "\u3002", "a\x00b", "\x7f", strings.Repeat("a", 63), strings.Repeat("a", 64), "*."+strings.Repeat("a", 63), strings.Repeat("a.", 126)+"a", strings.Repeat("a.", 126)+"ab", "*."+strings.Repeat("a.", 126)+"a", "*."+strings.Repeat("a.", 126)+"ab",
		" "+strings.Repeat("a.", 126)+"a ", "xn--"+strings.Repeat("a", 60), "xn--ue-1ja--ha", "xn----jea", "xn--ab--jva", "!\"#$%&'(),/:;=?@[\\]^`{|}~+", "svc.ns.svc.cluster.local"),
	random: randomDNSName,
	answer: func(input any) []any { return []any{input, x509util.ValidateLabel(input.(string)) == nil} }}

func randomDNSName(random *rand.Rand) any {
	var name []string
	for range 1 + random.IntN(3) {
		switch random.IntN(4) {
		case 0:
			name = append(name, several(random, 5, []string{"a", "-", "*", "_", "B", "1", " ", "--", "xn--"}))
		case 1:
			name = append(name, "xn--"+several(random, 6, []string{"a", "b", "9", "c", "-", "z", "k", "va", "8", "s"}))
		case 2:
			name = append(name, punycode(several(random, 5, []string{"a", "-", "é", "ß", "ü", "字", "一", "ひ", "한", "я", "A", "É", "e\u0301", "א", "ا", "1", "_", "ŀ", "ſ", "😀", "\u200d", "ς", "ĸ", "\u0301"})))
		default:
			name = append(name, pick(random, []string{"a", "example", "com", "*", "a-b"}))
		}
	}
	return strings.Join(name, ".")
}

// punycode is the label that a browser would send, unchecked.
func punycode(label string) string {
	encoded, err := unchecked.ToASCII(label)
	if err != nil {
		return label
	}
	return encoded
}

var idParts = []string{"spiffe://", "a", "/", "td.example", "/ns", "/b", ".", "..", "/.", "/..", "A", "é", "%41", "?", "#", " ", ":", "_", "-", "~", "/spire", "/spire/", "/spirex", "\n"}

var ids = texts("", "spiffe://", "spiffe:///", "spiffe:///a", "SPIFFE://a/b", "spiffe:/a", "spiffe:a", "http://a/b", "spiffe://a", "spiffe://a/", "spiffe://a/b", "spiffe://a/b/", "spiffe://a//b", "spiffe://a/./b", "spiffe://a/../b", "spiffe://a/.", "spiffe://a/..", "spiffe://a/...",
	"spiffe://a/.b", "spiffe://A/b", "spiffe://a:80/b", "spiffe://u@a/b", "spiffe://a..b/c", "spiffe://-/c", "spiffe://a/b?c", "spiffe://a/b#c", "spiffe://a/%41", "spiffe://a/é", "spiffe://é/a", "spiffe://a/<no value>", "spiffe://a/b\n", " spiffe://a/b", "spiffe://a/b ",
	"spiffe://a/spire", "spiffe://a/spire/", "spiffe://a/spire/agent/x", "spiffe://a/spirex", "spiffe://a/Spire", "spiffe://a/b/spire", "spiffe://a/~b", "spiffe://a~/b", "spiffe://a!/b", "spiffe://a//", "spiffe://a//.", "spiffe://"+strings.Repeat("a", 256)+"/b", "spiffe://a/"+strings.Repeat("b", 300),
	"a", "a..b", "a:/b", "a:b", "a/b", "A", "é", ":/", "spiffe://a/any/path", "example.org", "-._", strings.Repeat("a", 255), strings.Repeat("a", 256), "a\n")

func randomID(random *rand.Rand) any {
	text := several(random, 5, idParts)
	if random.IntN(4) > 0 {
		text = "spiffe://a" + text
	}
	return text
}

// spiffeIDs: [text] or [text, trust domain, path, may be an entry's]
var spiffeIDs = table{file: "spiffe-ids.jsonl", share: 1, chosen: ids, random: randomID, answer: func(input any) []any {
	id, err := spiffeid.FromString(input.(string))
	if err != nil {
		return []any{input}
	}
	// The rule of VerifyTrustDomainWorkloadID in spire-server's pkg/server/api/id.go, for an ID of its own trust domain.
	return []any{input, id.TrustDomain().Name(), id.Path(), id.Path() != "" && !idutil.IsReservedPath(id.Path())}
}}

// trustDomains: [text] or [text, trust domain]
var trustDomains = table{file: "trust-domains.jsonl", share: 0.5, chosen: ids, random: randomID, answer: func(input any) []any {
	domain, err := spiffeid.TrustDomainFromString(input.(string))
	if err != nil {
		return []any{input}
	}
	return []any{input, domain.Name()}
}}
