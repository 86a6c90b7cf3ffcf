package git

// Unfinished is an operation of git that waits to be continued or ended.
type Unfinished struct {
	File string // below the git directory, with slashes: it, or a file below it, is there meanwhile
	Name string // as in git NAME --continue; git am keeps its state as a rebase does
}

// InProgress lists what git may be in the middle of. A rebase comes first: it may stop in a cherry-pick
// or a merge of its own.
var InProgress = []Unfinished{
	{"rebase-merge", "rebase"}, {"rebase-apply/applying", "rebase"}, {"rebase-apply", "rebase"}, {"MERGE_HEAD", "merge"},
	{"CHERRY_PICK_HEAD", "cherry-pick"}, {"REVERT_HEAD", "revert"}, {"sequencer", "cherry-pick"}, {"BISECT_LOG", "bisect"},
}
