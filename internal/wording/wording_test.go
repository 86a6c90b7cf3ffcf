package wording

import (
	"testing"
	"time"
)

func TestV65_Count(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 files", 1: "1 file", 2: "2 files", 1000: "1000 files"} {
		if got := Count(n, "file"); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}

func TestV60_FirstLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                          "",
		"fix the tests":             "fix the tests",
		"\n\n fix \r\n":             "fix",
		"fix\nthe tests":            "fix …",
		"fix\n\n":                   "fix",
		"a\x1b[31mb\tc":             "a [31mb c",
		"0123456789012345678901234": "0123456789012345678…",
		"01234567890123456789":      "01234567890123456789",
		"äöü äöü äöü äöü äöü äöü": "äöü äöü äöü äöü äöü…",
	} {
		if got := FirstLine(text, 20); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0 bytes", 1: "1 byte", 1023: "1023 bytes", 1024: "1.0 KiB", 1536: "1.5 KiB", 1<<20 - 1: "1.0 MiB",
		32 << 20: "32.0 MiB", 5 << 40: "5.0 TiB", 1<<63 - 1: "8.0 EiB",
	} {
		if got := Size(n); got != want {
			t.Errorf("Size(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestAgo(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Hour: "just now", 0: "just now", 59 * time.Second: "just now", time.Minute: "1 minute ago",
		119 * time.Minute: "1 hour ago", 3 * time.Hour: "3 hours ago", 49 * time.Hour: "2 days ago",
	} {
		if got := Ago(d); got != want {
			t.Errorf("Ago(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestPlural(t *testing.T) {
	t.Parallel()
	for noun, want := range map[string]string{
		"file": "files", "branch": "branches", "stash": "stashes", "entry": "entries", "day": "days", "more turn": "more turns", "class": "classes",
	} {
		if got := Plural(noun); got != want {
			t.Errorf("%s: %s", noun, got)
		}
	}
	if got := Count(1, "stash") + ", " + Count(0, "stash"); got != "1 stash, 0 stashes" {
		t.Error(got)
	}
}
