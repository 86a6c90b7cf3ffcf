package report

import "github.com/seed-fb9cbc17/cairn/bench/internal/names"

// The reasons that stand beside rows of the public table. Each is about what the programs do, not
// about a figure, so that it stays true in every run.

// reasons has texts by kind of row and by the first contender; "" is any other.
var reasons = map[string]map[string]string{
	names.OpFirst: {
		names.Copy: "cp neither hashes nor compresses, and keeps nothing that a second copy could share",
		"":         "cairn hashes and compresses every file, and waits for the disk",
	},
	names.OpFirstBorrowed: {
		names.Newest: "OpenCode notes where the repository's objects lie, and a git gc can take them away; cairn links them, so that they stay",
		"":           "cairn links what it borrows and waits for the disk",
	},
	names.OpUnchanged: {
		names.Monitor: "the monitor tells git what has changed; cairn without a server looks at every file",
		"":            "cairn looks at every file, and in a small tree its start counts",
	},
	"track": {
		names.Monitor: "the monitor tells git what has changed, and git adds to its store without waiting for the disk",
		"":            "git adds to its store without waiting for the disk, and in a small tree the start of cairn counts",
	},
	names.OpPatchNew: {
		names.Monitor: "the monitor tells git what has changed; cairn without a server looks at every file",
		"":            "cairn looks at every file, and in a small tree its start counts",
	},
	"diff": {
		names.Jujutsu: "jj prints the changed lines; cairn gives both texts of every file",
		names.Restic:  "restic lists names; cairn gives both texts of every file",
		"":            "cairn gives both texts of every file, with the changed lines",
	},
	"back": {
		names.Newest:  "cairn looks at every file before it goes back, so that what a user changed is saved, and what it writes is on the disk; OpenCode does neither",
		names.Spec:    "cairn looks at every file before it goes back, so that what a user changed is saved, and what it writes is on the disk; git does neither",
		names.Jujutsu: "jj flushes its own records, but not the files that it writes; cairn flushes both",
		names.Copy:    "cp overwrites everything without a look, and saves nothing",
		"":            "cairn saves what it overwrites, and waits for the disk",
	},
	"store": {
		names.Newest:  "cairn has a checksum of each file for the next look, and a journal",
		names.Jujutsu: "jj puts its objects into the repository, which is not counted here",
		names.Copy:    "cp shares all blocks with the tree",
		names.Restic:  "restic joins equal parts of files, and compresses with more effort",
		"":            "cairn compresses fast rather than well",
	},
}

// reasonsOfGoals are those of goals that are missed, where they are not those of the row.
var reasonsOfGoals = map[string]string{
	names.OpFirst:     "hashing and compressing every file is most of the work of both",
	names.OpTakeBack:  "cairn looks at the tree, compares every file with what the turn left, and notes what it removes",
	names.OpBringBack: anyTime,
}

// anyTime is the reason where single times differ more than rows.
const anyTime = "timed once or a few times, and the disk takes half as long again from one time to the next"

// reasonsServed are those of rows that are slower with a server, by kind of row or operation; "" is any other.
var reasonsServed = map[string]string{
	"diff":            "a diff of two checkpoints asks no server, so that is how much two runs differ",
	names.OpTakeBack:  anyTime,
	names.OpBringBack: anyTime,
	"":                "the call goes to the server, which flushes what it writes just as well",
}

func reasonServed(row *publicRow) string {
	for _, kind := range []string{row.op, kindsOfRows[row.op]} {
		if text := reasonsServed[kind]; kind != "" && text != "" {
			return text
		}
	}
	return reasonsServed[""]
}

// kindsOfRows joins rows with the same reasons.
var kindsOfRows = map[string]string{
	names.OpOne: "track", names.OpMany: "track",
	names.OpDiffMany: "diff", names.OpDiffLarge: "diff",
	names.OpRevertOne: "back", names.OpRevertMany: "back", names.OpRevertLarge: "back",
	names.OpRestoreOne: "back", names.OpRestoreMany: "back", names.OpRestoreLarge: "back",
	names.OpUndoOne: "back", names.OpUndoMany: "back", names.OpUndoLarge: "back",
	names.OpTakeBack: "back", names.OpBringBack: "back",
}

func reasonFor(row *publicRow, first string) string {
	kind := row.op
	if row.store != "" {
		kind = "store"
	} else if k := kindsOfRows[row.op]; k != "" {
		kind = k
	}
	if text := reasons[kind][first]; text != "" {
		return text
	}
	return reasons[kind][""]
}

func reasonOfGoal(row *publicRow, of string) string {
	if text := reasonsOfGoals[row.op]; text != "" {
		return text
	}
	return reasonFor(row, of)
}
