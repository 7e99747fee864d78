package fit
import ("testing";"math";"math/rand/v2";"fmt")
func TestMeasureOsc(t *testing.T) {
	rng := rand.New(rand.NewPCG(99, 98))
	for _, n := range []int{60, 240} {
		for _, r := range []float64{-0.5, 0, 0.3, 0.6, 0.9, 0.97, 0.999} {
			found, susp := 0, 0
			for range 400 { o := oscillationOf(waves(rng, n, 0, 1, 0, 1, r)); if o.Found { found++ }; if o.Suspected { susp++ } }
			fmt.Printf("null n=%d r=%g found %d suspected %d of 400\n", n, r, found, susp)
		}
		for _, q := range [][3]float64{{6, 0, 0.05}, {6, 0, 0.4}, {6, 0, 0.8}, {4, 0, 0.4}, {2, 0, 0.4}, {6, -3, 0.2}, {12, 3, 0.2}} {
			found, susp := 0, 0
			for range 100 { o := oscillationOf(waves(rng, n, 0.4, q[0], q[1], q[2], 0)); if o.Found { found++ }; if o.Suspected { susp++ } }
			fmt.Printf("power n=%d cycles %g envelope %g noise %g found %d suspected %d of 100\n", n, q[0], q[1], q[2], found, susp)
		}
	}
	_ = math.Pi
}
