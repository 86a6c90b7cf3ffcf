package protocol

import "github.com/seed-fb9cbc17/cairn"

// Track is the answer of POST /track: the library's, and a ticket.
type Track struct {
	cairn.TrackResult
	Rest string `json:"rest,omitempty" doc:"Ticket of what onlyPaths left out, which is captured in the background."`
}
