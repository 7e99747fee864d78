package config

import "fmt"

// Change returns settings with new values of some keys and, in words, the first rule between
// keys that they break, "" if they break none. It changes no other key.
func Change(s Settings, set ...Assignment) (changed Settings, broken string) {
	for _, a := range set {
		k, known := LookupKey(a.Param)
		if !known {
			panic("config: no key " + a.Param)
		}
		if err := k.Set(&s, a.Value); err != nil {
			return s, err.Error()
		}
	}
	if broken := breaches(&s, len(s.Bandit.Arms), func(*rule) bool { return true }); len(broken) > 0 {
		b := broken[0]
		return s, fmt.Sprintf("%s: got %s, want %s", b.key, b.got, b.want)
	}
	return s, ""
}
