package force

import (
	"reflect"
	"testing"

	"grposim/option"
	"grposim/rom/cell"
)

// Policies that are equal have the bits of those computed each time.
func TestKeptPolicies(t *testing.T) {
	p, theta := (cell.Params{Arms: make([]option.Arm, 2)}).Checked(), []float64{0.3, -2}
	m, want := New(&p), Policy{cell.PolicyAt(theta), make([]float64, 2)}
	m.Set(theta, []float64{0.3, -2})
	cell.LogSoftmax(want.Logs, theta)
	if !reflect.DeepEqual([]Policy{m.Now, m.Past}, []Policy{want, want}) {
		t.Errorf("policies %v and %v, want %v", m.Now, m.Past, want)
	}
}
