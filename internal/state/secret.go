package state

import (
	"fmt"
)

// Secret is the place of a credential in a file. The credential itself is in no answer.
type Secret struct {
	Path Path   `json:"path"`           // from the root, '/'-separated
	Rule string `json:"rule"`           // id of the rule that found it
	Line int    `json:"line,omitempty"` // from 1; 0 = the file as a whole
	New  bool   `json:"new,omitempty"`  // the capture that answers found it; not in checkpoints
}

// String returns path, line and rule: "config.py:3 (aws-access-key)".
func (s *Secret) String() string {
	if s.Line == 0 {
		return fmt.Sprintf("%s (%s)", s.Path.Quoted(), s.Rule)
	}
	return fmt.Sprintf("%s:%d (%s)", s.Path.Quoted(), s.Line, s.Rule)
}
