package main

import "fmt"

// target is a bound on a ratio. A bound of 0 means that there is none.
type target struct {
	bound float64
	least bool    // the ratio must be at least, rather than at most, the bound
	limit float64 // the ratio that a prototype with vector instructions reached; 0: none was made
}

func (t target) String() string {
	switch {
	case t.bound == 0:
		return ""
	case t.least:
		return fmt.Sprintf("≥ %.3g", t.bound)
	}
	return fmt.Sprintf("≤ %.3g", t.bound)
}

// reached returns the limit in words, "" for none.
func (t target) reached() string {
	if t.limit == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", t.limit)
}

// met returns "yes" if a ratio meets the target, "no" if not, and "" without a bound.
func (t target) met(ratio float64) string {
	switch {
	case t.bound == 0:
		return ""
	case (ratio >= t.bound) == t.least || ratio == t.bound:
		return "yes"
	}
	return "no"
}

// targets gives the targets by comparison.what and comparison.over. The prototypes ran on
// another machine, with AVX-512 (docs/performance.md).
var targets = map[[2]string]target{
	{newProcess(2, 16, 1).String(), scalarC}:                {bound: 0.9},
	{newProcess(2, 16, 4).String(), scalarC}:                {bound: 0.27, limit: 6.5 / 64},
	{newProcess(2, 16, 4).String(), vectorC}:                {bound: 1.6},
	{newProcess(2, 16, 4).String(), "Numba"}:                {bound: 1. / 3},
	{newProcess(2, 16, 4).String(), "NumPy counts"}:         {bound: 1. / 6},
	{newProcess(2, 1024, 4).String(), scalarC}:              {limit: 54. / 152},
	{newProcess(3, 16, 4).String(), scalarC}:                {bound: 0.2, limit: 9.7 / 158},
	{newProcess(10, 16, 1).String(), scalarC}:               {bound: 0.4, limit: 51. / 216},
	{tenRatios.String(), scalarC}:                           {bound: 0.25},
	{tenRatios.String(), "Numba"}:                           {bound: 0.5},
	{newProcess(10, 1024, 4).String(), scalarC}:             {bound: 0.4, limit: 181. / 1080},
	{newProcess(100, 16, 4).String(), scalarC}:              {bound: 0.5, limit: 260. / 809},
	{newProcess(100, 1024, 4).String(), scalarC}:            {bound: 0.4, limit: 1166. / 7400},
	{fmt.Sprintf(flatness, 2), "G = 16"}:                    {bound: 2.5},
	{fmt.Sprintf(flatness, 10), "G = 1024"}:                 {bound: 2},
	{fmt.Sprintf(linearity, 10), fmt.Sprintf(anArmOf, 3)}:   {bound: 1},
	{fmt.Sprintf(linearity, 100), fmt.Sprintf(anArmOf, 10)}: {bound: 1},
	{twoWorkers, "2 workers"}:                               {bound: 1.9, least: true},
	{tinySweep(full), allTime}:                              {bound: 0.1},
}

func (c *comparison) target() target { return targets[[2]string{c.what, c.over}] }
