package logs

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"
)

var eventsFormat = format{
	container: TensorBoard,
	begins:    func(_ *collector, in *input) bool { return isEvents(in.head) },
	read: func(c *collector, in *input) error {
		t := newTimeline(c)
		err := t.events(in.Reader, filepath.Base(c.err.File))
		t.finish()
		return err
	},
}

// TensorBoard's event files are TFRecord files of protobuf messages Event. A record is the
// length of the data (8 bytes, little endian), its checksum, the data, and their checksum:
// github.com/tensorflow/tensorflow, tensorflow/core/lib/io/record_writer.h.

const frameHead = 8 + 4 // bytes of the length and its checksum

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is the masked CRC-32C of TFRecord.
func checksum(data []byte) uint32 {
	sum := crc32.Checksum(data, castagnoli)
	return (sum>>15 | sum<<17) + 0xa282ead8
}

// isEvents reports whether a file begins with a record.
func isEvents(head []byte) bool {
	return len(head) >= frameHead && binary.LittleEndian.Uint32(head[8:]) == checksum(head[:8])
}

// events reads an event file. It leaves out a record that is not complete, as the last of a running
// trainer, or fails its checksum. After a length that fails its own it leaves out all.
func (t *timeline) events(r *bufio.Reader, name string) error {
	t.begin(name)
	var head [frameHead]byte
	var record []byte
	damaged := 0
	defer func() {
		if damaged > 0 {
			t.note("%s: %s with a wrong checksum left out.", name, CountWords(damaged, "record"))
		}
	}()
	for at := uint64(0); ; {
		_, err := io.ReadFull(r, head[:])
		if err == io.EOF {
			return nil
		}
		length := binary.LittleEndian.Uint64(head[:])
		switch {
		case err != nil:
		case !isEvents(head[:]):
			t.note("%s: damaged at byte %d, read as far as there.", name, at)
			return nil
		case length > longEvent:
			_, err = io.CopyN(io.Discard, r, int64(min(length, math.MaxInt64-4))+4)
		default:
			record = slices.Grow(record[:0], int(length)+4)[:length+4]
			if _, err = io.ReadFull(r, record); err == nil {
				data := record[:length]
				if binary.LittleEndian.Uint32(record[length:]) != checksum(data) || !t.event(data) {
					damaged++
				}
			}
		}
		switch {
		case err == io.EOF, err == io.ErrUnexpectedEOF:
			t.note("%s: the last record is not complete and was left out.", name)
			return nil
		case err != nil:
			return err
		}
		at += frameHead + length + 4
	}
}

// The messages of event files, with the fields that are read: tensorflow/core/util/event.proto;
// summary.proto, tensor.proto, tensor_shape.proto in tensorflow/core/framework. What a message
// lacks is nil.
type (
	eventMessage struct {
		protoMessage
		Time    *float64 `protobuf:"fixed64,1,opt,name=wall_time"`
		Step    *int64   `protobuf:"varint,2,opt,name=step"`
		Summary *summary `protobuf:"bytes,5,opt,name=summary"`
	}
	summary struct {
		Values []*summaryValue `protobuf:"bytes,1,rep,name=value"`
	}
	summaryValue struct {
		Tag      []byte    `protobuf:"bytes,1,opt,name=tag"`
		Simple   *float32  `protobuf:"fixed32,2,opt,name=simple_value"`
		Tensor   *tensor   `protobuf:"bytes,8,opt,name=tensor"`
		Metadata *metadata `protobuf:"bytes,9,opt,name=metadata"`
	}
	metadata struct {
		Plugin *plugin `protobuf:"bytes,1,opt,name=plugin_data"`
	}
	plugin struct {
		Name []byte `protobuf:"bytes,1,opt,name=plugin_name"`
	}
	tensor struct {
		Type    *int32    `protobuf:"varint,1,opt,name=dtype"`
		Shape   *shape    `protobuf:"bytes,2,opt,name=tensor_shape"`
		Content []byte    `protobuf:"bytes,4,opt,name=tensor_content"`
		Floats  []float32 `protobuf:"fixed32,5,rep,packed,name=float_val"`
		Doubles []float64 `protobuf:"fixed64,6,rep,packed,name=double_val"`
	}
	shape struct {
		Dims []*dim `protobuf:"bytes,2,rep,name=dim"`
	}
	dim struct {
		Size *int64 `protobuf:"varint,1,opt,name=size"`
	}
)

