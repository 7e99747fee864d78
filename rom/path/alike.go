package path

import (
	"math"
	"slices"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/force"
	"grposim/rom/group"
	"grposim/rom/linear"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// bases are maps between logits by arm and n coordinates, arms×n. Of single arms all are one basis.
type bases struct {
	q        *mat.Dense // logits of coordinates
	ofNoise  *mat.Dense // orthonormal; that of the noise has the transpose on both sides
	ofForce  *mat.Dense // whose transpose takes forces to coordinates
	ofLogits *mat.Dense // whose transpose takes logits to coordinates
}

// fold returns p with one arm for each half of a class of arms that are equal and start alike, and
// the logits and observables of that. The law of such runs is symmetric: beside the mean of n arms
// n−1 directions have one variance V. One stands for all, half of the arms up and half down. √V in
// it displaces arms by √(n−1) as much, so that any second derivative sums over the directions.
func fold(p cell.Params, init []float64, of []observable) (
	q cell.Params, start []float64, folded []observable, by bases) {
	type kind struct {
		arm                        option.Arm
		reference, start, intended float64
	}
	var classes []kind
	members, half := map[kind][]int{}, make([]int, len(p.Arms))
	for a, arm := range p.Arms {
		k := kind{arm: arm, reference: p.Reference[a], start: init[a]}
		if p.TrueMeans != nil {
			k.intended = p.TrueMeans[a]
		}
		if members[k] == nil {
			classes = append(classes, k)
		}
		members[k] = append(members[k], a)
	}
	q = p
	q.Arms, q.Reference, q.Start, q.TrueMeans = nil, nil, nil, nil
	var logs, counts []float64
	var pairs []int
	for _, k := range classes {
		all := members[k]
		if len(all) > 1 {
			pairs = append(pairs, len(counts))
		}
		for part := range slices.Chunk(all, (len(all)+1)/2) {
			for _, a := range part {
				half[a] = len(counts)
			}
			n := float64(len(part))
			log := math.Log(n)
			counts, logs, q.Arms = append(counts, n), append(logs, log), append(q.Arms, k.arm)
			q.Reference, start = append(q.Reference, k.reference+log), append(start, k.start+log)
		}
	}
	q.SetUniform(logs)
	by.ofNoise = linear.Basis(counts)
	by.ofLogits = mat.DenseCopyOf(by.ofNoise)
	for k, n := range counts {
		floats.Scale(1/math.Sqrt(n), by.ofNoise.RawRowView(k))
		floats.Scale(math.Sqrt(n), by.ofLogits.RawRowView(k))
	}
	by.q, by.ofForce = mat.DenseCopyOf(by.ofNoise), mat.DenseCopyOf(by.ofNoise)
	for _, k := range pairs {
		up, down := make([]float64, len(counts)), make([]float64, len(counts))
		n := counts[k] + counts[k+1]
		s := math.Sqrt(counts[k] * counts[k+1] / n)
		up[k], up[k+1], down[k], down[k+1] = s/counts[k], -s/counts[k+1], s, -s
		along := mat.NewVecDense(len(counts)-1, linear.Reduce(by.ofNoise, down))
		half := mat.NewVecDense(len(counts), up)
		by.q.RankOne(by.q, math.Sqrt(n-1)-1, half, along)
		by.ofForce.RankOne(by.ofForce, 1/math.Sqrt(n-1)-1, half, along)
	}
	m, logits := force.New(&p), group.Zeros(2, len(p.Arms))
	for _, o := range of {
		one := o
		one.of = func(_ *force.Model, now, old []float64) float64 {
			for a, k := range half {
				logits[0][a], logits[1][a] = now[k]-logs[k], old[k]-logs[k]
			}
			return o.of(m, logits[0], logits[1])
		}
		one.span, one.fourth = constant(o.span(&p)), constant(o.fourth(&p))
		folded = append(folded, one)
	}
	return q, start, folded, by
}

// stands returns how many directions of arms an axis of coordinates stands for.
func (s *state) stands(axis []float64) (sum float64) {
	if s.Uniform() == nil {
		return 1
	}
	for one := range slices.Chunk(axis, s.n) {
		for a, x := range s.moved(make([]float64, len(s.Arms)), one) {
			sum += x * x * fp.MathExp(s.Uniform()[a])
		}
	}
	return sum
}
