package grpo

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// check panics unless e is valid.
func (e *Estimator) check() {
	checkInt("Estimator.GroupSize", e.GroupSize, 2)
	checkInt("Estimator.GroupsPerStep", e.GroupsPerStep, 1)
	e.Advantage.check("Estimator.Advantage")
	checkWord("Estimator.Importance.Mode", e.Importance.Mode, ImportanceModes)
	if e.Importance.Mode == Clip {
		low, high := e.Importance.ClipLow, e.Importance.ClipHigh
		checkNumber("Estimator.Importance.ClipLow", low, low > 0 && low < 1, " in (0, 1)")
		checkNumber("Estimator.Importance.ClipHigh", high, high > 0, " > 0")
	}
	checkNumber("Estimator.KL.Coefficient", e.KL.Coefficient, e.KL.Coefficient >= 0, " ≥ 0")
	if e.KL.Coefficient != 0 {
		checkWord("Estimator.KL.Gradient", e.KL.Gradient, KLGradients)
		checkWord("Estimator.KL.At", e.KL.At, KLPoints)
	}
}

// check panics unless adv, the field called name, is valid.
func (adv *Advantage) check(name string) {
	checkWord(name+".Baseline", adv.Baseline, Baselines)
	checkWord(name+".Scale", adv.Scale, Scales)
	if adv.Scale == StdScale {
		checkWord(name+".Std", adv.Std, Deviations)
		checkNumber(name+".Epsilon", adv.Epsilon, adv.Epsilon >= 0, " ≥ 0")
	}
}

// check panics unless l is valid.
func (l Lag) check() {
	checkWord("Lag.Kind", l.Kind, LagKinds)
	least := 0
	if l.Kind == Block {
		least = 1
	}
	checkInt("Lag.Interval", l.Interval, least)
}

// checkArms panics unless a policy can have so many arms.
func checkArms(arms int) { checkInt("number of arms", arms, 2) }

func checkWord[W ~string](field string, got W, words []W) {
	if !slices.Contains(words, got) {
		panic(unknownWord(field, got, words))
	}
}

func checkInt(field string, got, least int) {
	if got < least {
		panic(mistake(field, strconv.Itoa(got), "≥ "+strconv.Itoa(least)))
	}
}

// checkNumber panics unless got is valid and finite; want says which numbers are.
func checkNumber(field string, got float64, valid bool, want string) {
	if !valid || math.IsInf(got, 0) {
		panic(wrongNumber(field, got, want))
	}
}

// unknownWord returns the panic text for a word that is none of words.
func unknownWord[W ~string](field string, got W, words []W) string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = string(w)
	}
	last := len(list) - 1
	return mistake(field, strconv.Quote(string(got)), strings.Join(list[:last], ", ")+" or "+list[last])
}

// wrongNumber returns the panic text for a number that is not finite or out of range.
func wrongNumber(field string, got float64, want string) string {
	return mistake(field, strconv.FormatFloat(got, 'g', -1, 64), "a finite number"+want)
}

// mistake returns the panic text for a caller's mistake.
func mistake(field, got, want string) string {
	return "grpo: " + field + ": got " + got + ", want " + want
}
