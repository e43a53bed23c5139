package main

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// streams: [text, documents as JSON texts, whether reading ended in a refusal]. What kubectl takes from a file
// (k8s.io/cli-runtime/pkg/resource, StreamVisitor): the documents before the first one that it refuses.
var streams = table{file: "yaml.jsonl", chosen: texts(chosenStreams()...), random: randomStream, share: 4, answer: answerStream}

func answerStream(input any) []any {
	text := input.(string)
	documents := []string{}
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	for {
		object := runtime.RawExtension{}
		if err := decoder.Decode(&object); err != nil {
			return []any{text, documents, !errors.Is(err, io.EOF)}
		}
		raw := bytes.TrimSpace(object.Raw)
		if len(raw) != 0 && !bytes.Equal(raw, []byte("null")) {
			documents = append(documents, string(raw))
		}
	}
}

// chosenStreams are what people write, and what readers of YAML 1.1 and 1.2 read differently.
func chosenStreams() []string {
	long := strings.Repeat("k", 1020)
	list := []string{
		"a: .5_5\n", "a: ._5\n", "a: .5_\n", "a: .5__5\n", "a: .5_5e1_0\n", "a: -.5_5\n", "a: \"\\U0000D800\"\n", "a: \"\\U0000dfff\"\n", "a: | --- \n  x\n", "a: !!int _1\n", "a: !!int 1_0\n", "a: !!float _1\n", "a: [![x]]\n", "a: [!{b: 1}]\n", "a: ![x]\n", "a: |+\n  x\n \n   \n", "a: |2\n  x\n \n", "a: |2\n    x\n\n\n", "a: x\n---\n", "a: x\n--- y\n", "a: 1\n... text\n", "... text\na: 1\n", "---\n... x\na: 1\n", "a: |\n  x\n... y\n",
		"", "\n", "# only a comment\n", "---\n", "---\n---\n", "...\n", "a: 1", "a: 1\n", "\ufeffa: 1\n", "a: 1\n\ufeff---\nb: 2\n", "\ufeff---\na: 1\n",
		"a: 1\r\nb:\r\n- c\r\n", "a: 1\rb: 2\n", "a: \"x\r\n  y\"\r\n", "a: |\r\n  x\r\n  y\r\n", "a: x\u0085b: y\n", "a: x\u2028b: y\n", "a: \"x\u2028y\"\n", "a: 'x\u0085y'\n",
		// Separators.
		"a: 1\n---\nb: 2\n", "a: 1\n--- \nb: 2\n", "a: 1\n---\t\nb: 2\n", "a: 1\n--- # x\nb: 2\n", "a: 1\n---# x\nb: 2\n", "a: 1\n--- b: 2\n", "--- a\n", "--- {a: 1}\n", "--- |\n  x\n",
		"a: 1\n---b\nc: 1\n", "a: 1\n----\nb: 2\n", "a: |\n  x\n---\nb: 2\n", "a: \"x\n---\ny\"\n", "a: |\n---\n", "a: 1\n...\nb: 2\n", "a: 1\n...\n---\nb: 2\n", "a: 1\n... # x\n", "a: 1\n...x\n", "a: 1\n...\n: [\n",
		"a: 1\n---\n", "a: 1\n---", "---", "--- ", "a: 1\n---\n---\nb: 1\n", "---\na: 1\n---\n# c\n---\nb: 2\n", " ---\na: 1\n", "a: 1\n ---\nb: 2\n", "-----BEGIN X-----\n", "a: |\n  x\n-----BEGIN X-----\n",
		"%YAML 1.1\n---\na: yes\n", "%YAML 1.2\n---\na: yes\n", "%YAML 1.3\n---\na: 1\n", "%YAML 2.0\n---\na: 1\n", "%TAG ! !x\n---\na: 1\n", "%FOO bar\n---\na: 1\n", "a: 1\n%YAML 1.1\n---\nb: 1\n", "---\n%YAML 1.1\n---\na: 1\n", "# x\n%YAML 1.1\n",
		"%a: 1\n", "a: %b\n", "a:\n  %b\n", "a: x\n%b\n",
		// Quoted scalars over several lines.
		"a: \"x\n  y\"\n", "a: \"x\ny\"\nb: 1\n", "a:\n  b: \"x\n  y\"\n", "a:\n  b: \"x\ny\"\n", "a:\n  b: 'x\n  y'\n  c: 1\n", "a: 'x\n\n\n  y'\n", "a: \"x\\\n  y\"\n", "a: \"x \\\n  y\"\n", "a: \"x\n\n  y\"\n", "a: \"x \n  y\"\n", "a: \"x\n# no comment\"\n", "- \"x\n- y\"\n", "a: 'x\n- y'\n", "a: \"x\n\ty\"\n", "a: \"\tx\"\n", "a: \"x\n...\ny\"\n",
		"\"a\n b\": 1\n", "'a\n b': 1\n", "? \"a\n  b\"\n: 1\n", "{\"a\n b\": 1}\n", "a: \"x\" y\n", "a: \"x\"y\n", "a: 'x' # c\n", "a: 'x'# c\n", "a: 'it''s'\n", "a: ''''\n", "a: '\\n'\n", "a: \"\n\"\n", "a: \"\n\n\"\n", "a: ' \n '\n",
		// Escapes.
		`a: "\0\a\b\t\n\v\f\r\e\ \"\/\\\N\_\L\P\x41\u00e9\U0001F600"` + "\n", `a: "\'"` + "\n", `a: "\0"` + "\n", `a: "\a\b\t\n"` + "\n", `a: "\v\f\r\e"` + "\n", `a: "\ \"\\"` + "\n", `a: "\/"` + "\n", `a: "\N\_"` + "\n", `a: "\L"` + "\n", `a: "\P"` + "\n", `a: "\x41\u00e9"` + "\n", `a: "\U0001F600"` + "\n", `a: "\q"` + "\n", `a: "\x4"` + "\n", `a: "\ud83d\ude00"` + "\n", `a: "\ud800"` + "\n", `a: "\U00110000"` + "\n", "a: \"\\\tx\"\n", `"\x61": 1` + "\n", `a: "\x00"` + "\n",
		// Keys.
		long + "kkkk: 1\n", long + "kkk: 1\n", long + "kk: 1\n", long + ": 1\n", "\"" + long + "kk\": 1\n", "\"" + long + "k\": 1\n", "a:\n  " + long + "kkkk: 1\n", "{" + long + "kkkk: 1}\n", "{" + long + "kkkkkkk: 1}\n", "[" + long + "kkkkkkk: 1]\n", "? " + long + "kkkkkkk\n: 1\n", "&a " + long + ": 1\n", "&aaaaaa " + long + ": 1\n", "{\"" + long + "kkk\": 1}\n", "{\"" + long + "kkkk\":1}\n", "[[" + strings.Repeat("a, ", 400) + "b]: 1]\n",
		"a: 1\na: 2\n", "a: 1\n\"a\": 2\n", "1: a\n\"1\": b\n", "true: a\nyes: b\n", "1: a\n0x1: b\n", "~: a\n", "null: a\n", ": a\n", "{: a}\n", "? a\n", "? a\n: b\n", "?\n: b\n", "? [a]\n: b\n", "? {a: b}\n: c\n", "[a, b]: c\n", "1.5: a\n", "1e3: a\n", ".inf: a\n", "-0: a\n", "1e100: a\n", "0.1: a\n", "123456789.5: a\n", "18446744073709551615: a\n", "9223372036854775808: a\n", "2026-01-01: a\n", "!!str 1: a\n", "!!binary aGk=: a\n", "? - a\n: b\n", "a: {b: 1, b: 2}\n", "a:1\n", "a:b: 1\n", "a : 1\n", "a :b: 1\n", "a\t: 1\n", "a:\t1\n", "a:\n\tb: 1\n", "a:\n  b: 1\n\tc: 2\n", "\ta: 1\n", " a: 1\n b: 2\n", "  a: 1\n b: 2\n", "a: 1\n  b: 2\n", "a:\n    b: 1\n  c: 2\n", "a:\n- b\n- c\nd: 1\n", "a:\n - b\n- c\n", "- a\n b\n", "- a\n-b\n", "-\ta\n", "-\t- a\n", "- \ta: 1\n", "- a: 1\n  b: 2\n", "- a: 1\n\tb: 2\n", "-a: 1\n", "- - a\n  - b\n", "- - a\n - b\n", "a: - b\n", "a: b: c\n", "a: b:\n", "a: b : c\n", "a:b\n", "a: 'b': c\n", "a: [b]: c\n", "a: {b}: c\n", "- a: - b\n", "? - a\n", "a: ? b\n", "? ? a\n", "a: |\n b\n c: 1\n", "a\nb: 1\n", "a\n b: 1\n", "\"a\" : 1\n", "\"a\":1\n", "'a':1\n", "{\"a\":1}\n", "{'a':1, b:2}\n", "{a:1}\n", "{a: 1, }\n", "{a: 1, , b: 2}\n", "{,}\n", "[,]\n", "[a,]\n", "[a,,b]\n", "[a b, c]\n", "[a: 1, b: 2]\n", "[a: 1, b]\n", "[? a : b]\n", "[?a]\n", "[a?]\n", "[a?b]\n", "[a ?b]\n", "[a? b]\n", "[a ? b]\n", "a: {b: c?d=e}\n", "a: [http://x?y=1, b]\n", "a: [b?, c]\n", "a: {b?: c}\n", "a: [b:c, d::e, f: g]\n", "a: [\"b\":c]\n", "a: [b\n]\nc: 1\n", "a:\n  - b: [\nc\n]\n    d: 1\n", "a:\n- b: {\n}\n- c\n", "a: [b, # c\n  d\n  # e\n]\n", "a: [ 'b',\n\n\n \"c\" ]\n", "a: [b # c\n, d]\n", "{?a: 1}\n", "{? a: 1}\n", "{a}\n", "{a, b}\n", "{a: }\n", "{a:}\n", "{a:, b: 1}\n", "[a:]\n", "[a:, b]\n", "[:a]\n", "[: a]\n", "[a:b]\n", "[http://x.y:80/z]\n", "{a: http://x}\n", "[a #b\n]\n", "[a, #b\n c]\n", "[a,#b\n c]\n", "{a: 1 #x\n}\n", "[\na\n]\n", "a: [\nb\n]\n", "a: [\n  b\n]\n", "a:\n  b: [\nc]\n", "a:\n  b: [\n c\n]\n", "a: {\nb: 1\n}\n", "a: [b\n, c]\n", "a: [b,\n\tc]\n", "a: [b,\n\n# x\nc]\n", "a: [b]\n  \n", "a: [b] c\n", "a: [b]c\n", "a: [b}\n", "a: [b\n", "a: b]\n", "a: b}\n", "a: b]c\n", "a: ]\n", "a: }\n", "a: ,\n", "a: b, c\n", "a: {b: [c, {d: e}]}\n", "a: [[b]\n", "[\"a\":1]\n", "[\"a\": 1]\n", "[\"a\":]\n", "{\"a\"}\n", "{\"a\" \"b\"}\n", "[\"a\" \"b\"]\n", "[a \"b\"]\n", "[- a]\n", "[-a]\n", "[-]\n", "[-, a]\n", "{- a}\n", "[---]\n", "[a, ---]\n", "[*a]\n", "{a: b: c}\n", "{a: b\n  c: d}\n", "[a: b: c]\n", "[{a: 1}: 2]\n", "{[a]: 1}\n", "{{a: b}: c}\n",
		// Plain scalars.
		"a: b c\n", "a: b\n c\n", "a: b\n  c\n  d\n", "a: b\n\n  c\n", "a: b\nc\n", "a: b #c\n", "a: b#c\n", "a: #b\n", "a: # b\n  c\n", "a: b\n  # c\n  d\n", "a: b\n  #c\n", "a: b\n# c\nd: 1\n", "a:\n  b\n  c\n", "a:\nb\n", "a: @b\n", "a: `b\n", "a: &b\n", "a: *b\n", "a: !b\n", "a: |b\n", "a: >b\n", "a: \"b\n", "a: 'b\n", "a: -\n", "a: - \n", "a: -b\n", "a: ?b\n", "a: ?\n", "a: :b\n", "a: :\n", "a: b:\n", "a: b:c\n", "a: b::c\n", "a: ::\n", "a: b\t\n", "a: b\tc\n", "a: b\t#c\n", "a: b \n", "a: \n b\n", "a: b\n\tc\n", "a: b\n \tc\n", "a:\n\n\n  b\n", "a: é\n", "é: a\n", "a: 😀\n", "a: \u00a0b\n", "a: b\u00a0\n", "a\u00a0: b\n", "a: b\u0007\n", "a: \"b\u0007\"\n", "a: b\u007f\n", "a: b\u0080\n", "a: \ufffe\n", "a: \ufffd\n", "a: b\ufeff\n", "a: \ufeffb\n", "a: \u0000\n", "a: b\u000bc\n", "a: b\u000cc\n", "a: ---\n", "a: ...\n", "a: b ---\n", "a: b\n  ---\n", "a: b\n  ...\n", "a: <<\n", "a: =\n", "=: a\n", "a: ~b\n", "a: %\n", "a: ,b\n", "a: [b\n  c]\n", "a: 50%\n", "a: $(b)\n", "a: {{ .b }}\n", "a: \"{{ .b }}\"\n", "{{ if .a }}\nb: 1\n{{ end }}\n", "a: ${b}\n", "a: <b>\n",
		// Block scalars.
		"a: |\n  b\n", "a: |\n b\n  c\n", "a: |-\n  b\n\n", "a: |+\n  b\n\n\n", "a: |\n\n  b\n", "a: |\n   \n  b\n", "a: |\n    \n  b\n", "a: >\n  b\n  c\n", "a: >\n  b\n\n  c\n", "a: >\n  b\n   c\n  d\n", "a: >\n  b\n\n   c\n\n  d\n", "a: >-\n  b\n  c\n\n", "a: >+\n  b\n\n", "a: >\n\n  b\n", "a: |2\n    b\n", "a: |1\n  b\n", "a: |0\n  b\n", "a: |10\n  b\n", "a: |+2\n    b\n", "a: |2-\n    b\n", "a: |--\n  b\n", "a: | # c\n  b\n", "a: |#c\n  b\n", "a: |\tb\n", "a: |\t\n  b\n", "a: | \n  b\n", "a: |\n\tb\n", "a: |\n  \tb\n", "a: |\n\t\n  b\n", "a: |\n  b\n\t\n", "a: |\n  b\n \t\n", "a: |\n  b\n\tc\n", "a: |\n  b\n   \n", "a: |\n  b\n \n", "a: |\n  b\n#c\n", "a: |\n  b\n  #c\n", "a: |\n  b\n # c\n", "a: |\nb\n", "a: |\n", "a: |", "a: |\n\n", "a: |+\n\n", "a: |-\n\n", "a: |\nb: 1\n", "a: |\n  b", "a: |+\n  b", "a: |-\n  b", "a: >\n  b", "- |\n b\n", "- |\n  b\n- c\n", "- |\nb\n", "-\n  |\n  b\n", "a:\n  - |\n   b\n", "a: !!str |\n  b\n", "a: &x |\n  b\n", "a: |\n  b\n  c\n d\n", "a: |\n    b\n  c\n", "a: >\n    b\n  c\n", "a: |2\n  b\n c\n", "a: >1\n   b\n c\n", "a: >\n  b\n  \n  c\n", "a: >\n  b \n  c\n", "a: >\n  b\t\n  c\n", "a: >\n  \tb\n  c\n", "a: >\n  b\n  \tc\n  d\n", "a: |\n  ---\n", "a: |\n  b\n---\nc: 1\n", "a: |\n  b\n...\n", "? |\n  a\n: b\n", "|\n a\n", "|\na\n", ">\na\nb\n", "--- |\na\n", "a: |\n  é\u2028b\n", "a: |\n  b\u0085c\n", "a: |\n \ufeffb\n", "[|\n a\n]\n", "{a: |\n b\n}\n",
		// Anchors, aliases, merges and tags.
		"a: &x 1\nb: *x\n", "a: &x [1]\nb: *x\n", "a: &x {c: 1}\nb: *x\n", "a: *x\n", "a: &x *x\n", "a: &x [*x]\n", "&x a: 1\nb: *x\n", "a: &x\nb: *x\n", "a: & 1\n", "a: * 1\n", "a: &x-y_1 1\nb: *x-y_1\n", "a: &x.y 1\nb: *x.y\n", "a: &é 1\n", "a: &x: 1\n", "a: &x &y 1\n", "a: &x !!str 1\n", "a: !!str &x 1\nb: *x\n", "*x : 1\n", "a: &x b\n*x : 1\n", "a: &x b\n*x: 1\n", "a: &x 1\nb: *x c\n", "a: &x 1\nb: [*x, *x]\n", "a: &x 1\nb: [*x,*x]\n", "a: &x 1\nb: {*x : 1}\n", "a: &x 1\n---\nb: *x\n", "a: &x 1\na: &x 2\nb: *x\n", "&x\na: 1\n", "&x\n- a\n", "- &x a\n- *x\n", "- &x\n  a: 1\n- *x\n", "- &x a: 1\n- *x\n", "a: &x\n  b: 1\nc:\n  <<: *x\n", "a: &x {b: 1}\nc: {<<: *x, b: 2}\n", "a: &x {b: 1}\nc: {b: 2, <<: *x}\n", "a: &x {b: 1}\nd: &y {b: 2, e: 3}\nc: {<<: [*x, *y]}\n", "a: &x {b: 1}\nd: &y {b: 2, e: 3}\nc: {<<: [*y, *x]}\n", "<<: {a: 1}\n", "<<: [{a: 1}, {a: 2, b: 3}]\n", "<<: a\n", "<<: [a]\n", "<<:\n", "<<: null\n", "<<: []\n", "\"<<\": {a: 1}\n", "'<<': {a: 1}\n", "!!merge <<: {a: 1}\n", "!!str <<: {a: 1}\n", "! <<: {a: 1}\n", "a: 1\n<<: {a: 2}\n<<: {a: 3}\n", "<<: {a: 2}\n<<: {a: 3}\n", "<<: {<<: {a: 1}, b: 2}\n", "a: &x [{b: 1}]\nc: {<<: *x}\n", "a: <<\n", "[<<: {a: 1}]\n", "&x <<: {a: 1}\n",
		"a: !!str 1\n", "a: !!str\n", "a: !!str ~\n", "a: !!str yes\n", "a: !!int \"1\"\n", "a: !!int 1\n", "a: !!int x\n", "a: !!int 1.5\n", "a: !!float 1\n", "a: !!float \"1.5\"\n", "a: !!float x\n", "a: !!bool yes\n", "a: !!bool \"yes\"\n", "a: !!bool x\n", "a: !!null ~\n", "a: !!null x\n", "a: !!null\n", "a: !!null \"\"\n", "a: !!map {b: 1}\n", "a: !!seq [b]\n", "a: !!map [b]\n", "a: !!seq {b: 1}\n", "a: !!str [b]\n", "a: !!str {b: 1}\n", "a: !!int [b]\n", "a: !!binary aGk=\n", "a: !!binary x\n", "a: !!binary |\n  aGk=\n", "a: !!timestamp 2026-01-01\n", "a: !!timestamp x\n", "a: !!set {b}\n", "a: !!omap [b: 1]\n", "a: !x b\n", "a: !x 1\n", "a: !x {b: 1}\n", "a: !x [b]\n", "a: ! b\n", "a: ! 1\n", "a: ! yes\n", "a: ! [1]\n", "a: !<tag:yaml.org,2002:str> 1\n", "a: !<x> 1\n", "a: !<x 1\n", "a: !x!y 1\n", "a: !!x 1\n", "a: !!str\n  b\n", "!!str a: 1\n", "!!map\na: 1\n", "a: !!str#b\n", "a: !a,b c\n", "[!!str, a]\n", "[!!str 1, !!str 2]\n", "[!x,y]\n", "a: !! b\n", "a: !\n", "a: !%61 b\n", "a: !!%73tr 1\n", "a: !!merge <<\n", "a: !!float 0x10\n", "a: !!int 0x10\n", "a: !!str 2026-01-01\n", "a: !!yaml x\n", "a: !!value =\n",
	}
	for _, scalar := range plainScalars {
		list = append(list, "a: "+scalar+"\n", "["+scalar+", \""+scalar+"\"]\n", scalar+": a\n")
	}
	return append(list, jsonStreams...)
}

