package mutants

import (
	"fmt"
	"go/parser"
	"go/token"
	"math"
	"slices"
	"strings"
	"testing"
)

// must returns the value of a call that does not fail.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// Every text of the table occurs once, and the file is still Go with the fault in it.
func TestTable(t *testing.T) {
	t.Chdir("../..")
	names := make(map[string]bool)
	for _, f := range table {
		if names[f.what] {
			t.Errorf("two faults are called %s", f.what)
		}
		names[f.what] = true
		file, mutated, err := f.mutate()
		if err != nil {
			t.Errorf("%s: %v", f.what, err)
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), file, mutated,
			parser.SkipObjectResolution); err != nil {
			t.Errorf("%s: %v", f.what, err)
		}
		if f.before == f.after {
			t.Errorf("%s changes nothing", f.what)
		}
	}
}

// A file with one of everything that is changed.
func TestMutantsOf(t *testing.T) {
	const source = `package p

const half = 0.5

func f(x, y int, list []int) int {
	x += 2
	if x < y && !done(x) {
		list[0]++
		return -x
	}
	switch {
	case x == y:
		report(y)
	}
	return x*y - 1
}
`
	mutants := must(mutantsOf(token.NewFileSet(), "p.go", []byte(source)))
	var got []string
	for _, m := range mutants {
		if mutated := m.apply([]byte(source)); mutated == source {
			t.Errorf("%s changes nothing", m.change)
		} else if _, err := parser.ParseFile(token.NewFileSet(), "p.go", mutated, 0); err != nil {
			t.Errorf("%s: %v", m.change, err)
		}
		got = append(got, fmt.Sprintf("%d %s: %s", m.line, m.function, m.change))
	}
	want := []string{
		"3 : 0.5 → (0.5 + 1)",
		"6 f: x += 2 → ",
		"6 f: x += 2 → x -= 2",
		"6 f: 2 → (2 + 1)",
		"7 f: x < y && !done(x) → !(x < y && !done(x))",
		"7 f: x < y && !done(x) → x < y || !done(x)",
		"7 f: x < y && !done(x) → x < y",
		"7 f: x < y → x <= y",
		"7 f: !done(x) → done(x)",
		"8 f: list[0]++ → ",
		"8 f: list[0]++ → list[0]--",
		"8 f: 0 → (0 + 1)",
		"9 f: -x → x",
		"13 f: report(y) → ",
		"12 f: x == y → x != y",
		"15 f: x*y - 1 → x*y + 1",
		"15 f: x*y - 1 → x*y",
		"15 f: x*y → x/y",
		"15 f: x*y → x",
		"15 f: 1 → (1 + 1)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("mutants\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The floor is the share at which as many kills or more as measured happen once in 20
// samples; a sample below it has a chance of less than 1 %. By hand: of 3 of 3 kills the
// floor is the cube root of 0.05, and no kill of 4 at ⅔ has the chance 3⁻⁴ = 0.0123, none
// of 5 0.0041.
func TestFloor(t *testing.T) {
	if got, want := (share{3, 3}).floor(), math.Cbrt(0.05); math.Abs(got-want) > 1e-9 {
		t.Errorf("floor of 3 of 3: %v, want %v", got, want)
	}
	if got := (share{3, 0}).floor(); got != 0 {
		t.Errorf("floor of none: %v, want 0", got)
	}
	if (share{4, 0}).below(2.0/3) || !(share{5, 0}).below(2.0/3) || (share{5, 1}).below(2.0/3) {
		t.Error("at a floor of ⅔, none of five is too few, none of four or one of five is not")
	}
}
