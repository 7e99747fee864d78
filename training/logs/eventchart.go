package logs

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

var eventJSONFormat = format{
	container: EventChart,
	docs: [][2]string{{"a chart of TensorBoard, downloaded", "CSV with columns `Wall time`, " +
		"`Step`, `Value`, or a JSON list of rows `[WALL TIME, STEP, VALUE]`; read as the reward"}},
	begins: func(_ *collector, in *input) bool { return strings.HasPrefix(in.squeezed(), "[[") },
	read:   func(c *collector, in *input) error { return readEventJSON(c, in) },
}

// TensorBoard downloads a chart as CSV, with a header, or as a JSON list of rows
// [WALL TIME, STEP, VALUE].

// isEventChart reports whether a header is that of TensorBoard's download of a chart.
func isEventChart(names []string) bool {
	var plain []string
	for _, name := range names {
		plain = append(plain, strings.ToLower(strings.TrimSpace(name)))
	}
	return slices.Equal(plain, []string{"wall time", "step", "value"})
}

// eventChartColumns returns the columns of TensorBoard's download of a chart. The file does not say
// of what it is; TensorBoard's name for it does, run-RUN-tag-TAG.csv.
func eventChartColumns(c *collector) []csvColumn {
	c.container = EventChart
	step, value := c.addKey(1, "Step"), c.asReward("Value")
	if _, tag, named := strings.Cut(filepath.Base(c.err.File), "-tag-"); named && likeReward(tag) == 0 {
		c.err.add(0, "got the chart of another tag by the file's name, want that of the reward")
	}
	return []csvColumn{{1, step}, {2, value}}
}

// readEventJSON reads TensorBoard's download of a chart as JSON.
func readEventJSON(c *collector, r io.Reader) error {
	var rows [][]any
	from := json.NewDecoder(r)
	from.UseNumber()
	run := csvRun{collector: c, columns: eventChartColumns(c)}
	if err := from.Decode(&rows); err != nil {
		c.err.add(0, "got %s, want rows [WALL TIME, STEP, VALUE]", err)
		return nil
	}
	for _, row := range rows {
		if len(row) == 3 {
			run.row(0, []string{"", fmt.Sprint(row[1]), fmt.Sprint(row[2])})
		}
	}
	return nil
}