var jsonStreams = []string{"{}", "{\"a\": 1}", "{\"a\": 1}{\"b\": 2}", "{\"a\": 1}\n{\"b\": 2}\n", " {\"a\": 1}", "{\"a\": 1,}", "{\"a\": 1, \"a\": 2}", "{a: 1}\n---\n{b: 2}\n", "{\"a\": 1}\n---\n{\"b\": 2}\n", "{\"a\": 1}\n---\nb: 2\n", "[1, 2]\n", "{\"a\": 1} x\n", "{\"a\": 1e400}\n", "{\"a\": 01}\n", "{\"a\": \"\t\"}\n", "{\"a\": \"\\u0000\"}\n", "{\"a\":\n1}\n", "{\"a\": 1}\n# c\n", "{\"a\": tru}\n", "{\"a\": 1}\n{b: 2}\n", "\"a\"\n", "1\n", "null\n", "a\n", "~\n", "true\n"}

var plainScalars = []string{"yes", "Yes", "YES", "yEs", "y", "Y", "no", "n", "N", "on", "On", "oN", "off", "OFF", "true", "True", "TRUE", "tRUE", "false", "null", "Null", "NULL", "nULL", "~", "none", "nil",
	"0", "-0", "+0", "1", "+1", "-1", "00", "01", "07", "08", "010", "-010", "+010", "0o10", "0O10", "0o8", "-0o10", "0x1F", "0X1f", "-0x10", "0x", "0xg", "0b11", "0B11", "0b2", "-0b11", "0b", "+0b1", "1_000", "_1", "1_", "1__0", "0_1", "0x_1", "0_x1", "0b_1", "0b1_0", "0o_1", "-_1", "1_.5", "1._5", "1.5_", "1e_5", "1e5_0",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616", "1e18", "123456789012345678901234567890", "0xffffffffffffffff", "0x10000000000000000", "01777777777777777777777", "-0xffffffffffffffff", "0b1111111111111111111111111111111111111111111111111111111111111111", "9007199254740993",
	"1.", ".1", "1.0", "1.5", "-1.5", "+1.5", ".", "..", "-.", "+.", ".5", "-.5", "+.5", "1..5", "1.2.3", "1e3", "1E3", "1e+3", "1e-3", "1.e3", ".5e1", "1e", "e1", "1e400", "-1e400", "1e-400", ".e1", "0x1p4", "0x1.8p1", "1f", "0.1", "0.30000000000000004", "1.0e0", "100.0", "1e21", "1e20", "123456.789e3", "0e0", "-0.0", "00.5", "01.5", "09.5", "1 000",
	".inf", ".Inf", ".INF", ".iNF", "-.inf", "+.inf", "-.Inf", "inf", "Infinity", "+Inf", ".nan", ".NaN", ".NAN", ".Nan", "nan", "NaN", "-.nan",
	"2026-01-01", "2026-1-1", "2026-01-01T00:00:00Z", "2026-01-01t00:00:00z", "2026-01-01 00:00:00", "2026-01-01 00:00:00.5", "2026-01-01 00:00:00 Z", "2026-01-01T00:00:00+01:00", "2026-13-01", "20260101", "12:30", "1:2:3", "190:20:30", "1:30.5", "v1", "1Gi", "500m", "1.5Gi", "10.0.0.1", "0.0.0.0/0", "::1", "fe80::1", "sha256:abc", "<<", "=", "-", "--", "---a", "+", "- ", "-a", "+a", "1a", "0a", "a1", ".a", "..."}