// protoMessage gives a struct the methods that a message of protobuf has.
type protoMessage struct{}

func (protoMessage) Reset()         {}
func (protoMessage) String() string { return "" }
func (protoMessage) ProtoMessage()  {}

// unmarshal reads a message into a struct whose tags name its fields; ok says that it is well formed.
func unmarshal(data []byte, to protoadapt.MessageV1) (ok bool) {
	known := proto.UnmarshalOptions{DiscardUnknown: true}
	return known.Unmarshal(data, protoadapt.MessageV2Of(to)) == nil
}

// event adds the scalars of an Event to the timeline; ok says that it is well formed.
func (t *timeline) event(data []byte) (ok bool) {
	e := eventMessage{Time: new(float64), Step: new(int64), Summary: new(summary)}
	if !unmarshal(data, &e) {
		return false
	}
	t.clock(*e.Time)
	for _, v := range e.Summary.Values {
		if x, is := v.scalar(); is {
			t.add(*e.Step, v.Tag, x)
		}
	}
	return true
}

// scalar returns a value of a Summary, if it is a single number. Metadata are of a plugin for
// scalars, or name none.
func (v *summaryValue) scalar() (x float64, is bool) {
	if m := v.Metadata; m != nil && m.Plugin != nil && m.Plugin.Name != nil && string(m.Plugin.Name) != "scalars" {
		return 0, false
	}
	switch {
	case v.Simple != nil:
		return float64(*v.Simple), true
	case v.Tensor != nil:
		return v.Tensor.element()
	}
	return 0, false
}

// element returns the number in a tensor that holds a single one, a float or a double, as writers
// of scalars make it. A tensor without values holds 0.
func (t *tensor) element() (x float64, is bool) {
	const float, double = 1, 2 // of types.proto
	if t.Shape != nil && slices.ContainsFunc(t.Shape.Dims, func(d *dim) bool { return d.Size == nil || *d.Size != 1 }) {
		return 0, false
	}
	floats, doubles := append(t.Floats, 0), append(t.Doubles, 0)
	switch {
	case t.Type != nil && *t.Type == float:
		_, _ = binary.Decode(t.Content, binary.LittleEndian, floats[:1]) // if there is content
		return float64(floats[0]), true
	case t.Type != nil && *t.Type == double:
		_, _ = binary.Decode(t.Content, binary.LittleEndian, doubles[:1])
		return doubles[0], true
	}
	return 0, false
}

var wandbFormat = format{
	container: WandbRun,
	begins:    matches(wandbMagic[:4]),
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
	var message []byte
	block, i := make([]byte, wandbBlock), len(wandbMagic)
	for at := 0; ; at, i = at+wandbBlock, 0 {
		n, err := io.ReadFull(r, block)
		for i+fragmentHead <= n { // what is left of a block is padding
			end, kind := i+fragmentHead+int(binary.LittleEndian.Uint16(block[i+4:])), block[i+6]
			if end > n && end <= wandbBlock {
				break
			}
			if end > wandbBlock || crc32.ChecksumIEEE(block[i+6:end]) != binary.LittleEndian.Uint32(block[i:]) {
				c.note("Damaged at byte %d, read as far as there.", at+i)
				return nil
			}
			if kind == fullFragment || kind == firstFragment {
				message = message[:0]
			}
			if len(message) <= longEvent { // a longer message holds no row
				message = append(message, block[i+fragmentHead:end]...)
			}
			if (kind == fullFragment || kind == lastFragment) && len(message) <= longEvent {
				var record wandbRecord
				unmarshal(message, &record) // of one that is damaged what comes before
				record.row(c)
			}
			i = end
		}
		switch {
		case err == io.EOF, err == io.ErrUnexpectedEOF:
			if i < n && i+fragmentHead <= wandbBlock {
				c.note("The last record is not complete and was left out.")
			}
			return nil
		case err != nil:
			return err
		}
	}
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
