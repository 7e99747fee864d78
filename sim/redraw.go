package sim

import (
	"math"

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
	tables    *promptTables                 // of prompts that share one policy; nil: each has its own
	table     *promptTable                  // the last one of tables
	sums      []float64                     // Σ P_y over y ≤ x, of policies of their own
	stale     bool                          // the sums are those of older policies
}

// newPromptRedraws returns the redraws of a cell with prompts, nil if groups of equal rewards stay.
func newPromptRedraws(c *Cell, behaviour func(prompt int) *grpo.Policy) *promptRedraws {
	if c.Estimator.Filter != option.Redraw {
		return nil
	}
	r := &promptRedraws{behaviour: behaviour, groups: informativePrompts(c)}
	if c.Prompts.Parameters == option.Shared {
		r.tables = newPromptTables(r.groups)
	} else {
		r.sums = make([]float64, len(r.groups))
	}
	return r
}

// informativePrompts returns the groups of each prompt whose rewards differ.
func informativePrompts(c *Cell) (groups []*draw.Informative) {
	for _, m := range c.Prompts.Means {
		groups = append(groups, draw.NewInformative(c.Estimator.GroupSize, m[:]))
	}
	return groups
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
	if r.tables != nil {
		probs := [2]float64(r.behaviour(0).Probs)
		if r.table = r.tables.near(r.table, &probs); !r.table.possible() {
			return 0, false
		}
		for !ok {
			prompt, ok = r.tables.propose(r.table, &probs, w.Next(), w.Next())
		}
		return prompt, true
	}
	if r.stale {
		r.stale = false
		sum := 0.0
		for x, group := range r.groups {
			sum += group.Chance(r.behaviour(x).Probs)
			r.sums[x] = sum
		}
	}
	if !(r.sums[len(r.sums)-1] > 0) {
		return 0, false
	}
	return draw.Index(w.Next(), r.sums), true
}

// promptTables choose the prompts of redrawn groups where all prompts share one policy, each move
// of which changes all P_x. A prompt is proposed with its share at a policy nearby, whose sums of P
// are kept. Its odds o are the largest with a few binary digits that are at most those of the
// policy, r·o. A prompt is accepted with probability
//
//	P_x(r·o)/(r·P_x(o)) ≥ r⁻²,  1 ≤ r < 17/16.
//
// J_x and 1−J_x change by factors between 1/r and r. So does P_x, a concave function of J_x that is
// 0 at 0 and at 1.
type promptTables struct {
	groups []*draw.Informative     // by prompt
	kept   map[uint64]*promptTable // by the bits of their odds
}

// promptTable holds the shares of the prompts at a policy.
type promptTable struct {
	odds  float64 // π_0/π_1; 0: not a normal number, and the policy has its own table
	probs [2]float64
	sums  []float64 // by prompt x: Σ P_y over y ≤ x
	guide []int     // by n, for C prompts: the first prompt whose sum is above n/C of the last
}

// sumsKept is the largest number of sums in the tables that are kept, 8 MiB.
const sumsKept = 1 << 20

func newPromptTables(groups []*draw.Informative) *promptTables {
	return &promptTables{groups, make(map[uint64]*promptTable)}
}

// near returns the table of a policy. last is the table that was used last, or nil.
func (p *promptTables) near(last *promptTable, probs *[2]float64) *promptTable {
	odds := probs[0] / probs[1]
	if math.IsNaN(odds) {
		return &promptTable{sums: []float64{0}} // the run has diverged
	}
	if !(odds > 0x1p-1000 && odds < 0x1p1000) {
		if last != nil && last.probs == *probs {
			return last
		}
		return p.table(0, *probs)
	}
	key := math.Float64bits(odds) &^ (1<<48 - 1)
	odds = math.Float64frombits(key)
	if last != nil && last.odds == odds {
		return last
	}
	t := p.kept[key]
	if t == nil {
		if len(p.kept) >= max(1, sumsKept/len(p.groups)) {
			clear(p.kept)
		}
		t = p.table(odds, [2]float64{odds / (1 + odds), 1 / (1 + odds)})
		p.kept[key] = t
	}
	return t
}

// table returns the table of a policy.
func (p *promptTables) table(odds float64, probs [2]float64) *promptTable {
	t := &promptTable{odds, probs, make([]float64, len(p.groups)), make([]int, len(p.groups))}
	sum, first := 0.0, 0
	for x, group := range p.groups {
		sum += group.Chance(probs[:])
		t.sums[x] = sum
	}
	for n := range t.guide {
		first = t.above(first, float64(n)/float64(len(t.guide))*sum)
		t.guide[n] = first
	}
	return t
}

// above returns the first prompt from x on whose sum is above the given one, or else is all.
func (t *promptTable) above(x int, sum float64) int {
	for all := t.sums[len(t.sums)-1]; t.sums[x] <= sum && t.sums[x] < all; {
		x++
	}
	return x
}

// possible reports whether any prompt can have a group whose rewards differ.
func (t *promptTable) possible() bool { return t.sums[len(t.sums)-1] > 0 }

// propose proposes a prompt from a policy's table by two words, and reports if it is accepted.
func (p *promptTables) propose(t *promptTable, probs *[2]float64, first, second uint64) (prompt int, accepted bool) {
	u := draw.Unit(first)
	prompt = t.above(t.guide[int(u*float64(len(t.guide)))], u*t.sums[len(t.sums)-1])
	if t.odds == 0 {
		return prompt, true
	}
	u = draw.Unit(second)
	r := probs[0] / probs[1] / t.odds
	return prompt, u*r*r < 1 || u*r*p.groups[prompt].Chance(t.probs[:]) < p.groups[prompt].Chance(probs[:])
}
