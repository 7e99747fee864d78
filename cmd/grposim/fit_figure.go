package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"grposim/sweeps"
	"grposim/training/logs"
)

// figureName returns a name for the figures of a log that none of those taken has, and takes
// it: that of the file without its extension, and of the run where the file holds several. A
// number follows the second of a name.
func figureName(l *logs.Log, taken map[string]bool) string {
	name := strings.TrimSuffix(filepath.Base(l.File), filepath.Ext(l.File))
	if l.Run != "" {
		name += "-" + strings.ReplaceAll(l.Run, "/", "-")
	}
	runes := []rune(escape(name, ""))
	const most = 50 // characters; a file system has 255 bytes, with the rest
	whole := string(runes[:min(len(runes), most)])
	name = whole
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s-%d", whole, n)
	}
	taken[name] = true
	return name
}

// mostPoints is the number of rows up to which each is a point of a figure: more cannot be
// told apart in its width.
const mostPoints = 2000

// draw writes the figure of a fit to a folder.
func (f *logFit) draw(stderr io.Writer, folder, name string) error {
	best := f.result.Model(f.result.Best)
	drawn, over, logged, point := f.steps, f.curve.Time, "logged reward", "a row"
	if len(drawn.Time) > mostPoints {
		var count int
		drawn, count = f.steps.Thin()
		means, _ := f.curve.Thin()
		point = fmt.Sprintf("the mean of %d rows", count)
		over, logged = means.Time, fmt.Sprintf("logged reward, means of %d rows", count)
	}
	fitted := best.Predict(over)
	rows := sweeps.FigureSeries{Name: logged, Group: "log", Mark: sweeps.Measured}
	line := sweeps.FigureSeries{Name: string(best.Name) + " law", Group: "law", Mark: sweeps.Reference}
	for i, step := range drawn.Time {
		rows.Points = append(rows.Points, sweeps.BarePoint(step, drawn.Reward[i]))
		line.Points = append(line.Points, sweeps.BarePoint(step, fitted[i]))
	}
	ahead := sweeps.FigureSeries{Name: "forecast, with the 90 % interval of a row", Group: "forecast",
		Mark: sweeps.Predicted}
	for i, step := range f.at {
		ahead.Points = append(ahead.Points,
			sweeps.FigurePoint{X: step, Y: f.ahead.Mean, Lo: f.ahead.Lo[i], Hi: f.ahead.Hi[i]})
	}
	return drawFigures(stderr, folder, sweeps.Figure{Name: name, Title: "Reward of " + name,
		XLabel: "optimizer step", YLabel: "reward, in the unit of the log",
		Series:  []sweeps.FigureSeries{rows, line, ahead},
		Caption: "Each point is " + point + " of the log. The line is the law with the lowest BIC."})
}
