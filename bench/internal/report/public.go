package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
)

// The public table has a row for each thing that users compare, and a column for each program. The
// shortest time is bold.

// publicColumn is a contender, and the head of its column.
type publicColumn struct{ who, title string }

// publicColumns are all of them.
var publicColumns = []publicColumn{
	{names.Spec, "git"},
	{names.Untracked, "git, cache"},
	{names.Monitor, "git, monitor"},
	{names.Newest, "OpenCode"},
	{names.Restic, "restic"},
	{names.Jujutsu, "jj"},
	{names.Copy, "cp"},
	{names.CLI, "cairn"},
	{names.Served, "cairn, server"},
}

// publicRow is one row. Of two stores the smaller one is first.
type publicRow struct {
	op, title string
	store     string // the moment at which stores are compared, "" = times are
	short     bool   // it is in the short table, too
	goals     []publicGoal
}

// publicGoal is at most so many times what another takes, or the floor.
type publicGoal struct {
	of    string
	limit float64
}

var (
	asNewest   = []publicGoal{{names.Newest, 1}}
	asByHand   = []publicGoal{{names.Floor, 1.2}}
	publicRows = []publicRow{
		{op: names.OpFirst, title: "first track, reading everything", goals: []publicGoal{{names.Spec, 0.15}}},
		{op: names.OpFirstBorrowed, title: "first track, borrowing", short: true, goals: asNewest},
		{op: names.OpUnchanged, title: "track, nothing changed", short: true},
		{op: names.OpOne, title: "track, 1 file changed", short: true},
		{op: names.OpMany, title: "track, 100 files changed"},
		{op: names.OpPatchNew, title: "patch, 10 new files"},
		{op: names.OpDiffMany, title: "diff of 100 files"},
		{op: names.OpDiffLarge, title: "diff of 1,000 files", short: true},
		{op: names.OpRevertOne, title: "revert of 1 file", goals: asNewest},
		{op: names.OpRevertMany, title: "revert of 100 files", short: true, goals: asNewest},
		{op: names.OpRevertLarge, title: "revert of 1,000 files", goals: asNewest},
		{op: names.OpRestoreOne, title: "restore of 1 file", goals: asNewest},
		{op: names.OpRestoreMany, title: "restore of 100 files", short: true, goals: asNewest},
		{op: names.OpRestoreLarge, title: "restore of 1,000 files", goals: asNewest},
		{op: names.OpUndoOne, title: "undo of a restore of 1"},
		{op: names.OpUndoMany, title: "undo of a restore of 100", short: true},
		{op: names.OpUndoLarge, title: "undo of a restore of 1,000"},
		{op: names.OpTakeBack, title: "take back 10,000 new files", goals: asByHand},
		{op: names.OpBringBack, title: "undo of that", goals: asByHand},
		{store: "first track", title: "store after reading all, MB"},
		{store: "borrowed first track", title: "store after borrowing, MB"},
	}
)

// publicValue is a time in milliseconds or a size in megabytes.
func (r *Report) publicValue(row *publicRow, who string) (float64, bool) {
	if row.store != "" {
		s := r.Store(row.store, who)
		if s == nil && who == names.CLI {
			s = r.Store(row.store, names.Library)
		}
		if s == nil {
			return 0, false
		}
		return float64(s.Own()) / 1e6, true
	}
	if who == names.Floor {
		s, _, ok := r.floorOf(row.op)
		return s * 1e3, ok
	}
	s, ok := r.Seconds(row.op, who)
	if !ok && who == names.CLI {
		s, ok = r.Seconds(row.op, names.Library)
	}
	if !ok && rewriting(who) && (row.op == names.OpRestoreOne || row.op == names.OpRestoreLarge) {
		s, ok = r.Seconds(names.OpRestoreMany, who)
	}
	return s * 1e3, ok
}

// rewriting contenders write every file in a restore, so one size stands for all.
func rewriting(who string) bool {
	return who == names.Spec || who == names.Newest || who == names.Restic || who == names.Copy
}

// PublicHead explains the table.
func PublicHead(versions map[string]string) string {
	var programs []string
	for _, c := range publicColumns {
		if v := versions[c.who]; v != "" {
			programs = append(programs, v)
		}
	}
	return strings.Join([]string{
		"Medians in ms of rounds in which all take turns; what takes long is timed once. **Bold** is the shortest.",
		"Programs: " + strings.Join(programs, "; ") + ".",
		"",
		"- git: the commands of OpenCode's specification. Cache: with git's untracked cache, index version 4 and",
		"  feature.manyFiles. Monitor: with git's file-system monitor as well. Both change tracks and patches; the rest",
		"  is as in the column before.",
		"- OpenCode: the git commands of its newest version. restic: backup, restore, diff of names. jj: its commands",
		"  record the tree first; its diff has the changed lines only. cp: `cp -a --reflink=auto` of all but `.git`,",
		"  and back.",
		"- cairn: a process each time. The first track that reads everything is the library's, because the program",
		"  borrows in a repository. Server: the same beside `cairn serve`.",
		"- git, OpenCode, restic and cp write every file in a restore, whatever has changed: that of 100 stands for all.",
		"- A store has the size that is free when it goes: what the repository has by hard links or has itself is not",
		"  counted.",
		"- Floor: walk looks at every file, store reads, hashes and compresses all, write and unlink do the same by hand",
		"  and wait for the disk, spawn starts an empty program.",
	}, "\n")
}

