package main

import (
	"math/rand/v2"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
)

var nameParts = []string{"a", "b1", "-", "_", ".", "/", "A", "é", " ", "\n", "x", "0", "app", "kubernetes.io", strings.Repeat("a", 62), strings.Repeat("b.", 120)}

var names = texts("", "a", "A", "-a", "a-", "a.b", "a..b", ".a", "a.", "a/b", "/b", "a/", "a/b/c", "A/b", "a_b/c", "a/B_c.d-e", "a/-b", "a/b-",
	"a\n", "\na", "é", "a é", "__proto__", "constructor", strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("a", 253), strings.Repeat("a", 254),
	strings.Repeat("a", 253)+"/x", strings.Repeat("a", 254)+"/x", "x/"+strings.Repeat("a", 63), "x/"+strings.Repeat("a", 64), "app.kubernetes.io/name", "1", "1.2", "a--b", "a.-b", "😀")

func randomName(random *rand.Rand) any { return several(random, 5, nameParts) }

// labelKeys: [key, valid]
var labelKeys = table{file: "label-keys.jsonl", chosen: names, random: randomName, share: 0.5,
	answer: func(input any) []any { return []any{input, len(validation.IsQualifiedName(input.(string))) == 0} }}

// labelValues: [value, valid]
var labelValues = table{file: "label-values.jsonl", chosen: names, random: randomName, share: 0.5,
	answer: func(input any) []any { return []any{input, len(validation.IsValidLabelValue(input.(string))) == 0} }}

// dns1123: [name, valid label, valid subdomain]
var dns1123 = table{file: "dns1123.jsonl", chosen: names, random: randomName, share: 0.5,
	answer: func(input any) []any {
		name := input.(string)
		return []any{name, len(validation.IsDNS1123Label(name)) == 0, len(validation.IsDNS1123Subdomain(name)) == 0}
	}}

// selection is a selector and the labels of a few objects.
type selection struct {
	selector *metav1.LabelSelector
	objects  []labels.Set
}

// selectors: [selector, "refused"] or [selector, its text, [[labels, selected], ...]]
var selectors = table{file: "selectors.jsonl", chosen: chosenSelectors(), random: randomSelection, share: 0.8, answer: answerSelection}

func answerSelection(input any) []any {
	asked := input.(selection)
	parsed, err := metav1.LabelSelectorAsSelector(asked.selector)
	if err != nil {
		return []any{asked.selector, "refused"}
	}
	answers := make([]any, len(asked.objects))
	for at, object := range asked.objects {
		answers[at] = []any{object, parsed.Matches(object)}
	}
	return []any{asked.selector, parsed.String(), answers}
}

var (
	keys      = []string{"a", "b", "c", "app.kubernetes.io/name"}
	badKeys   = []string{"", "a b", "/a", "A/b", "-"}
	values    = []string{"", "x", "y", "z"}
	badValues = []string{"-", "a b", "é", strings.Repeat("v", 64)}
	operators = []metav1.LabelSelectorOperator{"In", "NotIn", "Exists", "DoesNotExist"}
	badOps    = []metav1.LabelSelectorOperator{"", "in", "Gt", "Equals", "exists"}
)

func rarely(random *rand.Rand, usual, unusual []string) string {
	if random.IntN(40) == 0 {
		return pick(random, unusual)
	}
	return pick(random, usual)
}

func randomRequirement(random *rand.Rand) metav1.LabelSelectorRequirement {
	operator := pick(random, operators)
	if random.IntN(40) == 0 {
		operator = pick(random, badOps)
	}
	var list []string
	takes := operator == "In" || operator == "NotIn"
	if takes != (random.IntN(30) == 0) {
		for range 1 + random.IntN(3) {
			list = append(list, rarely(random, values, badValues))
		}
	}
	return metav1.LabelSelectorRequirement{Key: rarely(random, keys, badKeys), Operator: operator, Values: list}
}

func randomSelection(random *rand.Rand) any {
	selector := &metav1.LabelSelector{}
	for range random.IntN(3) {
		if selector.MatchLabels == nil {
			selector.MatchLabels = map[string]string{}
		}
		selector.MatchLabels[rarely(random, keys, badKeys)] = rarely(random, values, badValues)
	}
	for range random.IntN(3) {
		selector.MatchExpressions = append(selector.MatchExpressions, randomRequirement(random))
	}
	asked := selection{selector: selector}
	for range 3 {
		object := labels.Set{}
		for _, key := range keys {
			if random.IntN(2) == 0 {
				object[key] = pick(random, values)
			}
		}
		asked.objects = append(asked.objects, object)
	}
	return asked
}

func chosenSelectors() []any {
	objects := []labels.Set{{}, {"a": ""}, {"a": "x"}, {"a": "y", "b": "x"}}
	chosen := []any{selection{&metav1.LabelSelector{}, objects}}
	for _, operator := range append(append([]metav1.LabelSelectorOperator{}, operators...), badOps...) {
		for _, list := range [][]string{nil, {"x"}, {"", "y"}, {"x", "x"}, {"a b"}} {
			requirement := metav1.LabelSelectorRequirement{Key: "a", Operator: operator, Values: list}
			chosen = append(chosen, selection{&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{requirement}}, objects})
		}
	}
	return chosen
}
