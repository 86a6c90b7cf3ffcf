package git

import (
	"fmt"
	"slices"
	"testing"
)

// TestTalk: lines of progress are told, however they are cut into pieces, and everything else is
// kept as it was.
func TestTalk(t *testing.T) {
	t.Parallel()
	const said = "Enumerating objects: 5, done.\nCounting objects:  50% (1/2)\rCounting objects: 100% (2/2), done.\n" +
		"fatal: no\nWriting objects:  33% (1/3), 1.50 KiB | 3.00 MiB/s\rremote: Resolving deltas: 100% (7/7)\nremote: hello\nNot progress: 3\ntail"
	want := []string{"count 5/0 0", "count 1/2 0", "count 2/2 0", "write 1/3 1536", "resolve 7/7 0"}
	for size := 1; size <= len(said); size += 7 {
		var told []string
		talk := Talk{Tell: func(phase string, done, total int, bytes int64) {
			told = append(told, fmt.Sprintf("%s %d/%d %d", phase, done, total, bytes))
		}}
		for part := range slices.Chunk([]byte(said), size) {
			if n, err := talk.Write(part); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		if rest := talk.String(); !slices.Equal(told, want) || rest != "fatal: no\nremote: hello\nNot progress: 3\ntail" {
			t.Errorf("in pieces of %d: %q, rest %q", size, told, rest)
		}
	}
	var silent Talk
	fmt.Fprint(&silent, said)
	if silent.String() != said {
		t.Errorf("%q", silent.String())
	}
}
