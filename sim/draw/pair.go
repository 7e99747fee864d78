package draw

// planes are what the mean rewards of two arms contribute to the first bits of the
// lanes' thresholds: the second arm's bit in every lane, and where the first arm's
// is another.
type planes [firstBits / 4][4]struct{ second, differs uint64 }

func newPlanes(means []mean) *planes {
	p := new(planes)
	for i := range firstBits {
		one, other := topBit(means[0].expansion<<i), topBit(means[1].expansion<<i)
		p[i/4][i%4].second, p[i/4][i%4].differs = other, one^other
	}
	return p
}

// drawPair is drawArms and drawRewards of two arms, neither of them impossible and
// none always rewarded, in a straight line: the same lanes from the same words.
func (p *Pack) drawPair(w *Words, all uint64) {
	rest, undecided := uint64(p.bounds[0].probability)<<1, all
	var first, rewarded uint64
	if all < 1<<narrow {
		for range p.planes {
			b := w.Next()
			first, undecided = compare(first, undecided, b, topBit(rest))
			first, undecided = compare(first, undecided, b>>16, topBit(rest<<1))
			first, undecided = compare(first, undecided, b>>32, topBit(rest<<2))
			first, undecided = compare(first, undecided, b>>48, topBit(rest<<3))
			rest <<= 4
		}
	} else {
		b := w.nextEight()
		first, undecided = compare(first, undecided, b[0], topBit(rest))
		first, undecided = compare(first, undecided, b[1], topBit(rest<<1))
		first, undecided = compare(first, undecided, b[2], topBit(rest<<2))
		first, undecided = compare(first, undecided, b[3], topBit(rest<<3))
		first, undecided = compare(first, undecided, b[4], topBit(rest<<4))
		first, undecided = compare(first, undecided, b[5], topBit(rest<<5))
		first, undecided = compare(first, undecided, b[6], topBit(rest<<6))
		first, undecided = compare(first, undecided, b[7], topBit(rest<<7))
		rest <<= firstBits
	}
	for ; undecided != 0 && rest != 0; rest <<= 1 {
		first, undecided = compare(first, undecided, w.Next(), topBit(rest))
	}

	undecided = all
	if t := p.planes; all < 1<<narrow {
		for i := range t {
			b, t := w.Next(), &t[i]
			rewarded, undecided = compare(rewarded, undecided, b, t[0].second^first&t[0].differs)
			rewarded, undecided = compare(rewarded, undecided, b>>16, t[1].second^first&t[1].differs)
			rewarded, undecided = compare(rewarded, undecided, b>>32, t[2].second^first&t[2].differs)
			rewarded, undecided = compare(rewarded, undecided, b>>48, t[3].second^first&t[3].differs)
		}
	} else {
		b := w.nextEight()
		rewarded, undecided = compare(rewarded, undecided, b[0], t[0][0].second^first&t[0][0].differs)
		rewarded, undecided = compare(rewarded, undecided, b[1], t[0][1].second^first&t[0][1].differs)
		rewarded, undecided = compare(rewarded, undecided, b[2], t[0][2].second^first&t[0][2].differs)
		rewarded, undecided = compare(rewarded, undecided, b[3], t[0][3].second^first&t[0][3].differs)
		rewarded, undecided = compare(rewarded, undecided, b[4], t[1][0].second^first&t[1][0].differs)
		rewarded, undecided = compare(rewarded, undecided, b[5], t[1][1].second^first&t[1][1].differs)
		rewarded, undecided = compare(rewarded, undecided, b[6], t[1][2].second^first&t[1][2].differs)
		rewarded, undecided = compare(rewarded, undecided, b[7], t[1][3].second^first&t[1][3].differs)
	}
	for bit := firstBits; undecided != 0 && bit < 63; bit++ {
		one, other := topBit(p.means[0].expansion<<bit), topBit(p.means[1].expansion<<bit)
		rewarded, undecided = compare(rewarded, undecided, w.Next(), other^first&(one^other))
	}
	p.Arms[0], p.Arms[1], p.Rewarded = first, all&^first, rewarded
}
