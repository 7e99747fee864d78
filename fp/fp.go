// Package fp holds elementary functions with the same bits on every machine.
//
// Several functions of package math are written in assembly for some architectures. Go also fuses
// x*y + z into one instruction, rounded once, where the hardware has one (arm64, GOAMD64=v3). So
// here, and wherever results must be reproducible, a product that enters a sum is rounded:
// float64(x*y) + z. A test checks that the generated code has no fused instruction.
//
// The functions of the theory are MathExp, Pow, Cosh and Erfc. They have the bits of package
// math on a processor of amd64 with fused multiply-add (FMA). [math.FMA] gives them to all of
// amd64; without the instruction it takes 15 times as long. In a browser and on other architectures
// the last bits may differ.
package fp

//go:generate go test -run TestTableFile -update
