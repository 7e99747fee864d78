package config

import (
	"grposim/rom"
	"grposim/sim"
)

// Claims about laws that are fitted to the logged reward of bandits without inertia.
var (
	LawFit = &Claim{
		Name: "law-fit", Per: PerCell,
		Quantity:    "R² of `law` on the logged reward, mean of two runs",
		Needs:       []Need{NeedsLaw, NeedsDistance, NeedsOnPolicy},
		Predictions: []rom.Kind{rom.Exact, rom.PaperRule},
		Fit:         sim.LoggedFit,
		Doc:         "The law fits the log of a run without inertia as well as theory says of the mean-field curve with the noise of sampling; by the paper's rule the critically damped law reaches R² = 0.91 and fits at least as well as any other law.",
		How:         "The logged reward is the mean reward of a step's samples, read at up to 257 steps and averaged over two replicas, as the paper averages two seeds; every such pair is fitted by itself, by least squares in all parameters. With the steps t from 0, s = 1 − e^{−ωt} (exponential), 1 − (1 + ωt)e^{−ωt} (critically damped, the paper's law at ζ = 1 from rest) or 1/(1 + e^{−ω(t − t₀)}) (logistic), J = a + b s has three, three and four free parameters. The exact R² is that of the fit to the mean-field curve, lowered by the variance of the log about it. `paper-rule` is one-sided, without margin: of the critically damped law that R² is at least 0.91, the least that the paper reports on training reward; of another law that the critically damped law has an R² at least as large.",
	}

	LawForecast = &Claim{
		Name: "law-forecast", Per: PerCell,
		Quantity:    "forecast by `law` from the first 30 % of the log: error of persistence over its error; share of pairs with the plateau",
		Needs:       []Need{NeedsLaw, NeedsDistance, NeedsOnPolicy},
		Predictions: []rom.Kind{rom.PaperRule},
		Fit:         sim.LoggedFit,
		Doc:         "Fitted to the first 30 % of a log, the law forecasts the rest with at most twice the error of persistence, and finds the plateau in at least half of the pairs.",
		How:         "The logs and laws are those of `law-fit`. Two one-sided verdicts without margin. The first: the root-mean-square error of persistence, which forecasts the mean of the last 5 % of what is known, is at least half of that of the law. The second: in at least half of the pairs the plateau a + b differs from the mean over the last 5 % of the log by at most a fifth of the rise. The paper fits whole runs and forecasts nothing; the test and its numbers are this project's. There is no exact prediction: a check that expects a failure needs a control, another law.",
	}
)
