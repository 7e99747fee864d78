package sweeps

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
	"grposim/training/diagnose"
)

var update = flag.Bool("update", false, "rewrite docs/results.md")

// docs/results.md is written from the data dictionary and from the comments on the fields
// of the JSON files.
func TestResultsDoc(t *testing.T) {
	const path = "../docs/results.md"
	want := resultsDoc(t)
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := readFile(t, path); !bytes.Equal(got, want) {
		t.Errorf("%s is not what the code says (-update rewrites it)", path)
	}
}

// Every column of the tables that the built-in experiments wrote is in the dictionary,
// and no column twice.
func TestDictionaryIsComplete(t *testing.T) {
	described := map[string]map[string]bool{"cells.csv": {}, "predictions.csv": {}}
	add := func(table string, columns ...string) {
		for _, name := range columns {
			if described[table][name] {
				t.Errorf("%s: %s is described twice", table, name)
			}
			described[table][name] = true
		}
	}
	for table := range described {
		add(table, names(identityDocs)...)
		for _, k := range config.Keys {
			add(table, k.Path)
		}
	}
	add("cells.csv", names(statusDocs)...)
	for _, name := range names(estimateColumns()) {
		add("cells.csv", name, name+"_lo", name+"_hi")
	}
	for _, q := range QuantityColumns {
		end := q.Name + endSuffix
		add("cells.csv", end, end+"_lo", end+"_hi", q.Name+timeMeanSuffix)
	}
	add("cells.csv", timeTo95, samplesTo95)
	for i, name := range names(predictionDocs) {
		add("predictions.csv", name)
		if predictionColumns[i].name != name {
			t.Errorf("predictions.csv has %s, want %s", predictionColumns[i].name, name)
		}
	}
	key, _ := config.LookupKey(config.MomentumKey)
	table, err := MapCSV([]RegimeMap{{panel: panel{x: key, y: key}}})
	if want := strings.NewReplacer("X", key.Path, "Y", key.Path).Replace(strings.Join(names(mapDocs), ",")); err != nil || strings.TrimSpace(string(table)) != want {
		t.Errorf("a map has the columns %s, want %s", table, want)
	}
	if got := names(keyMapDocs); !slices.Equal(got, keyMapColumns) {
		t.Errorf("a map over one key has the columns %s, want %s", keyMapColumns, got)
	}
	for table, known := range described {
		files, err := filepath.Glob("../results/paper/*/" + table)
		if err != nil || len(files) < 10 {
			t.Fatalf("%d files %s: %v", len(files), table, err)
		}
		for _, file := range files {
			header, _ := records(t, readFile(t, file))
			for _, name := range header {
				if !known[name] {
					t.Errorf("%s: the dictionary lacks %s", file, name)
				}
			}
		}
	}
	if got, want := fmt.Sprint(names(QuantityColumns)), fmt.Sprint(sim.Quantities(2)); got != want {
		t.Errorf("the quantities are %s, want %s", got, want)
	}
}

