package sweeps

import (
	"regexp"
	"strconv"
	"strings"

	"grposim/grpo"
)

// withoutVariant names a cell inside a picture of its own variant, its numbers
// to four digits.
func withoutVariant(label, variant string) string {
	return longNumber.ReplaceAllStringFunc(strings.TrimSpace(strings.TrimPrefix(label, variant)), func(text string) string {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return text
		}
		return strconv.FormatFloat(x, 'g', 4, 64)
	})
}

var longNumber = regexp.MustCompile(`[0-9]+\.[0-9]{5,}`)

// parameterName is a parameter in words, its dotted key where it has none.
func parameterName(param string, s *Settings) string {
	switch param {
	case "grpo.group_size":
		return "group size G"
	case "grpo.groups_per_step":
		return "groups per step B"
	case "grpo.kl.coefficient":
		return "KL coefficient β"
	case "lag.interval":
		if s.Lag.Kind == grpo.Delay {
			return "delay K"
		}
		return "refresh interval K"
	case "optimizer.learning_rate":
		return "learning rate η"
	case "optimizer.momentum":
		return "momentum μ"
	}
	return param
}

// axisLabel is a parameter's name with its unit.
func axisLabel(param string, s *Settings) string {
	name := parameterName(param, s)
	if param == "lag.interval" {
		name += ", optimizer steps"
	}
	return name
}
