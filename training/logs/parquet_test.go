package logs

import (
	"bytes"
	"encoding/binary"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// historyRow is a row of the history of a run of W&B.
type historyRow struct {
	Step   int64     `parquet:"_step"`
	Reward *float64  `parquet:"train/reward,optional"`
	Norm   string    `parquet:"train/grad_norm,dict"` // W&B writes NaN as text
	Clip   float32   `parquet:"train/clip_ratio/region_mean"`
	Beta   bool      `parquet:"beta"`
	Tokens []float64 `parquet:"train/kl,list"` // a list holds no series
	Text   string    `parquet:"train/completion"`
}

// history is a Parquet file of 700 rows in groups of 300, with a reward in every second.
func history(t testing.TB) []byte {
	t.Helper()
	var rows []historyRow
	for i := range 700 {
		row := historyRow{Step: int64(i), Norm: "0.5", Clip: 0.25, Tokens: []float64{1, 2}, Text: "x"}
		if i%2 == 0 {
			reward := float64(i) / 700
			row.Reward = &reward
		}
		if i == 6 {
			row.Norm = "NaN"
		}
		rows = append(rows, row)
	}
	var file bytes.Buffer
	err := parquet.Write(&file, rows, parquet.MaxRowsPerRowGroup(300), parquet.Compression(&parquet.Snappy))
	if err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// The flat columns of a Parquet file are read, from the disk and from a pipe.
func TestParquet(t *testing.T) {
	data := history(t)
	dir := writeFiles(t, map[string][]byte{"history.parquet": data})
	opened, err := Open(filepath.Join(dir, "history.parquet"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []*Log{opened, readText(t, string(data))} {
		reward, _ := l.Column(Reward)
		norm, _ := l.Column(GradNorm)
		clip, _ := l.Column(ClipAny)
		_, hasKL := l.Column(KLRef)
		if len(l.Steps) != 700 || l.Steps[699] != 699 || l.Format.Container != Parquet || hasKL ||
			reward.Values[698] != 698./700 || !math.IsNaN(reward.Values[699]) || norm.Values[699] != 0.5 ||
			!slices.Equal(norm.NotFinite, []int{6}) || clip.Values[0] != 0.25 {
			t.Errorf("got %s, %d steps, reward %v, norm %v, KL %v",
				l.Format, len(l.Steps), reward.Values[690:], norm.NotFinite, hasKL)
		}
	}
}

// A Parquet file that is cut or changed anywhere gives a log or an error.
func TestDamagedParquet(t *testing.T) {
	data := history(t)
	for _, cut := range []int{4, 8, 11, 12, len(data) / 2, len(data) - 1} {
		wantError(t, string(data[:cut]), "cannot be read")
	}
	for _, footer := range [][]byte{
		binary.AppendUvarint([]byte{0x29, 0xfc}, 1<<31-1),                  // field 2, a list of 2^31
		append([]byte{0x29}, bytes.Repeat([]byte{0x19}, longFooter/64)...), // a list of a list of …
	} {
		short := binary.LittleEndian.AppendUint32(append([]byte("PAR1"), footer...), uint32(len(footer)))
		wantError(t, string(short)+"PAR1", "a damaged footer")
	}
	footer := len(data) - 1500
	for i := range data {
		if i > 64 && i < footer && i%997 != 0 || i >= footer && i%4 != 0 {
			continue
		}
		changed := slices.Clone(data)
		changed[i] ^= 0x80
		_, _ = Read(bytes.NewReader(changed), "f", Options{}) // must return
	}
}

// Numbers of every type but decimals are as written; a codec that is not read rightly is refused.
func TestParquetTypes(t *testing.T) {
	type row struct {
		Step   uint32   `parquet:"step"`
		Reward float32  `parquet:"reward"`
		KL     [16]byte `parquet:"kl,decimal(2:38)"`
		Norm   int64    `parquet:"grad_norm"`
	}
	write := func(options ...parquet.WriterOption) string {
		file := filepath.Join(t.TempDir(), "types.parquet")
		if err := parquet.WriteFile(file, []row{{1, 0.5, [16]byte{15: 4}, 7}, {Step: 2, Reward: -0.25, Norm: 3}}, options...); err != nil {
			t.Fatal(err)
		}
		return file
	}
	l, err := Open(write(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	wantRows(t, "types", l, "[1 2] [0.5 -0.25] [7 3]", GradNorm)
	if !slices.Contains(l.Notes, `1 column not understood: "kl".`) {
		t.Errorf("a decimal is not noted: %q", l.Notes)
	}
	_, err = Open(write(parquet.Compression(&parquet.Lz4Raw)), Options{})
	wantWords(t, "LZ4_RAW", err, "LZ4_RAW")
}