// resultsDoc writes docs/results.md.
func resultsDoc(t *testing.T) []byte {
	var b bytes.Buffer
	line := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	table := func(columns ...store.Column) {
		line("\n| column | meaning | unit | range |\n|---|---|---|---|")
		for _, c := range columns {
			line("| `%s` | %s | %s | %s |", c.Name, strings.ReplaceAll(c.Doc, "|", `\|`), c.Unit, c.Range)
		}
	}
	fields := func(file, name string) {
		line("\n| field | meaning |\n|---|---|")
		for _, c := range structFields(t, file, name) {
			line("| `%s` | %s |", c.Name, strings.ReplaceAll(c.Doc, "|", `\|`))
		}
	}
	line(`# The results folder

Written from the code; do not edit. To rewrite it: ` + "`go test ./sweeps -run TestResultsDoc -update`" + `.
[python.md](python.md) reads the tables with pandas, polars and DuckDB.

| file | holds |
|---|---|
| ` + "`manifest.json`" + ` | the configuration with overrides and defaults, its checksum, and how and where the sweep was last run |
| ` + "`cells.jsonl`" + ` | the journal: one line per simulated cell, with a checksum. All files below are computed from it |
| ` + "`cells.damaged`" + ` | lines removed from the journal because they were damaged; only there if there were any |
| ` + "`cells.foreign`" + ` | lines removed from the journal because another version of grposim, with other random streams or other estimates, wrote them; only there if there were any |
| ` + "`cells.lock`" + ` | nothing: Windows, which locks no folders, locks it while a sweep writes; only there |
| ` + "`cells.csv`" + ` | a row per cell: parameters, and estimates with intervals |
| ` + "`predictions.csv`" + ` | a row per cell: parameters, and predictions of the theory |
| ` + "`trajectories.parquet`" + ` | a row per cell, quantity and recorded step, compressed by zstd |
| ` + "`verdicts.json`, `verdicts.md`" + ` | the verdicts of the checks |
| ` + "`map-X-Y.csv`, `map-X.csv`" + ` | what ` + "`grposim map`" + ` drew over the parameters X and Y, or over X alone; ` + "`report.html`" + ` links to it beside the map |
| ` + "`figures/`" + ` | the figures, as SVG and PNG |
| ` + "`report.html`" + ` | verdicts, figures and the configuration as run on one page of at most 5 MB that needs no other file, of a large sweep a sample; links to the other files |

The folder of ` + "`grposim reproduce`" + ` holds a results folder per experiment, and verdicts.json, verdicts.md and report.html over all of them.

A number that is not known, or not finite, is an empty field in CSV and null in JSON and Parquet; so is the end that an interval does not have. The only other text among numbers is ` + "`inf`" + `, for a grpo.group_size of ∞. Reward has the unit in which the arms are given. A force is the gradient per logit: in units of reward without an advantage scale, without unit with one. ` + "`1`" + ` is the unit of a pure number.

## Intervals

All intervals, in cells.csv, verdicts.json, figures and pages, are two-sided and have one confidence, 1 − (1 − c)/n: c is the configuration's ` + "`confidence`" + ` (0.99 unless given) and n the number of the file's verdicts, at least 1. Those of the verdicts so hold together with confidence c (Bonferroni). Column interval_confidence of cells.csv gives the number. The interval of a trajectory divides 1 − confidence once more, by the number of its steps. Shares (zero_variance_fraction, named_…, paper_named_…, logged_plateau_…) have Wilson's interval, all others Student's, widened by the estimate's systematic error. The confidence is not that of several files together.

## cells.csv

A row per cell, in the order of the sweep: identity, parameters, status, estimates. A parameter of an option that trainers add ([theory-trainers.md](theory-trainers.md) §11) is there if a cell does not hold its default. An estimate is there if a cell of the file has it. Its name is followed by NAME_lo and NAME_hi, the ends of its interval in the same unit. Entries of stiffness matrices are in cells.jsonl only.`)
	columns := identityDocs
	for _, k := range config.Keys {
		columns = append(columns, parameterColumn(k))
	}
	table(append(append([]store.Column(nil), columns...), statusDocs...)...)
	line("\nEstimates:")
	table(estimateColumns()...)
	forms := func(wanted ...string) (columns []store.Column) {
		for _, form := range numberForms {
			if wanted == nil || slices.Contains(wanted, form.suffix) {
				c := store.Column{Name: "Q" + form.suffix, Doc: fmt.Sprintf(form.doc, "Q"), Unit: form.unit, Range: atLeast0}
				switch form.unit {
				case "":
					c.Unit, c.Range = "of the quantity", "of the quantity"
				case squared:
					c.Unit = "of the quantity, squared"
				}
				columns = append(columns, c)
			}
		}
		return columns
	}
	times := forms("_"+timeTo95, "_"+samplesTo95)
	for i := range times {
		times[i].Name = strings.TrimPrefix(times[i].Name, "Q_")
		times[i].Doc = strings.ReplaceAll(times[i].Doc, "Q ", "J ")
	}
	line("\nThe last columns are of what the cells recorded along their runs, for every quantity Q of trajectories.parquet below. Q_end is followed by Q_end_lo and Q_end_hi, the ends of Student's interval. A cell without record, such as one that diverged, has none.")
	table(append(forms(endSuffix, timeMeanSuffix), times...)...)
	line("\n## predictions.csv\n\nA row per cell, in the order of the sweep. The first columns, up to the last parameter, are those of cells.csv. Then:")
	table(predictionDocs...)
	line("\n## trajectories.parquet\n\nRows are in the order of the sweep, then of the quantities, then of the steps. Cells that recorded nothing have none. `grposim report DIR --trajectories FILE` writes the same columns and rows as CSV, cell by cell from the journal, for programs that do not read Parquet; a sweep does not, because the text is several times as large.")
	table(store.TrajectoryColumns...)
	line("\nThe quantities:")
	table(QuantityColumns...)
	line("\nQuantities of the snapshot (clip_fraction, effective_sample_size, importance_ratio_max) are of the recorded step, but for blocks of K > 1 steps. These are recorded at their refreshes, where the snapshot is the policy; so there they are of all steps after the previous recorded one, up to the recorded one: the mean of clip_fraction and of effective_sample_size, the largest importance_ratio_max, as at most 1e300. `Q_time_mean` then counts a record for these steps. A check of clip_fraction compares the same mean; `predict --path` has the values of single steps.\n\nThese where `run.record` names them:")
	table(ownColumns...)
	line("\nThe file's key-value metadata hold three JSON texts: `grposim.cells`, a list of the cells, each with cell, label, variant, seed and parameters (by dotted key, as in cells.csv); `grposim.columns` and `grposim.quantities`, the two tables above.")
	line("\n## map-X-Y.csv\n\nWith `--quantity QUANTITY` the name is `map-X-Y-QUANTITY.csv`.")
	table(mapDocs...)
	line("\nThe quantity is a recorded one, Q, at the last step the mean over the replicas, or one of the following, which without Q are of expected_reward: `time_to_95`, `samples_to_95`, `time_to_level`, `samples_to_level`.")
	table(forms()...)
	line("\n## map-X.csv\n\nWhat `grposim map` without `--y` wrote: a row per cell. Without `--x` too it is map-cells.csv. After these columns come that of the parameter X and, for each QUANTITY that `--quantity` names, QUANTITY, QUANTITY_lo and QUANTITY_hi; a time has no interval.")
	table(keyMapDocs...)
	line("\n## verdicts.json\n\n`name`, the name of the experiment or suite; `summary`; `statements`, the statements of the paper that the verdicts decide ([paper.md](paper.md)), if any; `verdicts`, in the order of the checks. What is NaN, infinite or nil below is null. A verdict:")
	fields("verdict.go", "Verdict")
	line("\nA control:")
	fields("verdict.go", "ControlVerdict")
	line("\nThe summary:")
	fields("verdict.go", "Summary")
	line("\nverdicts.md has the same verdicts as a table, with rounded numbers.")
	line("\n## cells.jsonl\n\nA line is `{\"sha256\": …, \"cell\": {…}}`, with the sha256 of the text of the cell. A cell:")
	fields("store/outcome.go", "Outcome")
	line("\nAn estimate:")
	fields("store/outcome.go", "NamedEstimate")
	line("\n`trajectory`, the last field of a cell that recorded one, has `steps` and `quantities`, each with `quantity`, `mean`, `stderr` and `quantiles` at 5, 25, 50, 75 and 95 %%.")
	line("\n## manifest.json")
	fields("store/manifest.go", "Manifest")
	line("\n`run`:")
	fields("store/runinfo.go", "RunInfo")
	return b.Bytes()
}

