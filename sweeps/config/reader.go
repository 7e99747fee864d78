package config

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"grposim/option"
)

// reader decodes values of keys from nodes. It records problems.
type reader struct {
	problems Problems
	reported map[Problem]bool // those of problems that problem recorded: many cells may share one
	bad      map[string]bool  // keys with a reported value: rules about them are not applied
	rounds   bool             // whether numbers are rounded to 12 digits, as those of axes are
}

// newReader returns a reader that has recorded the problems of parseYAML.
func newReader(problems Problems) reader {
	return reader{problems: problems, reported: map[Problem]bool{}, bad: map[string]bool{}}
}

// problem records a problem, once.
func (rd *reader) problem(at Place, key, format string, args ...any) {
	p := Problem{at, key, fmt.Sprintf(format, args...)}
	if !rd.reported[p] {
		rd.reported[p] = true
		rd.problems = append(rd.problems, p)
	}
}

// want records the problem "got n, want want", unless parseYAML has refused the node.
func (rd *reader) want(n *node, key, want string) {
	if n.kind != refused {
		rd.problem(n.at, key, "got %s, want %s", n.describe(), want)
	}
}

// refuse records the problem "got n, want want" and returns no value.
func refuse[T any](rd *reader, n *node, path, want string) (none T, ok bool) {
	rd.want(n, path, want)
	return none, false
}

// items decodes a list of at most so many values, with a function that decodes one.
func items[T any](rd *reader, n *node, path, want string, most int, noun string,
	read func(n *node, path string) (T, bool)) ([]T, bool) {
	if n.kind != list {
		return refuse[[]T](rd, n, path, want)
	}
	if len(n.items) > most {
		rd.problem(n.at, path, "got %s, want at most %d", CountWords(len(n.items), noun), most)
		return nil, false
	}
	values, good := make([]T, len(n.items)), true
	for i, item := range n.items {
		var ok bool
		values[i], ok = read(item, fmt.Sprintf("%s[%d]", path, i))
		good = good && ok
	}
	return values, good
}

// fields returns the entries of a mapping by name and records names that are not
// known. It returns nil where the node is not a mapping.
func (rd *reader) fields(n *node, path string, known []string) map[string]*node {
	if n.kind != mapping {
		rd.want(n, path, "a mapping with "+listWords(known))
		return nil
	}
	fields := map[string]*node{}
	for _, f := range n.fields {
		if slices.Contains(known, f.name) {
			fields[f.name] = f.value
		} else {
			name := join(path, f.name)
			section := strings.TrimSuffix(name, f.name)
			rd.unknownKey(f.at, name, section, f.name, listWords(known), known)
		}
	}
	return fields
}

// mostHinted is the number of problems after which no key is suggested: of thousands of unknown
// keys 50 are shown (shownProblems), and to look for the key that one means takes 0.2 ms.
const mostHinted = 1000

// unknownKey records a key of a section that does not exist. It suggests the key that is meant,
// and marks it as bad, so that no other problem follows. The section ends with a dot; "": the
// known names are paths.
func (rd *reader) unknownKey(at Place, path, section, name, want string, known []string) {
	meant := ""
	if len(rd.problems) < mostHinted {
		meant = meantKey(name, known)
	}
	hint := didYou(meant)
	if why := trainers().Declined[lastName(name)]; why != "" {
		hint = ": " + why
	}
	rd.problem(at, path, "got an unknown key, want %s%s", want, hint)
	if slices.Contains(known, meant) {
		meant = section + meant
	}
	rd.bad[meant] = true
	rd.badSection(meant)
}

// badSection marks every key of a section that cannot be read as bad.
func (rd *reader) badSection(path string) {
	for _, k := range Keys {
		if strings.HasPrefix(k.Path, path+".") {
			rd.bad[k.Path] = true
		}
	}
}

// meantKey returns the known name that a reader means by an unknown one or, where there
// is none, the key of the table that is meant by its last name; else "".
func meantKey(name string, known []string) string {
	if meant := Meant(name, known); meant != "" {
		return meant
	}
	paths := keyPaths()
	name = lastName(name)
	if meant := Meant(name, paths); meant != "" {
		return meant
	}
	isSymbol := func(k Key) bool { return k.Symbol == name && name != "" }
	if i := slices.IndexFunc(Keys, isSymbol); i >= 0 {
		return Keys[i].Path
	}
	last := Each(paths, lastName)
	if near := nearestWord(name, last); near != "" {
		return Keys[slices.Index(last, near)].Path
	}
	return ""
}

