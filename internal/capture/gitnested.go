package capture

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/gitstate"
)

// maxNested is how many nested repositories are recorded, and about how many that cannot be read are looked at
// again.
const maxNested = 200

// nestedNote is what a store remembers of a nested repository, or of a submodule. Without a git directory it
// is of a ".git" that could not be read, such as one that is being made.
type nestedNote struct {
	Place  string          `json:"place"` // path from the root
	GitDir string          `json:"gitDir"`
	Stamps gitstate.Stamps `json:"stamps"`
}

// nestedSeen collects the directories in which a scan met a ".git".
type nestedSeen struct {
	mu     sync.Mutex
	places map[string]bool
}

func (s *nestedSeen) add(place string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.places == nil {
		s.places = make(map[string]bool)
	}
	s.places[place] = true
}

// nestedHold reports whether the nested repositories are as a note says.
func (n *GitNote) nestedHold() bool {
	return !slices.ContainsFunc(n.Nested, func(o nestedNote) bool { return !o.Stamps.Hold() })
}

// allNestedKnown reports whether a scan met no repository that a note lacks.
func (c *Snapshot) allNestedKnown(n *GitNote) bool {
	for place := range c.nested.places {
		if slices.ContainsFunc(n.Nested, func(o nestedNote) bool { return o.Place == place }) {
			continue
		}
		if repo := nestedAt(c.repo.Root, place); repo != nil && !c.sharesRefs(repo, n) {
			return false
		}
	}
	return true
}

// sharesRefs reports whether a repository is a linked work tree of one that is recorded.
func (c *Snapshot) sharesRefs(repo *git.Repo, n *GitNote) bool {
	return repo.CommonDir == c.repo.Repository().CommonDir ||
		slices.ContainsFunc(n.Nested, func(o nestedNote) bool { return o.GitDir == repo.CommonDir })
}

// nestedAt returns the repository whose work tree begins at a place, nil if there is none.
func nestedAt(root, place string) *git.Repo {
	dir := filepath.Join(root, filepath.FromSlash(place))
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
		return nil
	}
	repo, err := git.Find(dir)
	if err != nil || repo == nil || repo.Top != dir {
		return nil
	}
	return repo
}

// unreadAt returns the note of a place whose ".git" is no repository, none where it is gone.
func unreadAt(root, place string) []nestedNote {
	path := filepath.Join(root, filepath.FromSlash(place), ".git")
	if _, err := os.Lstat(path); err != nil {
		return nil
	}
	return []nestedNote{{Place: place, Stamps: gitstate.StampsOf(path)}}
}

// readNested reads the nested repositories: those of the last note and those that the scan met. The
// first time all captured directories are looked at, unless the scan has listed each of them.
func (c *Snapshot) readNested(ctx context.Context, record *gitstate.Record, last *GitNote) (repos []*git.Repo, notes []nestedNote) {
	places := maps.Clone(c.nested.places)
	if places == nil {
		places = make(map[string]bool)
	}
	for _, n := range last.Nested {
		places[n.Place] = true
	}
	if listedAll := c.from.IsZero() && c.covered == nil; !last.Looked && !listedAll {
		for dir := range c.Index.Dirs {
			places[dir] = true
		}
	}
	delete(places, "")
	common := map[string]bool{record.CommonDir: true}
	for _, place := range slices.Sorted(maps.Keys(places)) {
		repo := nestedAt(c.repo.Root, place)
		if repo == nil {
			if len(notes) < maxNested {
				notes = append(notes, unreadAt(c.repo.Root, place)...)
			}
			continue
		}
		if common[repo.CommonDir] {
			continue // a linked work tree has the refs of its repository
		}
		common[repo.CommonDir] = true
		if len(repos) == maxNested {
			record.Notes = append(record.Notes, "further nested repositories are left out")
			break
		}
		reader := gitstate.Reader{Repo: repo}
		reader.Git, _ = git.LookBinary()
		sub, stamps, err := reader.Read(ctx)
		if err != nil {
			continue // it is being removed
		}
		if record.Nested == nil {
			record.Nested = make(map[string]*gitstate.Record)
		}
		record.Nested[place] = sub
		repos, notes = append(repos, repo), append(notes, nestedNote{place, repo.GitDir, stamps})
	}
	return repos, notes
}

// objectDirs lists the object directories of a repository and of the nested ones with the same object
// format.
func objectDirs(repo *git.Repo, nested []*git.Repo) (dirs []string, other bool) {
	dirs = repo.ObjectDirs()
	for _, n := range nested {
		if n.SHA256 != repo.SHA256 {
			other = true
			continue
		}
		for _, dir := range n.ObjectDirs() {
			if !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs, other
}

// shallowOf joins the ends of the histories of a record's repositories.
func shallowOf(record *gitstate.Record) []byte {
	text := slices.Clone(record.Files[gitstate.CommonPrefix+"shallow"])
	for _, place := range slices.Sorted(maps.Keys(record.Nested)) {
		text = append(text, record.Nested[place].Files[gitstate.CommonPrefix+"shallow"]...)
	}
	return text
}
