//go:build !long

package grpo_test

// thin is the factor by which fast tests thin out samples. The long tests take all.
const thin = 20
