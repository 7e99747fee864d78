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
	walk("", tree(a), tree(b), func(column, x, y string) {
		counts[column]++
		u, errU := strconv.ParseFloat(x, 64)
		v, errV := strconv.ParseFloat(y, 64)
		if errU != nil || errV != nil {
			largest[column] = math.Inf(1)
			return
		}
		relative := math.Abs(v-u) / max(math.Abs(u), math.Abs(v))
		largest[column] = max(largest[column], relative)
	})
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

// tree returns JSON, or a table as a list of its rows by column; nil for other texts.
func tree(text string) (value any) {
	if strings.HasPrefix(text, "exit code") {
		_, text, _ = strings.Cut(text, "\n")
	}
	if json.Unmarshal([]byte(text), &value) == nil {
		return value
	}
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) < 2 {
		return nil
	}
	var list []any
	for _, row := range rows[1:] {
		cells := make(map[string]any)
		for c, column := range rows[0] {
			cells[column] = row[c]
		}
		list = append(list, cells)
	}
	return list
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
	if x, y := fmt.Sprint(a), fmt.Sprint(b); x != y {
		tell(key, x, y)
	}
}
