package state

import (
	"encoding/json"
)

// PathReason is a path that was left alone, and why.
type PathReason struct {
	Path   string // from the root, '/'-separated
	Reason string
}

// MarshalJSON implements json.Marshaler.
func (p PathReason) MarshalJSON() ([]byte, error) {
	return json.Marshal(pathReasonJSON{Path(p.Path), p.Reason})
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *PathReason) UnmarshalJSON(data []byte) error {
	var j pathReasonJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	p.Path, p.Reason = string(j.Path), j.Reason
	return nil
}

type pathReasonJSON struct {
	Path   Path   `json:"path"`
	Reason string `json:"reason"`
}
