package index

import "testing"

// FuzzLoad takes both files as they come, and as files whose checksums are right
// around hostile records.
func FuzzLoad(f *testing.F) {
	rec := sampleRecord().append(nil)
	f.Add(rec, rec, rec, true)
	f.Add(rec, (&record{removed: []string{"", "b"}}).append(nil), (&record{}).append(nil), true)
	patched := (&record{patches: []patch{{path: "b", gone: []string{"c"}, raw: entries("d")}}}).append(nil)
	f.Add(rec, patched, patched, true)
	x := New()
	x.Put(&Dir{Path: "odd", Raw: Append(nil, &Entry{Name: "fifo", Skip: Special})})
	f.Add((&record{summary: x.summarise(Perms{})}).append(nil), rec, rec, true)
	f.Add(baseOf(rec), deltaOf(rec, rec), []byte(nil), false)
	f.Fuzz(func(t *testing.T, base, first, second []byte, sums bool) {
		if sums {
			base, first = baseOf(base), deltaOf(first, second)
		}
		checkHostile(t, base, first)
	})
}
