//go:build linux

package e2e

import "testing"

// again ends the server and starts another one in the same sandbox.
func (o *opencode) again(program string) *opencode {
	o.t.Helper()
	o.end()
	return startServer(o.t, o.sandbox, program)
}

// TestOpenCodeReopened: after another start of OpenCode its first redo brings the files along, too, and so does an undo
// in a fork that is made then.
func TestOpenCodeReopened(t *testing.T) {
	needTier(t, 2)
	sandbox, program := openCodeAgent(t, true)
	o := startServer(t, sandbox, program)
	s := o.begin()
	before := o.state()
	first, one := s.play(s.firstTurn(false))
	s.revert(first, "")
	s.becomes("undo", before)

	o = o.again(program)
	s = &chatSession{o, s.id}
	s.messages() // as every client does before its user can ask for anything
	s.unrevert()
	s.becomes("redo after another start", one)

	o = o.again(program)
	var made struct{ ID string }
	o.call("POST", "/session/"+s.id+"/fork", object{}, &made)
	fork := &chatSession{o, made.ID}
	_, two := fork.play(fork.secondTurn(false))
	fork.revert(fork.messages()[0].Info.ID, "")
	fork.becomes("a fork after another start takes back everything", before)
	fork.unrevert()
	fork.becomes("and brings it back", two)
}
