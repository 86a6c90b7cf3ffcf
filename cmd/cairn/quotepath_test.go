package main

import (
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// TestQuotePath asks git for every byte, alone and between letters.
func TestQuotePath(t *testing.T) {
	t.Parallel()
	oracle := gittest.NewOracle(t)
	blob := strings.TrimSpace(oracle.Feed(oracle.Store(), "x", "hash-object", "-w", "--stdin"))
	var names, list strings.Builder
	for b := 1; b < 256; b++ {
		for _, name := range []string{"only" + string([]byte{byte(b)}), string([]byte{'f', byte(b), 'g'})} {
			if b == '/' {
				continue
			}
			names.WriteString("100644 blob " + blob + "\t" + name + "\x00")
		}
	}
	tree := strings.TrimSpace(oracle.Feed(oracle.Store(), names.String(), "mktree", "-z"))
	raw := oracle.Git("ls-tree", "--name-only", "-z", tree)
	for name := range strings.SplitSeq(strings.TrimSuffix(raw, "\x00"), "\x00") {
		list.WriteString(pathtext.Quote(name) + "\n")
	}
	if want := oracle.Git("-c", "core.quotePath=false", "ls-tree", "--name-only", tree); list.String() != want {
		t.Errorf("names are quoted\n%s\ngit:\n%s", list.String(), want)
	}
}
