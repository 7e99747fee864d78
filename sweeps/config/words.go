package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shownText is the largest number of characters of a reader's text in a message.
const shownText = 60

// quoteText quotes a reader's text for a message and cuts it after shownText characters.
func quoteText(text string) string {
	n := utf8.RuneCountInString(text)
	if n <= shownText {
		return fmt.Sprintf("%q", text)
	}
	return fmt.Sprintf("%q… (%d characters)", string([]rune(text[:min(len(text), 4*shownText)])[:shownText]), n)
}

// listWords joins alternatives: a, b or c.
func listWords(words []string) string { return JoinWords(words, "or") }

// JoinWords joins words with commas, the last two with a conjunction.
func JoinWords(words []string, conjunction string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + conjunction + " " + words[len(words)-1]
}

// DidYouMean ends a message about an unknown word: it suggests a known word, and is ""
// where none is near.
func DidYouMean(word string, known []string) string { return didYou(Meant(word, known)) }

// didYou ends a message with the word that is meant; "" where there is none.
func didYou(meant string) string {
	if meant == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", meant)
}

// ofTrainers gives the key, or the word of a key, for names that trainers use.
var ofTrainers = func() map[string]string {
	meant := map[string]string{
		"async": "random", "loo": "leave-one-out", "rloo": "leave-one-out", "dr_grpo": "none",
		"batch": "batch-std", "max_rl": "mean", "grpo_passk": "second-best", "low_var_kl": "k3",
		"mse": "k2", "gspo": "clip", "tis": "truncated", "icepop": "masked",
		"decoupled": "masked", "adamw": "adam", "sgd": "heavy-ball",
	}
	for _, k := range Keys {
		for _, name := range k.Known {
			meant[name] = k.Path
		}
	}
	return meant
}()

// Meant returns the known word that a reader means by an unknown one, or "". It is a path with the
// same last name, the key that trainers call by this name, the one known word that begins with it,
// or the known word with the fewest edits.
func Meant(word string, known []string) string {
	if word == "" || len(word) > shownText {
		return ""
	}
	begun := slices.DeleteFunc(slices.Clone(known), func(k string) bool {
		rest, begins := strings.CutPrefix(k, word)
		return !begins || strings.Contains(rest, ".")
	})
	best, meant := nearestWord(word, known), ofTrainers[lastName(strings.ToLower(word))]
	switch {
	case lastName(best) == lastName(word):
		return best
	case len(begun) == 0 && slices.Contains(known, meant):
		return meant
	case len(begun) == 1 && len(word) > 1:
		return begun[0]
	}
	return best
}

// nearestWord returns the first of the known words with the fewest edits from word, ""
// where these are more than a third of the letters of the longer one. Sections that two
// paths have in common do not count.
func nearestWord(word string, known []string) string {
	best, least := "", len(word)+shownText
	for _, candidate := range known {
		a, b := word, candidate
		for {
			section, rest, nested := strings.Cut(a, ".")
			under, below := strings.CutPrefix(b, section+".")
			if !nested || !below {
				break
			}
			a, b = rest, under
		}
		if d := editDistance(a, b); d <= max(len(a), len(b))/3 && d < least {
			best, least = candidate, d
		}
	}
	return best
}

// editDistance counts the insertions, deletions, replacements and swaps of
// neighbours that turn a into b (optimal string alignment), bytewise.
func editDistance(a, b string) int {
	row := func() []int { return make([]int, len(b)+1) }
	before, last, next := row(), row(), row()
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			replace := last[j]
			if a[i] != b[j] {
				replace++
			}
			next[j+1] = min(last[j+1]+1, next[j]+1, replace)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, last, next = last, next, before
	}
	return last[len(b)]
}

// CountWords writes a count: 1 number, 2 numbers.
func CountWords(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// lastName returns the part of a dotted path after the last dot.
func lastName(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// join appends a key of a file to a dotted path; a key that is long or has unprintable
// characters is quoted.
func join(path, key string) string {
	hidden := func(c rune) bool { return !unicode.IsPrint(c) }
	if utf8.RuneCountInString(key) > shownText || strings.ContainsFunc(key, hidden) {
		key = quoteText(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}
