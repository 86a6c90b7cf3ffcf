package scan

import (
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

func TestDiffering(t *testing.T) {
	t.Parallel()
	one, two := object.Sum(object.Blob, []byte("1")), object.Sum(object.Blob, []byte("2"))
	file := func(name string, id object.ID) index.Entry {
		return index.Entry{Name: name, Mode: object.Regular, Perm: 0o644, ID: id}
	}
	block := func(entries ...index.Entry) (raw []byte) {
		for i := range entries {
			raw = index.Append(raw, &entries[i])
		}
		return raw
	}
	touched := file("a", one)
	touched.Stat.MTime, touched.Perm = 7, 0o600
	for name, test := range map[string]struct {
		a, b []byte
		want int
	}{
		"nothing":                {nil, nil, 0},
		"equal":                  {block(file("a", one)), block(file("a", one)), 0},
		"only touched":           {block(file("a", one)), block(touched), 0},
		"contents":               {block(file("a", one)), block(file("a", two)), 1},
		"mode":                   {block(file("a", one)), block(index.Entry{Name: "a", Mode: object.Executable, ID: one}), 1},
		"added":                  {block(file("b", one)), block(file("a", one), file("b", one), file("c", one)), 2},
		"removed":                {block(file("a", one), file("b", one), file("c", one)), block(file("b", one)), 2},
		"all":                    {block(file("a", one), file("c", one)), block(file("b", one), file("d", one)), 4},
		"skipped now":            {block(file("a", one)), block(index.Entry{Name: "a", Mode: object.Regular, Skip: index.TooLarge}), 1},
		"skipped before":         {block(index.Entry{Name: "a", Skip: index.Special}), block(index.Entry{Name: "a", Skip: index.Unreadable}), 0},
		"directory to file":      {block(index.Entry{Name: "a", Mode: object.Dir, ID: one}), block(file("a", one)), 1},
		"file to directory":      {block(file("a", one)), block(index.Entry{Name: "a", Mode: object.Dir, ID: one}), 1},
		"a directory's new tree": {block(index.Entry{Name: "a", Mode: object.Dir, ID: one}), block(index.Entry{Name: "a", Mode: object.Dir, ID: two}), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := differing(&index.Dir{Raw: test.a}, &index.Dir{Raw: test.b}); got != test.want {
				t.Errorf("%d, want %d", got, test.want)
			}
		})
	}
}
