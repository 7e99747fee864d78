package config

// looksKey is the top-level key of Spec.Looks.
const looksKey = "looks"

// lookShare is the range of a share of run.replicas, lookWant in words.
var lookShare = Range{Low: 0, High: 10, LowOpen: true}

const lookWant = "a number in (0, 10]"

// replicasOnly reports whether only the replicas of the run decide the claim.
func (c *Claim) replicasOnly() bool {
	return !c.Has(NeedsDisplacement) && !c.Has(NeedsOffset) && !c.Has(NeedsLocation)
}

// decodeLooks decodes Spec.Looks. The checks are decoded.
func (l *loader) decodeLooks(n *node) {
	if n.kind != list || len(n.items) < 2 {
		l.want(n, looksKey, "a list of at least 2 numbers")
		return
	}
	for _, item := range n.items {
		x, ok := l.number(item, looksKey, lookShare, lookWant)
		if last := len(l.spec.Looks) - 1; ok && last >= 0 && x <= l.spec.Looks[last] {
			l.want(item, looksKey, "more than the share before it")
		}
		l.spec.Looks = append(l.spec.Looks, x)
	}
	if len(l.spec.Checks) == 0 {
		l.problem(n.at, looksKey, "got a file without checks, want checks that decide when cells stop")
	}
	for i := range l.spec.Checks {
		if c := l.spec.Checks[i].Claim; c != nil && !c.replicasOnly() {
			l.problem(l.checks[i].fields["claim"], looksKey, "got a check of %s, want claims that only the replicas of the run decide: without displacement, offset and locate", c.Name)
		}
	}
}
