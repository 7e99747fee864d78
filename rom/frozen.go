package rom

import "math"

// Closed forms of docs/theory.md §5 for one mode whose whole force is frozen
// at the snapshot; κ = ηλ, 0 ≤ μ < 1. A threshold is the smallest κ at which
// the mode is not asymptotically stable, an onset the smallest at which its two
// dominant multipliers are a complex pair (or, without momentum, the one
// dominant multiplier turns negative).

// blockSums are s = Σ_{j<K} μ^j = (1−μ^K)/(1−μ), a = Σ_{i≤K} s_i =
// (K−μs)/(1−μ) and μ^K: a block of K steps under a constant unit force leaves
// the velocity s and has moved x by a (heavy ball, η = 1).
type blockSums struct {
	mu, s, a, power float64
	k               int
}

// next extends the sums by one step.
func (b blockSums) next() blockSums {
	b.k++
	b.s += b.power
	b.power *= b.mu
	b.a += b.s
	return b
}

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

// threshold returns the smaller of flip and Neimark–Sacker,
//
//	flip 2(1+μ^K)/(c(1+μ^K) − νs²),  N–S (1−μ^K)/(νs² − μ^K c)
//
// the latter where it is positive, with c = a, ν = μ for the heavy ball and
// c = K + μa, ν = μ² for Nesterov.
func (b blockSums) threshold(method Method) float64 {
	c, nu := b.gains(method)
	flip := 2 * (1 + b.power) / (c*(1+b.power) - nu*b.s*b.s)
	if d := nu*b.s*b.s - b.power*c; d > 0 {
		return min(flip, (1-b.power)/d)
	}
	return flip
}

// onset returns ((√(Ks) − s√ν)/c)².
func (b blockSums) onset(method Method) float64 {
	c, nu := b.gains(method)
	r := (math.Sqrt(float64(b.k)*b.s) - b.s*math.Sqrt(nu)) / c
	return r * r
}

func (b blockSums) gains(method Method) (c, nu float64) {
	if method == Nesterov {
		return float64(b.k) + b.mu*b.a, b.mu * b.mu
	}
	return b.a, b.mu
}

// BlockThreshold is κ* of the heavy ball refreshed every k ≥ 1 steps. On-policy
// (k = 1) 2(1+μ); μ = 0: 2/k.
func BlockThreshold(mu float64, k int) float64 { return newBlockSums(mu, k).threshold(HeavyBall) }

// BlockOnset is κ_osc of the heavy ball refreshed every k ≥ 1 steps:
// ((√(Ks) − s√μ)/a)². On-policy (1−√μ)²; μ = 0: 1/k.
func BlockOnset(mu float64, k int) float64 { return newBlockSums(mu, k).onset(HeavyBall) }

// NesterovThreshold is κ* of Nesterov's momentum refreshed every k ≥ 1 steps.
// On-policy 2(1+μ)/(1+2μ).
func NesterovThreshold(mu float64, k int) float64 { return newBlockSums(mu, k).threshold(Nesterov) }

// NesterovOnset is κ_osc of Nesterov's momentum refreshed every k ≥ 1 steps:
// ((√(Ks) − μs)/(K+μa))². On-policy ((1−μ)/(1+μ))².
func NesterovOnset(mu float64, k int) float64 { return newBlockSums(mu, k).onset(Nesterov) }

// DelayThreshold is κ* of the heavy ball with the constant delay τ ≥ 0:
// 2 sin(w/2)√(1 − 2μcos w + μ²) at the smallest w > 0 with
// (τ+½)w + atan2(μ sin w, 1 − μcos w) = π/2. τ = 0: 2(1+μ); τ = 1: 1−μ.
func DelayThreshold(mu float64, tau int) float64 {
	if tau == 0 {
		return 2 * (1 + mu)
	}
	lag := float64(tau) + 0.5
	phase := func(w float64) float64 {
		return lag*w + math.Atan2(mu*math.Sin(w), 1-mu*math.Cos(w)) - math.Pi/2
	}
	w := root(phase, 0, math.Pi/(2*lag), -math.Pi/2)
	return 2 * math.Sin(w/2) * math.Hypot(1-mu, 2*math.Sqrt(mu)*math.Sin(w/2))
}

// DelayOnset is κ_osc of the heavy ball with the constant delay τ ≥ 0: the
// maximum over z in (μ, 1) of z^{τ−1}(1−z)(z−μ), which the larger root of
// (τ+1)z² − τ(1+μ)z + (τ−1)μ = 0 attains. τ = 0: (1−√μ)².
func DelayOnset(mu float64, tau int) float64 {
	if tau == 0 {
		r := 1 - math.Sqrt(mu)
		return r * r
	}
	n := float64(tau)
	z := (n*(1+mu) + math.Sqrt(n*n*(1+mu)*(1+mu)-4*(n*n-1)*mu)) / (2 * (n + 1))
	return math.Pow(z, n-1) * (1 - z) * (z - mu)
}

// BetaCritical is β_c(z_ref), the smallest penalty with an interior fixed point
// of two 0/1 arms under the std scale, exact KL and G = ∞ (docs/theory.md §3):
// the fixed points solve 2cosh(L/2) = β(L − L_ref), so β_c is the minimum of
// 2cosh(L/2)/(L − L_ref), sinh(L/2) at the root of (L − L_ref)tanh(L/2) = 2.
func BetaCritical(refGap float64) float64 {
	f := func(l float64) float64 { return (l-refGap)*math.Tanh(l/2) - 2 }
	low := max(refGap, 0)
	high := low + 2
	for step := 2.0; f(high) < 0; step *= 2 {
		high += step
	}
	return math.Sinh(root(f, low, high, f(low)) / 2)
}