// Units and ranges of columns that only the dictionary has.
const (
	reward2  = "reward²"
	logit2   = "logit²"
	perStep  = "1/optimizer step"
	force2   = "force²"
	perForce = "logit/force"
	atMost1  = "≤ 1"
)

// identityDocs describe the first columns of a table of one row per cell. The
// parameters follow, in the order of config.Keys.
var identityDocs = []store.Column{
	{Name: "cell", Doc: "Id of the cell: the sha256, in hexadecimal digits, of everything that decides its measurement. Rows of two variants can share it."},
	{Name: "label", Doc: "Name of the cell for people: its variant and its values of the swept keys. Empty for the only cell of a file."},
	{Name: "variant", Doc: "Name of the variant; empty in a file without variants."},
}

// statusDocs describe what follows the parameters in cells.csv.
var statusDocs = []store.Column{
	{Name: "status", Doc: "Whether the cell could be measured: `ok`; `diverged`, at least one replica left the range of floating point; `overflow`, no replica did, but an estimate, which is missing; `no-fixed-point`, it starts at a fixed point and the theory finds none, so it was not simulated."},
	{Name: "interval_confidence", Doc: "Confidence of every interval of the row: 1 − (1 − c)/n, c the `confidence` of the configuration and n the number of its verdicts, at least 1.", Unit: pureRatio, Range: "0 to 1, exclusive"},
}

