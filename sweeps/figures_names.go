package sweeps

import (
	"regexp"
	"strconv"
	"strings"
)

// withoutVariant names a cell inside a picture of its own variant, its numbers
// to four digits.
func withoutVariant(label, variant string) string {
	return longNumber.ReplaceAllStringFunc(strings.TrimSpace(strings.TrimPrefix(label, variant)), func(text string) string {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return text
		}
		return strconv.FormatFloat(x, 'g', 4, 64)
	})
}

var longNumber = regexp.MustCompile(`[0-9]+\.[0-9]{5,}`)
