package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
)

// writeDoor answers so many random streams on stdout, in the form of yaml.jsonl: documents that kubectl mostly reads, written as
// nobody lists them all. Comments, odd line breaks, indentation, escapes, quoted values over several lines.
func writeDoor(count int, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, 1))
	writer := bufio.NewWriter(os.Stdout)
	for range count {
		line, err := encode(answerStream(doorStream(random)))
		if err != nil {
			return err
		}
		fmt.Fprintln(writer, line)
	}
	return writer.Flush()
}

// doorTypes are of the kinds that decide, and one that does not.
var doorTypes = [][2]string{
	{"spire.spiffe.io/v1alpha1", "ClusterSPIFFEID"},
	{"spire.spiffe.io/v1alpha1", "ClusterStaticEntry"},
	{"inference.networking.k8s.io/v1", "InferencePool"},
	{"kleym.sonda.red/v1alpha1", "InferenceIdentityBinding"},
	{"apps/v1", "Deployment"},
	{"v1", "Pod"},
	{"v1", "Service"},
}

var breaks = []string{"\n", "\n", "\n", "\n", "\r\n", "\r", "\u0085", "\u2028", "\u2029"}

var comments = []string{"# c", "#", "# kind: ConfigMap", "# ---", "#\tx", "# {{ x }}", "# \u2028", "# 'a", "# \"b: ", "#\u0085kind: Service"}

func doorStream(random *rand.Rand) string {
	text := doorDocument(random)
	for range random.IntN(3) {
		text += pick(random, []string{"---\n", "--- # x\n", "---\t\n", "\n---\n\n", "---\r\n", "...\n---\n"}) + doorDocument(random)
	}
	if random.IntN(4) == 0 {
		text = pick(random, []string{"\ufeff", "---\n", "# c\n---\n", "\n\n", "%YAML 1.1\n---\n", "--- # c\n", "---\n---\n", "# c\r", " \n\t\n"}) + text
	}
	if random.IntN(6) == 0 {
		text += pick(random, []string{"...\n", "... x\n", "---", "# end", "kind: ConfigMap\n", "}\n", "\x00", "- a\n", "\t"})
	}
	for range max(0, random.IntN(6)-3) {
		text = mutated(random, text)
	}
	return text
}

func doorDocument(random *rand.Rand) string {
	of := pick(random, doorTypes)
	end := pick(random, breaks)
	indent := strings.Repeat(" ", max(0, random.IntN(6)-3))
	if random.IntN(6) == 0 {
		return doorFlow(random, of, end)
	}
	entries := []string{
		doorEntry(random, "apiVersion", of[0], indent),
		doorEntry(random, "kind", of[1], indent),
		doorMetadata(random, indent),
	}
	if random.IntN(2) == 0 {
		entries = append(entries, doorEntry(random, pick(random, []string{"spec", "data", "x"}), pick(random, []string{"{}", "{a: 1}", "[]", "~"}), indent))
	}
	random.Shuffle(len(entries), func(a, b int) { entries[a], entries[b] = entries[b], entries[a] })
	text := ""
	for _, entry := range entries {
		for range max(0, random.IntN(5)-2) {
			text += pick(random, []string{"", indent, " "}) + pick(random, comments) + "\n"
		}
		text += entry
	}
	return strings.ReplaceAll(text, "\n", end)
}

func doorKey(random *rand.Rand, key string) string {
	switch random.IntN(12) {
	case 0:
		return "\"" + key + "\""
	case 1:
		return "'" + key + "'"
	case 2:
		return "\"" + doorEscaped(random, key) + "\""
	case 3:
		return "!!str " + key
	case 4:
		return "&k" + key + " " + key
	case 5:
		return "? " + key + "\n"
	}
	return key
}

func doorEscaped(random *rand.Rand, text string) string {
	at := random.IntN(len(text))
	form := pick(random, []string{"\\x%02x", "\\u%04x", "\\U%08x"})
	return text[:at] + fmt.Sprintf(form, text[at]) + text[at+1:]
}

func doorValue(random *rand.Rand, value, indent string) string {
	switch random.IntN(14) {
	case 0:
		return "\"" + value + "\""
	case 1:
		return "'" + value + "'"
	case 2:
		return "\"" + doorEscaped(random, value) + "\""
	case 3:
		return "!!str " + value
	case 4:
		return "&v" + value[:1] + " " + value
	case 5:
		return "\n" + indent + " " + value
	case 6:
		return "|-\n" + indent + " " + value
	case 7:
		return ">-\n" + indent + "  " + value
	case 8:
		return "\"\\\n" + pick(random, []string{"", indent, indent + " "}) + value + "\""
	case 9:
		return value + pick(random, []string{" # c", "\t# c", "  ", " #"})
	}
	return value
}

func doorEntry(random *rand.Rand, key, value, indent string) string {
	if strings.ContainsAny(value, "{[~") {
		return indent + key + ": " + value + "\n"
	}
	written := doorKey(random, key)
	text := indent + written
	if strings.HasSuffix(written, "\n") {
		text += indent
	}
	return text + ": " + doorValue(random, value, indent) + "\n"
}

func doorMetadata(random *rand.Rand, indent string) string {
	name := pick(random, []string{"a", "llama", "x.y", "b-1"})
	if random.IntN(4) == 0 {
		return indent + "metadata: {name: " + name + pick(random, []string{"", ", namespace: demo", ",\nnamespace: demo", ", labels: {a: b}", ", annotations: {a: \"x\ny\"}"}) + "}\n"
	}
	below := indent + strings.Repeat(" ", 1+random.IntN(4))
	text := indent + "metadata:" + pick(random, []string{"", " ", " # c"}) + "\n"
	entries := []string{doorEntry(random, "name", name, below)}
	if random.IntN(2) == 0 {
		entries = append(entries, doorEntry(random, "namespace", "demo", below))
	}
	if random.IntN(2) == 0 {
		entries = append(entries, below+"annotations:\n"+below+" a: "+pick(random, []string{"\"x\ny: z\"", "'x\n\n  y'", "|\n" + below + "  kind: ConfigMap\n" + below + "  x", "\"kind: \\\"x\"", ">\n" + below + "  a\n\n" + below + "  b", "x\n" + below + "  y"})+"\n")
	}
	random.Shuffle(len(entries), func(a, b int) { entries[a], entries[b] = entries[b], entries[a] })
	return text + strings.Join(entries, "")
}

func doorFlow(random *rand.Rand, of [2]string, end string) string {
	space := pick(random, []string{"", " ", "\n", "\n ", "\t"})
	metadata := "{\"name\":" + space + " \"a\"}"
	if random.IntN(2) == 0 {
		metadata = "{\"name\": \"a\", \"namespace\": \"demo\"}"
	}
	text := "{" + space + "\"apiVersion\": \"" + of[0] + "\"," + space + "\"" + pick(random, []string{"kind", doorEscaped(random, "kind")}) + "\": \"" + pick(random, []string{of[1], doorEscaped(random, of[1])}) + "\"," + space + "\"metadata\": " + metadata + space + "}"
	return strings.ReplaceAll(pick(random, []string{"", " ", "# c\n", "\n"})+text+"\n", "\n", end)
}
