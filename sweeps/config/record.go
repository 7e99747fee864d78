package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"grposim/option"
	"grposim/sim"
)

// Record lists what a cell records beside what every cell records, the value of run.record. A file
// writes pass@8, effective-sample-size, samples, stiffness and strata for the quantities pass_at_8,
// effective_sample_size, samples, stiffness and strata.
type Record []sim.Quantity

const (
	passWord   = "pass@"
	maxRecord  = 10      // sim.Run has room for as many
	maxPass    = 1 << 31 // largest K of pass@K
	recordWant = "a list of pass@K, effective-sample-size, samples, stiffness and strata"
)

// recordNames are the words of the quantities with one word.
var recordNames = []string{"effective-sample-size", "samples", "stiffness", "strata"}

// recordWords lists the words of quantities.
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

// quantities decodes a list of quantities to record, each once.
func (rd *reader) quantities(n *node, path string) (Record, bool) {
	list, ok := items(rd, n, path, recordWant, maxRecord, "word", rd.quantity)
	for i, q := range list {
		if ok && slices.Contains(list[:i], q) {
			rd.problem(n.items[i].at, fmt.Sprintf("%s[%d]", path, i), "got %s again, want each quantity once", recordWords(list[i : i+1])[0])
			ok = false
		}
	}
	return list, ok
}

// quantity decodes one.
func (rd *reader) quantity(n *node, path string) (sim.Quantity, bool) {
	words := append([]string{passWord + "K"}, recordNames...)
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
	case slices.Contains(words[1:], n.text):
		return sim.Quantity(strings.ReplaceAll(n.text, "-", "_")), true
	}
	return refuse[sim.Quantity](rd, n, path, listWords(words)+didYouMean(n.text, words))
}

// records reports whether run.record names a quantity.
func records(s *Settings, q sim.Quantity) bool { return slices.Contains(s.Run.Record, q) }

// recordRules say which quantities a cell can record.
var recordRules = []rule{
	{when: "run.record bandit.arms", want: "no pass@K unless all rewards are 0 or 1 ({bandit.arms})", and: func(s *Settings) bool {
		passes := func(q sim.Quantity) bool { _, passes := q.Samples(); return passes }
		return !sim.Binary(s.Bandit.Arms) && slices.ContainsFunc(s.Run.Record, passes)
	}},
	{when: "run.record grpo.group_size=inf", want: "no samples at grpo.group_size inf, where none is drawn",
		and: func(s *Settings) bool { return records(s, sim.SamplesDrawn) }},
	{when: "run.record bandit.prompts.count bandit.prompts.parameters",
		want: "no strata unless bandit.prompts.count is more than 1 and bandit.prompts.parameters is tabular",
		and: func(s *Settings) bool {
			tabular := s.Prompts.Count > 1 && s.Prompts.Parameters == option.Tabular
			return !tabular && records(s, sim.Strata)
		}},
	{when: "run.record policy.network.kind grpo.group_size",
		want: "no stiffness unless policy.network.kind is a network and grpo.group_size inf",
		and:  func(s *Settings) bool { return (!s.Deep() || sampled(s)) && records(s, sim.Stiffest) }},
	{when: "run.record policy.network.kind!=none", want: "stiffness alone with a network", and: func(s *Settings) bool {
		return slices.ContainsFunc(s.Run.Record, func(q sim.Quantity) bool { return q != sim.Stiffest })
	}},
	{when: "run.record", want: fmt.Sprintf("at most %d quantities beside strata", maxRecord-sim.MaxStrata),
		and: func(s *Settings) bool { return len(s.Run.Record) > maxRecord+1-sim.MaxStrata && records(s, sim.Strata) }},
}
