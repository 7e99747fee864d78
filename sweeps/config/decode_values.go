package config

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"grposim/option"
)

// value decodes a value of a key at path in the file. Like all methods below, it
// records a problem where it returns false.
func (l *loader) value(k Key, n *node, path string) (v any, ok bool) {
	if len(n.items) > 0 && path == k.Path && k.Kind <= WordValue {
		l.want(n, path, k.Want()+"; list several in an axis of sweep")
		return nil, false
	}
	switch k.Kind {
	case IntegerValue:
		if k.Path == GroupSizeKey && (n.kind == plain || n.kind == quoted) && n.text == "inf" {
			return option.Infinite, true
		}
		return l.integer(n, path, k.Range, k.Want())
	case SeedValue:
		return l.seed(n, path, k.Want())
	case NumberValue:
		return l.number(n, path, k.Range, k.Want())
	case WordValue:
		return l.word(n, path, k.Words)
	case WeightsValue:
		weights, ok := l.numbersIn(n, path, k.Want(), k.Range, "a number ≥ 0")
		if ok && len(weights) > option.MaxTableAge+1 {
			l.problem(n.at, path, "got %d numbers, want at most %d", len(weights), option.MaxTableAge+1)
			ok = false
		}
		return Weights(weights), ok
	case MeansValue:
		return l.pairs(n, path, k)
	case ListValue:
		return l.numbersIn(n, path, k.Want(), anyNumber, "a number")
	case InitValue:
		return l.start(n, path, k.Want())
	case searchValue:
		return l.locate(n, path)
	default:
		return l.arms(n, path, k.Want())
	}
}

func (l *loader) integer(n *node, path string, r Range, want string) (int, bool) {
	if n.kind != plain || !integerSyntax.MatchString(n.text) {
		if x, err := strconv.ParseFloat(n.text, 64); n.kind == plain && numberSyntax.MatchString(n.text) && strings.ContainsAny(n.text, ".eE") &&
			err == nil && x == math.Trunc(x) && math.Abs(x) <= maxInteger && r.Contains(x) {
			want += ": write " + plainNumber(x)
		}
		l.want(n, path, want)
		return 0, false
	}
	v, err := strconv.ParseInt(n.text, 10, 64)
	switch {
	case err != nil && n.text[0] != '-' || v > maxInteger:
		l.want(n, path, fmt.Sprintf("an integer of at most %d", maxInteger))
		return 0, false
	case err != nil || !r.Contains(float64(v)):
		l.want(n, path, want)
		return 0, false
	}
	return int(v), true
}

func (l *loader) seed(n *node, path, want string) (uint64, bool) {
	seed, err := strconv.ParseUint(strings.TrimPrefix(n.text, "+"), 10, 64)
	if n.kind != plain || !integerSyntax.MatchString(n.text) || err != nil {
		l.want(n, path, want)
		return 0, false
	}
	return seed, true
}

func (l *loader) number(n *node, path string, r Range, want string) (float64, bool) {
	if n.kind != plain || !numberSyntax.MatchString(n.text) {
		l.want(n, path, want)
		return 0, false
	}
	x, err := strconv.ParseFloat(n.text, 64)
	if err != nil {
		l.want(n, path, "a finite number")
		return 0, false
	}
	if !r.Contains(x) {
		l.want(n, path, want)
		return 0, false
	}
	return x + 0, true // −0 is 0
}

func (l *loader) word(n *node, path string, words []string) (string, bool) {
	if n.kind != plain && n.kind != quoted {
		l.want(n, path, listWords(words))
		return "", false
	}
	if !slices.Contains(words, n.text) {
		l.want(n, path, listWords(words)+didYouMean(n.text, words))
		return "", false
	}
	return n.text, true
}

// numbersIn decodes a list of numbers of a range, of which one says what each must be.
func (l *loader) numbersIn(n *node, path, want string, r Range, one string) ([]float64, bool) {
	if n.kind != list {
		l.want(n, path, want)
		return nil, false
	}
	numbers, good := make([]float64, len(n.items)), true
	for i, item := range n.items {
		x, ok := l.number(item, fmt.Sprintf("%s[%d]", path, i), r, one)
		numbers[i], good = x, good && ok
	}
	return numbers, good
}

