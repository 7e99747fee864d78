#!/bin/sh
# gonum.org/v1/plot v0.17.0 reserves room for the name of an axis about the arithmetic mean of its
# ends, where a linear axis has its middle. On a logarithmic one from 1e-6 to 1 that is 0.5, at the
# top, beyond which half of the name would stick out: the longer the name, the lower the picture.
# The name itself is drawn in the middle.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat >go.mod <<'MOD'
module label
go 1.26.0
require gonum.org/v1/plot v0.17.0
MOD
cat >main.go <<'GO'
package main

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// height returns the height of the part of a picture of 300 points that is left for data.
func height(log bool, label string) float64 {
	p := plot.New()
	p.Y.Min, p.Y.Max = 1, 2
	if log {
		p.Y.Min, p.Y.Max, p.Y.Scale = 1e-6, 1, plot.LogScale{}
	}
	var ticks plot.ConstantTicks
	for i := range 7 {
		at := 1 + float64(i)/6
		if log {
			at = math.Pow10(i - 6)
		}
		ticks = append(ticks, plot.Tick{Value: at, Label: "label"})
	}
	p.Y.Tick.Marker, p.Y.Label.Text = ticks, label
	c := p.DataCanvas(draw.New(vgimg.New(400, 300)))
	return float64((c.Max.Y - c.Min.Y) / vg.Points(1))
}

func main() {
	fmt.Printf("linear %.0f %.0f, logarithmic %.0f %.0f %.0f\n",
		height(false, ""), height(false, "learning rate"), height(true, ""), height(true, "learning rate"), height(true, "learning rate of the optimizer, per step"))
}
GO
export GOFLAGS=-mod=mod GOEXPERIMENT=
seen=$(GOTOOLCHAIN=go1.26.8 go run . 2>errors) || { cat errors; exit 1; }
echo "$seen"
test "$seen" = 'linear 270 270, logarithmic 270 258 194'
