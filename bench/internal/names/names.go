package names

import "slices"

// FloorsOfChange are the floors of tracks whose changes lie in one place.
var FloorsOfChange = map[string]string{OpAboveOne: FloorKeepOne, OpAboveMany: FloorKeepMany}

// The moments at which memory is asked for.
const (
	MemoryStarted  = "started"
	MemoryWatching = "watching"
)

// ModulePath is the module that is measured.
const ModulePath = "github.com/seed-fb9cbc17/cairn"

// The contenders' names in tables and files.
const (
	Spec      = "spec"
	Untracked = "git-untracked-cache"
	Monitor   = "git-fsmonitor"
	OpenCode  = "opencode"
	Newest    = "opencode-newest"
	Restic    = "restic"
	Jujutsu   = "jj"
	Copy      = "cp"
	CLI       = "cairn"
	Library   = "cairn-library"
	Watching  = "cairn-watching"
	Served    = "cairn-served"
)

// The operations, by their names in files.
const (
	OpFirst         = "first-track"
	OpFirstBorrowed = "first-track-borrowed"
	OpOpen          = "open-and-track"
	OpUnchanged     = "unchanged-track"
	OpOneProcessor  = "unchanged-1-processor"
	OpTwoProcessors = "unchanged-2-processors"
	OpOne           = "track-1-changed"
	OpOnlyPath      = "track-1-only-path"
	OpMany          = "track-100-changed"
	OpAboveOne      = "above-1-changed"
	OpAboveMany     = "above-100-changed"
	OpPatchNew      = "patch-10-new"
	OpDiffMany      = "diff-full-100"
	OpDiffLarge     = "diff-full-1000"
	OpRestoreMany   = "restore-100"
	OpAfterRestore  = "track-after-restore"
	OpUndoMany      = "undo-100"
	OpRedoMany      = "redo-100"
	OpRevertMany    = "revert-100"
	OpRestoreOne    = "restore-1"
	OpRestoreLarge  = "restore-1000"
	OpUndoOne       = "undo-1"
	OpUndoLarge     = "undo-1000"
	OpRevertOne     = "revert-1"
	OpRevertLarge   = "revert-1000"
	OpTakeBack      = "take-back-10000"
	OpBringBack     = "bring-back-10000"

	FloorWalk       = "walk-lstat"
	FloorWalkAlone  = "walk-lstat-1-processor"
	FloorRead       = "read-all"
	FloorSpawn      = "spawn"
	FloorKeepOne    = "keep-1"
	FloorKeepMany   = "keep-100"
	FloorWriteMany  = "write-100"
	FloorWriteOne   = "write-1"
	FloorWriteLarge = "write-1000"
	FloorUnlink     = "unlink-10000"
	FloorRewrite    = "write-10000"
	Floor           = "floor"
	Hand            = "by-hand" // the files of a turn, written or unlinked without any checkpoint
)

const (
	// ManyFiles is the number of files that most operations change.
	ManyFiles = 100
	// LargeFiles is the number of files of the large diff.
	LargeFiles = 1000
	// NewFiles is the number of files that a patch finds.
	NewFiles = 10
	// TakenBack is the number of files of a large turn that is taken back.
	TakenBack = 10_000
)

// Operation is what one row of the table is about.
type Operation struct{ Op, Title string }

// Operations are in the order of the table.
var Operations = []Operation{
	{OpFirst, "first track"},
	{OpFirstBorrowed, "first track, borrowed"},
	{OpOpen, "open, then track, unchanged"},
	{OpUnchanged, "track, unchanged"},
	{OpOneProcessor, "track, unchanged, 1 processor"},
	{OpTwoProcessors, "track, unchanged, 2 processors"},
	{OpOne, "track, 1 file changed"},
	{OpOnlyPath, "track of 1 file only"},
	{OpMany, "track, 100 files changed"},
	{OpAboveOne, "1 file changed, above unchanged"},
	{OpAboveMany, "100 files changed, above unchanged"},
	{OpPatchNew, "patch, 10 new files"},
	{OpDiffMany, "diff full, 100 files"},
	{OpDiffLarge, "diff full, 1,000 files"},
	{OpRevertMany, "revert, 100 files"},
	{OpRestoreMany, "restore, 100 files"},
	{OpAfterRestore, "track after the restore"},
	{OpUndoMany, "undo of the restore"},
	{OpRedoMany, "redo of the restore"},
	{OpRevertOne, "revert, 1 file"},
	{OpRevertLarge, "revert, 1,000 files"},
	{OpRestoreOne, "restore, 1 file"},
	{OpRestoreLarge, "restore, 1,000 files"},
	{OpUndoOne, "undo of a restore, 1 file"},
	{OpUndoLarge, "undo of a restore, 1,000 files"},
	{OpTakeBack, "take back 10,000 new files"},
	{OpBringBack, "undo of that"},
}

// FloorsOfWriting are the floors of ways back: writing or unlinking the same files durably.
var FloorsOfWriting = map[string]string{
	OpRevertOne: FloorWriteOne, OpRestoreOne: FloorWriteOne, OpUndoOne: FloorWriteOne,
	OpRevertMany: FloorWriteMany, OpRestoreMany: FloorWriteMany, OpUndoMany: FloorWriteMany, OpRedoMany: FloorWriteMany,
	OpRevertLarge: FloorWriteLarge, OpRestoreLarge: FloorWriteLarge, OpUndoLarge: FloorWriteLarge,
	OpTakeBack: FloorUnlink, OpBringBack: FloorRewrite,
}

// OperationTitle is the title of an operation, else its name.
func OperationTitle(op string) string {
	if i := slices.IndexFunc(Operations, func(o Operation) bool { return o.Op == op }); i >= 0 {
		return Operations[i].Title
	}
	return op
}
