// Package advice answers what a user of a configuration may choose: which learning rates and
// refresh intervals the theory knows to be safe, whether runs arrive from the configuration's own
// start, what lets them arrive if they do not, and one suggestion.
//
//  1. [Advise] asks the theory for the limits at rest, each with its formula and kind.
//  2. [Advice.FromStart] simulates the cell from its start by [Trials]; where runs do not arrive it
//     tries changes, the cures, and says what a run without noise does.
//  3. [Trials.LocateLimits] locates the limits with which runs arrive, if the user asks for it.
//  4. [Advice.Suggest] tries the choices that the limits give, and suggests the first that arrives.
package advice