// predictionDocs describe the columns of predictions.csv after the parameters.
var predictionDocs = []store.Column{
	{Name: "fixed_point_expected_reward", Doc: "J at the fixed point.", Unit: ofReward, Range: anyReal},
	{Name: "expected_reward_shift", Doc: "Shift of the mean of J from the fixed point by the noise, to second order.", Unit: ofReward, Range: anyReal},
	{Name: "stiffness_total", Doc: "Stiffness λ of the stiffest mode.", Unit: perLogit, Range: anyReal},
	{Name: "stiffness_fresh", Doc: "Its part λ_f from the current policy; of a network the largest eigenvalue of Λ_f.", Unit: perLogit, Range: anyReal},
	{Name: "stiffness_stale", Doc: "Its part λ_s from the snapshot; of a network λ − λ_f.", Unit: perLogit, Range: anyReal},
	{Name: "stiffness_slowest", Doc: "Stiffness of the slowest mode.", Unit: perLogit, Range: anyReal},
	{Name: "gradient_variance", Doc: "Variance of one step's gradient along the stiffest mode.", Unit: force2, Range: atLeast0},
	{Name: "damping_ratio", Doc: "ζ of the reduced-order model.", Unit: pureRatio, Range: anyReal},
	{Name: "regime", Doc: "Regime of the reduced-order model: `overdamped`, `oscillatory` or `unstable`."},
	{Name: "spectral_radius", Doc: "Largest modulus of a multiplier of the linear dynamics; below 1 is stable.", Unit: pureRatio, Range: atLeast0},
	{Name: "critical_learning_rate", Doc: "Smallest learning rate at which the fixed point is not stable; empty: none was found.", Unit: perForce, Range: atLeast0},
	{Name: "critical_refresh_interval", Doc: "Smallest refresh interval, or delay, at which it is not stable; empty: none was found.", Unit: inSteps, Range: atLeast0},
	{Name: "oscillation_learning_rate", Doc: "Smallest learning rate at which a mode oscillates; empty: none was found.", Unit: perForce, Range: atLeast0},
	{Name: "logit_gap_variance", Doc: "Stationary variance of z by the linear dynamics; two arms.", Unit: logit2, Range: atLeast0},
	{Name: "expected_reward_variance", Doc: "Stationary variance of J by the linear dynamics, to first order in the noise; of a network that of a run along its slide; `grposim predict`, advice and verdicts have it to second order.", Unit: reward2, Range: atLeast0},
	{Name: "expected_reward_variance_leading_order", Doc: "The same by the reduced-order model; of a network the law of the fixed point where the run starts.", Unit: reward2, Range: atLeast0},
	{Name: "expected_reward_variance_paper_rule", Doc: "The same by the paper's D/(GCK) at paper_stiffness.", Unit: reward2, Range: atLeast0},
	{Name: "zero_variance_fraction", Doc: "Share of groups whose rewards are all equal.", Unit: pureRatio, Range: zeroToOne},
	{Name: "scope", Doc: "`in`, or why the theory predicts no stationary state here."},
	{Name: "neglected_expected_reward", Doc: "Predicted size of what the theory of the mean of J neglects.", Unit: ofReward, Range: atLeast0},
	{Name: "neglected_expected_reward_variance", Doc: "The same of the variance of J.", Unit: reward2, Range: atLeast0},
	{Name: "neglected_zero_variance_fraction", Doc: "The same of the share of groups with equal rewards.", Unit: pureRatio, Range: atLeast0},
	{Name: "paper_stiffness", Doc: "The stiffness K as the paper measures it, which its formulas use.", Unit: perLogit, Range: anyReal},
	{Name: "expected_reward_variance_rule_at_stiffness", Doc: "The paper's D/(GCK) at λ of the stiffest mode.", Unit: reward2, Range: atLeast0},
}

