package findings

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"

	"grposim/training/logs"
)

// Row is a row of the table of findings: what users see of a kind, what it is, and how it is
// found.
type Row struct {
	Kind    Kind
	See     string          // what people see
	Is      string          // what it is
	Next    string          // what to do
	Threads []string        // public reports of it with answers, OWNER/NAME#NUMBER on GitHub
	Mild    bool            // its remarks too say what to do
	From    []logs.Quantity // quantities of which one at least must be recorded

	find func(*logs.Log) []Finding // nothing where the log does not state it; Kind is set by Of
}

// tableFile is the table, causes before their effects. The maintainers of trainers gave the
// advice of its column next to those who reported it.
//
//go:embed table.json
var tableFile []byte

// finders are the functions of the rows.
var finders = map[Kind]func(*logs.Log) []Finding{
	NumericalFailure: numericalFailure,
	NoUpdate:         noUpdate,
	ZeroLoss:         zeroLoss,
	GradientSpike:    gradientSpike,
	Truncation:       truncation,
	LengthChange:     lengthChange,
	SamplerMismatch:  samplerMismatch,
	StaleSamples:     staleSamples,
	KLBlowUp:         klBlowUp,
	EntropyGrowth:    entropyGrowth,
	RewardCollapse:   rewardCollapse,
	ResumeJump:       resumeJump,
	ComponentsApart:  componentsApart,
	NoSignal:         noSignal,
	ConstantReward:   constantReward,
}

// checks is the table. It panics on one that is wrong.
var checks = func() (rows []Row) {
	from := json.NewDecoder(bytes.NewReader(tableFile))
	from.DisallowUnknownFields()
	if err := from.Decode(&rows); err != nil {
		panic(fmt.Sprintf("findings: table.json: %v", err))
	}
	for i := range rows {
		if rows[i].find = finders[rows[i].Kind]; rows[i].find == nil {
			panic(fmt.Sprintf("findings: table.json: no function finds %q", rows[i].Kind))
		}
	}
	return rows
}()

// Table returns the table of findings, causes before their effects.
func Table() []Row { return checks }
