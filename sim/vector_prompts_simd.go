//go:build goexperiment.simd && amd64

package sim

import "grposim/sim/draw"

// vectorPrompts chooses the prompts of the replicas of a vectorBatch, as promptSampler.
type vectorPrompts struct {
	*Prompts
	digits [][2]uint64   // by prompt: those of the mean rewards of both arms
	order  []draw.Vector // the prompts of the present epoch
	next   int           // index in order of the next one
	chosen *draw.Vector  // the prompts of the current group
}

func newVectorPrompts(p *Prompts) *vectorPrompts {
	if p == nil {
		return nil
	}
	v := &vectorPrompts{Prompts: p, order: make([]draw.Vector, len(p.Means))}
	for _, m := range p.Means {
		v.digits = append(v.digits, [2]uint64{draw.Digits(m[0]), draw.Digits(m[1])})
	}
	return v
}

// begin sets the state before the first step.
func (p *vectorPrompts) begin() {
	p.next = 0
	for x := range p.order {
		for i := range p.order[x] {
			p.order[x][i] = uint64(x)
		}
	}
}

// choose sets the prompts of the next group.
func (p *vectorPrompts) choose(s *draw.Streams) {
	p.chosen = &p.order[p.next]
	switch {
	case p.Order == Independent:
		s.Below(len(p.order), p.chosen)
		return
	case p.Order == Shuffled && p.next == 0:
		s.Shuffle(p.order)
	}
	if p.next++; p.next == len(p.order) {
		p.next = 0
	}
}

// drawPrompts draws a group of a prompt for every replica, as sampler.promptGroup.
func (b *vectorBatch) drawPrompts() {
	p := b.prompts
	if b.tabular == nil { // else pushTabular has chosen
		p.choose(b.streams)
	}
	if b.large != nil {
		for i, x := range p.chosen {
			for a, m := range p.Means[x] {
				b.large.Means[a][i] = m
			}
		}
		b.large.Draw()
		return
	}
	b.packs.DrawPairs(b.samples, p.digits, p.chosen)
}
