package force

import (
	"reflect"
	"testing"

	"grposim/option"
	"grposim/rom/cell"
)

// Policies that are equal have the bits of those computed each time.
func TestKeptPolicies(t *testing.T) {
	p := (cell.Params{Arms: []option.Arm{{Mean: 0.9}, {Mean: 0.2}}}).Checked()
	m, theta := New(&p), []float64{0.3, -2}
	m.Set(theta, []float64{0.3, -2})
	want := Policy{cell.PolicyAt(theta), make([]float64, 2)}
	cell.LogSoftmax(want.Logs, theta)
	if !reflect.DeepEqual([]Policy{m.Now, m.Past}, []Policy{want, want}) {
		t.Errorf("policies %v and %v, want %v", m.Now, m.Past, want)
	}
}
