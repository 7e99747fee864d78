package linear

import (
	"math"

	"grposim/fp"
	"grposim/option"
)

// Closed forms of docs/theory.md §5 for one mode whose whole force is frozen at the snapshot;
// κ = ηλ, 0 ≤ μ < 1. A threshold is the smallest κ at which the mode is not asymptotically stable.
// An onset is the smallest κ at which the two dominant multipliers are a complex pair. Without
// momentum it is that at which the one dominant multiplier turns negative.

// blockSums holds sums over a block of K steps. Under a constant unit force a heavy
// ball with η = 1 that starts at rest ends the block with velocity s, displaced by a.
type blockSums struct {
	mu    float64 // μ
	s     float64 // Σ_{j<K} μ^j = (1−μ^K)/(1−μ)
	a     float64 // Σ_{i≤K} s_i = (K−μs)/(1−μ)
	power float64 // μ^K
	k     int     // K ≥ 0
}

// next returns the sums of a block longer by one step.
func (b blockSums) next() blockSums {
	b.k++
	b.s += b.power
	b.power *= b.mu
	b.a += b.s
	return b
}

// newBlockSums returns the sums of K = k steps, step by step up to 64 and by the
// closed forms beyond.
func newBlockSums(mu float64, k int) blockSums {
	if k <= 64 {
		b := blockSums{mu: mu, power: 1}
		for range k {
			b = b.next()
		}
		return b
	}
	power := fp.Pow(mu, float64(k))
	s := (1 - power) / (1 - mu)
	return blockSums{mu: mu, s: s, a: (float64(k) - mu*s) / (1 - mu), power: power, k: k}
}

// threshold returns κ*, the smaller of the flip and the Neimark–Sacker threshold:
//
//	flip 2(1+μ^K)/(c(1+μ^K) − νs²),  Neimark–Sacker (1−μ^K)/(νs² − μ^K c).
//
// The second counts only where it is positive. c = a, ν = μ for the heavy ball, and c = K + μa,
// ν = μ² for Nesterov. Both fall in K. The second is (1−μ)/(ν/(1−μ) − Kμ^K/(1−μ^K)), and Kp/(1−p)
// falls, p = μ^K. With x = μp and g(p) = (1−p)²/(1+p) the first is 2/(c − νg(p)/(1−μ)²). From K to
// K + 1 its denominator grows by
//
//	(1−x)/(1−μ) − μ(g(x) − g(p))/(1−μ)² ≥ (1−x)/(1−μ) (1 − x(3+x)/(1+x)²) > 0
//
// for the heavy ball, because g(x) − g(p) ≤ (p−x)|g′(x)|. For Nesterov it is 1 and μ times that.
func (b blockSums) threshold(method option.Method) float64 {
	c, nu := b.gains(method)
	flip := 2 * (1 + b.power) / (c*(1+b.power) - nu*b.s*b.s)
	if d := nu*b.s*b.s - b.power*c; d > 0 {
		return min(flip, (1-b.power)/d)
	}
	return flip
}

// onset returns κ_osc = ((√(Ks) − s√ν)/c)², c and ν as in threshold.
func (b blockSums) onset(method option.Method) float64 {
	c, nu := b.gains(method)
	r := (math.Sqrt(float64(b.k)*b.s) - b.s*math.Sqrt(nu)) / c
	return r * r
}

// gains returns c and ν of threshold.
func (b blockSums) gains(method option.Method) (c, nu float64) {
	if method == option.Nesterov {
		return float64(b.k) + b.mu*b.a, b.mu * b.mu
	}
	return b.a, b.mu
}

// FrozenBlock returns κ* (CriticalRate) or κ_osc (OnsetRate) of a block of k ≥ 1 steps, 0 ≤ μ < 1.
// On-policy they are 2(1+μ) and (1−√μ)² of the heavy ball. With Nesterov they are 2(1+μ)/(1+2μ) and
// ((1−μ)/(1+μ))². For μ = 0 they are 2/k and 1/k.
func FrozenBlock(of Event, method option.Method, mu float64, k int) float64 {
	if of == OnsetRate {
		return newBlockSums(mu, k).onset(method)
	}
	return newBlockSums(mu, k).threshold(method)
}

// DelayThreshold returns κ* of the heavy ball with the constant delay τ ≥ 0, 0 ≤ μ < 1. It is 2
// sin(w/2)√(1 − 2μcos w + μ²) at the smallest w > 0 with (τ+½)w + atan2(μ sin w, 1 − μcos w) = π/2.
// For τ = 0 it is 2(1+μ), for τ = 1 it is 1−μ.
func DelayThreshold(mu float64, tau int) float64 {
	if tau == 0 {
		return 2 * (1 + mu)
	}
	lag := float64(tau) + 0.5
	phase := func(w float64) float64 {
		return lag*w + math.Atan2(mu*math.Sin(w), 1-mu*math.Cos(w)) - math.Pi/2
	}
	w := Root(phase, 0, math.Pi/(2*lag), -math.Pi/2)
	return 2 * math.Sin(w/2) * math.Hypot(1-mu, 2*math.Sqrt(mu)*math.Sin(w/2))
}
