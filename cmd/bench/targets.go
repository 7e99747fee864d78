package main

import (
	"fmt"

	"grposim/grpo"
)

// target is a bound on a ratio. The zero target means that there is none.
type target struct {
	bound float64
	least bool // the ratio must be at least, rather than at most, the bound
}

func (t target) String() string {
	switch {
	case t == target{}:
		return ""
	case t.least:
		return fmt.Sprintf("≥ %.3g", t.bound)
	}
	return fmt.Sprintf("≤ %.3g", t.bound)
}

// met returns "yes" if a ratio meets the target, "no" if not, and "" without a target.
func (t target) met(ratio float64) string {
	switch {
	case t == target{}:
		return ""
	case (ratio >= t.bound) == t.least || ratio == t.bound:
		return "yes"
	}
	return "no"
}

// targets gives the targets by comparison.what and comparison.over.
var targets = map[[2]string]target{
	{newProcess(2, 16, 1).String(), "scalar C"}:                               {bound: 0.9},
	{newProcess(2, 16, 4).String(), "scalar C"}:                               {bound: 0.6},
	{newProcess(2, 16, 4).String(), "Numba"}:                                  {bound: 1. / 3},
	{newProcess(2, 16, 4).String(), "NumPy counts"}:                           {bound: 1. / 6},
	{newProcess(10, 16, 4).with(grpo.Ratio, grpo.StdScale).String(), "Numba"}: {bound: 0.5},
	{flatness, "G = 16"}:                                                      {bound: 2.5},
	{fmt.Sprintf(linearity, 10), fmt.Sprintf(anArmOf, 3)}:                     {bound: 1},
	{fmt.Sprintf(linearity, 100), fmt.Sprintf(anArmOf, 10)}:                   {bound: 1},
	{twoWorkers, "2 workers"}:                                                 {bound: 1.9, least: true},
	{tinySweep(full), allTime}:                                                {bound: 0.1},
}

func (c *comparison) target() target { return targets[[2]string{c.what, c.over}] }
