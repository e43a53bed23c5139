// Random policies: what istiod compiles them to is asked about each of some IDs, as Envoy would ask.
//
// The first line lists the IDs. Any other: [trust domain and aliases of the mesh, the rule, for each ID in their order 1 if its
// principals match it and 0 if not, and for each principal of it what istiod compares with].
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"regexp"
	"strings"

	rbacpb "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	matcherpb "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	authzpb "istio.io/api/security/v1beta1"
	"istio.io/istio/pilot/pkg/security/authz/model"
	"istio.io/istio/pilot/pkg/security/trustdomain"
	"k8s.io/apimachinery/pkg/types"
)

var (
	ids = []string{
		"spiffe://example.org/ns/team-a/sa/runner",
		"spiffe://example.org/ns/team-a/sa/runner-2",
		"spiffe://example.org/ns/team-b/sa/runner",
		"spiffe://example.org/ns/team-a/pool/llama",
		"spiffe://example.org/ns/team-a/pool/llama/variant/decode",
		"spiffe://example.org/ns/team-b/pool/llama",
		"spiffe://example.org/ns/team-a/objective/chat",
		"spiffe://cluster.local/ns/team-a/sa/runner",
		"spiffe://cluster.local/ns/team-a/pool/llama/variant/decode",
		"spiffe://old.example.net/ns/team-a/sa/runner",
		"spiffe://old.example.net/ns/team-a/pool/llama",
		"spiffe://example.org/x/ns/team-a/y/sa/runner/z",
		"spiffe://example.org/ns/team-a/sa/runner/z",
		"spiffe://example.org/gateway",
	}
	meshes = [][]string{
		{"example.org"},
		{"cluster.local"},
		{"example.org", "old.example.net"},
		{"example.org", "*.example.net"},
		{"new.example.net", "old.example.net", "cluster.local"},
	}
	domains = []string{
		"example.org", "example.org", "cluster.local", "cluster.local", "old.example.net", "*", "*.org", "example*",
		"*.example.net", "spiffe://example.org", "",
	}
	paths = []string{
		"ns/team-a/sa/runner", "ns/team-a/sa/*", "ns/team-a/sa/run*", "ns/*", "ns/team-b/sa/runner", "ns/team-a/pool/llama",
		"ns/team-a/pool/llama/variant/decode", "ns/team-a/pool/*", "ns/team-a/objective/chat", "ns/team-a/objective/chat/", "*",
	}
	whole      = []string{"*", "*runner", "*/ns/team-a/sa/runner", "spiffe*", "**", "sa/runner", "*.org/gateway"}
	namespaces = []string{"team-a", "team-b", "team*", "*-a", "*", "t*m-a", "TEAM-A", "spiffe://example.org"}
	accounts   = []string{"runner", "team-a/runner", "team-b/runner", "team-a/run*", "*", "team-a/sa/runner", "run.er"}
)

func writePolicies(path string, count int) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := json.NewEncoder(file)
	lines.SetEscapeHTML(false)
	if err := lines.Encode(ids); err != nil {
		return err
	}
	random := rand.New(rand.NewSource(42))
	for range count {
		mesh := meshes[random.Intn(len(meshes))]
		rule := randomRule(random)
		matched, compared, err := compile(rule, mesh)
		if err != nil {
			return err
		}
		if err := lines.Encode([]any{mesh, rule, matched, compared}); err != nil {
			return err
		}
	}
	return nil
}

func pick(random *rand.Rand, from []string) string { return from[random.Intn(len(from))] }

func some(random *rand.Rand, one func() string) []string {
	values := []string{}
	for range 1 + random.Intn(2) {
		values = append(values, one())
	}
	return values
}

// field is one list of a source, or of a condition.
type field struct {
	values, notValues []string
}

type condition struct {
	Key       string   `json:"key"`
	Values    []string `json:"values,omitempty"`
	NotValues []string `json:"notValues,omitempty"`
}

type source struct {
	Principals         []string `json:"principals,omitempty"`
	NotPrincipals      []string `json:"notPrincipals,omitempty"`
	Namespaces         []string `json:"namespaces,omitempty"`
	NotNamespaces      []string `json:"notNamespaces,omitempty"`
	ServiceAccounts    []string `json:"serviceAccounts,omitempty"`
	NotServiceAccounts []string `json:"notServiceAccounts,omitempty"`
}

type from struct {
	Source source `json:"source"`
}

type rule struct {
	From []from      `json:"from,omitempty"`
	When []condition `json:"when,omitempty"`
}

func randomField(random *rand.Rand, one func() string) field {
	switch random.Intn(4) {
	case 0:
		return field{notValues: some(random, one)}
	case 1:
		return field{values: some(random, one), notValues: some(random, one)}
	default:
		return field{values: some(random, one)}
	}
}

