package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// difference says how two tables or lists of verdicts differ: words and numbers by column or key,
// with the largest relative difference of numbers. It is empty for other texts.
func difference(a, b string) string {
	counts, largest := make(map[string]int), make(map[string]float64)
	tell := func(column, x, y string) {
		if x == y {
			return
		}
		counts[column]++
		u, errU := strconv.ParseFloat(x, 64)
		v, errV := strconv.ParseFloat(y, 64)
		if errU == nil && errV == nil {
			largest[column] = max(largest[column], math.Abs(v-u)/max(math.Abs(u), math.Abs(v)))
		} else {
			largest[column] = math.Inf(1)
		}
	}
	if strings.HasPrefix(a, "exit code") {
		_, a, _ = strings.Cut(a, "\n")
		_, b, _ = strings.Cut(b, "\n")
	}
	rows, errA := csv.NewReader(strings.NewReader(a)).ReadAll()
	others, errB := csv.NewReader(strings.NewReader(b)).ReadAll()
	if errA == nil && errB == nil && len(rows) > 1 && len(rows) == len(others) {
		for i, row := range rows {
			for c, column := range rows[0] {
				if other := slices.Index(others[0], column); other >= 0 {
					tell(column, row[c], others[i][other])
				}
			}
		}
	} else {
		var x, y any
		if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
			return ""
		}
		walk("", x, y, tell)
	}
	var text strings.Builder
	for _, column := range slices.Sorted(maps.Keys(counts)) {
		if math.IsInf(largest[column], 1) {
			fmt.Fprintf(&text, "\n  %s: %d differ in words", column, counts[column])
		} else {
			fmt.Fprintf(&text, "\n  %s: %d differ by at most %.2g", column, counts[column], largest[column])
		}
	}
	return text.String()
}

// walk compares two JSON values, and tells each leaf that differs, under the last key.
func walk(key string, a, b any, tell func(key, a, b string)) {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			keys := maps.Clone(x)
			maps.Copy(keys, y)
			for _, k := range slices.Sorted(maps.Keys(keys)) {
				walk(k, x[k], y[k], tell)
			}
			return
		}
	case []any:
		if y, ok := b.([]any); ok && len(x) == len(y) {
			for i := range x {
				walk(key, x[i], y[i], tell)
			}
			return
		}
	}
	tell(key, fmt.Sprint(a), fmt.Sprint(b))
}
