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

// compare does what compareFirst does.
func (d *decoded) compare(mask, rest uint64) (below, undecided uint64) {
	first, second, third, fourth := &d[0][rest>>62], &d[1][rest>>60&3], &d[2][rest>>58&3], &d[3][rest>>56&3]
	below = first.below | first.equal&(second.below|second.equal&(third.below|third.equal&fourth.below))
	return mask & below, mask & first.equal & second.equal & third.equal & fourth.equal
}