func randomRule(random *rand.Rand) rule {
	kinds := []func() string{
		func() string {
			if random.Intn(5) == 0 {
				return pick(random, whole)
			}
			return pick(random, domains) + "/" + pick(random, paths)
		},
		func() string { return pick(random, namespaces) },
		func() string { return pick(random, accounts) },
	}
	var one rule
	for range 1 + random.Intn(2) {
		var made source
		if random.Intn(5) == 0 {
			list := randomField(random, kinds[2])
			made.ServiceAccounts, made.NotServiceAccounts = list.values, list.notValues
		} else {
			list := randomField(random, kinds[0])
			made.Principals, made.NotPrincipals = list.values, list.notValues
			if random.Intn(4) == 0 {
				list := randomField(random, kinds[1])
				made.Namespaces, made.NotNamespaces = list.values, list.notValues
			}
		}
		one.From = append(one.From, from{made})
	}
	if random.Intn(5) == 0 {
		at := random.Intn(3)
		list := randomField(random, kinds[at])
		key := []string{"source.principal", "source.namespace", "source.serviceAccount"}[at]
		one.When = append(one.When, condition{key, list.values, list.notValues})
	}
	return one
}

func compile(one rule, mesh []string) (string, map[string][]string, error) {
	bundle := trustdomain.NewBundle(mesh[0], mesh[1:])
	policy, err := policyOf(one, bundle)
	if err != nil {
		return "", nil, err
	}
	matched := ""
	for _, id := range ids {
		if matchesAny(policy.GetPrincipals(), id) {
			matched += "1"
		} else {
			matched += "0"
		}
	}
	compared := map[string][]string{}
	for _, each := range one.From {
		for _, principal := range append(append([]string{}, each.Source.Principals...), each.Source.NotPrincipals...) {
			alone, err := policyOf(rule{From: []from{{source{Principals: []string{principal}}}}}, bundle)
			if err != nil {
				return "", nil, err
			}
			compared[principal] = comparedWith(alone.GetPrincipals())
		}
	}
	return matched, compared, nil
}

func policyOf(one rule, bundle trustdomain.Bundle) (*rbacpb.Policy, error) {
	made := &authzpb.Rule{}
	for _, each := range one.From {
		s := each.Source
		made.From = append(made.From, &authzpb.Rule_From{Source: &authzpb.Source{
			Principals: s.Principals, NotPrincipals: s.NotPrincipals,
			Namespaces: s.Namespaces, NotNamespaces: s.NotNamespaces,
			ServiceAccounts: s.ServiceAccounts, NotServiceAccounts: s.NotServiceAccounts,
		}})
	}
	for _, each := range one.When {
		made.When = append(made.When, &authzpb.Condition{Key: each.Key, Values: each.Values, NotValues: each.NotValues})
	}
	compiled, err := model.New(types.NamespacedName{Namespace: "team-a", Name: "policy"}, made)
	if err != nil {
		return nil, err
	}
	compiled.MigrateTrustDomain(bundle)
	return compiled.Generate(false, true, rbacpb.RBAC_ALLOW)
}

func matchesAny(principals []*rbacpb.Principal, id string) bool {
	for _, one := range principals {
		if matches(one, id) {
			return true
		}
	}
	return false
}

// matches does what Envoy's RBAC filter does with the kinds of principals that istiod writes for peers.
func matches(principal *rbacpb.Principal, id string) bool {
	switch one := principal.GetIdentifier().(type) {
	case *rbacpb.Principal_AndIds:
		for _, each := range one.AndIds.GetIds() {
			if !matches(each, id) {
				return false
			}
		}
		return true
	case *rbacpb.Principal_OrIds:
		return matchesAny(one.OrIds.GetIds(), id)
	case *rbacpb.Principal_NotId:
		return !matches(one.NotId, id)
	case *rbacpb.Principal_Any:
		return one.Any
	case *rbacpb.Principal_Authenticated_:
		return matchesText(one.Authenticated.GetPrincipalName(), id)
	}
	panic(fmt.Sprintf("not followed: %v", principal))
}

func matchesText(matcher *matcherpb.StringMatcher, id string) bool {
	switch one := matcher.GetMatchPattern().(type) {
	case *matcherpb.StringMatcher_Exact:
		return one.Exact == id
	case *matcherpb.StringMatcher_Prefix:
		return strings.HasPrefix(id, one.Prefix)
	case *matcherpb.StringMatcher_SafeRegex:
		return regexp.MustCompile("^(?:" + one.SafeRegex.GetRegex() + ")$").MatchString(id)
	}
	panic(fmt.Sprintf("not followed: %v", matcher))
}

// comparedWith lists the texts of matchers: what is exact as it is, any other with its kind.
func comparedWith(principals []*rbacpb.Principal) []string {
	texts := []string{}
	for _, one := range principals {
		inner := append(one.GetAndIds().GetIds(), one.GetOrIds().GetIds()...)
		if len(inner) > 0 {
			texts = append(texts, comparedWith(inner)...)
			continue
		}
		name := one.GetAuthenticated().GetPrincipalName()
		switch matcher := name.GetMatchPattern().(type) {
		case *matcherpb.StringMatcher_Exact:
			texts = append(texts, matcher.Exact)
		case *matcherpb.StringMatcher_Prefix:
			texts = append(texts, "prefix "+matcher.Prefix)
		case *matcherpb.StringMatcher_SafeRegex:
			texts = append(texts, "regex "+matcher.SafeRegex.GetRegex())
		}
	}
	return texts
}