// PublicTable has all rows and columns, and the reasons in the last one.
func (r *Report) PublicTable() Table {
	t := Table{append(heads(publicColumns), "floor", "where cairn is not first, or misses a goal")}
	for i := range publicRows {
		row := &publicRows[i]
		if cells, some := r.publicCells(row, publicColumns); some {
			t = append(t, append(cells, r.publicFloor(row), r.Why(row)))
		}
	}
	return t
}

// QuotedTable is narrow enough for documents: it leaves out floors, reasons and contenders that were
// not measured, and the short one most rows and columns as well.
func (r *Report) QuotedTable(short bool) Table {
	columns := slices.DeleteFunc(slices.Clone(publicColumns), func(c publicColumn) bool {
		return !r.tookPart(c.who) || c.who == names.Untracked || short && slices.Contains([]string{names.Monitor, names.Restic, names.Copy}, c.who)
	})
	t := Table{heads(columns)}
	for i := range publicRows {
		row := &publicRows[i]
		if cells, some := r.publicCells(row, columns); some && (!short || row.short) {
			t = append(t, cells)
		}
	}
	return t
}

func heads(columns []publicColumn) []string {
	head := []string{"ms"}
	for _, c := range columns {
		head = append(head, c.title)
	}
	return head
}

func (r *Report) publicCells(row *publicRow, columns []publicColumn) (cells []string, some bool) {
	if row.op != "" && !r.measured(row.op) {
		return nil, false
	}
	first, cells := r.first(row, columns), []string{row.title}
	for _, c := range columns {
		v, ok := r.publicValue(row, c.who)
		text := grouped(number(v, ok))
		if ok && c.who == first {
			text = "**" + text + "**"
		}
		cells, some = append(cells, text), some || ok
	}
	return cells, some
}

// grouped puts commas into large whole numbers.
func grouped(number string) string {
	if len(number) > 3 && !strings.Contains(number, ".") {
		at := len(number) - 3
		return grouped(number[:at]) + "," + number[at:]
	}
	return number
}

func (r *Report) publicFloor(row *publicRow) string {
	v, name, ok := r.floorOf(row.op)
	if !ok || row.store != "" {
		return ""
	}
	return grouped(number(v*1e3, true)) + " " + name
}

// first is the contender with the smallest value, "" where fewer than two have one.
func (r *Report) first(row *publicRow, columns []publicColumn) (who string) {
	least, values := 0.0, 0
	for _, c := range columns {
		v, ok := r.publicValue(row, c.who)
		if ok && (values == 0 || v < least) {
			who, least = c.who, v
		}
		if ok {
			values++
		}
	}
	if values < 2 {
		return ""
	}
	return who
}

// Reasons are those of the rows of a quoted table, each after the title of its row.
func (r *Report) Reasons(short bool) (texts []string) {
	for i := range publicRows {
		row := &publicRows[i]
		if row.op != "" && !r.measured(row.op) || short && !row.short {
			continue
		}
		if why := r.Why(row); why != "" {
			texts = append(texts, row.title+": "+why)
		}
	}
	return texts
}

// Why says where cairn is not first, which goals it misses, and the reasons.
func (r *Report) Why(row *publicRow) string {
	var parts []string
	said := make(map[string]bool)
	if first := r.first(row, publicColumns); first != "" && first != names.CLI && first != names.Served {
		reason := reasonFor(row, first)
		parts, said[reason] = append(parts, reason), true
	}
	for _, g := range row.goals {
		text, reason := r.missed(row, g), reasonOfGoal(row, g.of)
		if text == "" {
			continue
		}
		if !said[reason] {
			text, said[reason] = text+": "+reason, true
		}
		parts = append(parts, text)
	}
	alone, ok := r.publicValue(row, names.CLI)
	served, okServed := r.publicValue(row, names.Served)
	if ok && okServed && served > alone*noise {
		parts = append(parts, "slower with a server: "+reasonServed(row))
	}
	return strings.Join(parts, "; ")
}

// noise is how much two medians of a few rounds differ where nothing differs.
const noise = 1.1

// missed is the text of a goal that neither cairn alone nor with a server keeps.
func (r *Report) missed(row *publicRow, g publicGoal) string {
	other, ok := r.publicValue(row, g.of)
	alone, okAlone := r.publicValue(row, names.CLI)
	if served, okServed := r.publicValue(row, names.Served); okServed {
		alone = min(alone, served)
	}
	if !ok || !okAlone || other <= 0 || alone <= g.limit*other {
		return ""
	}
	return fmt.Sprintf("goal at most %.2f of %s, %.2f here", g.limit, titleOf(g.of), alone/other)
}

func titleOf(who string) string {
	for _, c := range publicColumns {
		if c.who == who {
			return c.title
		}
	}
	return "the floor"
}