// manifests are what random streams are made of.
var manifests = []string{
	"apiVersion: inference.networking.k8s.io/v1\nkind: InferencePool\nmetadata:\n  name: llama\n  namespace: team-a\n  labels: {app: llama, \"tier\": 'gpu'}\nspec:\n  targetPorts:\n  - number: 8000\n  selector:\n    matchLabels:\n      app: llama # the model\n  endpointPickerRef:\n    name: epp\n    port: {number: 9002}\n",
	"apiVersion: spire.spiffe.io/v1alpha1\nkind: ClusterSPIFFEID\nmetadata:\n  name: \"default\"\nspec:\n  spiffeIDTemplate: \"spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}\"\n  podSelector: {}\n  namespaceSelector:\n    matchExpressions:\n    - {key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system, 'spire']}\n  ttl: 1h\n  fallback: yes\n",
	"---\n# Source: chart/templates/config.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: scm\ndata:\n  config.yaml: |\n    trustDomain: example.org\n    ignoreNamespaces:\n      - kube-system\n\n    watchClassless: true\n  other: >-\n    one\n    two\n\n    three\n  empty: \"\"\n",
	"apiVersion: apps/v1\nkind: Deployment\nmetadata: &meta\n  name: vllm\n  annotations:\n    a.b/c: 'it''s\n      long'\nspec:\n  replicas: 2\n  template:\n    metadata:\n      <<: *meta\n    spec:\n      containers:\n        - name: vllm\n          image: \"r.io/v:1\"\n          args: [\"--port\", \"8000\", -x, --y=z]\n          env:\n          - {name: A, value: \"1\"}\n          - name: B\n            value: |-\n              x\n               y\n      volumes: []\n",
	"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: pools.x.io\nspec:\n  versions:\n  - name: v1\n    schema:\n      openAPIV3Schema:\n        description: \"Pool is a\n          thing: with \\\"quotes\\\" and\n\n          lines.\"\n        properties:\n          a:\n            default: -1.50\n            description: 'The\n            first'\n            enum:\n            - \"on\"\n            - 0o17\n            type: string\n",
	"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a, labels: {x: \"y\"}}\n-\n  kind: Pod\n  apiVersion: v1\n  metadata:\n    name: b\n",
	"{\n  \"apiVersion\": \"v1\",\n  \"kind\": \"Pod\",\n  \"metadata\": {\"name\": \"a\", \"labels\": {\"b\": \"\\u00e9\"}},\n  \"n\": [1, 2.5, -3e2, true, null]\n}\n",
}