// value decodes a value of a key at path in the file. Like all methods below, it
// records a problem where it returns false.
func (rd *reader) value(k Key, n *node, path string) (v any, ok bool) {
	want := k.Want()
	if len(n.items) > 0 && path == k.Path && k.Kind <= WordValue {
		return refuse[any](rd, n, path, want+"; list several in an axis of sweep")
	}
	switch k.Kind {
	case IntegerValue:
		if k.Path == GroupSizeKey && n.isScalar() && n.text == "inf" {
			return option.Infinite, true
		}
		return rd.integer(n, path, k.Range, want)
	case SeedValue:
		return rd.seed(n, path, want)
	case NumberValue:
		return rd.number(n, path, k.Range, want)
	case WordValue:
		return rd.word(n, path, k.Words)
	case WeightsValue:
		weights, ok := rd.numbersIn(n, path, want, option.MaxTableAge+1, k.Range)
		return Weights(weights), ok
	case RecordValue:
		return rd.quantities(n, path)
	case MeansValue:
		want := "a pair of numbers " + k.Range.String()
		pair := func(n *node, path string) (pair [2]float64, ok bool) {
			numbers, ok := rd.numbersIn(n, path, want, math.MaxInt, k.Range)
			if ok && len(numbers) != 2 {
				return refuse[[2]float64](rd, n, path, "2, one per arm")
			}
			copy(pair[:], numbers)
			return pair, ok
		}
		pairs, ok := items(rd, n, path, k.Want(), maxPrompts, "pair", pair)
		return PromptMeans(pairs), ok
	case ListValue:
		return rd.numbersIn(n, path, want, math.MaxInt, anyNumber)
	case InitValue:
		return rd.start(n, path, want)
	case searchValue:
		return rd.locate(n, path)
	default:
		return rd.arms(n, path, want)
	}
}

// part is a key of a mapping that is not in the key table.
type part struct {
	Key             // Path is its name
	optional bool   // whether it may be left out
	refused  string // what Want says where it must be left out; "": it may be given
	to       any    // pointer to the value that is read; nil: the caller reads it
}

// numberPart, integerPart and wordPart are parts with a number or a word.
func numberPart(name string, r Range, to any) part {
	return part{Key: Key{Row: Row{Path: name}, Kind: NumberValue, Range: r}, to: to}
}

func integerPart(name string, low, high int, to *int) part {
	within := Range{Low: float64(low), High: float64(high)}
	return part{Key: Key{Row: Row{Path: name}, Kind: IntegerValue, Range: within}, to: to}
}

func wordPart(name string, words []string, to any) part {
	return part{Key: Key{Row: Row{Path: name, Words: words}, Kind: WordValue}, to: to}
}

// orNot returns a part that may be left out.
func (p part) orNot() part {
	p.optional = true
	return p
}

// record decodes a mapping with these parts and returns its entries by name, without refused ones;
// ok is false where one of them has a problem.
func (rd *reader) record(n *node, path string, parts ...part) (fields map[string]*node, ok bool) {
	names := Each(parts, func(p part) string { return p.Path })
	if fields = rd.fields(n, path, names); fields == nil {
		return nil, false
	}
	ok = len(fields) == len(n.fields)
	for _, p := range parts {
		f, name := fields[p.Path], path+"."+p.Path
		switch {
		case f == nil && !p.optional:
			rd.problem(n.at, name, "got nothing, want %s", p.Want())
			ok = false
		case f == nil:
		case p.refused != "":
			rd.want(f, name, p.refused)
			delete(fields, p.Path)
			ok = false
		case p.to != nil:
			ok = rd.store(p, f, name) && ok
		}
	}
	return fields, ok
}

