package logs

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
	"strings"
)

var wandbFormat = format{
	container: WandbRun,
	begins:    hasMagic(wandbMagic),
	read:      func(c *collector, in *input) error { return readWandb(c, in.Reader) },
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

// The messages with the fields that are read.
type (
	wandbRecord struct {
		protoMessage
		History *wandbHistory `protobuf:"bytes,2,opt,name=history"`
	}
	wandbHistory struct {
		Items []*wandbItem `protobuf:"bytes,1,rep,name=item"`
		Step  *wandbStep   `protobuf:"bytes,2,opt,name=step"`
	}
	wandbStep struct {
		Number int64 `protobuf:"varint,1,opt,name=num"`
	}
	wandbItem struct {
		Key    string   `protobuf:"bytes,1,opt,name=key"`
		Nested []string `protobuf:"bytes,2,rep,name=nested_key"`
		Value  []byte   `protobuf:"bytes,16,opt,name=value_json"`
	}
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
		sum, length, kind := binary.LittleEndian.Uint32(head[:]), int(binary.LittleEndian.Uint16(head[4:])), head[6]
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
			var record wandbRecord
			unmarshal(message, &record) // of one that is damaged what comes before
			record.row(c)
		}
	}
	if err == io.ErrUnexpectedEOF {
		c.note("The last record is not complete and was left out.")
		err = nil
	}
	return unlessEnd(err)
}

// row adds the row of a Record, if it has one.
func (r *wandbRecord) row(c *collector) {
	if r.History == nil {
		return
	}
	for _, item := range r.History.Items {
		path := slices.DeleteFunc(append([]string{item.Key}, item.Nested...), func(key string) bool { return key == "" })
		text := bytes.Trim(item.Value, `"`) // NaN and Infinity can be quoted
		if x, has, ok := number(text); has && ok {
			setNumber(c, strings.Join(path, "/"), x)
		}
	}
	if r.History.Step != nil {
		setNumber(c, "_step", float64(r.History.Step.Number))
	}
	c.endRow(0)
}

// setNumber adds a number to the row that is being read.
func setNumber(c *collector, key string, x float64) {
	if s := c.seriesOf(0, []byte(key)); s != nil {
		c.cells = append(c.cells, cell{s, x})
	}
}