// pieces are what is put into a stream at random.
var pieces = []string{" ", "  ", "\n", "\n\n", "\n  ", "\n    ", "\t", "\r\n", ":", ": ", " :", "-", "- ", "---", "\n---\n", "\n...\n", "#", " # c", "\"", "'", "\\", "\\n", "\\x41", "|", "|\n", ">\n", "|-", ">+", "|2", "&a ", "*a", "*a ", "!", "!!str ", "!!int ", "!x ", "<<: ", "<<: *meta", "?", "? ", "[", "]", "{", "}", ", ", ",", "%", "@", "`", "~", "yes", "0x1f", "1_0", "1e3", ".inf", "é", "\u0085", "\u2028", "\u00a0", "\ufeff", "😀", "\u0007", "a", "b: c", "x: 1\n", "- y\n", "''", "\"\"", "k: \"x\n  y\"\n", "k: |\n  z\n"}

func randomStream(random *rand.Rand) any {
	text := pick(random, manifests)
	switch random.IntN(6) {
	case 0:
		text = randomNode(random, 0, "") + "\n"
	case 1:
		text += "---\n" + pick(random, manifests)
	case 2, 3:
		// Part of one: what stands in it counts for more.
		lines := strings.SplitAfter(text, "\n")
		from := random.IntN(len(lines))
		text = strings.Join(lines[from:min(len(lines), from+1+random.IntN(6))], "")
	}
	for range random.IntN(4) {
		text = mutated(random, text)
	}
	return text
}

