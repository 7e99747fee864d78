//go:build goexperiment.simd && go1.27 && amd64

package wide

import (
	"os"
	"simd/archsimd"
)

func init() {
	given, want := os.Getenv("GODEBUG"), ""
	switch x := &archsimd.X86; {
	case x.AVX() && !x.AVX2(): // simd would use instructions that are not there
		want = "simd=0"
	case x.AVX2() && !x.AVX512VPCLMULQDQ():
		want = "simd=+256"
	}
	if want == "" || names(given) {
		return
	}
	if given != "" {
		want = given + "," + want
	}
	os.Setenv("GODEBUG", want)
}

// names reports whether a list of settings has one of simd.
func names(settings string) bool {
	const name = "simd="
	for i := 0; i+len(name) <= len(settings); i++ {
		if settings[i:i+len(name)] == name && (i == 0 || settings[i-1] == ',') {
			return true
		}
	}
	return false
}