// store decodes the value of a part.
func (rd *reader) store(p part, n *node, path string) bool {
	v, ok := rd.value(p.Key, n, path)
	if !ok {
		return false
	}
	to, value := reflect.ValueOf(p.to).Elem(), reflect.ValueOf(v)
	if to.Kind() == reflect.Pointer && value.Kind() != reflect.Pointer { // nil stands for no value
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	to.Set(value.Convert(to.Type()))
	return true
}

func (rd *reader) integer(n *node, path string, r Range, want string) (int, bool) {
	x, _ := strconv.ParseFloat(n.text, 64)
	switch {
	case n.kind != plain || !numberSyntax.MatchString(n.text) || x != math.Trunc(x) || !r.Contains(x):
	case math.Abs(x) > maxInteger:
		want = fmt.Sprintf("an integer of at most %d", maxInteger)
	case !integerSyntax.MatchString(n.text):
		want += ": write " + plainNumber(x)
	default:
		return int(x), true
	}
	return refuse[int](rd, n, path, want)
}

func (rd *reader) seed(n *node, path, want string) (uint64, bool) {
	seed, err := strconv.ParseUint(strings.TrimPrefix(n.text, "+"), 10, 64)
	if n.kind != plain || !integerSyntax.MatchString(n.text) || err != nil {
		return refuse[uint64](rd, n, path, want)
	}
	return seed, true
}

func (rd *reader) number(n *node, path string, r Range, want string) (float64, bool) {
	x, err := strconv.ParseFloat(n.text, 64)
	switch {
	case n.kind != plain || !numberSyntax.MatchString(n.text):
	case err != nil:
		want = "a finite number"
	case !r.Contains(x):
	case !option.HasAllDigits(x):
		want = "a number that is " + option.AllDigits
	case rd.rounds:
		return Round(x), true
	default:
		return x + 0, true // −0 is 0
	}
	return refuse[float64](rd, n, path, want)
}

func (rd *reader) word(n *node, path string, words []string) (string, bool) {
	if !n.isScalar() {
		return refuse[string](rd, n, path, listWords(words))
	}
	if !slices.Contains(words, n.text) {
		return refuse[string](rd, n, path, listWords(words)+DidYouMean(n.text, words))
	}
	return n.text, true
}

// numbersIn decodes a list of numbers of a range.
func (rd *reader) numbersIn(n *node, path, want string, most int, r Range) ([]float64, bool) {
	one := strings.TrimSuffix("a number "+r.String(), " ")
	number := func(n *node, path string) (float64, bool) { return rd.number(n, path, r, one) }
	return items(rd, n, path, want, most, "number", number)
}

func (rd *reader) start(n *node, path, want string) (Init, bool) {
	switch {
	case n.kind == list:
		logits, ok := rd.numbersIn(n, path, want, math.MaxInt, anyNumber)
		return Init{Kind: AtLogits, Logits: logits}, ok
	case n.kind == mapping:
		start := Init{Kind: AtFixedPoint}
		fields, ok := rd.record(n, path, numberPart(offsetField, anyNumber, &start.Offset).orNot())
		if fields[offsetField] == nil {
			return refuse[Init](rd, n, path, want)
		}
		return start, ok
	case !n.isScalar():
		return refuse[Init](rd, n, path, want)
	case n.text != fixedPointWord:
		return refuse[Init](rd, n, path, want+DidYouMean(n.text, []string{fixedPointWord}))
	}
	return Init{Kind: AtFixedPoint}, true
}

// locateParts are the keys of `locate`.
func locateParts(search *Locate) []part {
	parts := []part{
		wordPart("param", locatedParams, &search.Param),
		numberPart("from", positive, &search.From),
		numberPart("to", positive, &search.To),
		numberPart("tolerance", openUnit, &search.Tolerance),
		numberPart(visibilityField, openUnit, &search.Visibility).orNot(),
	}
	parts[1].Note = ", a multiple of " + ruleMeasured
	parts[2].Note = parts[1].Note
	return parts
}

// locate decodes a search; one with a problem is returned as far as it goes.
func (rd *reader) locate(n *node, path string) (*Locate, bool) {
	search := &Locate{}
	fields, _ := rd.record(n, path, locateParts(search)...)
	if search.From > 0 && search.To > 0 && search.To <= search.From {
		rd.want(fields["to"], path+".to", "a number > from ("+Format(search.From)+")")
	}
	return search, fields != nil
}

func (rd *reader) arms(n *node, path, want string) ([]ArmGroup, bool) {
	groups, good := items(rd, n, path, want, math.MaxInt, "item", rd.arm)
	total := 0
	for _, g := range groups {
		total += g.Count
	}
	if good && (total < 2 || total > maxArms) {
		rd.problem(n.at, path, "got %s, want 2 to %d", CountWords(total, "arm"), maxArms)
		return nil, false
	}
	return groups, good
}

// armParts are the keys of an item of bandit.arms whose rewards have a law.
func armParts(law option.Law, reward *string, g *ArmGroup) []part {
	std := numberPart("std", nonNegative, &g.Arm.Std)
	mean := numberPart("mean", anyNumber, &g.Arm.Mean)
	if law == option.Bernoulli {
		mean.Range = unit
	}
	std.optional = law != option.Normal
	if std.optional && law != noLaw {
		std.refused = "no std for a " + law.String() + " reward"
	}
	return []part{wordPart("reward", lawWords, reward), mean, std,
		integerPart("count", 1, maxArms, &g.Count).orNot()}
}

// lawWords are the words of option.Laws.
var lawWords = Each(option.Laws, option.Law.String)

// noLaw stands for a law that is not given, or is no word: no other mistake of the arm can be told.
const noLaw = option.Law(255)

func (rd *reader) arm(n *node, path string) (g ArmGroup, good bool) {
	g.Arm.Law, g.Count = noLaw, 1
	for _, f := range n.fields {
		if i := slices.Index(lawWords, f.value.text); f.name == "reward" && i >= 0 {
			g.Arm.Law = option.Laws[i]
		}
	}
	_, good = rd.record(n, path, armParts(g.Arm.Law, new(string), &g)...)
	return g, good
}

var nameSyntax, variantSyntax = regexp.MustCompile(`^[a-z0-9-]{1,64}$`),
	regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

// What the syntax of a name asks for. No folder is called as a variant.
const (
	nameWant    = "1 to 64 characters of a-z, 0-9 and -"
	variantWant = "1 to 64 characters of A-Z, a-z, 0-9 and -"
)

func (rd *reader) name(n *node, path string, syntax *regexp.Regexp, want string) (string, bool) {
	text, ok := rd.prose(n, path)
	if ok && !syntax.MatchString(text) {
		return refuse[string](rd, n, path, want)
	}
	return text, ok
}

func (rd *reader) prose(n *node, path string) (string, bool) {
	switch {
	case n.kind == plain && !n.isText:
		return refuse[string](rd, n, path, "text (put it in quotes)")
	case !n.isScalar():
		return refuse[string](rd, n, path, "text")
	case strings.ContainsFunc(n.text, func(c rune) bool {
		return c != '\n' && !harmless(c) || c == unicode.ReplacementChar
	}):
		return refuse[string](rd, n, path, "text without control characters")
	}
	return n.text, true
}

// keyed decodes a mapping of dotted keys; what says in words what is wanted. Function read decodes
// the value of a key.
func (rd *reader) keyed(n *node, path, what string, read func(k Key, n *node, path string)) {
	if n.kind != mapping {
		rd.want(n, path, "a mapping of dotted keys to "+what)
	}
	for _, f := range n.fields {
		if k, known := LookupKey(f.name); known {
			read(k, f.value, join(path, f.name))
		} else {
			path := join(path, f.name)
			rd.unknownKey(f.at, path, "", f.name, "a dotted key of the base", keyPaths())
		}
	}
}

// assignments decodes a mapping of dotted keys to values.
func (rd *reader) assignments(n *node, path string) (set []Assignment) {
	rd.keyed(n, path, "values", func(k Key, n *node, path string) {
		if v, ok := rd.value(k, n, path); ok {
			set = append(set, Assignment{Param: k.Path, Value: v})
		} else {
			rd.bad[k.Path] = true
		}
	})
	return set
}

// conditions decodes a mapping of dotted keys to a value or a list of values.
func (rd *reader) conditions(n *node, path string) (conditions []Condition) {
	rd.keyed(n, path, "a value or a list of values", func(k Key, n *node, path string) {
		c := Condition{Param: k.Path}
		read := func(n *node, path string) {
			if v, ok := rd.value(k, n, path); ok {
				c.Values = append(c.Values, v)
			}
		}
		if n.kind != list || isOneValue(k, n) {
			read(n, path)
		} else if len(n.items) == 0 {
			rd.want(n, path, "at least 1 value")
		} else {
			for i, item := range n.items {
				read(item, fmt.Sprintf("%s[%d]", path, i))
			}
		}
		conditions = append(conditions, c)
	})
	return conditions
}

// isOneValue reports whether a list is a single value of a key whose values are lists.
func isOneValue(k Key, n *node) bool {
	if len(n.items) == 0 {
		return false
	}
	first := n.items[0]
	switch k.Kind {
	case WeightsValue, RecordValue, ListValue, ArmsValue:
		return first.kind != list
	case MeansValue:
		return first.kind != list || len(first.items) == 0 || first.items[0].kind != list
	case InitValue:
		return first.kind == plain && numberSyntax.MatchString(first.text)
	}
	return false
}

// namedByFlag returns the key with a path that a flag of the command line gives.
func namedByFlag(source, path string) (Key, Problems) {
	k, known := LookupKey(path)
	if known {
		return k, nil
	}
	return k, Wrong(source, "got the unknown key %s, want a key of the configuration%s",
		quoteText(path), didYou(meantKey(path, keyPaths())))
}

// ParseCondition parses a condition `key=value` of the flag --where.
func ParseCondition(text string) (Condition, Problems) {
	const source = "--where"
	path, value, assigned := strings.Cut(text, "=")
	if !assigned {
		return Condition{}, Wrong(source, "got %s, want key=value", quoteText(text))
	}
	k, problems := namedByFlag(source, path)
	if problems != nil {
		return Condition{}, problems
	}
	n, problems := parseYAML(source, path, []byte(value))
	if n == nil {
		return Condition{}, problems
	}
	rd := newReader(problems)
	v, _ := rd.value(k, n, path)
	return Condition{Param: path, Values: []any{v}}, rd.problems
}

// ParseNumericKey returns the numeric key with a path given by a flag of the command
// line; source is the flag, for messages.
func ParseNumericKey(source, path string) (Key, Problems) {
	k, problems := namedByFlag(source, path)
	if problems == nil && !k.Numeric() {
		problems = Wrong(source, "got %s, want a key whose value is a number", path)
	}
	return k, problems
}
