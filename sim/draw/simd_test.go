//go:build goexperiment.simd && amd64 && !go1.27

package draw

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"simd/archsimd"
)

// policies returns eight random policies of the given number of arms, some with arms of
// probability 0 or 1, and the policy of each stream.
func policies(random *rand.Rand, arms int) (vectors [][Width]float64, each [Width][]float64) {
	vectors = make([][Width]float64, arms)
	for i := range each {
		each[i] = make([]float64, arms)
		sum, sure := 0., random.IntN(5) == 0
		for a := range each[i] {
			if !sure || a == i%arms {
				each[i][a] = [...]float64{0, random.Float64(), random.Float64() * 0x1p-30}[random.IntN(3)] + 1e-300
			}
			sum += each[i][a]
		}
		for a := range each[i] {
			each[i][a] /= sum
			vectors[a][i] = each[i][a]
		}
	}
	return vectors, each
}

// A stream of Packs gives the draws of a Pack from the same words. One of Counts gives those of a
// BinomialLaw or a Multinomial with BinomialTables.
func TestVectorsDrawAsScalars(t *testing.T) {
	if !archsimd.X86.AVX512() {
		t.Skip("this processor has no AVX-512")
	}
	random := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		arms := 2 + random.IntN(9)
		means := make([]float64, arms)
		for a := range means {
			means[a] = [...]float64{0, 0.5, 1, random.Float64()}[random.IntN(4)]
		}
		size := [...]int{3, 16, 17, 64, 65, 150, 1000, 5000}[random.IntN(8)]
		var tables []*BinomialTable
		if random.IntN(2) == 0 {
			for _, mean := range means {
				tables = append(tables, NewBinomialTable(size, mean))
			}
		}
		streams := new(Streams)
		packs, counts := NewPacks(streams, arms, means), NewCounts(streams, size, arms, means, tables)
		var readers [Width]*Words
		for i := range readers {
			source := Xoshiro{random.Uint64(), random.Uint64(), random.Uint64(), random.Uint64()}
			streams.Start(i, &source)
			readers[i] = NewWords(&source)
		}
		for draw := range 40 {
			vectors, each := policies(random, arms)
			var got [][]uint64 // by arm: samples and successes, of each stream
			inPacks := size <= MaxLanes && random.IntN(2) == 0
			if inPacks {
				packs.Aim(vectors)
				packs.Draw(size)
				for a := range means {
					got = append(got, packs.Arms[a][:])
				}
				got = append(got, packs.Rewarded[:])
			} else {
				counts.Aim(vectors)
				counts.Draw()
				for a := range means {
					got = append(got, counts.Arms[a][:], counts.Successes[a][:])
				}
			}
			for i, w := range readers {
				var want []uint64
				if inPacks {
					p := NewPack(arms, means)
					p.Aim(each[i])
					p.Draw(w, size)
					want = append(append(want, p.Arms...), p.Rewarded)
				} else {
					n := make([]int, arms)
					if arms == 2 {
						n[0] = Binomial(w, size, each[i][0])
						n[1] = size - n[0]
					} else {
						multinomial(n, w, size, each[i])
					}
					for a, n := range n {
						k := 0
						if tables != nil {
							k = tables[a].Draw(w, n)
						} else {
							k = Binomial(w, n, means[a])
						}
						want = append(want, uint64(n), uint64(k))
					}
				}
				for j := range want {
					if got[j][i] != want[j] {
						t.Fatalf("%d arms, %d samples, packs %v, draw %d, stream %d: row %d is %#x, want %#x; policy %v, means %v",
							arms, size, inPacks, draw, i, j, got[j][i], want[j], each[i], means)
					}
				}
			}
		}
	}
}

