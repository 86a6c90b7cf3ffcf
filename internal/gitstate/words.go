package gitstate

import (
	"fmt"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// maxNamed is the number of moved branches up to which each is named.
const maxNamed = 3

// Words returns the movement as short phrases for people. count returns how many commits only one
// of two commits leads to; it may be nil, and ok is false where it does not know.
func (m *Movement) Words(count func(from, to string) (n int, ok bool)) []string {
	switch {
	case m.Gone:
		return []string{"the repository is gone"}
	case m.Made:
		return []string{"the repository is new"}
	}
	var list []string
	if m.Head != nil {
		list = append(list, "HEAD: "+headText(m.Head.From)+" before, "+headText(m.Head.To)+" now")
	}
	list = append(list, m.refWords(count)...)
	list = appendCount(list, m.Dropped, "stash", "stashes", "dropped")
	list = appendCount(list, m.Stashed, "stash", "stashes", "made")
	if m.Index {
		list = append(list, "index changed")
	}
	if m.From != m.To && m.From != "" {
		list = append(list, m.From+" no longer in progress")
	}
	if m.From != m.To && m.To != "" {
		list = append(list, m.To+" in progress")
	}
	list = appendCount(list, len(m.Worktrees), "other work tree", "other work trees", "moved")
	for i := range m.Nested {
		list = append(list, m.Nested[i].words(count)...)
	}
	return list
}

func appendCount(list []string, n int, one, many, what string) []string {
	switch n {
	case 0:
		return list
	case 1:
		return append(list, "1 "+one+" "+what)
	}
	return append(list, fmt.Sprintf("%d %s %s", n, many, what))
}

func headText(value string) string {
	switch name, symbolic := strings.CutPrefix(value, "ref: "); {
	case value == "":
		return "unreadable"
	case symbolic:
		return refText(name)
	}
	return short(value)
}

func short(id string) string { return id[:min(len(id), 7)] }

// kinds are the kinds of refs, by prefix.
var kinds = []struct{ prefix, one, many string }{
	{"refs/heads/", "branch", "branches"},
	{"refs/tags/", "tag", "tags"},
	{"refs/remotes/", "remote-tracking branch", "remote-tracking branches"},
	{"refs/stash", "", ""}, // the list of stashes says it
	{"", "other ref", "other refs"},
}

func refText(name string) string {
	return pathtext.Quote(strings.TrimPrefix(name, "refs/heads/"))
}

// refWords groups the refs by kind, and by moved, deleted and created.
func (m *Movement) refWords(count func(from, to string) (int, bool)) (list []string) {
	left := m.Refs
	for _, kind := range kinds {
		var moved, gone, made, rest []RefMove
		for _, r := range left {
			switch {
			case !strings.HasPrefix(r.Name, kind.prefix):
				rest = append(rest, r)
			case r.From == "":
				made = append(made, r)
			case r.To == "":
				gone = append(gone, r)
			default:
				moved = append(moved, r)
			}
		}
		left = rest
		if kind.one == "" {
			continue
		}
		if kind.prefix == "refs/heads/" && len(moved) <= maxNamed {
			for _, r := range moved {
				list = append(list, moveText(r, count))
			}
			moved = nil
		}
		list = appendCount(list, len(moved), kind.one, kind.many, "moved")
		list = appendCount(list, len(gone), kind.one, kind.many, "deleted")
		list = appendCount(list, len(made), kind.one, kind.many, "created")
	}
	return list
}

func moveText(r RefMove, count func(from, to string) (int, bool)) string {
	name := refText(r.Name)
	if strings.HasPrefix(r.From+r.To, "ref: ") || strings.Contains(r.To, "ref: ") {
		return name + " names another ref"
	}
	span := "(" + short(r.From) + ".." + short(r.To) + ")"
	if count != nil {
		if n, ok := count(r.From, r.To); ok {
			return fmt.Sprintf("%s: %s away %s", name, wording.Count(n, "commit"), span)
		}
	}
	return name + " moved " + span
}
