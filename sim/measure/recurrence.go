package measure

import (
	"math"

	"grposim/fp"
)

// Order is the number of multipliers of a Recurrence, 1 or 2.
type Order int

const (
	First  Order = 1 // x_{n+1} = a x_n
	Second Order = 2 // x_{n+2} = a x_{n+1} − b x_n
)

// Recurrence is the linear recurrence that a deviation x obeys from one refresh instant to the
// next.
//
//	x_{n+2} = a x_{n+1} − b x_n,    a = tr M,  b = det M.
//
// The monodromy matrix M maps the state (x, v), v the velocity, over one period. Its eigenvalues
// are the multipliers. M is fitted by least squares to many series at once. Each step of each is a
// row.
//
//	(x, v)_{n+1} − (x, v)_n = (M − 1)(x, v)_n + innovation.
//
// With the velocity as the second number, instead of x_{n+1}, the fit is consistent under noise.
// The innovation of a period is independent of the state. The noise of successive x is correlated
// if a period has several steps. Differences keep all digits of multipliers near 1. A Recurrence of
// order First has x alone, x_{n+1} − x_n = (a − 1) x_n.
//
// It holds the triangle R of the QR factorization of its rows, the square root of their normal
// equations. Nearly parallel regressors lose no digits, and two Recurrences can be merged.
//
// The series are half the differences, in logits, of two runs from either side of a fixed point.
// Their linear recurrence has relative errors of the order of x², from the cubic terms of the
// force. Others are of the order of x x_0. The middle of the two runs moves off the fixed point by
// x_0² at first and returns like x. Their weighted mean is taken as
//
//	δ = 2 Σ |x|³ max(|x|, x_0)/Σ x².
//
// Once a second multiplier has died, v is a multiple of x up to a leftover of that order, which is
// not a second direction.
type Recurrence struct {
	Order Order // number of multipliers to fit
	// Floor ≥ 0, in units of x and v, is the size below which a state is mostly round-off, with at
	// most five digits. Rows of smaller states are left out. A second multiplier is not resolved if
	// R shows no second direction above it, or above resolution times δ of the length of v.
	Floor float64
	Start float64 // x_0 ≥ 0, the size of x at the start of the series
	// Innovations is the number of innovations that are not 0, ≥ 0, which the caller
	// counts. Merge adds it up.
	Innovations int

	rows       int           // number of rows added
	xx, xv, vv float64       // R, upper triangle, for (x, v)
	move       [2][2]float64 // Qᵀ (moves): [row of R][moves of x, of v]
	residual   [2]float64    // Σ residual² of the moves of x, of v
	cubes      float64       // Σ |x|³ max(|x|, x_0)
}

// A second direction is resolved if its share of the length of v is above resolution times δ, or
// above resolvedShare. Then it is more than any leftover of a force that is linear to within a
// tenth.
const (
	resolution    = 10
	resolvedShare = 0.1
)

// nonlinearity returns δ, the relative error of the recurrence.
func (r *Recurrence) nonlinearity() float64 { return 2 * r.cubes / float64(r.xx*r.xx) }

// resolved reports whether the rows have a second direction.
func (r *Recurrence) resolved() bool {
	share := min(float64(resolution*r.nonlinearity()), resolvedShare)
	return r.Order == Second && math.Abs(r.vv) > max(r.Floor, float64(share*length(r.xv, r.vv)))
}

// faint is the length of the states in units of Floor up to which a second direction may be below
// it. It can still be no small part of them: that of two multipliers as near as 1/faint of their
// size.
const faint = 1e4

// Faint reports whether a second multiplier is not resolved because all states are too small;
// a velocity of 1 moves x by reach.
func (r *Recurrence) Faint(reach float64) bool {
	return r.Order == Second && !r.resolved() && r.xx < float64(faint*r.Floor)*max(1, reach)
}

