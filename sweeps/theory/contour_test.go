package theory

import (
	"math"
	"testing"

	"grposim/sweeps/config"

	"pgregory.net/rapid"
)

// even returns n nodes evenly spaced from low to high.
func even(low, high float64, n int) nodes {
	var s nodes
	for i := range n {
		s.value = append(s.value, low+(high-low)*float64(i)/float64(n-1))
	}
	s.place = s.value
	return s
}

// areaOf returns the sum of the polygons' areas by the shoelace formula. The area of a
// polygon that runs clockwise is negative.
func areaOf(polygons [][]Spot) float64 {
	sum := 0.0
	for _, p := range polygons {
		for i := range p {
			a, b := p[i], p[(i+1)%len(p)]
			sum += (a[0]*b[1] - b[0]*a[1]) / 2
		}
	}
	return sum
}

// The zeros of r² − |z|² are one closed line on the circle, and the area is that of the
// disc up to second order in the spacing.
func TestContourCircle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		radius := rapid.Float64Range(0.3, 0.9).Draw(t, "radius")
		shift := rapid.Float64Range(-0.05, 0.05)
		cx, cy := shift.Draw(t, "cx"), shift.Draw(t, "cy")
		f := newField(even(-1, 1, 41), even(-1, 1, 31),
			func(x, y float64) float64 { return radius*radius - (x-cx)*(x-cx) - (y-cy)*(y-cy) })
		lines := f.zeros()
		if len(lines) != 1 || lines[0][0] != lines[0][len(lines[0])-1] {
			t.Fatalf("%d lines", len(lines))
		}
		for _, p := range lines[0] {
			if d := math.Hypot(p[0]-cx, p[1]-cy); math.Abs(d-radius) > 1e-4 {
				t.Errorf("(%g, %g) is %g from the centre, want %g", p[0], p[1], d, radius)
			}
		}
		// A polygon of chords of length c has 1 − c²/(6r²) of the disc's area.
		const longest = 2.0 / 30 * math.Sqrt2
		area, want := areaOf(f.positive()), math.Pi*radius*radius
		if area > want*(1+1e-3) || area < want*(1-longest*longest/(6*radius*radius)-1e-3) {
			t.Errorf("area %g, want %g", area, want)
		}
	})
}

// Along an integer parameter lines are steps halfway between integers: the area of a
// field that is positive at one integer is a box.
func TestContourSteps(t *testing.T) {
	var k nodes
	for v := 1.0; v <= 5; v++ {
		k.value = append(k.value, v, v)
		k.place = append(k.place, v-0.5, v+0.5)
	}
	f := newField(k, even(0, 1, 11), func(x, y float64) float64 {
		if x != 3 {
			return -1
		}
		return (y - 0.25) * (0.75 - y)
	})
	lines := f.zeros()
	if len(lines) != 1 {
		t.Fatalf("%d lines: %v", len(lines), lines)
	}
	ends := 0
	for _, p := range lines[0] {
		onSide := (p[0] == 2.5 || p[0] == 3.5) && p[1] > 0.249 && p[1] < 0.751
		onEnd := p[0] >= 2.5 && p[0] <= 3.5 && (math.Abs(p[1]-0.25) < 1e-4 || math.Abs(p[1]-0.75) < 1e-4)
		if !onSide && !onEnd {
			t.Errorf("%v is not on the box", p)
		}
		if onEnd {
			ends++
		}
	}
	if ends < 4 {
		t.Errorf("%d points on the ends, want both corners of each", ends)
	}
	near(t, "area", areaOf(f.positive()), 0.5, 1e-3)
}

// Where the field is NaN there is neither line nor area; lines end there.
func TestContourUnknown(t *testing.T) {
	f := newField(even(-1, 1, 21), even(-1, 1, 21), func(x, y float64) float64 {
		if x > 0.01 {
			return math.NaN()
		}
		return 0.5 - math.Hypot(x, y)
	})
	lines := f.zeros()
	if len(lines) != 1 || lines[0][0] == lines[0][len(lines[0])-1] {
		t.Fatalf("%d lines, want one, open", len(lines))
	}
	near(t, "area of half a disc", areaOf(f.positive()), math.Pi/8, 0.01)
}

// For any field without NaN, open lines end on the rim, every point of a line is a zero
// on an edge of the lattice, and the area is between 0 and the whole.
func TestContourAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const n = 6
		value := rapid.SliceOfN(rapid.Float64Range(-1, 1), n*n, n*n).Draw(t, "values")
		x := even(0, n-1, n)
		at := func(x, y float64) float64 { // bilinear, linear along edges
			i, j := min(int(x), n-2), min(int(y), n-2)
			a, b := x-float64(i), y-float64(j)
			v := func(i, j int) float64 { return value[i*n+j] }
			return (1-a)*((1-b)*v(i, j)+b*v(i, j+1)) + a*((1-b)*v(i+1, j)+b*v(i+1, j+1))
		}
		f := newField(x, x, at)
		for _, line := range f.zeros() {
			first, last := line[0], line[len(line)-1]
			for _, p := range []Spot{first, last} {
				if rim := p[0] == 0 || p[1] == 0 || p[0] == n-1 || p[1] == n-1; first != last && !rim {
					t.Fatalf("a line ends at %v", p)
				}
			}
			for _, p := range line {
				if p[0] != math.Trunc(p[0]) && p[1] != math.Trunc(p[1]) {
					t.Fatalf("%v is on no edge", p)
				}
				if z := at(p[0], p[1]); math.Abs(z) > 1e-3 {
					t.Fatalf("%g at %v", z, p)
				}
			}
		}
		if area := areaOf(f.positive()); area < -1e-12 || area > (n-1)*(n-1)+1e-12 {
			t.Fatalf("area %g", area)
		}
	})
}

// Nodes of few integers are their ends, those of many lie evenly on the scale of the values.
func TestNodes(t *testing.T) {
	k, _ := config.LookupKey(config.LagIntervalKey)
	s := newNodes(k, []float64{1, 3}, 1)
	if len(s.value) != 6 || s.value[2] != 2 || s.place[2] != 1.5 || s.place[5] != 3.5 {
		t.Errorf("few integers: %+v", s)
	}
	s = newNodes(k, []float64{1, 10, 100, 1000}, 1)
	near(t, "the middle of many integers", s.value[30], math.Sqrt(1000), 1e-9)
	if s.value[0] != 1 || s.value[len(s.value)-1] != 1000 {
		t.Errorf("many integers: %+v", s)
	}
}
