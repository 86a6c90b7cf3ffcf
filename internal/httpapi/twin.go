package httpapi

// The types below describe the JSON of library types for /openapi.json: types whose JSON is not that
// of their fields, and Patch, which a client may send. A test compares the keys.

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
