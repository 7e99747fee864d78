//go:build long

package grpo_test

// thin is 1: the long tests take all samples.
const thin = 1
