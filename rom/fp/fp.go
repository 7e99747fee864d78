// Package fp holds the elementary functions of the theory: those of package math, at their speed in every
// state of the processor.
package fp