// pairs decodes a list of pairs of numbers, at most one for each prompt that is possible.
func (l *loader) pairs(n *node, path string, k Key) (PromptMeans, bool) {
	if n.kind != list {
		l.want(n, path, k.Want())
		return nil, false
	}
	if len(n.items) > maxPrompts {
		l.problem(n.at, path, "got %d pairs, want at most %d", len(n.items), maxPrompts)
		return nil, false
	}
	pairs, good := make(PromptMeans, len(n.items)), true
	for i, item := range n.items {
		at := fmt.Sprintf("%s[%d]", path, i)
		pair, ok := l.numbersIn(item, at, "a pair of numbers"+strings.TrimSuffix(" "+k.Range.String(), " "), k.Range, "a number "+k.Range.String())
		if ok && len(pair) != 2 {
			l.problem(item.at, at, "got %s, want 2, one per arm", countWords(len(pair), "number"))
			ok = false
		}
		if ok {
			pairs[i] = [2]float64(pair)
		}
		good = good && ok
	}
	return pairs, good
}

func (l *loader) start(n *node, path, want string) (Init, bool) {
	switch n.kind {
	case list:
		logits, ok := l.numbersIn(n, path, want, anyNumber, "a number")
		return Init{Kind: AtLogits, Logits: logits}, ok
	case mapping:
		fields := l.fields(n, path, []string{offsetField})
		offset := fields[offsetField]
		if offset == nil {
			l.want(n, path, want)
			return Init{}, false
		}
		x, ok := l.number(offset, join(path, offsetField), anyNumber, "a number")
		return Init{Kind: AtFixedPoint, Offset: x}, ok && len(fields) == len(n.fields)
	case plain, quoted:
		if n.text == fixedPointWord {
			return Init{Kind: AtFixedPoint}, true
		}
		l.want(n, path, want+didYouMean(n.text, []string{fixedPointWord}))
		return Init{}, false
	default:
		l.want(n, path, want)
		return Init{}, false
	}
}

func (l *loader) arms(n *node, path, want string) ([]ArmGroup, bool) {
	if n.kind != list {
		l.want(n, path, want)
		return nil, false
	}
	var groups []ArmGroup
	good, total := true, 0
	for i, item := range n.items {
		g, ok := l.arm(item, fmt.Sprintf("%s[%d]", path, i))
		groups = append(groups, g)
		good = good && ok
		total = min(total+g.Count, maxArms+1)
	}
	switch {
	case good && total < 2:
		l.problem(n.at, path, "got %s, want at least 2", countWords(total, "arm"))
		return nil, false
	case total > maxArms:
		l.problem(n.at, path, "got more than %d arms, want at most %d", maxArms, maxArms)
		return nil, false
	}
	return groups, good
}

// armFields are the names in an item of bandit.arms.
var armFields = []string{"reward", "mean", "std", "count"}

func (l *loader) arm(n *node, path string) (ArmGroup, bool) {
	g := ArmGroup{Count: 1}
	before := len(l.problems)
	fields := l.fields(n, path, armFields)
	if fields == nil {
		return g, false
	}
	missing := func(name, want string) {
		l.problem(n.at, path+"."+name, "got nothing, want %s", want)
	}
	laws := texts(option.Laws)
	if f := fields["reward"]; f == nil {
		missing("reward", listWords(laws))
	} else {
		law, _ := l.word(f, path+".reward", laws)
		g.Arm.Law = option.Laws[max(slices.Index(laws, law), 0)]
	}
	r, want := anyNumber, "a number"
	if g.Arm.Law == option.Bernoulli {
		r, want = unit, "a number in [0, 1]"
	}
	if f := fields["mean"]; f == nil {
		missing("mean", want)
	} else {
		g.Arm.Mean, _ = l.number(f, path+".mean", r, want)
	}
	switch f := fields["std"]; {
	case f == nil && g.Arm.Law == option.Normal:
		missing("std", "a number ≥ 0")
	case f != nil && (g.Arm.Law == option.Bernoulli || g.Arm.Law == option.Constant):
		l.want(f, path+".std", "no std for a "+g.Arm.Law.String()+" reward")
	case f != nil:
		g.Arm.Std, _ = l.number(f, path+".std", nonNegative, "a number ≥ 0")
	}
	if f := fields["count"]; f != nil {
		if count, ok := l.integer(f, path+".count", atLeast(1), "an integer ≥ 1"); ok {
			g.Count = count
		}
	}
	return g, len(l.problems) == before
}

