package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"grposim/sim"
)

// Record lists what a cell records beside what every cell records, the value of run.record. A file
// writes pass@8 and effective-sample-size for the quantities pass_at_8 and effective_sample_size.
type Record []sim.Quantity

const (
	passWord   = "pass@"
	maxRecord  = 10 // sim.Run has room for as many
	armWord    = "probability-of-arm-"
	maxPass    = 1 << 31 // largest K of pass@K
	recordWant = "a list of pass@K, probability-of-arm-K, effective-sample-size, gradient-cosine, " +
		"samples, stiffness and strata"
)

// recordNames are the words of the quantities with one word.
var recordNames = []string{
	"effective-sample-size", "gradient-cosine", "samples", "stiffness", "strata",
}

func recordWords(record Record) []string {
	words := make([]string, len(record))
	for i, q := range record {
		if k, passes := q.Samples(); passes {
			words[i] = passWord + strconv.Itoa(k)
		} else {
			words[i] = strings.ReplaceAll(string(q), "_", "-")
		}
	}
	return words
}

// recordWord returns the word of a quantity, with K for a number, in the tests of rules.
func recordWord(q sim.Quantity) string {
	word := recordWords(Record{q})[0]
	for _, numbered := range []string{passWord, armWord} {
		if strings.HasPrefix(word, numbered) {
			return numbered + "K"
		}
	}
	return word
}

// quantities decodes a list of quantities to record, each once.
func (rd *reader) quantities(n *node, path string) (Record, bool) {
	list, ok := items(rd, n, path, recordWant, maxRecord, "word", rd.quantity)
	for i, q := range list {
		if ok && slices.Contains(list[:i], q) {
			rd.problem(n.items[i].at, fmt.Sprintf("%s[%d]", path, i),
				"got %s again, want each quantity once", n.items[i].text)
			ok = false
		}
	}
	return list, ok
}

// quantity decodes one.
func (rd *reader) quantity(n *node, path string) (sim.Quantity, bool) {
	words := append([]string{passWord + "K", armWord + "K"}, recordNames...)
	if !n.isScalar() {
		return refuse[sim.Quantity](rd, n, path, listWords(words))
	}
	number, passes := strings.CutPrefix(n.text, passWord)
	k, err := strconv.Atoi(number)
	switch {
	case passes && (err != nil || k < 1 || k > maxPass || strconv.Itoa(k) != number):
		return refuse[sim.Quantity](rd, n, path, fmt.Sprintf("pass@K with an integer K in [1, %d]", maxPass))
	case passes:
		return sim.PassAt(k), true
	}
	q := sim.Quantity(strings.ReplaceAll(n.text, "-", "_"))
	if _, ofArm := q.Arm(); slices.Contains(recordNames, n.text) || ofArm && !strings.Contains(n.text, "_") {
		return q, true
	}
	return refuse[sim.Quantity](rd, n, path, listWords(words)+DidYouMean(n.text, words))
}
