package main

import (
	"math/rand/v2"
	"regexp"
	"strings"

	"golang.org/x/net/idna"
)

// unchecked encodes labels without judging them.
var unchecked = idna.New()

// namespaces are what ignoreNamespaces is asked about, and texts that tell expressions apart.
var namespaces = []string{"", "default", "my-default-ns", "kube-system", "openshift-monitoring", "ibm-1", "a", "b", "aa", "ab", "aab", "abc", "ba", "a\nb", "\n", "\nab\n", "K", "k", "\u212a", "s", "\u017f", "_", "a-b", "0", "aaaa", "é", "a b", "]", "a{2}", "\\", "9z", "B", "😀", "a\vb"}

// regexps: [expression] or [expression, one digit for each of namespaces]; the first line holds the namespaces.
var regexps = table{file: "regexps.jsonl", share: 2,
	chosen: append([]any{namespaces}, texts("", "default", "^kube-", "kube-system|kube-public", "openshift-.*", "ibm-.*", "^default$", "^$", "$^", "a**", "a*+", "a*?", "a*??", "a+?b", "a??", "*", "+a", "?", "a|*", "(*)", "(|a)*", "(|a)+", "()*", "^*", "$*a", "\\b+a", "(?i)*", "a(?i)*", "a*(?i)*", "a*\\Q\\E*", "\\Q\\E*", "\\Qa*\\E*", "\\Q*", "a\\Q\\E*b",
		"(", ")", "(a", "a)", "(?", "(?:", "(?:a)", "(?P<n>a)", "(?<n>a)", "(?P<n>a)(?P<n>b)", "(?P<>a)", "(?P<n", "(?P<é>a)", "(?P=n)", "(?=a)", "(?!a)", "(?<=a)b", "(?<!a)b", "(?>a)", "(?#a)", "(?i)", "(?i)K", "(?i)k", "(?i)s", "(?i)\\x{212a}", "(?i)\\x{17f}", "(?i)[k]", "(?i)[^k]", "(?i)[a-z]", "(?i)[^a-z]", "(?i)\\w", "(?i)\\W", "(?i)[\\W]", "(?i)[^\\W]", "(?i)[[:upper:]]", "(?i)[[:^upper:]]", "(?i)é", "(?i:a)b", "(?i:A)B", "((?i)A)B", "(?i)a(?-i)B", "(?i-i)A", "(?-)", "(?)", "(?-i)", "(?--i)", "(?i-)", "(?s).", ".", "(?m)^b", "^b", "(?m)a$", "a$", "(?m:^)b$", "(?U)a+", "(?x)a", "(?ims)A.B", "(?sU-im)A",
		"a{2}", "a{2,}", "a{,2}", "a{1,2}", "a{2,1}", "a{0}", "a{0}b", "a{0,0}", "a{0,}", "a{1000}", "a{1001}", "a{1,1001}", "a{1001,}", "a{00}", "a{01}", "a{", "a{a}", "a{1", "a{1,", "a{-1}", "{2}", "{", "{a", "a{2}{3}", "a{2}*", "a{2}?", "a{2}??", "(a{2}){500}", "(a{2}){501}", "((a{10}){10}){10}", "((a{10}){10}){11}", "((a{100})*){11}", "((a{0}){1000}){2}", "((a{1000}){0}){2}", "((a{1000}){0,1}){2}", "(a{99999999999999999999})", "a{1,99999999999999999999}",
		"a{1,"+strings.Repeat("9", 400)+"}", "(a{500,}){2}", "(a{500,}){3}", "a{1}{1}",
		"[", "[]", "[]]", "[]a]", "[^]a]", "[^]", "[a", "[a-]", "[-a]", "[a-", "[a-b-c]", "[b-a]", "[--a]", "[a\\]]", "[\\d]", "[^\\d]", "[\\D]", "[a-\\d]", "[\\d-z]", "[\\w-]", "[[:alpha:]]", "[[:^alpha:]]", "[^[:alpha:]]", "[[:foo:]]", "[[:alpha:]", "[:alpha:]", "[[:a]b:]]", "[[:a]", "[[:word:][:space:]]", "[[:print:]]", "[[:punct:]]", "[[:cntrl:]]", "[[:graph:]]", "[[:blank:]]", "[[:ascii:]]", "[^[:ascii:]]", "[[:xdigit:]]", "[[:lower:]-z]", "[\\b]", "[\\Q]", "[\\z]", "[\\n]", "[^\\n]", "[^a]", "[\\x00-\\x{10ffff}]", "[^\\x00-\\x{10ffff}]", "[a-zé]", "[é-ü]",
		"\\", "\\a", "\\b", "\\B", "\\A", "\\Aa", "\\z", "a\\z", "a\\sb", "a[\\s]b", "a[[:space:]]b", "\\Z", "\\G", "\\C", "\\c", "\\d", "\\D", "\\s", "\\S", "\\w+", "\\W", "\\1", "\\12", "\\141", "\\0", "\\060", "\\8", "\\x", "\\x6", "\\x61", "\\x{61}", "\\x{}", "\\x{110000}", "\\x{10FFFF}", "\\x{d800}", "\\xg1", "\\_", "\\-", "\\]", "\\{", "\\é", "\\ ", "\\E", "\\q", "\\h", "\\e", "\\u0061", "\\ba\\b", "\\Ba", "a\\B", "\\p", "\\pL", "\\p{L", "\\p{Greek}", "[\\pL]", "[a-\\pL]",
		"a|b", "a||b", "|", "(a|b)c", "^a|b$", "^(a|b)$", "é", "^.$", "^..$", "a.b", "(?s)a.b", "(a+)+$", "(a|aa)+$", "((a*)*)*b", "-", "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "^(dev|test)-", ".*-system$")...),
	random: randomRegexp, answer: answerRegexp}

func answerRegexp(input any) []any {
	source, isText := input.(string)
	if !isText {
		return []any{input}
	}
	compiled, err := regexp.Compile(source)
	if err != nil {
		return []any{source}
	}
	var matches strings.Builder
	for _, namespace := range namespaces {
		if compiled.MatchString(namespace) {
			matches.WriteByte('1')
		} else {
			matches.WriteByte('0')
		}
	}
	return []any{source, matches.String()}
}

var regexpParts = []string{"a", "b", "c", "ab", "k", "s", "B", "-", "é", ".", "^", "$", "|", "|", "*", "+", "?", "*?", "{2}", "{0,1}", "{1,}", "{", "}", "\\b", "\\B", "\\A", "\\z", "\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "[a-c]", "[^a]", "[^\\W]", "[[:alpha:]-]", "[-a]", "[", "]", "\\n", "\n", "\\x61", "\\141", "\\Q", "\\E", "\\.", "(?i)", "(?s)", "(?m)", "(?-i)", "(?i:", "(?:", "(", "(", ")", ")", ")", "(?P<x>", "(?U)", "default", "0"}

// nested is an expression whose parentheses are balanced, so that most of these are valid.
func nested(random *rand.Rand, depth int) string {
	if depth == 0 || random.IntN(3) == 0 {
		return pick(random, []string{"a", "b", "[ab]", ".", "^", "$", "\\b", "k", "\\w", "[^a]", "", "(?i)", "\\B", "(?m)", "\n"})
	}
	inner := nested(random, depth-1)
	switch random.IntN(6) {
	case 0:
		return "(" + inner + "|" + nested(random, depth-1) + ")"
	case 1:
		return "(?:" + inner + ")" + pick(random, []string{"*", "+", "?", "{2}", "{1,3}", "{0,2}?", "{3,}", "+?"})
	case 2:
		return "(" + pick(random, []string{"?i:", "?m:", "?s:", "?-i:", ""}) + inner + ")"
	case 3:
		return inner + "|" + nested(random, depth-1)
	default:
		return inner + nested(random, depth-1)
	}
}

func randomRegexp(random *rand.Rand) any {
	if random.IntN(2) == 0 {
		return nested(random, 4)
	}
	return several(random, 7, regexpParts)
}