func mutated(random *rand.Rand, text string) string {
	runes := []rune(text)
	if len(runes) == 0 {
		return pick(random, pieces)
	}
	at := random.IntN(len(runes) + 1)
	to := min(len(runes), at+1+random.IntN(3))
	switch random.IntN(8) {
	case 0:
		return string(runes[:at]) + string(runes[to:])
	case 1:
		return string(runes[:at]) + pick(random, pieces) + string(runes[to:])
	case 2:
		// A line goes further to the left or the right.
		lines := strings.Split(text, "\n")
		line := random.IntN(len(lines))
		if random.IntN(2) == 0 {
			lines[line] = strings.Repeat(" ", 1+random.IntN(4)) + lines[line]
		} else {
			lines[line] = strings.TrimPrefix(lines[line], "  ")
		}
		return strings.Join(lines, "\n")
	case 3:
		// A line stands twice, or elsewhere.
		lines := strings.Split(text, "\n")
		line := random.IntN(len(lines))
		other := random.IntN(len(lines))
		if random.IntN(2) == 0 {
			lines[line] = lines[line] + "\n" + lines[other]
		} else {
			lines[line], lines[other] = lines[other], lines[line]
		}
		return strings.Join(lines, "\n")
	case 4:
		// A value is another one.
		if colon := strings.Index(text[len(string(runes[:at])):], ": "); colon >= 0 {
			begin := len(string(runes[:at])) + colon + 2
			end := strings.IndexByte(text[begin:], '\n')
			if end < 0 {
				end = len(text) - begin
			}
			return text[:begin] + randomScalar(random, "    ") + text[begin+end:]
		}
	}
	return string(runes[:at]) + pick(random, pieces) + string(runes[at:])
}

