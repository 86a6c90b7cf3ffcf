//go:build linux

package e2e

import (
	"encoding/json"
	"slices"
)

// workedWith: the agent's model is recorded, from what its hook or its record of the session says. ""
// means that the agent does not tell.
func (s *sandbox) workedWith(model string) {
	s.t.Helper()
	var list []struct{ Model string }
	if err := json.Unmarshal([]byte(s.cairn("session", "list", "--json").stdout), &list); err != nil {
		s.t.Fatal(err)
	}
	if !slices.Contains(list, struct{ Model string }{model}) {
		s.t.Errorf("the sessions' models are %q, want %q", list, model)
	}
}
