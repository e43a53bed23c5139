// The oracle of the template evaluator in shared/src/core/base/go/template: Go's own text/template on the types that the
// SPIRE Controller Manager v0.7.0 is built with.
//
//	go run . types > ../../../shared/src/core/base/go/template/go-types.generated.ts
//	go run . run < ../../../shared/test/go/template/vectors/corpus.json > ../../../shared/test/go/template/vectors/oracle.json
//
// The second also answers the random templates of test/testing/src/random-templates.ts. Addresses in its answers
// differ from run to run; the evaluator calls those templates unknown.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"text/template"
	"unicode/utf8"

	"kleym.dev/test/go-oracle/template/spireentry"
)

// cases is the input of `run`: named data, and templates that name the data they are executed on.
type cases struct {
	Data  map[string]json.RawMessage `json:"data"`
	Cases []testCase                 `json:"cases"`
}

type testCase struct {
	Name     string `json:"name,omitempty"`
	Data     string `json:"data"`
	Template string `json:"template"`
}

// result is one vector: exactly one of Text, Failed and Syntax is set.
type result struct {
	testCase
	Text        *string `json:"text,omitempty"`
	InvalidUTF8 bool    `json:"invalidUtf8,omitempty"`
	Failed      string  `json:"failed,omitempty"`
	Syntax      string  `json:"syntax,omitempty"`
}

func main() {
	if len(os.Args) != 2 {
		fatal(fmt.Errorf("usage: template types | run"))
	}
	switch os.Args[1] {
	case "types":
		printTypes(os.Stdout)
	case "run":
		run()
	default:
		fatal(fmt.Errorf("unknown command %q", os.Args[1]))
	}
}

func run() {
	var in cases
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		fatal(err)
	}
	data := map[string]any{}
	for name, raw := range in.Data {
		var input spireentry.Input
		if err := json.Unmarshal(raw, &input); err != nil {
			fatal(fmt.Errorf("data %s: %w", name, err))
		}
		data[name] = input.Data()
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	fmt.Print("[\n")
	for i, c := range in.Cases {
		if i > 0 {
			fmt.Print(",")
		}
		dot, ok := data[c.Data]
		if !ok {
			fatal(fmt.Errorf("case %q names no data", c.Template))
		}
		if err := out.Encode(execute(c, dot)); err != nil {
			fatal(err)
		}
	}
	fmt.Print("]\n")
}

// limited stops a template that would write for ever.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if l.Len() > 1<<22 {
		return 0, fmt.Errorf("the oracle's output limit")
	}
	return l.Buffer.Write(p)
}

func execute(c testCase, dot any) (r result) {
	r.testCase = c
	parsed, err := template.New("oracle").Parse(c.Template)
	if err != nil {
		r.Syntax = err.Error()
		return r
	}
	var buf limited
	if err := parsed.Execute(&buf, dot); err != nil {
		r.Failed = err.Error()
		return r
	}
	text := buf.String()
	r.Text = &text
	r.InvalidUTF8 = !utf8.ValidString(text)
	return r
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
