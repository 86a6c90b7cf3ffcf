package peers

import (
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
)

// Kind is a kind of contender.
type Kind struct {
	Name, Title string // title heads its columns
	ops         []string
	Tree        string // contenders with the same word share a tree
	First       string // the kind whose first track is its, too: it begins with a copy of that store
	IDs         bool   // what Track returns are the ids of git's trees
	rewrites    bool   // a restore writes every file, which others sharing the tree would pay for
	home        bool   // it works in repositories only (see setting.Repository)
	outside     bool   // it works outside of them only
	ownTree     bool   // it keeps things of its own in the tree
	new         func(Setting) Contender
}

// The trees: contenders that rewrite all files in a restore work in the first.
const (
	treeOthers  = "tree"
	TreeCairn   = "tree-cairn"
	treeJujutsu = "tree-jj"
)

var (
	trackOps = []string{names.OpUnchanged, names.OpOne, names.OpMany}
	allOps   = append([]string{names.OpFirst, names.OpPatchNew, names.OpDiffMany, names.OpDiffLarge, names.OpRestoreMany, names.OpAfterRestore, names.OpRevertMany}, trackOps...)
	cairnOps = append([]string{names.OpFirstBorrowed, names.OpUndoMany, names.OpRedoMany, names.OpOnlyPath}, allOps...)

	// What only the table of -table times.
	gitTableOps = []string{names.OpRevertOne}
	newestOps   = []string{names.OpRevertOne, names.OpRevertLarge, names.OpTakeBack}
	tableOps    = append([]string{names.OpRestoreOne, names.OpRestoreLarge, names.OpUndoOne, names.OpUndoLarge, names.OpBringBack}, newestOps...)
)

func without(ops []string, left ...string) []string {
	return slices.DeleteFunc(slices.Clone(ops), func(op string) bool { return slices.Contains(left, op) })
}

func with(ops []string, more ...string) []string { return slices.Concat(ops, more) }

// Kinds are the contenders in the order of the table.
var Kinds = []Kind{
	{
		Name: names.Spec, Title: "spec", ops: with(allOps, gitTableOps...), Tree: treeOthers, IDs: true, rewrites: true,
		new: func(s Setting) Contender { return newSpec(s) },
	},
	{
		Name: names.Untracked, Title: "git untracked cache", ops: with(trackOps, names.OpPatchNew), Tree: treeOthers, First: names.Spec, IDs: true,
		new: func(s Setting) Contender { return newTuned(s, untrackedCache) },
	},
	{
		Name: names.Monitor, Title: "git fsmonitor", ops: with(trackOps, names.OpPatchNew), Tree: treeOthers, First: names.Spec, IDs: true,
		new: func(s Setting) Contender { return newTuned(s, fileMonitor) },
	},
	{
		Name: names.OpenCode, Title: "OpenCode", ops: allOps, Tree: treeOthers, IDs: true, rewrites: true, outside: true,
		new: func(s Setting) Contender { return newOpenCode(s) },
	},
	{
		Name: names.Newest, Title: "OpenCode newest", ops: with(without(allOps, names.OpFirst), with(newestOps, names.OpFirstBorrowed)...), Tree: treeOthers, IDs: true, rewrites: true, home: true,
		new: func(s Setting) Contender { return newOpenCode(s) },
	},
	{
		Name: names.Restic, Title: "restic", ops: without(allOps, names.OpPatchNew, names.OpRevertMany), Tree: treeOthers, rewrites: true,
		new: func(s Setting) Contender { return NewRestic(s) },
	},
	{
		Name: names.Jujutsu, Title: "jj", ops: with(without(allOps, names.OpAfterRestore), with(tableOps, names.OpFirstBorrowed, names.OpUndoMany, names.OpRedoMany)...), Tree: treeJujutsu, ownTree: true,
		new: func(s Setting) Contender { return newJujutsu(s) },
	},
	{
		Name: names.Copy, Title: "cp", ops: []string{names.OpFirst, names.OpRestoreMany}, Tree: treeOthers, rewrites: true,
		new: func(s Setting) Contender { return newCopy(s) },
	},
	{
		Name: names.CLI, Title: "cairn", ops: with(cairnOps, with(tableOps, names.OpAboveOne, names.OpAboveMany)...), Tree: TreeCairn, IDs: true,
		new: func(s Setting) Contender { return newCLI(s) },
	},
	{
		Name: names.Library, Title: "library", ops: with(cairnOps, names.OpAboveOne, names.OpAboveMany, names.OpOpen, names.OpOneProcessor, names.OpTwoProcessors), Tree: TreeCairn, IDs: true,
		new: func(s Setting) Contender { return newLibrary(s) },
	},
	{
		Name: names.Watching, Title: "watching", ops: with(without(cairnOps, names.OpFirst, names.OpFirstBorrowed), names.OpOpen), Tree: TreeCairn, First: names.CLI, IDs: true,
		new: func(s Setting) Contender { return newWatching(s) },
	},
	{
		Name: names.Served, Title: "cairn, server", ops: with(without(cairnOps, names.OpFirst, names.OpFirstBorrowed), tableOps...), Tree: TreeCairn, First: names.CLI, IDs: true,
		new: func(s Setting) Contender { return newServed(s) },
	},
}

