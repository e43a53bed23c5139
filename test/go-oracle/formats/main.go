// Command formats is the oracle for how kleym reads what Go, Kubernetes and SPIRE parse (durations, expressions, names,
// selectors, IDs): it asks the code that SPIRE Controller Manager, spire-server and kube-apiserver run, and writes its
// answers as the vectors of shared/test/go.
//
//	go run . -out ../../../shared/test/go/vectors
//
// With -door it prints random manifests and what kubectl reads of them: test/control-plane/door-oracle.test.ts.
//
// Same seed and count, same bytes. A larger -count with another -seed, written elsewhere, gives vectors for a longer run.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// table is one file of vectors: hand-picked inputs first, then random ones.
type table struct {
	file   string
	chosen []any
	random func(*rand.Rand) any
	answer func(any) []any
	share  float64
}

func main() {
	out := flag.String("out", "", "directory for the vectors")
	count := flag.Int("count", 400, "random inputs per table, before each table's share")
	seed := flag.Uint64("seed", 1, "seed of the random inputs")
	door := flag.Bool("door", false, "answer random streams of manifests on stdout, and nothing else")
	flag.Parse()
	if *door {
		if err := writeDoor(*count, *seed); err != nil {
			log.Fatal(err)
		}
		return
	}
	if *out == "" {
		log.Fatal("formats: -out is required")
	}
	for _, t := range []table{proxies, durations, regexps, dnsNames, spiffeIDs, trustDomains, labelKeys, labelValues, dns1123, selectors, streams} {
		if err := write(t, *out, *count, *seed); err != nil {
			log.Fatal(err)
		}
	}
}

// write answers the inputs of a table, each distinct one once, one JSON array per line.
func write(t table, dir string, count int, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, 0))
	inputs := append([]any(nil), t.chosen...)
	for range int(float64(count) * t.share) {
		inputs = append(inputs, t.random(random))
	}
	file, err := os.Create(filepath.Join(dir, t.file))
	if err != nil {
		return err
	}
	defer file.Close()
	writer := bufio.NewWriter(file)
	seen := map[string]bool{}
	for _, input := range inputs {
		line, err := encode(t.answer(input))
		if err != nil {
			return fmt.Errorf("%s: %w", t.file, err)
		}
		if !seen[line] {
			seen[line] = true
			fmt.Fprintln(writer, line)
		}
	}
	return writer.Flush()
}

func encode(answer []any) (string, error) {
	bytes, err := json.Marshal(answer)
	return string(bytes), err
}

func pick[T any](random *rand.Rand, from []T) T {
	return from[random.IntN(len(from))]
}

// several joins up to most picks.
func several(random *rand.Rand, most int, from []string) string {
	text := ""
	for range random.IntN(most + 1) {
		text += pick(random, from)
	}
	return text
}

func texts(list ...string) []any {
	inputs := make([]any, len(list))
	for at, text := range list {
		inputs[at] = text
	}
	return inputs
}
