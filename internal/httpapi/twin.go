package httpapi

import "time"

// The types below describe the JSON of the library's types for /openapi.json: limits,
// enumerations and words for people. A test compares the keys.

// Result is the result of going back, or of its plan.
type Result struct {
	Operation string          `json:"operation" doc:"Id, empty when there was nothing to do and for a plan."`
	Restored  []string        `json:"restored"`
	Deleted   []string        `json:"deleted"`
	Kept      []PathReason    `json:"kept" doc:"Present, but left alone for safety."`
	Conflicts []PathReason    `json:"conflicts" doc:"Not brought to the wanted state."`
	NotTaken  []PathReason    `json:"notTakenBack,omitempty" doc:"Changes of a session that no checkpoint holds: outside the root (absolute paths), or ignored. They stay."`
	Plan      []PlannedChange `json:"plan,omitempty"`
	PlanID    string          `json:"planID,omitempty" doc:"Equal plans have equal ids."`
}

// PathReason is a path that was left alone, and why.
type PathReason struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// PlannedChange is one line of a plan.
type PlannedChange struct {
	Path   string `json:"path"`
	Action string `json:"action" enum:"create,modify,chmod,delete,mkdir,rmdir"`
	Bytes  int64  `json:"bytes" doc:"Written for create and modify, removed for delete."`
}

// Operation is one restore, revert, undo or redo that was carried out.
type Operation struct {
	ID        string       `json:"id"`
	Kind      string       `json:"kind" enum:"restore,revert,unrevert,undo,redo"`
	When      time.Time    `json:"time"`
	Target    string       `json:"target,omitempty" doc:"Checkpoint that it went back to."`
	Undoes    string       `json:"undoes,omitempty" doc:"Operation that it took back."`
	Before    string       `json:"before" doc:"Checkpoint that holds everything that was overwritten or deleted."`
	After     string       `json:"after"`
	Paths     []string     `json:"paths" doc:"Changed."`
	Kept      []PathReason `json:"kept"`
	Conflicts []PathReason `json:"conflicts"`
}

// Change is one file that differs between two states.
type Change struct {
	Path    string `json:"path"`
	Status  string `json:"status" enum:"added,modified,deleted"`
	OldMode string `json:"oldMode,omitempty" doc:"As git has it; none where the file is absent."`
	NewMode string `json:"newMode,omitempty"`
	OldPerm string `json:"oldPerm,omitempty" doc:"Permission bits in octal."`
	NewPerm string `json:"newPerm,omitempty"`
	OldID   string `json:"oldID,omitempty" doc:"Of the blob."`
	NewID   string `json:"newID,omitempty"`
}

// FileDiff is one changed file with its texts.
type FileDiff struct {
	File      string `json:"file"`
	Before    string `json:"before"`
	After     string `json:"after"`
	Additions int    `json:"additions"`
	Deletions int    `json:"deletions"`
	Status    string `json:"status" enum:"added,modified,deleted"`
	Patch     string `json:"patch" doc:"As git diff prints it."`
	Note      string `json:"note,omitempty" enum:"binary,too large" doc:"Why there is no text."`
}

// Skipped is a path that is present but was not captured.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
	Size   int64  `json:"size"`
}

// Patch lists files that differ from a checkpoint.
type Patch struct {
	Hash  string   `json:"hash" maxLength:"200"`
	Files []string `json:"files" doc:"Absolute paths, or paths from the root." maxItems:"100000"`
}

// TreeEntry is one path at a checkpoint.
type TreeEntry struct {
	Path string `json:"path"`
	Mode string `json:"mode" doc:"As git has it."`
	Perm string `json:"perm" doc:"Permission bits in octal."`
	ID   string `json:"id" doc:"Of the blob."`
	Size int64  `json:"size" doc:"In bytes."`
}
