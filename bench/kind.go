package main

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// The contenders' names in tables and files.
const (
	nameSpec      = "spec"
	nameUntracked = "git-untracked-cache"
	nameMonitor   = "git-fsmonitor"
	nameOpenCode  = "opencode"
	nameNewest    = "opencode-newest"
	nameRestic    = "restic"
	nameCLI       = "cairn"
	nameLibrary   = "cairn-library"
	nameWatching  = "cairn-watching"
)

// kind is a kind of contender.
type kind struct {
	name, title string // title heads its columns
	ops         []string
	tree        string // contenders with the same word share a tree
	first       string // the kind whose first track is its, too: it begins with a copy of that store
	ids         bool   // what Track returns are the ids of git's trees
	rewrites    bool   // a restore writes every file, which others sharing the tree would pay for
	home        bool   // it works in repositories only (see setting.Repository)
	outside     bool   // it works outside of them only
	new         func(setting) contender
}

// The trees: contenders that rewrite all files in a restore work in the first.
const (
	treeOthers = "tree"
	treeCairn  = "tree-cairn"
)

var (
	trackOps = []string{opUnchanged, opOne, opMany}
	allOps   = append([]string{opFirst, opPatchNew, opDiffMany, opDiffLarge, opRestoreMany, opAfterRestore, opRevertMany}, trackOps...)
	cairnOps = append([]string{opFirstBorrowed, opUndoMany, opRedoMany, opOnlyPath}, allOps...)
)

func without(ops []string, left ...string) []string {
	return slices.DeleteFunc(slices.Clone(ops), func(op string) bool { return slices.Contains(left, op) })
}

func with(ops []string, more ...string) []string { return slices.Concat(ops, more) }

// kinds are the contenders in the order of the table.
var kinds = []kind{
	{
		name: nameSpec, title: "spec", ops: allOps, tree: treeOthers, ids: true, rewrites: true,
		new: func(s setting) contender { return newSpec(s) },
	},
	{
		name: nameUntracked, title: "git untracked cache", ops: with(trackOps, opPatchNew), tree: treeOthers, first: nameSpec, ids: true,
		new: func(s setting) contender { return newTuned(s, untrackedCache) },
	},
	{
		name: nameMonitor, title: "git fsmonitor", ops: with(trackOps, opPatchNew), tree: treeOthers, first: nameSpec, ids: true,
		new: func(s setting) contender { return newTuned(s, fileMonitor) },
	},
	{
		name: nameOpenCode, title: "OpenCode", ops: allOps, tree: treeOthers, ids: true, rewrites: true, outside: true,
		new: func(s setting) contender { return newOpenCode(s) },
	},
	{
		name: nameNewest, title: "OpenCode newest", ops: with(without(allOps, opFirst), opFirstBorrowed), tree: treeOthers, ids: true, rewrites: true, home: true,
		new: func(s setting) contender { return newOpenCode(s) },
	},
	{
		name: nameRestic, title: "restic", ops: without(allOps, opPatchNew, opRevertMany), tree: treeOthers, rewrites: true,
		new: func(s setting) contender { return newRestic(s) },
	},
	{
		name: nameCLI, title: "cairn", ops: with(cairnOps, opAboveOne, opAboveMany), tree: treeCairn, ids: true,
		new: func(s setting) contender { return newCLI(s) },
	},
	{
		name: nameLibrary, title: "library", ops: with(cairnOps, opAboveOne, opAboveMany, opOpen, opOneProcessor, opTwoProcessors), tree: treeCairn, ids: true,
		new: func(s setting) contender { return newLibrary(s) },
	},
	{
		name: nameWatching, title: "watching", ops: with(without(cairnOps, opFirst, opFirstBorrowed), opOpen), tree: treeCairn, first: nameCLI, ids: true,
		new: func(s setting) contender { return newWatching(s) },
	},
}

func kindNames() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// kindOf returns nil for an unknown name.
func kindOf(name string) *kind {
	if i := slices.Index(kindNames(), name); i >= 0 {
		return &kinds[i]
	}
	return nil
}

func newContender(s setting) (contender, error) {
	k := kindOf(s.Kind)
	if k == nil {
		return nil, fmt.Errorf("no contender is called %q", s.Kind)
	}
	return k.new(s), nil
}

// can reports whether a contender takes part in an operation.
func (s *setting) can(op string) bool {
	k := kindOf(s.Kind)
	switch op {
	case opFirst:
		if s.Kind == nameCLI && s.Repository {
			return false // the program always borrows
		}
	case opFirstBorrowed:
		if !s.Repository {
			return false
		}
	case opRestoreMany, opAfterRestore:
		if k.rewrites && s.OneTree {
			return false
		}
	}
	return slices.Contains(k.ops, op)
}

// inRow reports whether a contender is fast enough for an operation to be timed many
// times in a row.
func (s *setting) inRow(op string) bool {
	return s.Kind == nameWatching && slices.Contains(trackOps, op)
}

// fits reports whether a contender can take part in a run of that form.
func (k *kind) fits(repository, oneTree bool) bool {
	if repository {
		return !k.outside
	}
	return !k.home && !(oneTree && k.outside)
}

// parseContenders takes names separated by commas, or "all" for those that fit.
func parseContenders(list string, repository, oneTree bool) ([]string, error) {
	asked := strings.Split(list, ",")
	var names []string
	for i := range kinds {
		k := &kinds[i]
		named, fits := slices.Contains(asked, k.name), k.fits(repository, oneTree)
		switch {
		case named && !fits && k.home:
			return nil, fmt.Errorf("%s works in a repository: it needs -repository", k.name)
		case named && !fits:
			return nil, fmt.Errorf("%s works outside of repositories: it goes without -repository and -one-tree", k.name)
		case named || list == "all" && fits:
			names = append(names, k.name)
		}
	}
	for _, name := range asked {
		if kindOf(name) == nil && list != "all" {
			return nil, fmt.Errorf("no contender is called %q; there are %s", name, strings.Join(kindNames(), ", "))
		}
	}
	return names, nil
}

// missing says why a contender cannot take part on this machine, "" if it can.
func missing(name, git string) string {
	switch name {
	case nameRestic:
		if _, err := exec.LookPath("restic"); err != nil {
			return "restic is left out: it is not installed (Debian: apt-get install restic)"
		}
	case nameMonitor:
		out, err := exec.Command(git, "version", "--build-options").Output()
		if err != nil || !strings.Contains(string(out), "fsmonitor--daemon") {
			version, _, _ := strings.Cut(string(out), "\n")
			return "git's file-system monitor is left out: " + version + " has none for this system"
		}
	case nameWatching:
		if !watchingHere {
			return "cairn-watching is left out: watching works on Linux only"
		}
	}
	return ""
}