// Add adds one step of a series, from (x, v) to (nextX, nextV). For order First the
// velocities are ignored.
func (r *Recurrence) Add(x, v, nextX, nextV float64) {
	if r.Order == First {
		v, nextV = 0, 0
	}
	if math.Abs(x) < r.Floor && math.Abs(v) < r.Floor {
		return
	}
	r.rows++
	size := math.Abs(x)
	r.cubes += float64(float64(size*size) * float64(size*max(size, r.Start)))
	r.rotate(x, v, nextX-x, nextV-v)
}

// Merge adds all rows of o, which has the same Order.
func (r *Recurrence) Merge(o *Recurrence) {
	r.rows += o.rows
	r.Innovations += o.Innovations
	r.cubes += o.cubes
	for i, square := range o.residual {
		r.residual[i] += square
	}
	r.rotate(o.xx, o.xv, o.move[0][0], o.move[0][1])
	r.rotate(0, o.vv, o.move[1][0], o.move[1][1])
}

// rotate adds a row to the triangle by a Givens rotation for each regressor. The
// remaining parts of its moves are their residuals.
func (r *Recurrence) rotate(x, v, moveX, moveV float64) {
	if x != 0 {
		var c, s float64
		r.xx, c, s = givens(r.xx, x)
		r.xv, v = turn(c, s, r.xv, v)
		r.move[0][0], moveX = turn(c, s, r.move[0][0], moveX)
		r.move[0][1], moveV = turn(c, s, r.move[0][1], moveV)
	}
	if v != 0 {
		var c, s float64
		r.vv, c, s = givens(r.vv, v)
		r.move[1][0], moveX = turn(c, s, r.move[1][0], moveX)
		r.move[1][1], moveV = turn(c, s, r.move[1][1], moveV)
	}
	r.residual[0] += float64(moveX * moveX)
	r.residual[1] += float64(moveV * moveV)
}

// givens returns √(a² + b²), b ≠ 0, and the rotation (c, s) that turns (a, b) into (√(a² + b²), 0).
func givens(a, b float64) (r, c, s float64) {
	r = length(a, b)
	return r, a / r, b / r
}

// turn returns (a, b) after the rotation (c, s).
func turn(c, s, a, b float64) (float64, float64) {
	return float64(c*a) + float64(s*b), float64(c*b) - float64(s*a)
}

// Multipliers returns the multipliers of the least-squares fit. If the rows do not
// resolve two of them, the result is of order First; without rows its numbers are NaN.
func (r *Recurrence) Multipliers() Multipliers {
	if r.xx == 0 {
		none := math.NaN()
		return Multipliers{Order: r.Order, sum: none, product: none}
	}
	nonlinear, rounding := r.nonlinearity(), float64(roundOff*r.Floor)
	if !r.resolved() {
		sum, unsure := r.move[0][0]/r.xx, r.innovation(0, 1)/math.Abs(r.xx)
		bias := float64(nonlinear*math.Abs(sum)) + rounding/math.Abs(r.xx)
		if r.Order == Second { // what the direction that is too small to resolve would explain
			bias += math.Abs(r.move[1][0] / r.xx)
			if r.rows < 2 {
				bias = math.Inf(1)
			}
		}
		m := Multipliers{Order: First, sum: sum, sumError: unsure}
		for i := range m.wrong {
			m.wrong[i] = coefficients{sum, 0}
		}
		m.wrong[0].sum, m.wrong[1].sum = sum+bias, sum-bias
		return m
	}
	fitted, elements := r.fit(r.move)
	// The errors within a row of M are correlated, those of different rows are not. The
	// discriminant is (xByX − vByV)² + 4 xByV vByX.
	inX, inV := r.innovation(0, 2), r.innovation(1, 2)
	spread := float64(2 * (elements.xByX - elements.vByV))
	m := Multipliers{
		Order:   Second,
		sum:     fitted.sum,
		product: fitted.product,

		sumError:          length(float64(inX*r.uncertainty(1, 0)), float64(inV*r.uncertainty(0, 1))),
		discriminantError: length(float64(inX*r.uncertainty(spread, float64(4*elements.vByX))), float64(inV*r.uncertainty(float64(4*elements.xByV), -spread))),
	}
	// Nonlinearity changes the moves by at most δ times their length, rounding by rounding.
	// The smaller the second direction, the more its moves change the second multiplier.
	for of := range 2 {
		off := float64(nonlinear*length(r.move[0][of], r.move[1][of])) + rounding
		for row := range 2 {
			for side, sign := range [2]float64{-1, 1} {
				wrong := r.move
				wrong[row][of] += float64(sign * off)
				m.wrong[4*of+2*row+side], _ = r.fit(wrong)
			}
		}
	}
	return m
}