// A stream of Informatives gives the groups of Informative from the same words.
func TestInformativesDrawAsScalars(t *testing.T) {
	if !archsimd.X86.AVX512() {
		t.Skip("this processor has no AVX-512")
	}
	random := rand.New(rand.NewPCG(11, 12))
	for range 300 {
		arms, size := 2+random.IntN(9), [...]int{2, 3, 16, 64, 65, 150, 1000}[random.IntN(7)]
		means := make([]float64, arms)
		for a := range means {
			means[a] = [...]float64{0, 0.5, 1, random.Float64()}[random.IntN(4)]
		}
		streams := new(Streams)
		x, scalar := NewInformatives(streams, size, means), NewInformative(size, means)
		var readers [Width]*Words
		for i := range readers {
			source := Xoshiro{random.Uint64(), random.Uint64(), random.Uint64(), random.Uint64()}
			streams.Start(i, &source)
			readers[i] = NewWords(&source)
		}
		var vectors [][Width]float64
		var each [Width][]float64
		for draw := range 40 {
			if draw%3 == 0 {
				vectors, each = policies(random, arms)
				x.Aim(vectors)
			}
			wanted := uint8(random.Uint32())
			rewarded, where := x.Draw(archsimd.Mask64x8FromBits(wanted))
			drawn := where.ToBits()
			var totals Vector
			rewarded.Store(&totals)
			for i, w := range readers {
				if wanted>>i&1 == 0 {
					continue
				}
				counts, successes, total := make([]int, arms), make([]int, arms), 0
				if ok := scalar.Draw(w, each[i], counts, successes); ok != (drawn>>i&1 != 0) {
					t.Fatalf("stream %d: drawn is %v, want %v; policy %v, means %v", i, !ok, ok, each[i], means)
				} else if !ok {
					continue
				}
				for a := range means {
					total += successes[a]
					if x.Samples[a][i] != uint64(counts[a]) || x.Successes[a][i] != uint64(successes[a]) {
						t.Fatalf("size %d, stream %d, arm %d: %d samples, %d rewarded, want %d, %d; policy %v, means %v",
							size, i, a, x.Samples[a][i], x.Successes[a][i], counts[a], successes[a], each[i], means)
					}
				}
				if totals[i] != uint64(total) {
					t.Fatalf("stream %d: %d rewarded, want %d", i, totals[i], total)
				}
			}
		}
	}
}

// Chances gives the bits of Informative.Chance.
func TestChancesAsScalars(t *testing.T) {
	if !archsimd.X86.AVX512() {
		t.Skip("this processor has no AVX-512")
	}
	random := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		size, means := 2+random.IntN(70), []float64{random.Float64(), random.Float64()}
		vectors, each := policies(random, 2)
		all := make([][Width]float64, 2)
		for a, m := range means {
			archsimd.BroadcastFloat64x8(m).Store(&all[a])
		}
		var got [Width]float64
		Chances(size, vectors, all).Store(&got)
		for i, probs := range each {
			if want := NewInformative(size, means).Chance(probs); got[i] != want {
				t.Fatalf("size %d, policy %v, means %v: got %v, want %v", size, probs, means, got[i], want)
			}
		}
	}
}

// The bits of vector elements are counted with and without the processor's instruction.
func TestOnesCount(t *testing.T) {
	if !archsimd.X86.AVX512() {
		t.Skip("this processor has no AVX-512")
	}
	random := rand.New(rand.NewPCG(9, 10))
	for range 1000 {
		var x, y, z Vector
		for i := range x {
			x[i] = [...]uint64{0, ^uint64(0), random.Uint64(), random.Uint64() & random.Uint64() & random.Uint64()}[random.IntN(4)]
		}
		v := archsimd.LoadUint64x8(&x)
		OnesCount(v).Store(&y)
		onesCountByTable(v).Store(&z)
		for i := range x {
			if want := uint64(bits.OnesCount64(x[i])); y[i] != want || z[i] != want {
				t.Fatalf("%#x has %d and %d bits, want %d", x[i], y[i], z[i], want)
			}
		}
	}
}
