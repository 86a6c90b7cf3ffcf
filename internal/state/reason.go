package state

// PathReason is a path that was left alone, and why.
type PathReason struct {
	Path   Path   `json:"path"` // from the root, '/'-separated
	Reason string `json:"reason"`
}
