package store

import (
	"encoding/csv"
	"io"
	"strconv"
)

// TrajectoryCSV writes the rows of trajectories.parquet as CSV, in its order: cell by cell, so that
// it holds one cell in memory. A number that is not finite is an empty field.
type TrajectoryCSV struct {
	table *csv.Writer
	rows  []trajectoryRow // buffer: the rows of the last cell
}

// NewTrajectoryCSV writes the header of a table to w and returns the table.
func NewTrajectoryCSV(w io.Writer) (*TrajectoryCSV, error) {
	t := &TrajectoryCSV{table: csv.NewWriter(w)}
	var header []string
	for _, c := range TrajectoryColumns {
		header = append(header, c.Name)
	}
	return t, t.table.Write(header)
}

// Write writes the rows of one cell with its outcome; none if it recorded nothing.
func (t *TrajectoryCSV) Write(cell LabelledCell, o *Outcome) error {
	recorded, err := o.Trajectory()
	if err != nil || recorded == nil {
		return err
	}
	t.rows = appendRows(t.rows[:0], cell, recorded)
	for i := range t.rows {
		r := &t.rows[i]
		fields := []string{r.Cell, r.Label, strconv.FormatInt(r.Step, 10), r.Quantity}
		for _, x := range []*float64{r.Mean, r.StandardError, r.Q05, r.Q25, r.Q50, r.Q75, r.Q95} {
			text := ""
			if x != nil {
				text = strconv.FormatFloat(*x, 'g', -1, 64)
			}
			fields = append(fields, text)
		}
		if err := t.table.Write(fields); err != nil {
			return err
		}
	}
	return nil
}

// Flush writes what is buffered.
func (t *TrajectoryCSV) Flush() error {
	t.table.Flush()
	return t.table.Error()
}