var nameSyntax = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)

const nameWant = "1 to 64 characters of a-z, 0-9 and -"

func (l *loader) name(n *node, path string) (string, bool) {
	text, ok := l.prose(n, path)
	if ok && !nameSyntax.MatchString(text) {
		l.want(n, path, nameWant)
		return "", false
	}
	return text, ok
}

func (l *loader) prose(n *node, path string) (string, bool) {
	switch {
	case n.kind == plain && !n.isText:
		l.want(n, path, "text (put it in quotes)")
		return "", false
	case n.kind != plain && n.kind != quoted:
		l.want(n, path, "text")
		return "", false
	case strings.ContainsFunc(n.text, func(c rune) bool { return c != '\n' && !harmless(c) || c == unicode.ReplacementChar }):
		l.want(n, path, "text without control characters")
		return "", false
	}
	return n.text, true
}

// assignments decodes a mapping of dotted keys to values, and returns the places of the
// values by key.
func (l *loader) assignments(n *node, path string) ([]Assignment, map[string]place) {
	if n.kind != mapping {
		l.want(n, path, "a mapping of dotted keys to values")
		return nil, nil
	}
	var set []Assignment
	places := map[string]place{}
	for _, f := range n.fields {
		k, known := LookupKey(f.name)
		if !known {
			l.problem(f.at, join(path, f.name), "got an unknown key, want a dotted key of the base%s", l.keyHint("", f.name, keyPaths()))
			continue
		}
		places[k.Path] = f.value.at
		if v, ok := l.value(k, f.value, join(path, f.name)); ok {
			set = append(set, Assignment{Param: k.Path, Value: v})
		} else {
			l.bad[k.Path] = true
		}
	}
	return set, places
}

// ParseCondition parses a condition `key=value` of the flag --where.
func ParseCondition(text string) (Condition, Problems) {
	const source = "--where"
	path, value, assigned := strings.Cut(text, "=")
	k, known := LookupKey(path)
	switch {
	case !assigned:
		return Condition{}, Problems{{Source: source, Text: fmt.Sprintf("got %s, want key=value", quoteText(text))}}
	case !known:
		return Condition{}, Problems{{Source: source, Text: fmt.Sprintf("got the unknown key %s, want a key of the configuration%s", quoteText(path), didYou(meantKey(path, keyPaths())))}}
	}
	n, problems := parseYAML(source, path, []byte(value))
	if n == nil {
		return Condition{}, problems
	}
	l := newLoader(problems)
	v, _ := l.value(k, n, path)
	for i := range l.problems { // the value is a single line
		l.problems[i].Line, l.problems[i].Column = 0, 0
	}
	return Condition{Param: path, Values: []any{v}}, l.problems
}

// ParseNumericKey returns the numeric key with a path given by a flag of the command
// line; source is the flag, for messages.
func ParseNumericKey(source, path string) (Key, Problems) {
	k, known := LookupKey(path)
	switch {
	case !known:
		return k, Problems{{Source: source, Text: fmt.Sprintf("got the unknown key %s, want a numeric key of the configuration%s", quoteText(path), didYou(meantKey(path, keyPaths())))}}
	case !k.Numeric():
		return k, Problems{{Source: source, Text: fmt.Sprintf("got %s, want a key whose value is a number", path)}}
	}
	return k, nil
}
