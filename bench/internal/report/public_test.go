package report

import (
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/peers"
	"github.com/seed-fb9cbc17/cairn/bench/internal/trees"
)

// rowOf is the row of the public table with that title, by the heads of its columns.
func rowOf(t *testing.T, r *Report, title string) map[string]string {
	t.Helper()
	table := r.PublicTable()
	for _, row := range table[1:] {
		if row[0] == title {
			cells := make(map[string]string)
			for i, head := range table[0] {
				cells[head] = row[i]
			}
			return cells
		}
	}
	t.Fatalf("no row %q in %v", title, table)
	return nil
}

const whyHead = "where cairn is not first, or misses a goal"

func TestPublicTable(t *testing.T) {
	t.Parallel()
	r := told(map[string]map[string]float64{
		names.OpUnchanged:     {names.Spec: 200, names.CLI: 100, names.Served: 8},
		names.OpOne:           {names.Spec: 200, names.CLI: 100, names.Served: 120},
		names.OpRevertMany:    {names.Newest: 104, names.CLI: 132, names.Served: 130},
		names.OpRestoreMany:   {names.Spec: 2000, names.CLI: 50},
		names.OpDiffMany:      {names.CLI: 50, names.Served: 60},
		names.OpRestoreOne:    {names.CLI: 40},
		names.OpFirst:         {names.Spec: 1000, names.Copy: 150, names.Library: 200},
		names.OpTakeBack:      {names.CLI: 119},
		names.FloorUnlink:     {names.Floor: 100},
		names.FloorWriteMany:  {names.Floor: 20},
		names.OpFirstBorrowed: {names.Newest: 128, names.CLI: 127},
	})
	r.Stores = []StoreInfo{{names.Spec, "first track", trees.TreeSize{Allocated: 5e6}}, {names.Library, "first track", trees.TreeSize{Allocated: 4e6}}}
	for _, c := range []struct{ title, column, want string }{
		{"track, nothing changed", "cairn, server", "**8**"},
		{"track, nothing changed", whyHead, ""},
		{"track, 1 file changed", "cairn", "**100**"},
		{"track, 1 file changed", whyHead, "slower with a server: the call goes"},
		{"diff of 100 files", whyHead, "slower with a server: a diff of two checkpoints asks no server"},
		{"revert of 100 files", "OpenCode", "**104**"},
		{"revert of 100 files", "floor", "20 write"},
		{"revert of 100 files", whyHead, "neither; goal at most 1.00 of OpenCode, 1.25 here"},
		{"revert of 100 files", whyHead, "OpenCode does neither"},
		{"restore of 1 file", "git", "2,000"}, // what rewrites every file
		{"restore of 1 file", "cairn", "**40**"},
		{"restore of 1 file", whyHead, ""},
		{"first track, reading everything", "cairn", "200"}, // by the library
		{"first track, reading everything", whyHead, "cp neither hashes"},
		{"first track, reading everything", whyHead, "goal at most 0.15 of git, 0.20 here"},
		{"first track, borrowing", whyHead, ""},
		{"take back 10,000 new files", whyHead, ""},
		{"take back 10,000 new files", "cairn", "119"}, // of one alone nothing is first
		{"store after reading all, MB", "cairn", "**4**"},
	} {
		got := rowOf(t, r, c.title)[c.column]
		if got != c.want && (c.want == "" || !strings.Contains(got, c.want)) {
			t.Errorf("%s, %s: %q, want %q", c.title, c.column, got, c.want)
		}
	}
}

// Every contender that may be first has a reason in every row.
func TestReasons(t *testing.T) {
	t.Parallel()
	for i := range publicRows {
		row := &publicRows[i]
		for _, c := range publicColumns {
			if reasonFor(row, c.who) == "" {
				t.Errorf("%s, %s first: no reason", row.title, c.who)
			}
		}
	}
}

// The columns are contenders that there are, and the quoted tables have fewer of them.
func TestPublicColumns(t *testing.T) {
	t.Parallel()
	for _, c := range publicColumns {
		if peers.KindOf(c.who) == nil {
			t.Errorf("no contender %q", c.who)
		}
	}
	r := told(map[string]map[string]float64{names.OpUnchanged: {names.Untracked: 1, names.Restic: 3, names.CLI: 2}, names.OpMany: {names.CLI: 5}})
	long, short := r.QuotedTable(false), r.QuotedTable(true)
	if len(long) != 3 || len(short) != 2 || len(short[0]) >= len(long[0]) {
		t.Errorf("long %v, short %v", long, short)
	}
	var text strings.Builder
	if err := short.WriteNarrow(&text); err != nil {
		t.Fatal(err)
	}
	want := "| ms | cairn |\n| --- | ---: |\n| track, nothing changed | 2 |\n"
	if text.String() != want {
		t.Errorf("short:\n%s", text.String())
	}
}

func TestGrouped(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]string{"-": "-", "7": "7", "999": "999", "1000": "1,000", "26496": "26,496", "1234567": "1,234,567", "0.012": "0.012", "98.8": "98.8"} {
		if got := grouped(number); got != want {
			t.Errorf("%s is printed as %s, want %s", number, got, want)
		}
	}
}

func TestQuotedReasons(t *testing.T) {
	t.Parallel()
	r := told(map[string]map[string]float64{names.OpDiffMany: {names.Jujutsu: 1, names.CLI: 2}, names.OpRevertMany: {names.Newest: 104, names.CLI: 103}})
	want := "diff of 100 files: jj prints the changed lines; cairn gives both texts of every file"
	if got := r.Reasons(false); len(got) != 1 || got[0] != want {
		t.Errorf("%q", got)
	}
	if got := r.Reasons(true); len(got) != 0 {
		t.Errorf("of rows that are not there: %q", got)
	}
}
