package diagnose_test

import (
	"fmt"
	"math"

	"grposim/training/diagnose"
)

// A run whose training reward rises to 1 while the true reward first rises with it
// and then falls. The diagnostics whose series were not recorded are left out.
func ExampleName() {
	var trace diagnose.Trace
	for step := range 60 {
		proxy := 1 - math.Exp(-float64(step)/15)
		trace.Steps = append(trace.Steps, step)
		trace.Reward = append(trace.Reward, proxy)
		trace.TrueReward = append(trace.TrueReward, proxy*(1.2-proxy))
		trace.ZeroVariance = append(trace.ZeroVariance, 0.3*proxy)
	}

	d := diagnose.Name(trace)
	fmt.Println("mode:", d.Mode)
	for _, e := range d.Evidence {
		if e.Observable == diagnose.Observed {
			fmt.Printf("%s: %.2f, threshold %.2f, says %s\n", e.Diagnostic, e.Value, e.Threshold, e.Says)
		}
	}
	// Output:
	// mode: reward-hacking
	// reward ringing: 0.00, threshold 0.37, says none
	// true reward per proxy reward: -0.24, threshold 0.31, says reward-hacking
	// zero-variance groups: 0.28, threshold 0.50, says none
}