// coefficients are the sum and the product of the two m − 1.
type coefficients struct{ sum, product float64 }

// elements are those of M − 1: xByV is the change of x in a period by v.
type elements struct{ xByX, xByV, vByX, vByV float64 }

// fit returns the coefficients and the elements of M − 1 for the given Qᵀ (moves).
func (r *Recurrence) fit(move [2][2]float64) (coefficients, elements) {
	xByV := move[1][0] / r.vv
	vByV := move[1][1] / r.vv
	xByX := (move[0][0] - float64(r.xv*xByV)) / r.xx
	vByX := (move[0][1] - float64(r.xv*vByV)) / r.xx
	return coefficients{xByX + vByV, float64(xByX*vByV) - float64(xByV*vByX)}, elements{xByX, xByV, vByX, vByV}
}

// innovation returns the standard deviation of the innovation of x (of = 0) or v (of = 1), at least
// round-off. It is from the residuals of a fit of the given number of coefficients.
func (r *Recurrence) innovation(of, coefficients int) float64 {
	size := float64(roundOff * r.Floor)
	if free := r.rows - coefficients; free > 0 {
		size = max(size, math.Sqrt(r.residual[of]/float64(free)))
	}
	return size
}

// roundOff is the rounding error of a state, in multiples of Floor.
const roundOff = 1e-5

// uncertainty returns √(gᵀ (RᵀR)⁻¹ g), g = (gx, gv). It is the standard error of gx times the
// coefficient of x plus gv times that of v, for innovations of standard deviation 1.
func (r *Recurrence) uncertainty(gx, gv float64) float64 {
	x := gx / r.xx
	return length(x, (gv-float64(r.xv*x))/r.vv)
}

// length returns √(x² + y²).
func length(x, y float64) float64 { return math.Sqrt(float64(x*x) + float64(y*y)) }

// Multipliers are the roots m of m² = a m − b; for order First the one m = a. They are stored by
// the sum and the product of the m − 1, which keep all digits if the m are near 1.
type Multipliers struct {
	Order                       Order   // number of multipliers resolved
	sum, product                float64 // a − 2 and 1 − a + b; for order First a − 1 and 0
	sumError, discriminantError float64 // standard errors

	// wrong are the coefficients with each of four moves too small and too large by the
	// most that nonlinearity and round-off change it.
	wrong [8]coefficients
}

// Bias returns a bound of the systematic error of a function of the multipliers, such as
// Multipliers.LogModulus. It sums the largest changes by the moves of nonlinearity and round-off.
// It is NaN where the function is.
func (m Multipliers) Bias(of func(Multipliers) float64) float64 {
	here, sum := of(m), 0.0
	for move := 0; move < len(m.wrong); move += 2 {
		most := 0.0
		for _, wrong := range m.wrong[move : move+2] {
			other := m
			other.sum, other.product = wrong.sum, wrong.product
			most = max(most, math.Abs(of(other)-here))
		}
		sum += most
	}
	return sum
}

// Discriminant returns a² − 4b = (m₁ − m₂)², negative if the multipliers are a complex
// pair. For order First it is 0.
func (m Multipliers) Discriminant() float64 {
	if m.Order == First {
		return float64(0 * m.sum) // NaN stays NaN
	}
	return float64(m.sum*m.sum) - float64(4*m.product)
}

