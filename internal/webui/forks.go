package webui

import (
	"net/http"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// forksPage is what templates/forks.html shows: the forks of the project and what each changed.
type forksPage struct {
	Forks []listedFork
	All   string // address that compares all of them, "" for fewer than two
}

// listedFork is a fork with the way to compare it, "" where that is not possible.
type listedFork struct {
	*cairn.ForkInfo
	Age     string
	Counts  string
	Compare string
}

// forks lists the forks of the project. The present state of each is captured for it.
func (h *handler) forks(v *visit) error {
	list, err := v.project.Repo.Forks(v.ctx())
	if err != nil {
		return err
	}
	page := &forksPage{}
	var ids []string
	for i := range list {
		one := listedFork{ForkInfo: &list[i], Age: wording.Ago(h.opt.Now().Sub(list[i].When)), Counts: forkCounts(&list[i])}
		if id := v.forkID(&list[i]); id != "" {
			one.Compare = v.at("compare", "dir", id)
			ids = append(ids, "dir", id)
		}
		page.Forks = append(page.Forks, one)
	}
	if n := len(ids) / 2; n > 1 && n <= maxCompared {
		page.All = v.at("compare", ids...)
	}
	return v.render(http.StatusOK, "forks.html", "Forks", page)
}

// forkID is the id under which the server knows a fork, "" for one that cannot be compared.
func (v *visit) forkID(f *cairn.ForkInfo) string {
	if f.Missing || f.Error != "" || v.h.opt.Fork == nil || v.h.opt.Source == nil {
		return ""
	}
	id, err := v.h.opt.Fork(v.ctx(), string(f.Root))
	if err != nil {
		v.h.log.Warn("a fork cannot be compared on the page", "fork", f.Root.Place(), "error", err)
		return ""
	}
	return id
}

func forkCounts(f *cairn.ForkInfo) (text string) {
	switch {
	case f.Error != "":
		return f.Error
	case f.Changed == 0:
		text = "nothing changed"
	case f.Unmerged == 0:
		text = plural(f.Changed, "path") + " changed, all merged"
	default:
		text = plural(f.Changed, "path") + " changed, " + grouped(f.Unmerged) + " not merged"
	}
	switch {
	case f.Test == nil || f.Test.Skipped():
	case f.Test.Passed():
		text += ", the test passed"
	default:
		text += ", the test failed"
	}
	return text
}
