// Command kubeconfig is the oracle for who we are to an API server: it gives kubeconfigs and kubectl's flags to the code that
// kubectl runs (client-go's clientcmd and transports), and writes the headers of a request, or that it was refused.
//
//	go run . -out ../../../shared/test/go/vectors
//
// Same seed and count, same bytes.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// question is one kubeconfig's user, the server it talks to, and what the command line says.
type question struct {
	Server string         `json:"server"`
	User   map[string]any `json:"user"`
	Flags  flags          `json:"flags"`
}

type flags struct {
	Token    string   `json:"token,omitempty"`
	As       string   `json:"as,omitempty"`
	AsGroups []string `json:"asGroups,omitempty"`
	AsUID    string   `json:"asUid,omitempty"`
}

// tokenFileText is what the file holds whose path a question calls "token-file".
const tokenFileText = "from-file\n"

func main() {
	out := flag.String("out", "", "directory for the vectors")
	count := flag.Int("count", 500, "random questions")
	seed := flag.Uint64("seed", 1, "seed of the random questions")
	flag.Parse()
	if *out == "" {
		log.Fatal("kubeconfig: -out is required")
	}
	if err := write(filepath.Join(*out, "kubeconfigs.jsonl"), *count, *seed); err != nil {
		log.Fatal(err)
	}
}

func write(path string, count int, seed uint64) error {
	folder, err := os.MkdirTemp("", "kubeconfig-oracle-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := os.WriteFile(filepath.Join(folder, "token-file"), []byte(tokenFileText), 0o600); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	writer := bufio.NewWriter(file)
	random := rand.New(rand.NewPCG(seed, 0))
	seen := map[string]bool{}
	questions := chosen()
	for range count {
		questions = append(questions, randomQuestion(random))
	}
	for _, asked := range questions {
		headers, refusal, err := answer(folder, asked)
		if err != nil {
			return err
		}
		row := []any{asked, headers}
		if refusal != "" {
			row = []any{asked, "refused"}
		}
		line, err := json.Marshal(row)
		if err != nil {
			return err
		}
		if !seen[string(line)] {
			seen[string(line)] = true
			fmt.Fprintln(writer, string(line))
		}
	}
	return writer.Flush()
}

// answer is the headers that kubectl would send, or why it sends nothing.
func answer(folder string, asked question) (map[string][]string, string, error) {
	config := map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "x",
		"clusters": []any{map[string]any{"name": "c", "cluster": map[string]any{"server": asked.Server}}},
		"users":    []any{map[string]any{"name": "u", "user": asked.User}},
		"contexts": []any{map[string]any{"name": "x", "context": map[string]any{"cluster": "c", "user": "u"}}},
	}
	text, err := json.Marshal(config)
	if err != nil {
		return nil, "", err
	}
	path := filepath.Join(folder, "config")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, "", err
	}
	overrides := &clientcmd.ConfigOverrides{AuthInfo: clientcmdapi.AuthInfo{
		Token: asked.Flags.Token, Impersonate: asked.Flags.As, ImpersonateGroups: asked.Flags.AsGroups, ImpersonateUID: asked.Flags.AsUID,
	}}
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: path}
	restConfig, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	if err != nil {
		return nil, err.Error(), nil
	}
	return send(restConfig, asked.Server)
}

// send puts a request through the wrappers of a configuration, and keeps what would go out.
func send(config *rest.Config, server string) (map[string][]string, string, error) {
	var sent http.Header
	transport, err := rest.HTTPWrappersForConfig(config, roundTripper(func(request *http.Request) (*http.Response, error) {
		sent = request.Header
		return &http.Response{StatusCode: 200, Body: http.NoBody, Request: request}, nil
	}))
	if err != nil {
		return nil, err.Error(), nil
	}
	request, err := http.NewRequest(http.MethodGet, server+"/version", nil)
	if err != nil {
		return nil, "", err
	}
	if _, err := transport.RoundTrip(request); err != nil {
		return nil, err.Error(), nil
	}
	headers := map[string][]string{}
	for name, values := range sent {
		lower := strings.ToLower(name)
		if lower == "authorization" || strings.HasPrefix(lower, "impersonate-") {
			headers[lower] = values
		}
	}
	return headers, "", nil
}

type roundTripper func(*http.Request) (*http.Response, error)

func (send roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return send(request) }

const https, plain = "https://10.0.0.1:6443", "http://10.0.0.1:8080"

func chosen() []question {
	var questions []question
	for _, user := range []map[string]any{
		{},
		{"username": "u"},
		{"username": "u", "password": ""},
		{"password": "p"},
		{"username": "u", "password": "p"},
		{"username": "ü", "password": "p:q"},
		{"token": "t"},
		{"tokenFile": "token-file"},
		{"token": "t", "tokenFile": "token-file"},
		{"token": "t", "username": "u"},
		{"token": "t", "password": "p"},
		{"tokenFile": "token-file", "username": "u", "password": "p"},
		{"tokenFile": "token-file", "password": "p"},
		{"as": "a"},
		{"as": "a", "as-groups": []string{"g", "h"}, "as-uid": "1"},
		{"as-groups": []string{"g"}},
		{"as-uid": "1"},
		{"as-user-extra": map[string][]string{"k": {"v"}}},
		{"as": "a", "as-user-extra": map[string][]string{"a/b c%d.E": {"v", "w"}, "reason": {}}},
		{"as": "a", "as-groups": []string{}},
		{"as": "", "as-groups": []string{""}},
	} {
		for _, server := range []string{https, plain} {
			for _, given := range []flags{{}, {Token: "flag"}, {As: "b"}, {As: "b", AsGroups: []string{"x"}, AsUID: "2"}, {Token: "flag", As: "b"}} {
				questions = append(questions, question{Server: server, User: user, Flags: given})
			}
		}
	}
	return questions
}

var values = []string{"a", "system:admin", "u ser", "x:y", "ü", "A-b_c"}

func randomQuestion(random *rand.Rand) question {
	user := map[string]any{}
	maybe := func(name string, value any) {
		if random.IntN(3) == 0 {
			user[name] = value
		}
	}
	text := func() string { return values[random.IntN(len(values))] }
	list := func() []string {
		var texts []string
		for range random.IntN(3) {
			texts = append(texts, text())
		}
		return texts
	}
	maybe("token", "t"+text())
	maybe("tokenFile", "token-file")
	maybe("username", text())
	maybe("password", text())
	maybe("as", text())
	maybe("as-groups", list())
	maybe("as-uid", text())
	maybe("as-user-extra", map[string][]string{text(): list()})
	given := flags{}
	if random.IntN(4) == 0 {
		given.Token = "flag"
	}
	if random.IntN(4) == 0 {
		given.As = text()
		if random.IntN(2) == 0 {
			given.AsGroups = list()
		}
		if random.IntN(2) == 0 {
			given.AsUID = text()
		}
	}
	server := https
	if random.IntN(4) == 0 {
		server = plain
	}
	return question{Server: server, User: user, Flags: given}
}
