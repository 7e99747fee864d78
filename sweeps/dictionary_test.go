package sweeps

import (
	"fmt"
	"path/filepath"
	"testing"

	"grposim/sim"
	"grposim/sweeps/config"
)

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
	add("predictions.csv", names(predictionDocs())...)
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
