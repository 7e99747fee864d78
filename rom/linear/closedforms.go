package linear

import (
	"math"

	"grposim/option"
)

// Closed forms of docs/theory.md §5 for one mode whose whole force is frozen
// at the snapshot; κ = ηλ, 0 ≤ μ < 1. A threshold is the smallest κ at which
// the mode is not asymptotically stable, an onset the smallest at which its two
// dominant multipliers are a complex pair (or, without momentum, the one
// dominant multiplier turns negative).

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
	power := math.Pow(mu, float64(k))
	s := (1 - power) / (1 - mu)
	return blockSums{mu: mu, s: s, a: (float64(k) - mu*s) / (1 - mu), power: power, k: k}
}

// threshold returns κ*, the smaller of the flip and the Neimark–Sacker threshold,
//
//	flip 2(1+μ^K)/(c(1+μ^K) − νs²),  Neimark–Sacker (1−μ^K)/(νs² − μ^K c),
//
// the latter only where it is positive, with c = a, ν = μ for the heavy ball and
// c = K + μa, ν = μ² for Nesterov.
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

// BlockThreshold returns κ* of the heavy ball refreshed every k ≥ 1 steps,
// 0 ≤ μ < 1. On-policy (k = 1) it is 2(1+μ), for μ = 0 it is 2/k.
func BlockThreshold(mu float64, k int) float64 {
	return newBlockSums(mu, k).threshold(option.HeavyBall)
}

// BlockOnset returns κ_osc of the heavy ball refreshed every k ≥ 1 steps,
// ((√(Ks) − s√μ)/a)², 0 ≤ μ < 1. On-policy it is (1−√μ)², for μ = 0 it is 1/k.
func BlockOnset(mu float64, k int) float64 { return newBlockSums(mu, k).onset(option.HeavyBall) }

// NesterovThreshold returns κ* of Nesterov's momentum refreshed every k ≥ 1 steps,
// 0 ≤ μ < 1. On-policy it is 2(1+μ)/(1+2μ).
func NesterovThreshold(mu float64, k int) float64 {
	return newBlockSums(mu, k).threshold(option.Nesterov)
}

// NesterovOnset returns κ_osc of Nesterov's momentum refreshed every k ≥ 1 steps,
// ((√(Ks) − μs)/(K+μa))², 0 ≤ μ < 1. On-policy it is ((1−μ)/(1+μ))².
func NesterovOnset(mu float64, k int) float64 { return newBlockSums(mu, k).onset(option.Nesterov) }

// DelayThreshold returns κ* of the heavy ball with the constant delay τ ≥ 0,
// 0 ≤ μ < 1: 2 sin(w/2)√(1 − 2μcos w + μ²) at the smallest w > 0 with
// (τ+½)w + atan2(μ sin w, 1 − μcos w) = π/2. For τ = 0 it is 2(1+μ), for τ = 1 it
// is 1−μ.
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

// DelayOnset returns κ_osc of the heavy ball with the constant delay τ ≥ 0,
// 0 ≤ μ < 1: the maximum over z in (μ, 1) of z^{τ−1}(1−z)(z−μ), attained at the
// larger root of (τ+1)z² − τ(1+μ)z + (τ−1)μ = 0. For τ = 0 it is (1−√μ)².
func DelayOnset(mu float64, tau int) float64 {
	if tau == 0 {
		r := 1 - math.Sqrt(mu)
		return r * r
	}
	n := float64(tau)
	z := (n*(1+mu) + math.Sqrt(n*n*(1+mu)*(1+mu)-4*(n*n-1)*mu)) / (2 * (n + 1))
	return math.Pow(z, n-1) * (1 - z) * (z - mu)
}
