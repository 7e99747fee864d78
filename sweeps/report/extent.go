package report

import (
	"fmt"
	"math"
	"slices"

	"grposim/sweeps"
)

// Extent says how much of an experiment figures and pages show.
type Extent int

const (
	// Sample is the extent of a page of at most 5 MB, whatever the experiment. Of what is more
	// the page has a sample, and says where the rest is.
	Sample Extent = iota
	// Everything is every point, figure, row and the whole configuration.
	Everything
)

// What a page shows of one experiment as a sample: together less than 5 MB.
const (
	mostPoints  = 3000      // of a figure; one takes 300 bytes of SVG with its interval
	mostPlaces  = 300       // of a figure whose cells are side by side, on 600 pixels
	figureBytes = 2_000_000 // of all figures
	tableBytes  = 1_500_000 // of the rows of the table
	configBytes = 200_000   // of the configuration, which a page holds twice: as text and to download
	rowBytes    = 1100      // of a row apart from its texts
)

// Figure returns a figure as it is drawn, with a title that says what is left out. It keeps
// about mostPoints of the loose points, evenly spread over each series, or of categories the first.
func (x Extent) Figure(f sweeps.Figure) sweeps.Figure {
	total := max(pointsOf(&f), 1)
	if x == Everything || total <= mostPoints && len(f.Categories) <= mostPlaces {
		return f
	}
	most := func(count int) int { return int(math.Ceil(mostPoints * float64(count) / float64(total))) }
	if places := len(f.Categories); places > 0 {
		f.Categories = f.Categories[:min(mostPlaces, most(places))]
		f.Title += fmt.Sprintf(" (the first %d of %d columns)", len(f.Categories), places)
		return f
	}
	f.Series = slices.Clone(f.Series)
	for i := range f.Series {
		if s := &f.Series[i]; loose(s.Mark) {
			s.Values = spread(s.Values, most(len(s.Points)))
			s.Points = spread(s.Points, most(len(s.Points)))
		}
	}
	f.Title += fmt.Sprintf(" (%d of %d points)", pointsOf(&f), total)
	return f
}

// pointsOf returns the number of points of a figure that can be left out.
func pointsOf(f *sweeps.Figure) (n int) {
	for _, s := range f.Series {
		if loose(s.Mark) {
			n += len(s.Points)
		}
	}
	return n
}

// loose reports whether points of a mark can be left out of a series without changing the others.
func loose(m sweeps.Mark) bool {
	return m != sweeps.Boundary && m != sweeps.Region && m != sweeps.Spread
}

// Fits reports whether a figure of so many bytes is shown on a page after others of so many.
func (x Extent) Fits(figure, others int) bool {
	return x == Everything || figure+others <= figureBytes
}

// rows returns the indices of the rows of a table that a page shows, in order, given the bytes
// of the texts of each and which come first. It shows all, or as many as fit if each were the
// longest: three quarters of these are of those that come first, if there are so many.
func (x Extent) rows(count int, bytes func(i int) int, first func(i int) bool) []int {
	longest, early, late := 0, []int(nil), []int(nil)
	for i := range count {
		if longest = max(longest, bytes(i)); first(i) {
			early = append(early, i)
		} else {
			late = append(late, i)
		}
	}
	most := tableBytes / (rowBytes + longest)
	if x == Everything {
		most = count
	}
	shown := spread(early, max(most*3/4, most-len(late)))
	shown = append(shown, spread(late, most-len(shown))...)
	slices.Sort(shown)
	return shown
}

// spread returns at most so many of a list, evenly spread over it.
func spread[T any](list []T, most int) []T {
	if len(list) <= most {
		return slices.Clone(list)
	}
	some := make([]T, most)
	for i := range some {
		some[i] = list[i*len(list)/most]
	}
	return some
}