// mapDocs describe the columns of map-X-Y.csv.
var mapDocs = []store.Column{
	{Name: "kind", Doc: "`cell`: the row is a simulated cell; `boundary`: a point of a predicted boundary."},
	{Name: "variant", Doc: "Name of the variant; empty in a file without variants."},
	{Name: "X", Doc: "Value of the parameter on the horizontal axis; the column has its name.", Unit: "of the parameter", Range: "of the parameter"},
	{Name: "Y", Doc: "Value of the parameter on the vertical axis; the column has its name.", Unit: "of the parameter", Range: "of the parameter"},
	{Name: "cell", Doc: "Id of the cell."},
	{Name: "class", Doc: "Shape of the cell's mean reward over steps: `monotone`, `overshooting`, `oscillatory`, `sustained`, `locked`, `diverged`, `at rest` or `unresolved` (its error is unknown or too large to tell); empty where nothing was recorded."},
	{Name: "regime", Doc: "Regime of the linear dynamics: `overdamped`, `oscillatory` or `unstable`."},
	{Name: "spectral_radius", Doc: "Largest modulus of a multiplier of the linear dynamics; from 1 on unstable.", Unit: pureRatio, Range: atLeast0},
	{Name: "rule", Doc: "Learning rate over the one at which ηλK = 1 − μ; from 1 on unstable by the paper's rule.", Unit: pureRatio, Range: atLeast0},
	{Name: "damping_ratio", Doc: "ζ of the reduced-order model.", Unit: pureRatio, Range: anyReal},
	{Name: "onset_learning_rate", Doc: "Smallest learning rate at which a mode oscillates.", Unit: perForce, Range: atLeast0},
	{Name: "value", Doc: "Value of the quantity that `--quantity` names; empty without it, and where the cell has none.", Unit: "of the quantity", Range: "of the quantity"},
	{Name: "curve", Doc: "Name of the boundary that the point lies on."},
	{Name: "line", Doc: "Number of the line of that boundary, from 1; points of a line are in order.", Range: "integer ≥ 1"},
}

// keyMapDocs describe the first columns of map-X.csv.
var keyMapDocs = []store.Column{
	{Name: "variant", Doc: "Name of the variant; empty in a file without variants."},
	{Name: "label", Doc: "Label of the cell, as in cells.csv."},
	{Name: "cell", Doc: "Id of the cell."},
	{Name: "class", Doc: "Shape of the cell's mean reward over steps, as in map-X-Y.csv."},
}

// leadingName is the beginning of a doc comment of a field.
var leadingName = regexp.MustCompile(`^\w+ (is|are|says) `)

// structFields returns the JSON fields of a struct with their comments.
func structFields(t *testing.T, file, name string) []store.Column {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	object := parsed.Scope.Lookup(name)
	if object == nil {
		t.Fatalf("%s has no %s", file, name)
	}
	var columns []store.Column
	for _, f := range object.Decl.(*ast.TypeSpec).Type.(*ast.StructType).Fields.List {
		if f.Tag == nil {
			continue
		}
		key, _, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
		doc := strings.Join(strings.Fields(f.Doc.Text()+f.Comment.Text()), " ")
		if key == "-" {
			continue
		}
		if f.Doc != nil { // begins with the name of the field
			doc = leadingName.ReplaceAllString(doc, "")
		}
		columns = append(columns, store.Column{Name: key, Doc: doc})
	}
	return columns
}

// parameterColumn describes the column of a key.
func parameterColumn(k config.Key) store.Column {
	return store.Column{Name: k.Path, Doc: k.Doc, Unit: k.Unit, Range: k.Want()}
}

