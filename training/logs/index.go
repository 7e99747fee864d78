package logs

import (
	"bytes"
	"strings"
	"sync"
)

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
	before, after string // the *
	entry
}

// index finds the rules of a name: whole names in a map, those with a * one after another.
type index struct {
	whole    map[string][]entry
	patterns []pattern
}

// rulesOf is the index of the table.
var rulesOf = sync.OnceValue(func() *index {
	x := &index{whole: make(map[string][]entry)}
	add := func(key string, at entry) {
		key = string(lower(nil, tidy(nil, []byte(key))))
		if before, after, star := strings.Cut(key, "*"); star {
			x.patterns = append(x.patterns, pattern{before, after, at})
		} else {
			x.whole[key] = append(x.whole[key], at)
		}
	}
	for i := range trainers() {
		t := &trainers()[i]
		for p, prefix := range t.Prefixes {
			for r := range t.Keys {
				add(prefix+t.Keys[r].Key, entry{i, false, p*len(t.Keys) + r, &t.Keys[r]})
			}
		}
		for r := range t.EvalKeys {
			add(t.EvalKeys[r].Key, entry{i, true, r, &t.EvalKeys[r]})
		}
	}
	return x
})

// find calls found for every rule whose key is the name, tidy and in lower case, with what stands
// for the *.
func (x *index) find(tidy, name []byte, found func(at entry, star []byte)) {
	for _, at := range x.whole[string(name)] {
		found(at, nil)
	}
	for i := range x.patterns {
		p := &x.patterns[i]
		if end := len(name) - len(p.after); end > len(p.before) && string(name[:len(p.before)]) == p.before && string(name[end:]) == p.after {
			found(p.entry, tidy[len(p.before):end])
		}
	}
}

// tidy appends a key with underscores for spaces, without the dots of abbreviations and the spaces
// around slashes. "rewards / f" is rewards/f, "Grad. Norm" is Grad_Norm.
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
