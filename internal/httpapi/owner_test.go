package httpapi

import (
	"os/exec"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestV34_OwnerOverHTTP: a host that only speaks HTTP has a lease. A host that names
// its processes counts as dead when they are, and its open step then blocks no other
// request.
func TestV34_OwnerOverHTTP(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	var st session.Step
	f.call("POST", "/session/host/steps", StepBegin{MessageID: "1", StepID: "s", Role: "user", Lease: 90}).want(t, 200, &st)
	if st.Owner == nil || st.Owner.Lease.Seconds() != 90 || len(st.Owner.Processes) != 0 {
		t.Errorf("%+v", st.Owner)
	}
	f.call("POST", "/session/host/steps/s/hint", map[string]any{"paths": []string{}}).want(t, 204, nil)
	f.call("POST", "/session/host/undo", nil).want(t, 409, nil)
	f.call("POST", "/session/host/steps", StepBegin{MessageID: "1", Lease: -1}).want(t, 400, nil)
	f.call("POST", "/session/host/steps/s/end", StepEnd{Gone: true}).want(t, 200, &st)
	if !st.Abandoned {
		t.Errorf("%+v", st)
	}
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	p, ok := session.ProcessOf(cmd.Process.Pid)
	open := func(want string) {
		t.Helper()
		var s session.Session
		f.call("GET", "/session/mine", nil).want(t, 200, &s)
		if s.Open != want {
			t.Errorf("open: %q, want %q", s.Open, want)
		}
	}
	f.call("POST", "/session/mine/steps", StepBegin{MessageID: "1", StepID: "s", Role: "user", Owner: []session.Process{p}}).want(t, 200, &st)
	if ok {
		open("s")
	}
	cmd.Process.Kill()
	cmd.Wait()
	if !ok {
		t.Skip("processes cannot be seen here")
	}
	open("")
	f.write("mine", "m\n")
	var back SessionAnswer
	f.call("POST", "/session/mine/undo", nil).want(t, 200, &back)
	if len(back.Result.Deleted)+len(back.Result.Conflicts) != 0 {
		t.Errorf("%+v", back.Result)
	}
}
