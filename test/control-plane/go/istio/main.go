// Says which SPIFFE IDs Istio takes for identities, with Istio's own package.
//
// stdin: ["spiffe://..."]
// stdout: [{"trustDomain": "...", "namespace": "...", "serviceAccount": "..."}, null], one for each ID; null: Istio refuses it.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"istio.io/istio/pkg/spiffe"
)

type identity struct {
	TrustDomain    string `json:"trustDomain"`
	Namespace      string `json:"namespace"`
	ServiceAccount string `json:"serviceAccount"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var ids []string
	if err := json.NewDecoder(os.Stdin).Decode(&ids); err != nil {
		return err
	}
	answers := make([]*identity, len(ids))
	for at, id := range ids {
		if found, err := spiffe.ParseIdentity(id); err == nil {
			answers[at] = &identity{found.TrustDomain, found.Namespace, found.ServiceAccount}
		}
	}
	return json.NewEncoder(os.Stdout).Encode(answers)
}