// randomNode writes a value of any style, of which all lines but the first are indented.
func randomNode(random *rand.Rand, depth int, indent string) string {
	kind := random.IntN(6)
	if depth > 3 {
		kind = 0
	}
	below := indent + strings.Repeat(" ", 1+random.IntN(3))
	text := ""
	switch kind {
	case 0, 1:
		return randomScalar(random, below)
	case 2:
		for range 1 + random.IntN(3) {
			text += indent + randomKey(random) + ":"
			if random.IntN(3) == 0 {
				text += "\n" + below + randomNode(random, depth+1, below) + "\n"
			} else {
				text += " " + randomScalar(random, below) + "\n"
			}
		}
		return strings.TrimPrefix(strings.TrimSuffix(text, "\n"), indent)
	case 3:
		for range 1 + random.IntN(3) {
			text += indent + "- " + randomNode(random, depth+1, indent+"  ") + "\n"
		}
		return strings.TrimPrefix(strings.TrimSuffix(text, "\n"), indent)
	case 4:
		for range random.IntN(4) {
			text += randomFlow(random, depth+1) + pick(random, []string{", ", ",", " , ", ",\n" + below})
		}
		return "[" + text + "]"
	default:
		for range random.IntN(4) {
			text += randomKey(random) + pick(random, []string{": ", ":", " : ", ":\n" + below}) + randomFlow(random, depth+1) + pick(random, []string{", ", ",", ",\n" + below})
		}
		return "{" + text + "}"
	}
}

