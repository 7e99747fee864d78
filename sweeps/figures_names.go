package sweeps

import "grposim/grpo"

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
