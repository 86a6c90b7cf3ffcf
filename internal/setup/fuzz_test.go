package setup

import (
	"bytes"
	"testing"
)

// FuzzSettings: whatever a file holds that can be parsed, adding is done once, removing
// brings back the very bytes, and after edits of others leaves a file that can be parsed.
func FuzzSettings(f *testing.F) {
	for _, s := range settingsFiles {
		f.Add([]byte(s))
	}
	a := agents()[0]
	f.Fuzz(func(t *testing.T, data []byte) {
		with, err := a.with(data, program)
		if err != nil {
			return
		}
		again, err := a.with(with, program)
		if err != nil || !bytes.Equal(again, with) {
			t.Fatalf("%v\n%q\n%q\n%q", err, data, with, again)
		}
		back, err := a.without(with, data, true)
		if err != nil || !bytes.Equal(back, data) && !bytes.Equal(with, data) {
			t.Fatalf("%v\n%q\n%q\n%q", err, data, with, back)
		}
		p, err := parseText(with)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.insert(&p.root, "mine", 1); err != nil {
			t.Fatal(err)
		}
		out, err := a.without(p.bytes(), data, true)
		if err != nil || bytes.Contains(out, []byte("my tools")) && !bytes.Contains(data, []byte("my tools")) {
			t.Fatalf("%v\n%q", err, out)
		}
		if _, err := parseText(out); err != nil {
			t.Fatalf("%v\n%q", err, out)
		}
	})
}
