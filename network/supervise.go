package network

import (
	"math"

	"grposim/grpo/fp"
)

// Supervise changes the weights w of a network by steps of Adam (Kingma and Ba 2015: β1 0.9, β2
// 0.999, ε 1e-8) down the mean over contexts of KL(target ‖ π), of which the force on the logits of
// a context is target − π. Target holds logits. It returns that mean before the last step.
//
// Trainers make a reference so. From initial weights Fit alone takes 11 to 19 steps. After 300 steps
// at rate 0.003 one of nine transformers still has a divergence of 0.3, the others 1e-5 or less.
func Supervise(n Network, w, target []float64, steps int, rate float64) (divergence float64) {
	mustHave("w", w, n.Weights())
	mustHave("target", target, n.Contexts()*n.Arms())
	logits, u, g := make([]float64, len(target)), make([]float64, len(target)), make([]float64, len(w))
	mean, square := make([]float64, len(w)), make([]float64, len(w))
	decay1, decay2 := 1., 1.
	for range steps {
		n.Logits(w, logits)
		divergence = 0
		for x := 0; x < len(u); x += n.Arms() {
			now, want := logits[x:x+n.Arms()], target[x:x+n.Arms()]
			logNow, logWant := logTotal(now), logTotal(want)
			for a := range now {
				p, q := fp.Exp(now[a]-logNow), fp.Exp(want[a]-logWant)
				u[x+a] = (q - p) / float64(n.Contexts())
				divergence += float64(q*(want[a]-logWant-now[a]+logNow)) / float64(n.Contexts())
			}
		}
		n.Pull(u, g)
		decay1, decay2 = float64(decay1*0.9), float64(decay2*0.999)
		for i, g := range g {
			mean[i] += float64(0.1 * (g - mean[i]))
			square[i] += float64(0.001 * (float64(g*g) - square[i]))
			w[i] += float64(rate * (mean[i] / (1 - decay1) / (math.Sqrt(square[i]/(1-decay2)) + 1e-8)))
		}
	}
	return divergence
}