func randomFlow(random *rand.Rand, depth int) string {
	switch random.IntN(5) {
	case 0:
		if depth < 4 {
			return "[" + randomFlow(random, depth+1) + ", " + randomFlow(random, depth+1) + "]"
		}
	case 1:
		if depth < 4 {
			return "{" + randomKey(random) + ": " + randomFlow(random, depth+1) + "}"
		}
	}
	return randomScalar(random, " ")
}

func randomKey(random *rand.Rand) string {
	return pick(random, []string{"a", "b", "c", "a b", "\"d\"", "'e'", "<<", "1", "yes", "~", "x.y/z", "&k f", "!!str g", "\"i\\n\"", "k:l", "-m", "1.5", "*meta"})
}

func randomScalar(random *rand.Rand, below string) string {
	word := pick(random, append([]string{"a", "b c", "x: y", "é", "it's", "# c", "a #b", "a\\b", "[", "a, b", "*meta", "&meta b", "!!str 1", "!x y", "\u2028", "\t", " "}, plainScalars...))
	switch random.IntN(9) {
	case 0:
		return "\"" + word + "\""
	case 1:
		return "'" + word + "'"
	case 2:
		return "\"" + word + pick(random, []string{"\n", "\n\n", " \n", "\\\n"}) + below + word + "\""
	case 3:
		return "'" + word + "\n" + below + word + "'"
	case 4:
		return pick(random, []string{"|", ">", "|-", ">-", "|+", ">+", "|2", ">1", "| # c"}) + "\n" + below + word + "\n" + pick(random, []string{below, below + " ", "", below + "\t"}) + word
	case 5:
		return word + "\n" + below + word
	}
	return word
}