// estimateColumns returns the estimates of cells.csv. Each NAME is followed by NAME_lo and
// NAME_hi, the ends of its interval.
func estimateColumns() []store.Column {
	columns := []store.Column{
		{Name: sim.ExpectedRewardMean, Doc: "Mean of the expected reward J = Σ π_a m_a over replicas and the steps after the burn-in.", Unit: ofReward, Range: anyReal},
		{Name: sim.ExpectedRewardVariance, Doc: "Variance of J over replicas and the steps after the burn-in.", Unit: reward2, Range: atLeast0},
		{Name: sim.ZeroVarianceShare, Doc: "Share of groups whose rewards are all equal, after the burn-in; 0 at G = ∞.", Unit: pureRatio, Range: zeroToOne},
		{Name: sim.LogitGapMean, Doc: "Mean of the logit gap z = θ_1 − θ_0 over replicas and the steps after the burn-in; two arms.", Unit: ofLogit, Range: anyReal},
		{Name: sim.LogitGapVariance, Doc: "Variance of z over replicas and the steps after the burn-in; two arms.", Unit: logit2, Range: atLeast0},
		{Name: stiffnessTotal, Doc: "Stiffness λ of the stiffest mode at the fixed point: the restoring force per displacement of current policy and snapshot.", Unit: perLogit, Range: anyReal},
		{Name: stiffnessFresh, Doc: "Its part λ_f from the current policy.", Unit: perLogit, Range: anyReal},
		{Name: stiffnessStale, Doc: "Its part λ_s from the snapshot.", Unit: perLogit, Range: anyReal},
		{Name: stiffnessSlowest, Doc: "Stiffness of the slowest mode; more than two arms.", Unit: perLogit, Range: anyReal},
		{Name: sim.RelaxationRate, Doc: "Rate at which a small displacement from the fixed point decays; negative: growth.", Unit: perStep, Range: anyReal},
		{Name: sim.DampingRatio, Doc: "Damping ratio ζ of the two dominant multipliers.", Unit: pureRatio, Range: anyReal},
		{Name: sim.LocatedLow, Doc: "Search for an event in η or K: the last value certainly without it.", Unit: "of the parameter", Range: atLeast0},
		{Name: sim.LocatedHigh, Doc: "The first value certainly with the event; empty if there is none up to located_to.", Unit: "of the parameter", Range: atLeast0},
		{Name: sim.LocatedEnd, Doc: "The last value to be tried.", Unit: "of the parameter", Range: atLeast0},
		{Name: sim.SaturationRate, Doc: "Rate of the exponential a − b e^{−rate·t} fitted to the mean of J.", Unit: perStep, Range: "> 0"},
		{Name: sim.SaturationR2, Doc: "R² of that fit.", Unit: pureRatio, Range: zeroToOne},
		{Name: sim.EarlySlope, Doc: "The paper's stiffness K, from the slope of −log(J_end − J) over the first 100 steps.", Unit: perLogit, Range: anyReal},
	}
	for _, l := range measure.Laws {
		law := string(l)
		columns = append(columns,
			store.Column{Name: sim.LoggedR2(l), Doc: "R² of the " + law + " law fitted to the logged reward, mean over pairs of replicas.", Unit: pureRatio, Range: atMost1},
			store.Column{Name: sim.LoggedLead(l), Doc: "By how much the R² of the critically damped law exceeds that of the " + law + " law.", Unit: pureRatio, Range: anyReal},
			store.Column{Name: sim.LoggedGain(l), Doc: "Error of persistence over that of the forecast by the " + law + " law from the first 30 % of the log; above 1 the law is better.", Unit: pureRatio, Range: atLeast0},
			store.Column{Name: sim.LoggedPlateau(l), Doc: "Share of pairs of replicas in which that forecast finds the plateau within a fifth of the rise.", Unit: pureRatio, Range: zeroToOne})
	}
	for _, m := range diagnose.Modes {
		columns = append(columns,
			store.Column{Name: namedShare(m), Doc: "Share of replicas whose failure mode is diagnosed as " + string(m) + ".", Unit: pureRatio, Range: zeroToOne},
			store.Column{Name: paperNamedShare(m), Doc: "The same by the paper's diagnostics.", Unit: pureRatio, Range: zeroToOne})
	}
	return columns
}
