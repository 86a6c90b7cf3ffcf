package toolnames

import "testing"

func TestEdits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tool        string
		edits, only bool
	}{
		{"Edit", true, true}, {"apply_patch", true, true}, {"mcp__fs__write_file", true, false}, {"mcp__fs__read_file", false, false}, {"Bash", false, false}, {"", false, false},
	} {
		if Edits(c.tool) != c.edits || EditsOnly(c.tool) != c.only {
			t.Errorf("%q: %v %v", c.tool, Edits(c.tool), EditsOnly(c.tool))
		}
	}
}
