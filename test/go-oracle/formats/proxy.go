package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"strings"

	"golang.org/x/net/http/httpproxy"
)

var proxyVariables = []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "REQUEST_METHOD"}

// way is an environment, and the server that is asked for in it.
type way struct {
	env    map[string]string
	server string
}

// proxies: [environment, server, proxy], where the proxy is empty for none, and "refused" where Go refuses to say.
var proxies = table{file: "proxies.jsonl", chosen: chosenWays(), random: randomWay, share: 1, answer: answerWay}

func answerWay(input any) []any {
	asked := input.(way)
	for _, name := range proxyVariables {
		os.Unsetenv(name)
		if value, ok := asked.env[name]; ok {
			os.Setenv(name, value)
		}
	}
	server, err := url.Parse(asked.server)
	if err != nil {
		panic(err)
	}
	proxy, err := httpproxy.FromEnvironment().ProxyFunc()(server)
	switch {
	case err != nil:
		return []any{asked.env, asked.server, "refused"}
	case proxy == nil:
		return []any{asked.env, asked.server, ""}
	}
	return []any{asked.env, asked.server, proxyText(proxy)}
}

var defaultPorts = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}

// proxyText is scheme://[user[:password]@]host:port with the port that net/http dials.
func proxyText(proxy *url.URL) string {
	port := proxy.Port()
	if port == "" {
		port = defaultPorts[proxy.Scheme]
	}
	user := ""
	if proxy.User != nil {
		user = proxy.User.String() + "@"
	}
	return fmt.Sprintf("%s://%s%s", proxy.Scheme, user, net.JoinHostPort(strings.ToLower(proxy.Hostname()), port))
}

var (
	proxyValues = []string{
		"http://proxy:3128", "https://proxy", "http://proxy", "proxy:3128", "proxy", "proxy.corp.example", "10.0.0.1:3128", "10.0.0.1", "socks5://proxy", "socks5h://proxy:9",
		"http://user:pass@proxy:3128", "user@proxy:3128", "HTTP://PROXY:3128", "[fd00::1]:3128", "http://[fd00::1]", "http://proxy:3128/", "http://proxy:3128/path?a=b", "",
	}
	serverValues = []string{
		"https://10.0.0.1:6443", "https://10.0.0.1", "https://172.30.0.1:443", "https://192.168.1.9:6443", "http://10.0.0.1:8080", "https://api.corp.example:6443", "https://api.corp.example",
		"https://corp.example", "https://notcorp.example", "http://api.corp.example", "https://kubernetes.default.svc", "https://kubernetes.default.svc.cluster.local", "https://localhost:6443",
		"https://127.0.0.1:6443", "https://127.8.8.8", "https://[::1]:6443", "https://[fd00:10::1]:6443", "https://[fd00:11::1]", "https://[::ffff:10.0.0.1]:6443", "https://localhost.localdomain",
		"https://api.xn--bcher-kva.example", "https://a", "http://a.b.c:80", "https://a.b.c:80",
	}
	exceptions = []string{
		".svc", "svc", ".svc.cluster.local", "cluster.local", "10.0.0.0/8", "10.128.0.0/14", "172.30.0.0/16", "10.0.0.1", "10.0.0.1:6443", "10.0.0.1:443", "10.0.0.0/33", "10.0.0/8", "10.0.0.1/32", "10.0.0.2/31",
		"corp.example", ".corp.example", "*.corp.example", "api.corp.example:6443", "corp.example:443", ".corp.example:6443", "CORP.EXAMPLE", "*", "**", "*.", ".", "", " ", "localhost", "127.0.0.1", "127.0.0.0/8", "::1",
		"fd00:10::/32", "fd00:10::1", "[fd00:10::1]", "[fd00:10::1]:6443", "[fd00:10::1]:1", "FD00:10::1", "fd00::/8", "::/0", "0.0.0.0/0", "::ffff:10.0.0.0/104", "::ffff:10.0.0.1", "::ffff:0:0/96", "010.0.0.1", "10.0.0.01/8",
		"10.*", "10.", "10.0.0.1:", ":443", "b\u00fccher.example", ".b\u00fccher.example", "xn--bcher-kva.example", "a", "b.c", "b.c:80", "http://corp.example", "corp.example/", "corp.example:x", "a:b:c", "[", "[]", "[]:1", "fe80::1%eth0", "10.0.0.0/+8", "10.0.0.0/08", "10.0.0.0/",
	}
)

func chosenWays() []any {
	var chosen []any
	add := func(server string, env ...string) {
		way := way{env: map[string]string{}, server: server}
		for _, entry := range env {
			name, value, _ := strings.Cut(entry, "=")
			way.env[name] = value
		}
		chosen = append(chosen, way)
	}
	for _, server := range serverValues {
		// What OpenShift sets for a whole cluster behind a proxy.
		add(server, "HTTP_PROXY=http://proxy:3128", "HTTPS_PROXY=http://proxy:3128", "NO_PROXY=.cluster.local,.svc,10.128.0.0/14,127.0.0.1,172.30.0.0/16,localhost")
		for _, exception := range exceptions {
			add(server, "HTTPS_PROXY=s", "HTTP_PROXY=p", "NO_PROXY="+exception)
		}
	}
	for _, proxy := range proxyValues {
		for _, server := range []string{"https://10.0.0.1:6443", "http://10.0.0.1:6443", "https://localhost"} {
			add(server, "HTTPS_PROXY="+proxy)
			add(server, "http_proxy="+proxy)
			add(server, "https_proxy="+proxy, "HTTP_PROXY=http://other")
		}
	}
	for _, server := range []string{"https://10.0.0.1", "http://10.0.0.1"} {
		add(server)
		add(server, "HTTPS_PROXY=http://upper", "https_proxy=http://lower", "HTTP_PROXY=http://upper", "http_proxy=http://lower")
		add(server, "HTTPS_PROXY=", "https_proxy=http://lower", "HTTP_PROXY=", "http_proxy=http://lower")
		add(server, "HTTPS_PROXY=http://a", "HTTP_PROXY=http://a", "NO_PROXY=10.0.0.1", "no_proxy=other")
		add(server, "HTTPS_PROXY=http://a", "HTTP_PROXY=http://a", "NO_PROXY=other", "no_proxy=10.0.0.1")
		add(server, "HTTPS_PROXY=http://a", "HTTP_PROXY=http://a", "NO_PROXY=", "no_proxy=10.0.0.1")
		add(server, "HTTPS_PROXY=http://a", "HTTP_PROXY=http://a", "REQUEST_METHOD=GET")
		add(server, "HTTPS_PROXY=http://a", "HTTP_PROXY=http://a", "NO_PROXY= other , 10.0.0.0/8 ")
		add(server, "HTTPS_PROXY=http://a", "HTTP_PROXY=http://a", "NO_PROXY=other 10.0.0.0/8")
	}
	return chosen
}

func randomWay(random *rand.Rand) any {
	env := map[string]string{}
	for _, name := range proxyVariables[:4] {
		if random.IntN(2) == 0 {
			env[name] = pick(random, proxyValues)
		}
	}
	for _, name := range proxyVariables[4:6] {
		if random.IntN(2) == 0 {
			list := []string{}
			for range 1 + random.IntN(3) {
				list = append(list, pick(random, exceptions))
			}
			env[name] = strings.Join(list, pick(random, []string{",", ", ", ",,"}))
		}
	}
	return way{env: env, server: pick(random, serverValues)}
}
