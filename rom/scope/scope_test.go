package scope_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"grposim/rom/scope"
)

// Terms add up, since their signs are not known, and a number is judged up to half of the margin.
func TestJudged(t *testing.T) {
	n := scope.Number{Value: 2, Kind: scope.Exact}
	if n.Judged(0).Out() || n.Size() != 0 {
		t.Error("a number that leaves nothing out is not judged")
	}
	n.Leave(scope.HigherOrder, 0.03)
	n.Leave(scope.Rounding, 0) // nothing
	n.Leave(scope.Rounding, -0.02)
	if len(n.Neglected) != 2 || n.Size() != 0.05 {
		t.Errorf("left out %v, in all %g, want two terms and 0.05", n.Neglected, n.Size())
	}
	if because := n.Judged(0.1); because.Out() {
		t.Errorf("a half of the margin: %s", because)
	}
	because := n.Judged(0.0999)
	if !because.Is(scope.TooMuchNeglected) || !strings.Contains(because.String(),
		"0.05, more than half of the margin 0.1: the next order in the noise") {
		t.Errorf("%q, want the size, the margin and the largest term", because)
	}
	if n.Judged(math.NaN()).Out() {
		t.Error("without a margin there is nothing to judge")
	}
	n.Leave(scope.OnTheWay, math.Inf(1), "after 7 steps")
	if because := n.Judged(1e300); !because.Is(scope.UnknownSize) ||
		!strings.HasSuffix(because.String(), ": after 7 steps") {
		t.Errorf("%q, want an unknown size with its note", because)
	}
	n.Because = scope.NoPenalty.Because()
	if got := n.Judged(1e300); got != scope.NoPenalty.Because() || got.Try() == "" {
		t.Errorf("%q, want the reason why there is none", got)
	}
}

// Terms of one name are one term and sums are kept. What is not a number is not known, and no share
// is off by more than 1. Predictions that share terms do not write into each other's.
func TestNeglected(t *testing.T) {
	var n scope.Neglected
	n.Add(scope.HigherOrder, scope.Sizes{})
	n.Add(scope.HigherOrder, scope.Sizes{RewardMean: 1, RewardVariance: 2})
	shared := n
	n.Add(scope.HigherOrder, scope.Sizes{RewardMean: 3, ZeroVariance: 7})
	shared.Add(scope.OnTheWay, scope.Sizes{RewardVariance: math.NaN()})
	if len(n.Terms) != 1 || n.RewardMean != 4 || n.RewardVariance != 2 || n.ZeroVariance != 1 {
		t.Errorf("%+v, want one term of 4, 2 and 1", n)
	}
	if len(shared.Terms) != 2 || shared.Terms[0].RewardMean != 1 ||
		!math.IsInf(shared.RewardVariance, 1) {
		t.Errorf("%+v, want the first term as it was and an unknown variance", shared)
	}
	var sum scope.Neglected
	sum.AddAll(n, 0.5, 0.25, 1)
	if sum.RewardMean != 2 || sum.RewardVariance != 0.5 || sum.ZeroVariance != 1 {
		t.Errorf("%+v, want the terms with their factors", sum.Sizes)
	}
	if of := shared.Number(5, scope.Exact, scope.OfMean); of.Value != 5 || of.Size() != 1 ||
		len(of.Neglected) != 1 {
		t.Errorf("%+v, want the terms of the mean", of)
	}
	data, err := json.Marshal(shared)
	if err != nil || !strings.Contains(string(data), `"expected_reward_variance":1.797`) || !strings.Contains(string(data), `"name":"the mean path is still on its way to the fixed point"`) {
		t.Errorf("%s, %v: want the largest number for what is not known, and names", data, err)
	}
}

// In JSON a number has its reason and what to do about it, or its value with what it leaves out.
func TestNumberInJSON(t *testing.T) {
	n := scope.Number{Value: 0.25, Kind: scope.Expansion}
	n.Leave(scope.NextInSize, math.Inf(1))
	for _, c := range []struct {
		n    scope.Number
		want string
	}{
		{n, `{"value":0.25,"kind":"expansion","neglected":[{"term":"the next order in 1/G","size":null}]}`},
		{scope.Number{Value: math.Inf(1), Kind: scope.Exact}, `{"value":null,"kind":"exact"}`},
		{scope.Number{Value: 3, Kind: scope.Exact,
			Because: scope.RateVaries.Because("still rises after burn-in")},
			`{"value":null,"kind":"exact","because":"the learning rate still rises after burn-in","try":"` + scope.RateVaries.Try() + `"}`},
	} {
		if got, err := json.Marshal(c.n); err != nil || string(got) != c.want {
			t.Errorf("%s, %v, want %s", got, err, c.want)
		}
	}
}

// Every row has a name of its own, words, and what to do.
func TestRows(t *testing.T) {
	names := make(map[string]bool)
	for row := range scope.Rows {
		if name := row.Name(); name == "" || names[name] || row.Words() == "" || row.Try() == "" ||
			strings.HasSuffix(row.Try(), ".") {
			t.Errorf("row %d: %q, %q, %q", row, name, row.Words(), row.Try())
		}
		names[row.Name()] = true
	}
	if len(names) > 30 {
		t.Errorf("%d rows", len(names))
	}
	if (scope.Reason{}).Out() || (scope.Reason{}).String() != "" ||
		scope.NoPenalty.Because().Is(scope.Locked) {
		t.Error("the zero value says that there is an answer")
	}
}

// A reason that gives that of a part, such as a prompt, says what to do about the part.
func TestTryOfAPart(t *testing.T) {
	part := scope.Locked.Because("KL", 0.01, 0, 1e-9, "")
	if got := scope.OfPart.Because("a prompt", part); got.Try() != part.Try() || got.Try() == scope.OfPart.Try() || !got.Is(scope.OfPart) || !got.Restless() || !strings.HasSuffix(got.String(), part.String()) {
		t.Errorf("%s: %s", got, got.Try())
	}
}
