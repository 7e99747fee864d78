package logs

import (
	"bufio"
	"hash/crc32"
	"io"
	"iter"
	"math"
	"path/filepath"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

var eventsFormat = format{
	container: TensorBoard,
	docs: [][2]string{{"TensorBoard event files",
		"files `*tfevents*`, or the folder with them: the scalars, of which the tags are the keys"}},
	begins: func(_ *collector, in *input) bool { return isEvents(in.head) },
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

// longEvent limits the data of a record that is parsed: a longer one holds a graph, an
// image or the like. (A row of 1000 scalars takes 100 kB.)
const longEvent = 1 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is the masked CRC-32C of TFRecord.
func checksum(data []byte) uint32 {
	sum := crc32.Checksum(data, castagnoli)
	return (sum>>15 | sum<<17) + 0xa282ead8
}

// isEvents reports whether a file begins with a record.
func isEvents(head []byte) bool {
	sum, _ := protowire.ConsumeFixed32(head[min(8, len(head)):])
	return len(head) >= frameHead && sum == checksum(head[:8])
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
		length, _ := protowire.ConsumeFixed64(head[:])
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
				sum, _ := protowire.ConsumeFixed32(record[length:])
				if sum != checksum(data) || !t.event(data) {
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

// Fields of the messages Event and Summary (tensorflow/core/util/event.proto,
// tensorflow/core/framework/summary.proto) and TensorProto (tensor.proto,
// tensor_shape.proto, types.proto in the same folder).
const (
	eventTime, eventStep, eventSummary                = 1, 2, 5
	summaryValue                                      = 1
	valueTag, valueSimple, valueTensor, valueMetadata = 1, 2, 8, 9
	metadataPlugin, pluginName                        = 1, 1
	tensorType, tensorShape, tensorContent            = 1, 2, 4
	tensorFloat, tensorDouble                         = 5, 6
	shapeDim, dimSize                                 = 2, 1
	typeFloat, typeDouble                             = 1, 2
)

// field is a field of a message: the bits of a number, or bytes.
type field struct {
	number protowire.Number
	bits   uint64
	bytes  []byte
	err    error
}

// fields lists the fields of a message. One with an error is the last.
func fields(message []byte) iter.Seq[field] {
	return func(yield func(field) bool) {
		for len(message) > 0 {
			var f field
			number, kind, n := protowire.ConsumeTag(message)
			f.number, f.err = number, protowire.ParseError(n)
			if f.err == nil {
				message = message[n:]
				switch kind {
				case protowire.VarintType:
					f.bits, n = protowire.ConsumeVarint(message)
				case protowire.Fixed32Type:
					var bits uint32
					bits, n = protowire.ConsumeFixed32(message)
					f.bits = uint64(bits)
				case protowire.Fixed64Type:
					f.bits, n = protowire.ConsumeFixed64(message)
				case protowire.BytesType:
					f.bytes, n = protowire.ConsumeBytes(message)
				default:
					n = protowire.ConsumeFieldValue(number, kind, message)
				}
				f.err = protowire.ParseError(n)
			}
			if !yield(f) || f.err != nil {
				return
			}
			message = message[n:]
		}
	}
}

// last returns the last field of a message with a number; without one it has no number.
func last(message []byte, number protowire.Number) (found field) {
	for f := range fields(message) {
		if f.number == number {
			found = f
		}
	}
	return found
}

// event adds the scalars of an Event to the timeline; ok says that it is well formed.
func (t *timeline) event(data []byte) (ok bool) {
	var step int64
	var summary []byte
	for f := range fields(data) {
		switch {
		case f.err != nil:
			return false
		case f.number == eventTime:
			t.clock(math.Float64frombits(f.bits))
		case f.number == eventStep:
			step = int64(f.bits)
		case f.number == eventSummary:
			summary = f.bytes
		}
	}
	for f := range fields(summary) {
		switch {
		case f.err != nil:
			return false
		case f.number == summaryValue:
			if tag, x, is := scalar(f.bytes); is {
				t.add(step, tag, x)
			}
		}
	}
	return true
}

// scalar returns tag and value of a value of a Summary, if it is a single number.
func scalar(value []byte) (tag []byte, x float64, is bool) {
	for f := range fields(value) {
		switch {
		case f.err != nil:
			return nil, 0, false
		case f.number == valueTag:
			tag = f.bytes
		case f.number == valueSimple:
			x, is = float64(math.Float32frombits(uint32(f.bits))), true
		case f.number == valueTensor:
			x, is = element(f.bytes)
		case f.number == valueMetadata && !ofScalars(f.bytes):
			return nil, 0, false
		}
	}
	return tag, x, is
}

// ofScalars reports whether metadata are of a plugin for scalars, or name none.
func ofScalars(metadata []byte) bool {
	name := last(last(metadata, metadataPlugin).bytes, pluginName)
	return name.number != pluginName || string(name.bytes) == "scalars"
}

// element returns the number in a tensor that holds a single one, a float or a double, as writers
// of scalars make it. A tensor without values holds 0.
func element(tensor []byte) (x float64, is bool) {
	var kind, bits uint64
	for f := range fields(tensor) {
		switch f.number {
		case tensorType:
			kind = f.bits
		case tensorShape:
			if !single(f.bytes) {
				return 0, false
			}
		case tensorContent, tensorFloat, tensorDouble:
			if bits = f.bits; f.bytes != nil { // little endian, without or with a list around it
				var eight [8]byte
				copy(eight[:], f.bytes)
				bits, _ = protowire.ConsumeFixed64(eight[:])
			}
		}
		if f.err != nil {
			return 0, false
		}
	}
	if kind == typeFloat {
		return float64(math.Float32frombits(uint32(bits))), true
	}
	return math.Float64frombits(bits), kind == typeDouble
}

// single reports whether the shape of a tensor is that of one element.
func single(shape []byte) bool {
	for f := range fields(shape) {
		if f.number == shapeDim && last(f.bytes, dimSize).bits != 1 {
			return false
		}
	}
	return true
}
