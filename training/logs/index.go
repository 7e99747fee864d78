package logs

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"sync"
)

// The rules are looked up by the names of their keys: whole names in a map, those with a *
// by what stands before it. A name that no rule has costs one look-up in the map and a
// comparison for every such beginning, of which there are about twenty.

// match is a rule for a key, with the name that stands for its *.
type match struct {
	rule  *rule
	name  string
	order int // the place of the rule among those that match
}

// entry is a rule with the place where it stands in the table.
type entry struct {
	trainer int
	eval    bool // among the rules of evaluation
	order   int  // in which rules of the trainer are tried: by prefix, then by position
	rule    *rule
}

// pattern is a key with a *.
type pattern struct {
	after string // the *
	entry
}

// index finds the rules of a name.
type index struct {
	whole    map[string][]entry
	patterns map[string][]pattern // by what stands before the *
	befores  []string             // the keys of patterns
}

// rulesOf is the index of the table.
var rulesOf = sync.OnceValue(func() *index { return newIndex(trainers()) })

func newIndex(all []trainer) *index {
	x := &index{whole: make(map[string][]entry), patterns: make(map[string][]pattern)}
	add := func(key string, at entry) {
		key = string(lower(nil, tidy(nil, []byte(key))))
		if before, after, star := strings.Cut(key, "*"); star {
			x.patterns[before] = append(x.patterns[before], pattern{after, at})
		} else {
			x.whole[key] = append(x.whole[key], at)
		}
	}
	for i := range all {
		t := &all[i]
		for p, prefix := range t.Prefixes {
			for r := range t.Keys {
				add(prefix+t.Keys[r].Key, entry{i, false, p*len(t.Keys) + r, &t.Keys[r]})
			}
		}
		for r := range t.EvalKeys {
			add(t.EvalKeys[r].Key, entry{i, true, r, &t.EvalKeys[r]})
		}
	}
	x.befores = slices.Sorted(maps.Keys(x.patterns))
	return x
}

// find calls found for every rule whose key is the name, tidy and in lower case, with what
// stands for the *.
func (x *index) find(tidy, name []byte, found func(at entry, star []byte)) {
	for _, at := range x.whole[string(name)] {
		found(at, nil)
	}
	for _, before := range x.befores {
		if len(name) <= len(before) || string(name[:len(before)]) != before {
			continue
		}
		for i := range x.patterns[before] {
			p := &x.patterns[before][i]
			if end := len(name) - len(p.after); end > len(before) && string(name[end:]) == p.after {
				found(p.entry, tidy[len(before):end])
			}
		}
	}
}

// tidy appends a key with underscores for spaces, and without the dots of abbreviations
// and the spaces that notebooks set around slashes: "rewards / f" is rewards/f, "Grad.
// Norm" is Grad_Norm.
func tidy(to, key []byte) []byte {
	key = bytes.TrimSpace(key)
	for i, b := range key {
		switch {
		case b == '.' && i+1 < len(key) && key[i+1] == ' ':
			continue
		case b == ' ' && (key[i+1] == '/' || key[i-1] == '/' || key[i-1] == ' '):
			continue
		case b == ' ':
			b = '_'
		}
		to = append(to, b)
	}
	return to
}

// lower appends a text in lower case, byte by byte.
func lower(to, text []byte) []byte {
	for _, b := range text {
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		to = append(to, b)
	}
	return to
}
