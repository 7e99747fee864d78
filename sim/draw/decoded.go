package draw

// decoded is a table of the first bits of the numbers of all lanes, in pairs of bits. For each pair
// and value it has the lanes whose pair is below the value, and those whose pair equals it. The
// number of expansions compared with it is not limited.
type decoded [firstBits / 2][4]struct{ below, equal uint64 }

// set sets the table from the first bits of the lanes.
func (d *decoded) set(b *[firstBits]uint64) {
	for i := range d {
		high, low := b[2*i], b[2*i+1]
		d[i][0].below, d[i][0].equal = 0, ^(high | low)
		d[i][1].below, d[i][1].equal = ^(high | low), low&^high
		d[i][2].below, d[i][2].equal = ^high, high&^low
		d[i][3].below, d[i][3].equal = ^(high & low), high&low
	}
}

// compareFour compares two pairs of bits, number pair and the next, with the first four bits of
// rest. It returns the lanes that are below them and the lanes that equal them.
func (d *decoded) compareFour(pair int, rest uint64) (below, equal uint64) {
	high, low := &d[pair][rest>>62], &d[pair+1][rest>>60&3]
	return high.below | high.equal&low.below, high.equal & low.equal
}
