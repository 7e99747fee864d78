package logs

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"testing"
)

// wandbFile is the file of a run of W&B with these messages.
func wandbFile(messages ...message) []byte {
	const block = 32768
	file := []byte(":W&B\xe1\xbe\x00")
	fragment := func(kind byte, data []byte) {
		sum := crc32.ChecksumIEEE(append([]byte{kind}, data...))
		file = binary.LittleEndian.AppendUint32(file, sum)
		file = binary.LittleEndian.AppendUint16(file, uint16(len(data)))
		file = append(append(file, kind), data...)
	}
	for _, m := range messages {
		for first := true; first || len(m) > 0; first = false {
			left := block - len(file)%block
			if left < 7 {
				file, left = append(file, make([]byte, left)...), block
			}
			n := min(len(m), left-7)
			switch whole := n == len(m); {
			case first && whole:
				fragment(1, m)
			case first:
				fragment(2, m[:n])
			case whole:
				fragment(4, m)
			default:
				fragment(3, m[:n])
			}
			m = m[n:]
		}
	}
	return file
}

// historyRecord is a record of a row: pairs of a key and its JSON. A step of 0 is left out.
func historyRecord(step int, pairs ...string) message {
	var history message
	for i := 0; i < len(pairs); i += 2 {
		history = history.bytes(1, message(nil).bytes(2, []byte(pairs[i])).bytes(16, []byte(pairs[i+1])))
	}
	number := message(nil)
	if step > 0 {
		number = number.varint(1, uint64(step))
	}
	return message(nil).varint(1, 1).bytes(2, history.bytes(2, number))
}

// The rows of a run of W&B, with messages over several blocks between them.
func TestWandbRun(t *testing.T) {
	messages := []message{message(nil).bytes(17, []byte("run"))}
	for i := range 300 {
		norm := "0.5"
		if i == 7 {
			norm = `"NaN"`
		}
		messages = append(messages,
			historyRecord(2*i, "train/global_step", fmt.Sprint(i+1), "train/grad_norm", norm, "note", `"x"`,
				"train/reward", fmt.Sprint(float64(i)/300), "train/kl", `{"_type": "histogram"}`),
			historyRecord(2*i+1, "other", "1"),
			message(nil).bytes(4, make([]byte, 997*i)))
	}
	file := wandbFile(messages...)
	l := readText(t, string(file))
	reward, _ := l.Column(Reward)
	norm, _ := l.Column(GradNorm)
	if len(l.Steps) != 300 || l.Steps[299] != 300 || reward.Values[299] != 299./300 ||
		!slices.Equal(norm.NotFinite, []int{7}) || math.IsNaN(norm.Values[8]) || len(l.Notes) != 2 {
		t.Errorf("got %d steps, %v, %v, notes %q", len(l.Steps), reward.Values, norm.NotFinite, l.Notes)
	}
	dir := writeFiles(t, map[string][]byte{"wandb/run-1-a/run-a.wandb": file})
	if l, err := Open(dir, Options{}); err != nil || l.Run != "wandb/run-1-a" || len(l.Steps) != 300 {
		t.Errorf("of a folder: %v, %v", l, err)
	}
	file = wandbFile(historyRecord(0, "reward", "0.5"), historyRecord(1, "reward", "0.75"))
	first := len(wandbFile(historyRecord(0, "reward", "0.5")))
	for cut := first + 1; cut < len(file); cut++ {
		l := readText(t, string(file[:cut]))
		wantRows(t, fmt.Sprint("cut at ", cut), l, "[0] [0.5]")
		wantNotes(t, fmt.Sprint("cut at ", cut), l, "The last record is not complete and was left out.")
	}
	for i := first; i < len(file); i++ {
		changed := slices.Clone(file)
		changed[i] ^= 0x10
		if l := readText(t, string(changed)); len(l.Steps) != 1 || len(l.Notes) < 2 {
			t.Errorf("byte %d changed: %v", i, l)
		}
	}
}
