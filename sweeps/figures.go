package sweeps

// Figure is the data of one picture: what a check measured against what the
// theory predicts. It is drawn by sweeps/report.
type Figure struct {
	Name   string // file name without extension, unique in its experiment
	Title  string
	XLabel string
	YLabel string
	XScale AxisScale
	YScale AxisScale
	// Categories names the integer positions 0, 1, … of the x axis; nil where
	// x is a number.
	Categories []string
	Series     []FigureSeries
}

// AxisScale is the scale of a figure's axis.
type AxisScale int

const (
	LinearAxis AxisScale = iota
	LogAxis
)

// Mark is what a series is, and so how it is drawn.
type Mark int

const (
	Measured  Mark = iota // points with intervals
	Predicted             // a line, or a tick at each category; Lo, Hi the margin
	Reference             // another theory's line, for comparison, without margin
	Spread                // a band between the 5 and 95 % quantiles of the replicas
)

// FigureSeries is one set of marks. Measured and predicted series with the
// same Group belong together and share a colour.
type FigureSeries struct {
	Name   string
	Group  string
	Mark   Mark
	Points []FigurePoint
}

// FigurePoint is one mark; Lo and Hi are NaN where there is no interval.
type FigurePoint struct {
	X, Y, Lo, Hi float64
}

// Experiment is a finished sweep and what was made of it.
type Experiment struct {
	Plan     *Plan
	Outcomes map[string]*Outcome // by cell id
	Verdicts []Verdict
	Figures  []Figure
	Command  string // how to run it again
}