// real returns the two m − 1 for a discriminant ≥ 0, the one of larger absolute value
// first. It is computed by the sum in which no digits cancel.
func (m Multipliers) real() (far, near float64) {
	root := math.Sqrt(m.Discriminant())
	far = (m.sum + math.Copysign(root, m.sum)) / 2
	if far == 0 {
		return 0, 0
	}
	return far, m.product / far
}

// LogModulus returns ln |m| of the multiplier of largest modulus, per period; −∞ if it is 0.
func (m Multipliers) LogModulus() float64 {
	switch {
	case m.Order == First:
		return logAbs(m.sum)
	case m.Discriminant() < 0: // |m|² = b
		return logAbs(m.sum+m.product) / 2
	}
	far, near := m.real()
	return max(logAbs(far), logAbs(near))
}

// Trace returns the sum of the multipliers. Of two real ones the dominant has its sign.
func (m Multipliers) Trace() float64 {
	if m.Order == First {
		return 1 + m.sum
	}
	return 2 + m.sum
}

// significance is the number of standard errors by which a fit must be clear of a limit
// for Ringing to decide.
const significance = 10

// Ringing returns 1 if the multipliers ring, −1 if they do not, and 0 if the errors of the fit
// leave it open. They ring if they are a complex pair m₁, m₂ with |m₁ − m₂| > 2 tolerance,
// tolerance ≥ 0. They ring too if the dominant of them is negative, their sum below −tolerance.
func (m Multipliers) Ringing(tolerance float64) int {
	unsure := float64(significance * m.sumError)
	if m.Trace()+unsure < -tolerance {
		if math.IsInf(m.wrong[0].sum, 0) { // a single row
			return 0
		}
		return 1
	}
	if m.Order == Second {
		d, off := m.Discriminant(), float64(significance*m.discriminantError)
		limit := float64(-4 * float64(tolerance*tolerance))
		switch {
		case d+off < limit:
			return 1
		case !(d-off >= limit):
			return 0
		}
	}
	if m.Trace()-unsure >= -tolerance {
		return -1
	}
	return 0
}

// DampingRatio returns ζ of a complex pair, or of two positive multipliers on the same side of 1.
//
//	ζ = −(s₁ + s₂)/(2√(s₁ s₂)),    s = ln m.
//
// It is NaN for other pairs and for order First, to which no damped oscillator corresponds.
func (m Multipliers) DampingRatio() float64 {
	if m.Order == First {
		return math.NaN()
	}
	d := m.Discriminant()
	if d < 0 {
		s, w := m.LogModulus(), angle(math.Sqrt(-d)/2, 1+float64(m.sum/2))
		return -s / length(s, w)
	}
	far, near := m.real()
	if !(1+min(far, near) > 0 && float64(far*near) > 0) {
		return math.NaN()
	}
	s1, s2 := logAbs(far), logAbs(near)
	return -(s1 + s2) / (2 * math.Sqrt(float64(s1*s2)))
}

// logAbs returns ln |1 + y|, with all digits also for small y: there the rounding of
// 1 + y is corrected to first order.
func logAbs(y float64) float64 {
	u := 1 + y
	if math.Abs(y) > 0.5 {
		return fp.Log(math.Abs(u))
	}
	if u == 1 {
		return y
	}
	return fp.Log(u) * (y / (u - 1))
}

// angle returns the angle of the point (x, y), y ≥ 0, in [0, π] to a few ulps. It is halved three
// times by tan(α/2) = tan α/(1 + √(1 + tan² α)). The series of the arctangent then has terms below
// 1e-17 from the 12th on.
func angle(y, x float64) float64 {
	if x < 0 {
		return math.Pi - angle(y, -x)
	}
	t := y / (x + length(x, y))
	for range 2 {
		t /= 1 + math.Sqrt(1+float64(t*t))
	}
	sum, power, square := t, t, float64(t*t)
	for n := 3; n <= 25; n += 2 {
		power = -float64(power * square)
		sum += power / float64(n)
	}
	return 8 * sum
}
