package logs

import (
	"bufio"
	"bytes"
	"hash/crc32"
	"io"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

var wandbFormat = format{
	container: WandbRun,
	docs: [][2]string{{"the file of a run of W&B",
		"`run-ID.wandb`, which W&B keeps in `wandb/run-DATE-ID`, offline too; or the folder with it"}},
	begins: hasMagic(wandbMagic),
	read:   func(c *collector, in *input) error { return readWandb(c, in.Reader) },
}

// W&B keeps a run on the disk in wandb/run-DATE-ID/run-ID.wandb: a log in the format of LevelDB of
// protobuf messages Record. See github.com/wandb/wandb, wandb/sdk/internal/datastore.py and
// wandb/proto/wandb_internal.proto. The log consists of blocks. A fragment of a message has a
// checksum (4 bytes), its length (2), its kind (1) and its data. It never extends over the end of a
// block.
const (
	wandbMagic    = ":W&B\xe1\xbe\x00" // with the version
	wandbBlock    = 32 << 10
	fragmentHead  = 4 + 2 + 1
	fullFragment  = 1 // the whole message
	firstFragment = 2 // others: 3 of the middle, 4 the last
	lastFragment  = 4
)

// Fields of the messages Record, HistoryRecord, HistoryStep and HistoryItem.
const (
	recordHistory                   = 2
	historyItem, historyStep        = 1, 2
	stepNumber                      = 1
	itemKey, itemNested, itemNumber = 1, 2, 16
)

// readWandb reads the file of a run of W&B. A message that is not complete is left out, the last
// of a running trainer, and all after a wrong checksum.
func readWandb(c *collector, r *bufio.Reader) error {
	c.container = WandbRun
	defer c.wantValues()
	at, err := r.Discard(len(wandbMagic))
	var message []byte
	var head [fragmentHead]byte
	data := make([]byte, wandbBlock)
	for err == nil {
		if left := wandbBlock - at%wandbBlock; left < fragmentHead { // padding
			n, _ := r.Discard(left)
			at += n
		}
		if _, err = io.ReadFull(r, head[:]); err != nil {
			break
		}
		sum, _ := protowire.ConsumeFixed32(head[:])
		length, kind := int(head[4])|int(head[5])<<8, head[6]
		whole := length <= wandbBlock-at%wandbBlock-fragmentHead
		if whole {
			if _, err = io.ReadFull(r, data[:length]); err != nil {
				err = io.ErrUnexpectedEOF
				break
			}
		}
		if !whole || crc32.Update(crc32.ChecksumIEEE(head[6:]), crc32.IEEETable, data[:length]) != sum {
			c.note("Damaged at byte %d, read as far as there.", at)
			return nil
		}
		at += fragmentHead + length
		if kind == fullFragment || kind == firstFragment {
			message = message[:0]
		}
		if len(message) <= longEvent { // a longer message holds no row
			message = append(message, data[:length]...)
		}
		if (kind == fullFragment || kind == lastFragment) && len(message) <= longEvent {
			readWandbRecord(c, message)
		}
	}
	if err == io.ErrUnexpectedEOF {
		c.note("The last record is not complete and was left out.")
		err = nil
	}
	return unlessEnd(err)
}

// readWandbRecord adds the row of a Record, if it has one.
func readWandbRecord(c *collector, message []byte) {
	record, _ := fields(message)
	for _, f := range record {
		if f.number != recordHistory {
			continue
		}
		history, _ := fields(f.bytes)
		for _, g := range history {
			inner, _ := fields(g.bytes)
			switch g.number {
			case historyItem:
				readWandbItem(c, inner)
			case historyStep:
				if step := last(inner, stepNumber); step.number == stepNumber {
					setNumber(c, "_step", float64(int64(step.bits)))
				}
			}
		}
		c.endRow(0)
	}
}

// readWandbItem sets the number of an item, if it has one.
func readWandbItem(c *collector, item []field) {
	var path []string
	for _, f := range item {
		if (f.number == itemKey || f.number == itemNested) && len(f.bytes) > 0 {
			path = append(path, string(f.bytes))
		}
	}
	text := bytes.Trim(last(item, itemNumber).bytes, `"`) // NaN and Infinity can be quoted
	if x, has, ok := number(text); has && ok {
		setNumber(c, strings.Join(path, "/"), x)
	}
}

// setNumber adds a number to the row that is being read.
func setNumber(c *collector, key string, x float64) {
	if s := c.seriesOf(0, []byte(key)); s != nil {
		c.cells = append(c.cells, cell{s, x})
	}
}
