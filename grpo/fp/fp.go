// Package fp holds the elementary functions of the simulator: the same bits on
// every architecture.
//
// The functions of package math do not promise that: several are written in
// assembly for some architectures and in Go for the others. And Go fuses
// x*y + z into one instruction, rounded once, where the hardware has one
// (arm64, GOAMD64=v3). So here, and wherever results must be reproducible,
// every product that enters a sum is rounded explicitly, float64(x*y) + z;
// the other operations (+, −, ×, ÷, √ and bit patterns) are fixed by IEEE 754. A
// test checks that the generated code has no fused instruction.
package fp

//go:generate go test -run TestTableFile -update
