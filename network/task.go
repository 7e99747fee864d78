package network

import "slices"

// Task is a set of contexts, each with one right arm.
type Task struct {
	Arms       int
	Inputs     [][]float64 // of each context, for an MLP
	Tokens     [][]int     // of each context, for a transformer; nil if the task has no tokens
	Vocabulary int         // tokens are 0 to Vocabulary − 1, the first the answers
	Means      []float64   // mean reward of each arm, context by context, as logits are
}

// Addition returns addition modulo m ≥ 2: contexts (a, b), in the order of a·m + b, with m arms.
// The right arm is (a + b) mod m. Inputs are two one-hot rows, of a and of b. Tokens are a, b and
// the sign =, number m.
func Addition(m int, right, wrong float64) *Task {
	t := &Task{Arms: m, Vocabulary: m + 1}
	for a := range m {
		for b := range m {
			input := make([]float64, 2*m)
			input[a], input[m+b] = 1, 1
			t.Tokens = append(t.Tokens, []int{a, b, m})
			t.add(input, (a+b)%m, right, wrong)
		}
	}
	return t
}

// Gaussian returns contexts whose inputs are independent standard normal numbers and whose right
// arms are uniform, both drawn from the seed.
func Gaussian(contexts, inputs, arms int, right, wrong float64, seed uint64) *Task {
	random := newNormals(seed)
	t := &Task{Arms: arms}
	for range contexts {
		t.add(random.fill(nil, inputs, 1), random.random.IntN(arms), right, wrong)
	}
	return t
}

// Digits returns pictures of the ten digits, 5 × 7 pixels of 0 or 1, with normal noise drawn from
// the seed. noise is its standard deviation. They are copies of 0 to 9 in this order, again and
// again. The arms are the digits.
func Digits(copies int, noise, right, wrong float64, seed uint64) *Task {
	random := newNormals(seed)
	t := &Task{Arms: len(digits)}
	for range copies {
		for digit, picture := range digits {
			input := random.fill(nil, len(picture), noise)
			for i := range input {
				if picture[i] == '#' {
					input[i]++
				}
			}
			t.add(input, digit, right, wrong)
		}
	}
	return t
}

func (t *Task) add(input []float64, answer int, right, wrong float64) {
	t.Inputs = append(t.Inputs, input)
	t.Means = append(t.Means, slices.Repeat([]float64{wrong}, t.Arms)...)
	t.Means[len(t.Means)-t.Arms+answer] = right
}

// digits holds the pictures of Digits, seven rows of five pixels.
var digits = [10]string{
	".###." + "#...#" + "#..##" + "#.#.#" + "##..#" + "#...#" + ".###.",
	"..#.." + ".##.." + "..#.." + "..#.." + "..#.." + "..#.." + ".###.",
	".###." + "#...#" + "....#" + "...#." + "..#.." + ".#..." + "#####",
	"#####" + "...#." + "..#.." + "...#." + "....#" + "#...#" + ".###.",
	"...#." + "..##." + ".#.#." + "#..#." + "#####" + "...#." + "...#.",
	"#####" + "#...." + "####." + "....#" + "....#" + "#...#" + ".###.",
	"..##." + ".#..." + "#...." + "####." + "#...#" + "#...#" + ".###.",
	"#####" + "....#" + "...#." + "..#.." + "..#.." + "..#.." + "..#..",
	".###." + "#...#" + "#...#" + ".###." + "#...#" + "#...#" + ".###.",
	".###." + "#...#" + "#...#" + ".####" + "....#" + "...#." + ".##..",
}
