package gitrestore

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/gitstate"
)

const stashRef = "refs/stash"

// Stash is an entry of the list of stashes.
type Stash struct{ ID, Message string }

// Stashes reads a reflog of refs/stash, newest first.
func Stashes(log []byte) (list []Stash) {
	for line := range strings.Lines(string(log)) {
		head, message, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if fields := strings.SplitN(head, " ", 3); len(fields) == 3 {
			list = append(list, Stash{fields[1], message})
		}
	}
	slices.Reverse(list)
	return list
}

// listOf returns the list of stashes of a record. A ref whose reflog has expired is a list of one.
func listOf(r *gitstate.Record) []Stash {
	list := Stashes(r.Stash)
	if len(list) == 0 && r.Refs[stashRef] != "" {
		list = append(list, Stash{ID: r.Refs[stashRef]})
	}
	return list
}

// expired reports whether a record has the ref of the newest stash without its reflog: git lists no stash then.
func expired(r *gitstate.Record) bool { return r.Refs[stashRef] != "" && len(Stashes(r.Stash)) == 0 }

// sameList compares the lists of two records, and whether git shows them.
func sameList(a, b *gitstate.Record) bool {
	return sameStashes(listOf(a), listOf(b)) && expired(a) == expired(b)
}

// stashLog is the inverse of Stashes, as far as a plan needs it.
func stashLog(list []Stash) []byte {
	var b []byte
	for _, s := range slices.Backward(list) {
		b = fmt.Appendf(b, "0 %s cairn\t%s\n", s.ID, s.Message)
	}
	return b
}

func hasStash(list []Stash, s Stash) bool {
	return slices.ContainsFunc(list, func(o Stash) bool { return o.ID == s.ID })
}

func sameStashes(a, b []Stash) bool {
	return slices.EqualFunc(a, b, func(x, y Stash) bool { return x.ID == y.ID })
}

// listStashes makes the list of stashes, oldest first. Where the list only grows, nothing is dropped
// for a moment. A stash that has come meanwhile is on top.
func (r *run) listStashes() error {
	if !r.List {
		return nil
	}
	var now []Stash
	old, want, unlisted := "", r.Stashes, r.Expired
	if r.fresh != nil {
		now, old = Stashes(r.fresh.Stash), r.fresh.Refs[stashRef]
		planned := Stashes(r.now.Stash)
		came := slices.DeleteFunc(slices.Clone(now), func(s Stash) bool { return hasStash(planned, s) || hasStash(want, s) })
		want, unlisted = append(came, want...), unlisted && len(came) == 0
	}
	if unlisted {
		return r.expireStashes(want[0].ID, old, now)
	}
	n := len(want) - len(now)
	if old == newestOf(now) && n >= 0 && sameStashes(want[n:], now) {
		return r.pushStashes(want[:n], old)
	}
	if err := r.dropStashes(old, now); err != nil {
		return err
	}
	return r.pushStashes(want, "")
}

// expireStashes removes the list and makes the ref of the newest stash without a reflog.
func (r *run) expireStashes(id, old string, now []Stash) error {
	if old != "" || len(now) > 0 {
		if err := r.dropStashes(old, now); err != nil {
			return err
		}
	}
	_, err := r.git("", "-c", "core.logAllRefUpdates=false", "update-ref", stashRef, id, strings.Repeat("0", len(id)))
	return err
}

// isTorn reports whether the ref and the reflog of the list differ: a git was cut short between the two.
func isTorn(now *gitstate.Record) bool {
	return !expired(now) && newestOf(Stashes(now.Stash)) != now.Refs[stashRef]
}

func newestOf(list []Stash) string {
	if len(list) == 0 {
		return ""
	}
	return list[0].ID
}

// dropStashes removes the list. Ref and reflog may differ, where git was killed between the two. Git
// removes the reflog together with the ref, so there has to be one; if it cannot, it does not say so.
func (r *run) dropStashes(old string, now []Stash) error {
	for range 2 {
		if old == "" && len(now) > 0 {
			old = now[0].ID
			if _, err := r.git("", "update-ref", stashRef, old); err != nil {
				return err
			}
		}
		if old != "" {
			if _, err := r.git("", "update-ref", "-d", stashRef, old); err != nil {
				return err
			}
		}
		if err := r.find(); err != nil {
			return err
		}
		if old, now = r.fresh.Refs[stashRef], Stashes(r.fresh.Stash); old == "" && len(now) == 0 {
			return nil
		}
	}
	return errors.New("git cannot remove the list of stashes")
}

// pushStashes puts stashes on a list whose newest one is old.
func (r *run) pushStashes(add []Stash, old string) error {
	for _, s := range slices.Backward(add) {
		if old == "" {
			old = strings.Repeat("0", len(s.ID))
		}
		if _, err := r.git("", "update-ref", "--create-reflog", "-m", cmp.Or(s.Message, "stash"), stashRef, s.ID, old); err != nil {
			return err
		}
		old = s.ID
	}
	return nil
}
