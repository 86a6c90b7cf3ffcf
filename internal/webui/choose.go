package webui

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/seed-fb9cbc17/cairn"
)

const (
	maxHunks   = 1500     // chosen changes in an address
	maxAddress = 30 << 10 // bytes of an address that the server still takes
)

var (
	errNothingChosen = errors.New("nothing is chosen")
	errTooMany       = fmt.Errorf("%w: too many are chosen for one preview", errInput)
	errGone          = fmt.Errorf("%w: a chosen file does not change there", errInput)
)

// choice is the form with which a person chooses changes and files. It names them by hunks and by
// hashes of paths, because a browser sends fields as UTF-8 and paths may have any bytes.
type choice struct {
	Action string // address of the plans
	Hidden [][2]string
	Button string
}

// newChoice is the form over the changes between two states. An empty to means the disk.
func (v *visit) newChoice(from, to string) *choice {
	if v.h.opt.ReadOnly != "" {
		return nil
	}
	return &choice{
		Action: v.at("plan"),
		Hidden: [][2]string{{"do", "revert"}, {"from", from}, {"to", to}, {"only", "1"}},
		Button: "Preview what is chosen",
	}
}

// source is the page on which the single changes of a way can be chosen, "" where there is none.
func (w *way) source(v *visit) string {
	switch w.Do {
	case "merge":
		return v.at("compare", "dir", w.Dir, "at", w.atAlone())
	case "revert":
		return v.at("changes", "from", w.From, "to", w.To) + hunkQuery(w.Hunks)
	case "restore":
		return v.at("changes", "from", w.To)
	}
	return ""
}

// atAlone is the checkpoint of a merge without another directory.
func (w *way) atAlone() string {
	if w.Dir != "" {
		return ""
	}
	return w.To
}

// wider is the preview of all of a way that is narrowed down, "" for one that is not.
func (w *way) wider(v *visit) string {
	all := way{Do: w.Do, Dir: w.Dir, From: w.From, To: w.To, Session: w.Session, Message: w.Message, Turn: w.Turn, Policy: w.Policy}
	switch {
	case w.Turn && len(w.Steps) > 0:
	case w.Do == "part" && !w.Turn:
		all.Do = "session"
	case len(w.Paths)+len(w.Without)+len(w.Hunks) == 0:
		return ""
	case w.Do == "revert" && w.To == "":
		all.Do, all.From, all.To = "restore", "", w.From
	}
	return all.address(v)
}

// address is the address of the plan of a way.
func (w *way) address(v *visit) string {
	turn := ""
	if w.Turn {
		turn = "1"
	}
	git := ""
	if w.Git {
		git = "1"
	}
	outside := ""
	if w.Outside {
		outside = "1"
	}
	pairs := []string{"dir", w.Dir, "git", git, "outside", outside, "turn", turn, "do", w.Do, "from", w.From, "to", w.To, "session", w.Session, "message", w.Message, "policy", string(w.Policy)}
	return v.at("plan", slices.Concat(pairs, pairsOf("path", w.Paths), pairsOf("without", w.Without), pairsOf("step", w.Steps))...) + hunkQuery(w.Hunks)
}

func hunkQuery(hunks []string) (query string) {
	for _, id := range hunks {
		query += "&hunk=" + url.QueryEscape(id)
	}
	return query
}

// narrow leads from a choice to the plan of it. The plan's own address has the paths as bytes.
func (v *visit) narrow(w *way) error {
	files, hunks := v.query["file"], w.Hunks
	if len(files)+len(hunks) == 0 {
		return errNothingChosen
	}
	paths, all, err := v.pathsOf(w, files)
	if err != nil {
		return err
	}
	if len(hunks) > 0 {
		more, err := v.hunksOfFiles(w, paths)
		if err != nil {
			return err
		}
		hunks, paths, all = append(slices.Clone(hunks), more...), nil, false
		slices.Sort(hunks)
		hunks = slices.Compact(hunks)
	}
	if all {
		paths = nil
	}
	do, from, to := w.Do, w.From, w.To
	if do == "revert" && to == "" && len(hunks) == 0 {
		do, from, to = "restore", "", w.From
	}
	return v.goTo(&way{Do: do, From: from, To: to, Policy: w.Policy, Paths: paths, Hunks: hunks})
}

// goTo leads to the plan of a way.
func (v *visit) goTo(w *way) error {
	address := w.address(v)
	if w.tooMany() || len(address) > maxAddress {
		return errTooMany
	}
	http.Redirect(v.w, v.r, address, http.StatusSeeOther)
	return nil
}

func pairsOf(name string, values []string) (pairs []string) {
	for _, value := range values {
		pairs = append(pairs, name, value)
	}
	return pairs
}

// pathsOf finds the changed paths that hashes name. A renamed file goes with its name before.
func (v *visit) pathsOf(w *way, files []string) (paths []string, all bool, err error) {
	if len(files) == 0 {
		return nil, false, nil
	}
	list, err := v.project.Repo.Changes(v.ctx(), w.From, w.To)
	if err != nil {
		return nil, false, err
	}
	renamed, err := v.project.Repo.Renames(v.ctx(), list)
	if err != nil {
		return nil, false, err
	}
	known := make(map[string][]string)
	for i := range renamed {
		c := &renamed[i]
		paths := []string{c.Path}
		if c.From != "" {
			paths = append(paths, c.From)
		}
		known["f"+hash(c.Path)] = paths
	}
	for _, id := range files {
		if known[id] == nil {
			return nil, false, errGone
		}
		paths = append(paths, known[id]...)
	}
	return paths, len(files) == len(known), nil
}

// hunksOfFiles lists the changes of whole files, so that they go back in one operation with single
// changes of others.
func (v *visit) hunksOfFiles(w *way, paths []string) (hunks []string, err error) {
	if len(paths) == 0 {
		return nil, nil
	}
	list, err := v.project.Repo.Changes(v.ctx(), w.From, w.To, paths...)
	if err != nil {
		return nil, err
	}
	for d, err := range v.project.Repo.FileDiffs(v.ctx(), list, cairn.DiffOptions{Hunks: true}) {
		if err != nil {
			return nil, err
		}
		for i := range d.Hunks {
			hunks = append(hunks, d.Hunks[i].ID)
		}
	}
	return hunks, nil
}
