package main

import (
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/peers"
	"github.com/seed-fb9cbc17/cairn/bench/internal/report"
)

// tableForm is -table: operations that users compare, of every contender that is a program.
var tableForm = form{"-table", "table.json", tablePlan, (*suite).public}

var (
	tableContenders = []string{
		names.Spec, names.Untracked, names.Monitor, names.Newest, names.Restic, names.Jujutsu, names.Copy,
		names.CLI, names.Library, names.Served,
	}
	tableOps = []string{
		names.OpFirst, names.OpFirstBorrowed, names.OpUnchanged, names.OpOne, names.OpMany, names.OpPatchNew,
		names.OpDiffMany, names.OpDiffLarge, names.OpRevertOne, names.OpRevertMany, names.OpRevertLarge, names.OpTakeBack,
		names.OpRestoreOne, names.OpRestoreMany, names.OpRestoreLarge,
	}
	borrowers = []string{names.Newest, names.Jujutsu, names.CLI}
)

// tablePlan is measured in 20 minutes with 15 GB. Sizes of the synthetic trees are cut,
// because the operations depend on the number of files.
var tablePlan = []planned{
	{
		name: "small", title: "small", corpus: "small", repository: true, rounds: 5, heavy: 5,
		contenders: tableContenders, only: tableOps,
	},
	{
		name: "linux", title: "Linux", corpus: "linux", repository: true, rounds: 3, heavy: 3,
		contenders: tableContenders, only: tableOps,
	},
	{
		name: "100k", title: "100,000 files", corpus: "synthetic", files: 100_000, shrink: 4, repository: true, rounds: 3, heavy: 3,
		contenders: tableContenders, only: tableOps,
	},
	{
		name: "loose", title: "80,000 files, all objects loose", corpus: "synthetic", files: 80_000, shrink: 4, repository: true,
		loose: true, rounds: 3, heavy: 3, contenders: borrowers, only: []string{names.OpFirstBorrowed},
	},
}

// public writes the table for readers outside of the project.
func (s *suite) public(w io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "# cairn beside others, %s\n\n", s.Time.Format("2006-01-02"))
	if len(s.Runs) > 0 {
		first := s.Runs[0]
		fmt.Fprintf(&text, "`go -C bench run . -table` on %s\n\n%s\n", first.Machine, report.PublicHead(first.Versions))
	}
	for _, r := range s.Runs {
		fmt.Fprintf(&text, "\n## %s\n\n%s, load %.1f before the run\n\n", r.Title, r.Report.CorpusText(), r.Machine.Load)
		if err := r.PublicTable().Write(&text); err != nil {
			return err
		}
		for _, note := range r.Notes {
			fmt.Fprintf(&text, "\n- %s", note)
		}
		if len(r.Notes) > 0 {
			text.WriteString("\n")
		}
	}
	for _, failed := range s.Failed {
		fmt.Fprintf(&text, "\nnot measured: %s\n", failed)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// versions asks the programs of the contenders.
func (d *driver) versions() map[string]string {
	found := make(map[string]string)
	for _, name := range d.present {
		var argv []string
		switch name {
		case names.Spec:
			argv = []string{d.git, "version"}
		case names.Restic:
			argv = []string{d.restic, "version"}
		case names.Jujutsu:
			argv = []string{d.jujutsu, "--version"}
		case names.Copy:
			argv = []string{"cp", "--version"}
		default:
			continue
		}
		if out, err := exec.Command(argv[0], argv[1:]...).Output(); err == nil {
			line, _, _ := strings.Cut(string(out), "\n")
			line, _, _ = strings.Cut(line, " compiled")
			found[name] = strings.TrimSpace(line)
		}
	}
	return found
}

// aboutCopies says whether cp copies bytes here.
func (d *driver) aboutCopies() {
	if d.subject(names.Copy) != nil && !peers.Reflinks(d.scratch) {
		d.report.Note("cp copies the bytes: %s has no reflinks here", d.report.Machine.FileSystem)
	}
}
