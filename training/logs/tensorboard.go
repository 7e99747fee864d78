package logs

import (
	"bufio"
	"hash/crc32"
	"io"
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
}

// fields lists the fields of a message up to one that is damaged; whole says that none is.
func fields(message []byte) (all []field, whole bool) {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return all, false
		}
		f := field{number: number}
		switch message = message[n:]; kind {
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
		if n < 0 {
			return all, false
		}
		all, message = append(all, f), message[n:]
	}
	return all, true
}

// last returns the last field of a message with one of the numbers; without one it has no number.
func last(all []field, numbers ...protowire.Number) (found field) {
	for _, f := range all {
		if slices.Contains(numbers, f.number) {
			found = f
		}
	}
	return found
}

// event adds the scalars of an Event to the timeline; ok says that it is well formed.
func (t *timeline) event(data []byte) (ok bool) {
	event, whole := fields(data)
	summary, ok := fields(last(event, eventSummary).bytes)
	if !whole || !ok {
		return false
	}
	t.clock(math.Float64frombits(last(event, eventTime).bits))
	for _, f := range summary {
		if f.number == summaryValue {
			if tag, x, is := scalar(f.bytes); is {
				t.add(int64(last(event, eventStep).bits), tag, x)
			}
		}
	}
	return true
}

// scalar returns tag and value of a value of a Summary, if it is a single number.
func scalar(value []byte) (tag []byte, x float64, is bool) {
	all, whole := fields(value)
	if !whole || !ofScalars(last(all, valueMetadata).bytes) {
		return nil, 0, false
	}
	tag = last(all, valueTag).bytes
	if f := last(all, valueSimple); f.number == valueSimple {
		return tag, float64(math.Float32frombits(uint32(f.bits))), true
	}
	x, is = element(last(all, valueTensor).bytes)
	return tag, x, is
}

// ofScalars reports whether metadata are of a plugin for scalars, or name none.
func ofScalars(metadata []byte) bool {
	all, _ := fields(metadata)
	plugin, _ := fields(last(all, metadataPlugin).bytes)
	name := last(plugin, pluginName)
	return name.number != pluginName || string(name.bytes) == "scalars"
}

// element returns the number in a tensor that holds a single one, a float or a double, as writers
// of scalars make it. A tensor without values holds 0.
func element(tensor []byte) (x float64, is bool) {
	all, whole := fields(tensor)
	kind, f := last(all, tensorType).bits, last(all, tensorContent, tensorFloat, tensorDouble)
	bits := f.bits
	if f.bytes != nil { // little endian, without or with a list around it
		var eight [8]byte
		copy(eight[:], f.bytes)
		bits, _ = protowire.ConsumeFixed64(eight[:])
	}
	if kind == typeFloat {
		x = float64(math.Float32frombits(uint32(bits)))
	} else {
		x = math.Float64frombits(bits)
	}
	return x, whole && single(last(all, tensorShape).bytes) && (kind == typeFloat || kind == typeDouble)
}

// single reports whether the shape of a tensor is that of one element.
func single(shape []byte) bool {
	all, whole := fields(shape)
	return whole && !slices.ContainsFunc(all, func(f field) bool {
		dim, _ := fields(f.bytes)
		return f.number == shapeDim && last(dim, dimSize).bits != 1
	})
}
