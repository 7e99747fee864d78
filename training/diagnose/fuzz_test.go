package diagnose

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

// FuzzName diagnoses traces of arbitrary numbers at arbitrary steps, in which any series may be
// missing. A diagnosis never panics. Its mode is one of Modes and supported by evidence. A value is
// finite exactly if it was observed.
//
// Two bytes make a number, its sign, exponent and first four digits. Series begin anew where the
// numbers end, since fuzzing takes the square of an input's length.
func FuzzName(f *testing.F) {
	f.Add([]byte{}, uint8(0), uint8(0), uint16(0))
	for _, e := range examples {
		t := e.run(newRand(), everyStep()[:24])
		var data []byte
		for _, s := range series[:3] {
			for _, x := range *s.of(&t) {
				data = binary.BigEndian.AppendUint16(data, uint16(math.Float64bits(x)>>48))
			}
		}
		f.Add(data, uint8(24), uint8(1), uint16(0))
		f.Add(data, uint8(23), uint8(255), uint16(7))
		f.Add(data[:len(data)/2], uint8(24), uint8(0), uint16(0xff00))
	}
	f.Fuzz(func(t *testing.T, data []byte, rows, stride uint8, missing uint16) {
		var trace Trace
		for i := range int(rows) {
			trace.Steps = append(trace.Steps, i*int(int8(stride)))
		}
		var values []float64
		for ; len(data) >= 2; data = data[2:] {
			values = append(values, math.Float64frombits(uint64(binary.BigEndian.Uint16(data))<<48))
		}
		for k, s := range series {
			if missing>>k&1 == 1 || len(values) == 0 {
				continue
			}
			for i := range int(rows) {
				*s.of(&trace) = append(*s.of(&trace), values[(k*int(rows)+i)%len(values)])
			}
		}
		before := slices.Clone(trace.Reward)
		logged := trace
		logged.Origin, logged.AtLeast = Samples, true
		for _, d := range []Diagnosis{Name(trace), PaperName(trace), Name(logged)} {
			for _, v := range d.Verdicts {
				if (v.Finding == Present) != (v.Since >= 0) && stride < 128 ||
					(v.Finding == NotObservable) != (v.Because != "") {
					t.Errorf("%+v", v)
				}
			}
			if !slices.Contains(Modes, d.Mode) {
				t.Errorf("mode %q", d.Mode)
			}
			supported := d.Mode == None
			for _, e := range d.Evidence {
				number := isNumber(e.Value) && isNumber(e.Threshold)
				if number != (e.Observable == Observed) {
					t.Errorf("%+v", e)
				}
				if e.Says != None && (e.Says != e.Of || !number) {
					t.Errorf("%+v", e)
				}
				supported = supported || e.Says == d.Mode
			}
			if !supported {
				t.Errorf("named %s without evidence of it: %+v", d.Mode, d.Evidence)
			}
		}
		for i := range before {
			if math.Float64bits(before[i]) != math.Float64bits(trace.Reward[i]) {
				t.Fatal("the trace was changed")
			}
		}
	})
}
