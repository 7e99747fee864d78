package sweeps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
)

// newTrajectoryTable creates trajectories.parquet of the plan's cells in a locked results folder,
// with the parameters of every cell and the data dictionary in its metadata.
func newTrajectoryTable(p *plan.Plan, dir string) (*store.TrajectoryTable, error) {
	asJSON := func(value any) func(io.Writer) error {
		return func(w io.Writer) error {
			text, err := json.Marshal(value)
			_, writing := w.Write(text)
			return errors.Join(err, writing)
		}
	}
	return store.NewTrajectoryTable(dir, len(p.Cells), func(i int) store.LabelledCell { return labelled(p, i) },
		store.Metadata{Key: "grposim.cells", Write: func(w io.Writer) error { return describeCells(p, w) }},
		store.Metadata{Key: "grposim.columns", Write: asJSON(store.TrajectoryColumns)},
		store.Metadata{Key: "grposim.quantities", Write: asJSON(quantityColumns(p))})
}

// labelled names cell i in a table of trajectories.
func labelled(p *plan.Plan, i int) store.LabelledCell {
	return store.LabelledCell{ID: p.Cells[i].ID, Label: p.Cells[i].Label()}
}

// describeCells writes a JSON list of the cells with their parameters.
func describeCells(p *plan.Plan, w io.Writer) error {
	type described struct {
		Cell       string         `json:"cell"`
		Label      string         `json:"label"`
		Variant    string         `json:"variant"`
		Parameters map[string]any `json:"parameters"`
	}
	separator := "["
	for i := range p.Cells {
		c := &p.Cells[i]
		d := described{c.ID, c.Label(), c.Variant, make(map[string]any)}
		for _, k := range config.Keys {
			d.Parameters[k.Path] = k.JSON(&c.Settings)
		}
		text, err := json.Marshal(d)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s%s", separator, text); err != nil {
			return err
		}
		separator = ","
	}
	_, err := io.WriteString(w, "]")
	return err
}

// TrajectoriesCSV writes the rows of trajectories.parquet of a finished results folder as CSV, from
// its journal, and writes nothing into the folder. Its errors are those of Open, of w and of ctx.
func TrajectoriesCSV(ctx context.Context, w io.Writer, dir string, progress Progress) error {
	plan, outcomes, err := openNoted(dir, progress)
	if err != nil {
		return err
	}
	table, err := store.NewTrajectoryCSV(w)
	for i := 0; i < len(plan.Cells) && err == nil; i++ {
		cell := labelled(plan, i)
		err = errors.Join(ctx.Err(), table.Write(cell, outcomes[cell.ID]))
	}
	return errors.Join(err, table.Flush())
}
