package apply

import (
	"os"
	"path/filepath"
	"testing"
)

// TestBitsOfHardLinks: the other names of a file keep their permission bits, inside and outside the root.
// Where all names get the same bits, the file stays one.
func TestBitsOfHardLinks(t *testing.T) {
	t.Parallel()
	for name, fresh := range map[string]bool{"known": false, "racy": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, outside := t.TempDir(), t.TempDir()
			before := testTree{"a": aFile("one"), "c": aFile("two"), "p": aFile("all")}
			before.build(t, root)
			for from, to := range map[string]string{"a": root + "/b", "c": outside + "/c", "p": root + "/q"} {
				must(t, os.Link(filepath.Join(root, from), to))
			}
			before["b"], before["q"] = before["a"], before["p"]
			after := testTree{
				"a": aFile("one"), "b": aFile("one").bits(0o755), "c": aFile("two").bits(0o600),
				"p": aFile("all").bits(0o400), "q": aFile("all").bits(0o400),
			}
			a, blobs := newExecutor(root)
			changes := plan(t, root, blobs, before, after)
			for i := range changes {
				if fresh {
					changes[i].Was.Stat.MTime, changes[i].Was.Stat.CTime, changes[i].Was.Stat.Ino, changes[i].Was.Stat.Size = 0, 0, 0, 0
				}
			}
			applyAll(t, a, changes)
			after.check(t, root)
			testTree{"c": aFile("two")}.check(t, outside)
			p, err := os.Stat(filepath.Join(root, "p"))
			must(t, err)
			q, err := os.Stat(filepath.Join(root, "q"))
			must(t, err)
			if !fresh && !os.SameFile(p, q) {
				t.Error("two names of one file that get the same bits are two files now")
			}
		})
	}
}
