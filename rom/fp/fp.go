// Package fp holds the elementary functions of the theory that contain an exponential.
//
// Those of package math have other bits on a processor of amd64 without fused multiply-add (FMA) than on one with
// it: [math.Exp] is written in assembly, once for each. The functions here have the bits of package math on a
// processor with FMA, on every processor of amd64, which [math.FMA] gives: in one instruction where there is one,
// else by integers, which takes 15 times as long. In a browser, which has no such instruction, they are those of
// package math. Package math computes logarithms and trigonometric functions without FMA.
package fp
