//go:build goexperiment.simd && go1.27

package lanes

// leave ends the use of long vectors, of which there are none.
func leave() {}
