package fp

import (
	"math"
	"testing"
)

// Φ and φ to twenty digits by mpmath 1.3 (ncdf, npdf at 40 digits), at the binary
// value of x.
var normalValues = []struct{ x, cdf, pdf float64 }{
	{-37.5, 4.6053530095819548438e-308, 1.7282337322841052208e-306},
	{-30, 4.9067139271481870595e-198, 1.473646134878547519e-196},
	{-10, 7.619853024160526066e-24, 7.6945986267064193463e-23},
	{-6, 9.865876450376981407e-10, 6.075882849823285487e-9},
	{-3.5, 0.00023262907903552503635, 0.0008726826950457600656},
	{-3, 0.0013498980316300945267, 0.0044318484119380071756},
	{-2.9, 0.001865813300384038479, 0.0059525324197758553448},
	{-2, 0.0227501319481792072, 0.053990966513188051951},
	{-1, 0.15865525393145705141, 0.2419707245191433498},
	{-0.5, 0.30853753872598689636, 0.35206532676429947777},
	{-1e-3, 0.49960105778608893741, 0.398942080930342345},
	{1e-10, 0.50000000003989422804, 0.39894228040143267794},
	{0.3, 0.61791142218895263307, 0.38138781546052408688},
	{1, 0.84134474606854294859, 0.2419707245191433498},
	{2, 0.9772498680518207928, 0.053990966513188051951},
	{2.99, 0.99860511276450775051, 0.0045665899546701439717},
	{3.01, 0.99869376155123053133, 0.004300652458730449095},
	{5, 0.99999971334842812081, 1.4867195147342977079e-6},
	{8, 0.9999999999999993779, 5.052271083536892288e-15},
}

const (
	cdfAbsolute = 1e-15 // as the doc comments say
	cdfRelative = 1e-12
	pdfRelative = 1e-15
)

func TestNormalAgainstTable(t *testing.T) {
	for _, v := range normalValues {
		if d := math.Abs(NormalCDF(v.x) - v.cdf); !(d < cdfAbsolute) {
			t.Errorf("NormalCDF(%v) is %g off", v.x, d)
		}
		if d := math.Abs(NormalCDF(v.x)/v.cdf - 1); v.x < 0 && !(d < cdfRelative) {
			t.Errorf("NormalCDF(%v) is %g off, relatively", v.x, d)
		}
		if d := math.Abs(NormalPDF(v.x)/v.pdf - 1); !(d < pdfRelative) {
			t.Errorf("NormalPDF(%v) is %g off, relatively", v.x, d)
		}
	}
}

// NormalCDF against ½ erfc(−x/√2) with math.Erfc, which is accurate to 1 ulp. In the
// lower tail the rounding of the argument adds a relative error of x²·2⁻⁵³.
func TestNormalAgainstErfc(t *testing.T) {
	for _, x := range points(samples, -37, 9) {
		want := math.Erfc(-x/math.Sqrt2) / 2
		d := math.Abs(NormalCDF(x) - want)
		if !(d < cdfAbsolute) {
			t.Fatalf("NormalCDF(%v) is %g off", x, d)
		}
		if x < 0 && !(d/want < cdfRelative) {
			t.Fatalf("NormalCDF(%v) is %g off, relatively", x, d/want)
		}
	}
}
