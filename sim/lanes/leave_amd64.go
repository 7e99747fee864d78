//go:build goexperiment.simd && go1.27

package lanes

import "simd/archsimd"

// leave ends the use of vectors longer than 128 bits, so that older instructions take their usual
// time.
func leave() { archsimd.ClearAVXUpperBits() }
