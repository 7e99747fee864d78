package force

import (
	"reflect"
	"testing"

	"grposim/option"
	"grposim/rom/cell"
)

// The shortcuts of this package give the same bits as the obvious way.

// Policies that are equal are those computed each time.
func TestKeptPolicies(t *testing.T) {
	p := cell.Params{Arms: []option.Arm{{Mean: 0.9}, {Mean: 0.2}},
		Estimator: option.Estimator{GroupSize: 17}}
	p = p.Checked()
	m, theta := New(&p), []float64{0.3, -2}
	m.Set(theta, []float64{0.3, -2})
	probs, logs := make([]float64, 2), make([]float64, 2)
	cell.Softmax(probs, theta)
	cell.LogSoftmax(logs, theta)
	if want := (Policy{probs, logs}); !reflect.DeepEqual(m.Now, want) ||
		!reflect.DeepEqual(m.Past, want) {
		t.Errorf("policies %v and %v, want %v", m.Now, m.Past, want)
	}
}
