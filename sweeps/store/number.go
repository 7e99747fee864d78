package store

import (
	"encoding/json"
	"math"
	"strconv"
)

// Number is a float64 whose JSON is null if it is NaN or infinite.
type Number float64

// MarshalJSON writes the shortest decimal that reads back as the same number, or null.
func (n Number) MarshalJSON() ([]byte, error) { return n.appendJSON(nil), nil }

// appendJSON appends the number, if finite with the same bytes as encoding/json.
func (n Number) appendJSON(text []byte) []byte {
	x := float64(n)
	switch { // fast paths: most recorded shares and ratios are 0 or 1
	case x == 1:
		return append(text, '1')
	case math.Float64bits(x) == 0:
		return append(text, '0')
	case math.IsNaN(x) || math.IsInf(x, 0):
		return append(text, "null"...)
	}
	if size := math.Abs(x); size == 0 || size >= 1e-6 && size < 1e21 {
		return strconv.AppendFloat(text, x, 'f', -1, 64)
	}
	text = strconv.AppendFloat(text, x, 'e', -1, 64)
	if end := len(text) - 2; text[end-1] == '-' && text[end] == '0' { // e-09 is written e-9
		text = append(text[:end], text[end+1])
	}
	return text
}

// UnmarshalJSON reads null as NaN.
func (n *Number) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(data, (*float64)(n))
}
