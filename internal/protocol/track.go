package protocol

import (
	"errors"

	"github.com/seed-fb9cbc17/cairn"
)

// Track is the answer of POST /track: what the library says, and beside it the
// system's reasons for paths that could not be read, which are no part of its JSON.
type Track struct {
	cairn.Track
	Reasons map[string]string `json:"reasons,omitempty" doc:"Why paths could not be read, in the words of the system."`
	Rest    string            `json:"rest,omitempty" doc:"Ticket of what onlyPaths left out, which is captured in the background."`
}

// NewTrack makes an answer ready to be sent.
func NewTrack(t *cairn.Track) Track {
	out := Track{Track: *t}
	for path, err := range t.Reasons {
		if out.Reasons == nil {
			out.Reasons = make(map[string]string)
		}
		out.Reasons[cairn.EncodePath(path)] = err.Error()
	}
	return out
}

// Library is the answer as the library would have given it.
func (t Track) Library() (*cairn.Track, error) {
	out := t.Track
	out.HintedOnly = out.Scope == cairn.PartialPaths
	for text, reason := range t.Reasons {
		path, err := cairn.DecodePath(text)
		if err != nil {
			return nil, err
		}
		if out.Reasons == nil {
			out.Reasons = make(map[string]error)
		}
		out.Reasons[path] = errors.New(reason)
	}
	return &out, nil
}
