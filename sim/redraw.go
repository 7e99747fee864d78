package sim

import (
	"math"
	"sort"

	"grposim/grpo"
	"grposim/option"
	"grposim/sim/draw"
)

// promptRedraws draw the groups that replace groups of equal rewards where there are many prompts.
// The trainers draw prompts, each with the same probability, and groups of them until the rewards
// of one differ. The chance that rewards of a group of x differ, with J_x its expected reward, is
//
//	P_x = 1 − J_x^G − (1−J_x)^G.
//
// That group belongs to prompt x with probability P_x/Σ_y P_y. Its samples have the law of a group
// of x given that its rewards differ.
type promptRedraws struct {
	behaviour func(prompt int) *grpo.Policy // the policy that draws the groups of a prompt
	groups    []*draw.Informative           // by prompt
	sums      []float64                     // Σ P_y over y ≤ x, of policies of their own
	stale     bool                          // the sums are those of older policies

	shared bool                    // all prompts share one policy
	kept   map[uint64]*promptTable // then tables by the bits of their odds
	table  *promptTable            // the last one that was used
}

// newPromptRedraws returns the redraws of a cell with prompts, nil if groups of equal rewards stay.
func newPromptRedraws(c *Cell, behaviour func(prompt int) *grpo.Policy) *promptRedraws {
	if c.Estimator.Filter != option.Redraw {
		return nil
	}
	r := &promptRedraws{
		behaviour: behaviour,
		sums:      make([]float64, len(c.Prompts.Means)),
		shared:    c.Prompts.Parameters == option.Shared,
		kept:      make(map[uint64]*promptTable),
	}
	for _, m := range c.Prompts.Means {
		r.groups = append(r.groups, draw.NewInformative(c.Estimator.GroupSize, m[:]))
	}
	return r
}

// refresh makes known that behaviour policies have changed.
func (r *promptRedraws) refresh() {
	if r != nil {
		r.stale = true
	}
}

// draw draws a prompt and a group of it whose rewards differ. It sets by arm the numbers of samples
// and of rewarded ones. It reports false, and draws nothing, if no prompt can have such a group.
func (r *promptRedraws) draw(w *draw.Words, counts, successes []int) (prompt int, ok bool) {
	if prompt, ok = r.choose(w); !ok {
		return 0, false
	}
	return prompt, r.groups[prompt].Draw(w, r.behaviour(prompt).Probs, counts, successes)
}

// choose draws a prompt, and reports false if none can have a group whose rewards differ.
func (r *promptRedraws) choose(w *draw.Words) (prompt int, ok bool) {
	if r.shared {
		probs := [2]float64(r.behaviour(0).Probs)
		r.table = r.near(&probs)
		if sums := r.table.sums; !(sums[len(sums)-1] > 0) { // all rewards of a group are equal
			return 0, false
		}
		for !ok {
			prompt, ok = r.propose(&probs, w.Next(), w.Next())
		}
		return prompt, true
	}
	if r.stale {
		r.stale = false
		accumulate(r.sums, func(x int) float64 { return r.groups[x].Chance(r.behaviour(x).Probs) })
	}
	if !(r.sums[len(r.sums)-1] > 0) {
		return 0, false
	}
	return draw.Index(w.Next(), r.sums), true
}

// promptTable holds the shares of the prompts at a policy. It serves to choose the prompts of
// redrawn groups where all prompts share one policy, each move of which changes all P_x. A prompt is
// proposed with its share at a policy nearby, whose sums of P are kept. Its odds o are the largest
// with a few binary digits that are at most those of the policy, r·o. A prompt is accepted with
// probability
//
//	P_x(r·o)/(r·P_x(o)) ≥ r⁻²,  1 ≤ r < 17/16.
//
// J_x and 1−J_x change by factors between 1/r and r. So does P_x, a concave function of J_x that is
// 0 at 0 and at 1.
type promptTable struct {
	odds  float64 // π_0/π_1; 0: not a normal number, and the policy has its own table
	probs [2]float64
	sums  []float64 // by prompt x: Σ P_y over y ≤ x
}

// sumsKept is the largest number of sums in the tables that are kept, 8 MiB.
const sumsKept = 1 << 20

// near returns the table of a policy.
func (r *promptRedraws) near(probs *[2]float64) *promptTable {
	odds, last := probs[0]/probs[1], r.table
	if math.IsNaN(odds) {
		return &promptTable{sums: []float64{0}} // the run has diverged
	}
	if !(odds > 0x1p-1000 && odds < 0x1p1000) {
		if last != nil && last.probs == *probs {
			return last
		}
		return r.newTable(0, *probs)
	}
	key := math.Float64bits(odds) &^ (1<<48 - 1)
	odds = math.Float64frombits(key)
	if last != nil && last.odds == odds {
		return last
	}
	t := r.kept[key]
	if t == nil {
		if len(r.kept) >= max(1, sumsKept/len(r.groups)) {
			clear(r.kept)
		}
		t = r.newTable(odds, [2]float64{odds / (1 + odds), 1 / (1 + odds)})
		r.kept[key] = t
	}
	return t
}

func (r *promptRedraws) newTable(odds float64, probs [2]float64) *promptTable {
	t := &promptTable{odds, probs, make([]float64, len(r.groups))}
	accumulate(t.sums, func(x int) float64 { return r.groups[x].Chance(probs[:]) })
	return t
}

// accumulate sets sums[x] to the sum of a function over the integers up to x.
func accumulate(sums []float64, of func(x int) float64) {
	sum := 0.0
	for x := range sums {
		sum += of(x)
		sums[x] = sum
	}
}

// propose proposes a prompt from the table by two words, and reports if it is accepted.
func (r *promptRedraws) propose(
	probs *[2]float64, first, second uint64,
) (prompt int, accepted bool) {
	t, all := r.table, len(r.table.sums)-1
	sum := draw.Unit(first) * t.sums[all]
	prompt = sort.Search(all, func(x int) bool { return t.sums[x] > sum || t.sums[x] == t.sums[all] })
	if t.odds == 0 {
		return prompt, true
	}
	u := draw.Unit(second)
	ratio, group := probs[0]/probs[1]/t.odds, r.groups[prompt]
	likely := u*ratio*ratio < 1
	return prompt, likely || u*ratio*group.Chance(t.probs[:]) < group.Chance(probs[:])
}
