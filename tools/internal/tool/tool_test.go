package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A program's error decides its exit code and what is said of it.
func TestRun(t *testing.T) {
	broken := errors.New("broken")
	for _, row := range []struct {
		args []string
		err  error
		code int
		said string // part of stderr
	}{
		{nil, nil, 0, ""},
		{nil, Unmet(nil).OrNil(), 0, ""},
		{nil, Unmet{"too slow", "too large"}.OrNil(), ExitUnmet, "test: too slow\ntest: too large\n"},
		{nil, broken, ExitError, "test: broken\n"},
		{[]string{"extra"}, nil, ExitUsage, "Usage of test"},
		{[]string{"-nonsense"}, nil, ExitUsage, "Usage of test"},
	} {
		var out, said strings.Builder
		code := Run(t.Context(), "test", func(_ context.Context, c *Command) error {
			if err := c.Parse(0); err != nil {
				return err
			}
			fmt.Fprint(c.Stdout, "page")
			return row.err
		}, row.args, &out, &said)
		if code != row.code || !strings.Contains(said.String(), row.said) || (out.String() == "page") != (code != ExitUsage) {
			t.Errorf("%v, %v: exit code %d, %q, %q", row.args, row.err, code, said.String(), out.String())
		}
	}
}

// Results are in the order of their numbers, whatever the number of workers. An error ends the
// tasks that have not begun.
func TestEach(t *testing.T) {
	for _, workers := range []int{1, 3} {
		got, err := Each(t.Context(), 4, workers, func(_ context.Context, i int) (int, error) { return i * i, nil })
		if !slices.Equal(got, []int{0, 1, 4, 9}) || err != nil {
			t.Errorf("%d workers: %v, %v", workers, got, err)
		}
	}
	broken := errors.New("broken")
	got, err := Each(t.Context(), 100, 1, func(_ context.Context, i int) (int, error) {
		if i == 2 {
			return 0, broken
		}
		return 1, nil
	})
	if sum := got[0] + got[1] + got[99]; sum != 2 || !errors.Is(err, broken) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestMedian(t *testing.T) {
	for _, x := range []struct {
		values []float64
		want   float64
	}{{[]float64{3}, 3}, {[]float64{3, 1, 2}, 2}, {[]float64{9, 1, 2, 4}, 3}} {
		if got := median(x.values); got != x.want {
			t.Errorf("median of %v is %g", x.values, got)
		}
	}
}
