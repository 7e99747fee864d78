package draw

// decoded are the first bits of many lanes two by two: for each value of two bits
// which lanes are below it and which have it, to be looked up by any number of
// expansions.
type decoded [firstBits / 2][4]struct{ below, equal uint64 }

// set takes the first bits of the lanes.
func (d *decoded) set(b *[firstBits]uint64) {
	for i := range d {
		high, low := b[2*i], b[2*i+1]
		d[i][0].below, d[i][0].equal = 0, ^(high | low)
		d[i][1].below, d[i][1].equal = ^(high | low), low&^high
		d[i][2].below, d[i][2].equal = ^high, high&^low
		d[i][3].below, d[i][3].equal = ^(high & low), high&low
	}
}

// compareFour compares two pairs of bits, the given one and the next, with the first
// four bits of rest, and returns which lanes are below them and which have them.
func (d *decoded) compareFour(pair int, rest uint64) (below, equal uint64) {
	high, low := &d[pair][rest>>62], &d[pair+1][rest>>60&3]
	return high.below | high.equal&low.below, high.equal & low.equal
}
