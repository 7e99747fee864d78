package network

import (
	"errors"
	"fmt"
)

// mistakes collects what is wrong with arguments, so that a caller hears of all of it at once.
type mistakes []error

// want adds a mistake unless ok.
func (m *mistakes) want(ok bool, name string, got any, want string) {
	if !ok {
		*m = append(*m, fmt.Errorf("network: %s: got %v, want %s", name, got, want))
	}
}

// least adds a mistake if an integer is less than least.
func (m *mistakes) least(name string, got, least int) {
	m.want(got >= least, name, got, fmt.Sprintf("at least %d", least))
}

// err returns all mistakes as one error, or nil.
func (m *mistakes) err() error { return errors.Join(*m...) }

// mustHave panics unless a slice has the length that is needed.
func mustHave(name string, x []float64, want int) {
	if len(x) != want {
		panic(fmt.Sprintf("network: %s has length %d, want %d", name, len(x), want))
	}
}
