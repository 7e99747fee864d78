//go:build goexperiment.simd && go1.27 && (amd64 || arm64)

package lanes

import "simd"

// aimSampler aims the Sampler at the snapshots.
func (k *runner) aimSampler() {
	n := len(k.scalars)
	k.given.grow(n, k.arms)
	for i := k.first; i < k.end; i++ {
		old := k.oldOf(i)
		for a := range old {
			old[a].logit.Store(k.given.Behaviour[a*n+i*k.w:])
		}
	}
	aimAt(k.Sampler, &k.given, k.first*k.w, min(k.end*k.w, k.replicas), k.aimed)
}

// drawSampler draws the groups of a step.
func (k *runner) drawSampler() {
	n, s := len(k.scalars), &k.given
	drawFrom(k.Sampler, s, k.first*k.w, min(k.end*k.w, k.replicas))
	for i := k.first; i < k.end; i++ {
		x, sums, at := &k.teams[i], k.sums[i*k.arms:][:k.arms], i*k.w
		x.zero, x.ones = simd.LoadFloat64s(s.ZeroVariance[at:]), simd.LoadFloat64s(s.Rewarded[at:])
		for a := range sums {
			sums[a].positive, sums[a].negative = loadFloats(s.Positive[a*n+at:]), loadFloats(s.Negative[a*n+at:])
			if len(k.tally) > 0 {
				t := &k.tally[i*k.arms+a]
				t.drawn = loadFloats(s.Count[a*n+at:])
				t.positives, t.negatives = loadFloats(s.PositiveCount[a*n+at:]), loadFloats(s.NegativeCount[a*n+at:])
			}
		}
	}
}
