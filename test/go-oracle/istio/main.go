// Command istio is the oracle for what the principals of an AuthorizationPolicy match: it asks the code by which istiod compiles
// policies, and writes its answers as vectors. Its first build takes some five minutes of two cores, so no gate builds it.
//
//	go run . -out ../../../shared/test/consumers/vectors
//	go run . -policies 2000 -out ../../../shared/test/naming/vectors
//
// A line of the first: [trust domain of the mesh, principal, names of peers that it matches]. The second is in policies.go.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"

	rbacpb "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	authzpb "istio.io/api/security/v1beta1"
	"istio.io/istio/pilot/pkg/security/authz/model"
	"istio.io/istio/pilot/pkg/security/trustdomain"
	"k8s.io/apimachinery/pkg/types"
)

const trustDomain = "example.org"

var principals = []string{
	"example.org/ns/team-a/sa/runner",
	"example.org/ns/team-a/pool/llama",
	"example.org/ns/team-a/pool/llama/variant/decode",
	"example.org/ns/team-a/objective/chat",
	"cluster.local/ns/team-a/sa/runner",
	"cluster.local/ns/team-a/pool/llama",
	"cluster.local/ns/team-a/pool/llama/variant/decode",
	"cluster.local/ns/team-a/objective/chat",
	"spiffe://example.org/ns/team-a/sa/runner",
	"spiffe://example.org/ns/team-a/pool/llama",
}

func main() {
	out := flag.String("out", "", "directory for the vectors")
	count := flag.Int("policies", 0, "write so many random policies, and whom they match")
	flag.Parse()
	if *out == "" {
		log.Fatal("istio: -out is required")
	}
	if *count > 0 {
		if err := writePolicies(filepath.Join(*out, "istio-policies.jsonl"), *count); err != nil {
			log.Fatal(err)
		}
		return
	}
	file, err := os.Create(filepath.Join(*out, "istio-principals.jsonl"))
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	lines := json.NewEncoder(file)
	for _, principal := range principals {
		names, err := namesOf(principal)
		if err != nil {
			log.Fatalf("%s: %v", principal, err)
		}
		if err := lines.Encode([]any{trustDomain, principal, names}); err != nil {
			log.Fatal(err)
		}
	}
}

// namesOf does for one principal what istiod does for each rule of a policy.
func namesOf(principal string) ([]string, error) {
	rule := &authzpb.Rule{From: []*authzpb.Rule_From{{Source: &authzpb.Source{Principals: []string{principal}}}}}
	compiled, err := model.New(types.NamespacedName{Namespace: "team-a", Name: "policy"}, rule)
	if err != nil {
		return nil, err
	}
	compiled.MigrateTrustDomain(trustdomain.NewBundle(trustDomain, nil))
	policy, err := compiled.Generate(false, true, rbacpb.RBAC_ALLOW)
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, one := range policy.GetPrincipals() {
		if names, err = appendNames(names, one); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// appendNames fails where a principal is matched in another way than by its exact name.
func appendNames(names []string, principal *rbacpb.Principal) ([]string, error) {
	inner := append(principal.GetAndIds().GetIds(), principal.GetOrIds().GetIds()...)
	if len(inner) == 0 {
		name := principal.GetAuthenticated().GetPrincipalName().GetExact()
		if name == "" {
			return nil, fmt.Errorf("no exact name: %v", principal)
		}
		return append(names, name), nil
	}
	for _, one := range inner {
		var err error
		if names, err = appendNames(names, one); err != nil {
			return nil, err
		}
	}
	return names, nil
}
