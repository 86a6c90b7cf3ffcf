package linediff

import (
	"bytes"
	"testing"
)

// FuzzDiff checks what must hold for any two texts: the edits and the patches
// turn a into b, the counts agree with both, and nothing panics.
func FuzzDiff(f *testing.F) {
	for _, c := range cases {
		f.Add([]byte(c.a), []byte(c.b), 3)
	}
	f.Add([]byte("a\nb\nc\nd"), []byte("d\nc\nb\na"), 0)
	f.Add([]byte("a\n\n\x00\n"), []byte("\n\xff\n"), 1)
	f.Fuzz(func(t *testing.T, a, b []byte, context int) {
		if max(len(a), len(b)) > 1<<16 {
			return
		}
		edits := Diff(a, b)
		if msg := checkEdits(a, b, edits); msg != "" {
			t.Fatal(msg)
		}
		var st Stat
		for _, e := range edits {
			st.Deleted += e.A1 - e.A0
			st.Added += e.B1 - e.B0
		}
		if n := Count(a, b); n != st {
			t.Fatalf("Count says %v, the edits %v", n, st)
		}
		var buf bytes.Buffer
		printed, err := WriteUnified(&buf, a, b, Options{Context: context})
		if err != nil {
			t.Fatal(err)
		}
		if marks := countMarks(buf.Bytes()); printed != marks {
			t.Fatalf("WriteUnified says %v and prints %v", printed, marks)
		}
		if context >= 0 && printed != st {
			t.Fatalf("WriteUnified says %v, Count %v", printed, st)
		}
		if got, err := patched(a, buf.Bytes()); err != nil || !bytes.Equal(got, b) {
			t.Fatalf("the patch makes %q (%v), want %q\n%s", clip(got), err, clip(b), buf.Bytes())
		}
	})
}

// FuzzMerge checks the laws of merging: a side that changed nothing gives way,
// sides that agree have no conflict, and the sides are equal before the law.
func FuzzMerge(f *testing.F) {
	for _, c := range mergeCases {
		f.Add([]byte(c.base), []byte(c.ours), []byte(c.theirs))
	}
	f.Fuzz(func(t *testing.T, base, ours, theirs []byte) {
		if max(len(base), len(ours), len(theirs)) > 1<<16 {
			return
		}
		for _, c := range []struct{ base, ours, theirs, want []byte }{
			{base, ours, ours, ours}, {base, base, theirs, theirs}, {base, ours, base, ours},
		} {
			if m := Merge(c.base, c.ours, c.theirs); m.Conflicts != 0 || !bytes.Equal(m.Content, c.want) {
				t.Fatalf("%d conflicts, %q, want %q", m.Conflicts, m.Content, c.want)
			}
		}
		m, swapped := Merge(base, ours, theirs), Merge(base, theirs, ours)
		if m.Conflicts != swapped.Conflicts || !bytes.Equal(m.Content, swapped.Content) {
			t.Fatalf("%d conflicts, %q; with the sides swapped %d, %q", m.Conflicts, m.Content, swapped.Conflicts, swapped.Content)
		}
		if m.Conflicts > 0 && m.Content != nil {
			t.Fatal("content in spite of conflicts")
		}
	})
}