// KindNames lists the names of all kinds.
func KindNames() (names []string) {
	for _, k := range Kinds {
		names = append(names, k.Name)
	}
	return names
}

// KindOf returns nil for an unknown name.
func KindOf(name string) *Kind {
	if i := slices.Index(KindNames(), name); i >= 0 {
		return &Kinds[i]
	}
	return nil
}

// NewContender returns the contender of a setting.
func NewContender(s Setting) (Contender, error) {
	k := KindOf(s.Kind)
	if k == nil {
		return nil, fmt.Errorf("no contender is called %q", s.Kind)
	}
	return k.new(s), nil
}

// Can reports whether a contender takes part in an operation.
func (s *Setting) Can(op string) bool {
	k := KindOf(s.Kind)
	switch op {
	case names.OpFirst:
		if (s.Kind == names.CLI || s.Kind == names.Jujutsu) && s.Repository {
			return false // they always borrow
		}
	case names.OpFirstBorrowed:
		if !s.Repository {
			return false
		}
	case names.OpRestoreMany, names.OpAfterRestore:
		if k.rewrites && s.OneTree {
			return false
		}
	}
	return slices.Contains(k.ops, op)
}

// InRow reports whether a contender is fast enough for an operation to be timed many
// times in a row.
func (s *Setting) InRow(op string) bool {
	return s.Kind == names.Watching && slices.Contains(trackOps, op)
}

// Fits reports whether a contender can take part in a run of that form.
func (k *Kind) Fits(repository, oneTree bool) bool {
	if oneTree && k.ownTree {
		return false
	}
	if repository {
		return !k.outside
	}
	return !k.home && !(oneTree && k.outside)
}

// ParseContenders takes names separated by commas, or "all" for those that fit.
func ParseContenders(list string, repository, oneTree bool) ([]string, error) {
	asked := strings.Split(list, ",")
	var names []string
	for i := range Kinds {
		k := &Kinds[i]
		named, fits := slices.Contains(asked, k.Name), k.Fits(repository, oneTree)
		switch {
		case named && !fits && k.ownTree:
			return nil, fmt.Errorf("%s needs a tree of its own: it goes without -one-tree", k.Name)
		case named && !fits && k.home:
			return nil, fmt.Errorf("%s works in a repository: it needs -repository", k.Name)
		case named && !fits:
			return nil, fmt.Errorf("%s works outside of repositories: it goes without -repository and -one-tree", k.Name)
		case named || list == "all" && fits:
			names = append(names, k.Name)
		}
	}
	for _, name := range asked {
		if KindOf(name) == nil && list != "all" {
			return nil, fmt.Errorf("no contender is called %q; there are %s", name, strings.Join(KindNames(), ", "))
		}
	}
	return names, nil
}

// Missing says why a contender cannot take part on this machine, "" if it can.
func Missing(name, git string) string {
	switch name {
	case names.Restic:
		if _, err := exec.LookPath("restic"); err != nil {
			return "restic is left out: it is not installed (Debian: apt-get install restic; .ci/newestpeers fetches the newest)"
		}
	case names.Monitor:
		out, err := exec.Command(git, "version", "--build-options").Output()
		if err != nil || !strings.Contains(string(out), "fsmonitor--daemon") {
			version, _, _ := strings.Cut(string(out), "\n")
			return "git's file-system monitor is left out: " + version + " has none for this system"
		}
	case names.Jujutsu:
		if _, err := exec.LookPath("jj"); err != nil {
			return "jj is left out: it is not installed (.ci/newestpeers fetches one)"
		}
	case names.Copy:
		if _, err := exec.LookPath("cp"); err != nil || runtime.GOOS != "linux" {
			return "cp is left out: only that of Linux has --reflink"
		}
	case names.Watching, names.Served:
		if !watchingHere {
			return name + " is left out: watching works on Linux only"
		}
	}
	return ""
}
