package store

import (
	"runtime/debug"
	"testing"
)

// A program built from files that differ from their commit says so.
func TestDescribe(t *testing.T) {
	build := &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}
	for _, x := range []struct {
		settings []debug.BuildSetting
		want     string
	}{
		{nil, "v1.2.3"},
		{[]debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "false"}}, "abc"},
		{[]debug.BuildSetting{{Key: "GOAMD64", Value: "v2"}, {Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}}, "abc+dirty"},
	} {
		build.Settings = x.settings
		if got, level := describe(build); got != x.want || (len(x.settings) == 3) != (level == "v2") {
			t.Errorf("%v: %q, %q", x.settings, got, level)
		}
	}
}
