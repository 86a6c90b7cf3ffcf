package process

import (
	"os/exec"
	"testing"
)

// TestZombie: a process that was killed is dead before its parent has asked for its
// status, and afterwards.
func TestZombie(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	id, ok := Of(cmd.Process.Pid)
	if !ok {
		cmd.Process.Kill()
		cmd.Wait()
		t.Skip("processes cannot be seen here")
	}
	cmd.Process.Kill()
	for id.State() == Alive { // the signal is on its way
	}
	if id.State() != Dead {
		t.Error("not dead with its status left")
	}
	cmd.Wait()
	if id.State() != Dead {
		t.Error("not dead")
	}
}

// TestParseStat: a program's name may hold what separates the fields.
func TestParseStat(t *testing.T) {
	t.Parallel()
	const rest = " 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 9876 100"
	for line, want := range map[string]State{
		"12 (a) S 3" + rest: Alive, "12 (a) R (b)) S 3" + rest: Alive, "12 (a) Z 3" + rest: Dead, "12 (a) S": Unknown, "": Unknown,
	} {
		got, state := parseStat([]byte(line))
		if state != want || state == Alive && (got.parent != 3 || got.start != "9876") {
			t.Errorf("%q: %+v, %d", line, got, state)
		}
	}
}
