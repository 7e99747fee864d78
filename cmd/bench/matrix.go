package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"grposim/option"
)

// The rows and columns of the table of grposim's own times.
var (
	matrixArms      = []int{2, 10, 100}
	matrixGroups    = []int{4, 16, 64, 1024, 65536}
	matrixIntervals = []int{1, 4, 16}
	matrixModes     = []option.ImportanceMode{option.NoImportance, option.Ratio}
	matrixScales    = []option.Scale{option.StdScale, option.NoScale}
)

// matrixRow holds the times for one number of arms, importance mode and scale.
type matrixRow struct {
	name  string
	times []float64 // nanoseconds per replica-step, by group size and refresh interval
}

// measureMatrix measures each entry by one run of about a tenth of a second.
func measureMatrix(ctx context.Context, e effort) ([]matrixRow, error) {
	var rows []matrixRow
	for _, arms := range matrixArms {
		for _, importance := range matrixModes {
			for _, scale := range matrixScales {
				row := matrixRow{name: fmt.Sprintf("%d, %s, %s", arms, importance, scale)}
				for _, groupSize := range matrixGroups {
					for _, interval := range matrixIntervals {
						p := newProcess(arms, groupSize, interval).with(importance, scale)
						l := length{e.replicaSteps / 150, max(32/arms, 1)}
						o, err := grposim.run(ctx, p, l, 1)
						if err != nil {
							return nil, fmt.Errorf("%s: %w", p, err)
						}
						row.times = append(row.times, o.nanoseconds(l))
					}
				}
				rows = append(rows, row)
			}
		}
	}
	return rows, nil
}

// writeMatrix writes the table of grposim's own times.
func writeMatrix(w io.Writer, rows []matrixRow) {
	fmt.Fprint(w, "| arms, importance, scale ")
	for _, groupSize := range matrixGroups {
		for _, interval := range matrixIntervals {
			fmt.Fprintf(w, "| %d / %d ", groupSize, interval)
		}
	}
	fmt.Fprintf(w, "|\n|---|%s\n", strings.Repeat("---:|", len(matrixGroups)*len(matrixIntervals)))
	for _, row := range rows {
		fmt.Fprintf(w, "| %s ", row.name)
		for _, t := range row.times {
			fmt.Fprintf(w, "| %s ", nanoseconds(t))
		}
		fmt.Fprintln(w, "|")
	}
}
