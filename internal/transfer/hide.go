package transfer

import (
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
)

// A push has no protocol v2: the receiving git advertises every ref. When it checks that what came is whole, it looks
// at what every ref leads to, and once more as the refs of an alternate, because what came waits in a directory of
// its own. Where this process starts the receiving git itself, that is, the remote is a path, a configuration of this
// one call hides the refs of other stores from all three.

// mostShown bounds the stores whose refs a receiving git shows. Their names are arguments of a command.
const mostShown = 64

// receivePack returns the option of git push that makes a receiving git on this machine show only the refs beside
// those to push, and those of stores whose lines are here already. "" leaves the receiving git as it is.
func (m *remote) receivePack(specs []string) string {
	if !m.isHere() {
		return ""
	}
	var shown []string
	for _, spec := range specs {
		_, to, _ := strings.Cut(spec, ":")
		shown = append(shown, ofStore(to))
	}
	for _, ref := range m.shown {
		shown = append(shown, ofStore(ref))
	}
	slices.Sort(shown)
	shown = slices.Compact(shown)
	if len(shown) > mostShown || slices.ContainsFunc(shown, func(ref string) bool { return !isPlain(ref) }) {
		return m.program("receive-pack")
	}
	command := m.gitThere() + " -c 'core.alternateRefsPrefixes=" + strings.Join(shown, " ") + "' -c receive.hideRefs=refs/"
	for _, ref := range shown {
		command += " -c 'receive.hideRefs=!" + ref + "'"
	}
	return "--receive-pack=" + command + " receive-pack"
}

// showFetched lets a receiving git show the refs of stores whose lines were fetched: what they lead to is not sent
// again.
func (r *Transport) showFetched(m *remote, key string) error {
	refs, err := r.DB.Refs(history.RefRemotes)
	for _, ref := range refs {
		store, _, _ := strings.Cut(strings.TrimPrefix(ref.Name, history.RefRemotes), "/")
		m.shown = append(m.shown, history.RefRoot+key+"/"+store)
	}
	m.shown = slices.Compact(m.shown)
	return err
}

// ofStore cuts a ref on a remote after the part that names a store, as in refs/cairn/<project>/<store>/tracks/day.
func ofStore(ref string) string {
	rest, ok := strings.CutPrefix(ref, history.RefRoot)
	if !ok {
		return ref
	}
	parts := strings.Split(rest, "/")
	most := 2
	if strings.HasPrefix(ref, refAbout) || strings.HasPrefix(ref, history.RefSignatures) {
		most = 3
	}
	return history.RefRoot + strings.Join(parts[:min(len(parts), most)], "/")
}

// isPlain reports whether a ref can stand in a command of a shell.
func isPlain(ref string) bool {
	return ref != "" && !strings.ContainsFunc(ref, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("/._-", c))
	})
}
