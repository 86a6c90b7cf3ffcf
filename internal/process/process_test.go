package process

import (
	"os"
	"runtime"
	"testing"
	"time"
)

// TestState: only a process that is certainly dead is reported as dead.
func TestState(t *testing.T) {
	t.Parallel()
	at := ID{Boot: "b1", Space: "pid:[1]", Host: "h"}
	id := ID{PID: 7, Start: "100", Boot: "b1", Space: "pid:[1]", Host: "h"}
	for _, c := range []struct {
		name  string
		id    ID
		at    ID
		now   about
		state State
		want  State
	}{
		{"lives", id, at, about{start: "100"}, Alive, Alive},
		{"is gone", id, at, about{}, Dead, Dead},
		{"cannot be seen", id, at, about{}, Unknown, Unknown},
		{"number used again", id, at, about{start: "101"}, Alive, Dead},
		{"host renamed", id, ID{Boot: "b1", Space: "pid:[1]", Host: "other"}, about{start: "100"}, Alive, Alive},
		{"boot before", id, ID{Boot: "b2", Space: "pid:[1]", Host: "h"}, about{start: "100"}, Alive, Dead},
		{"other machine", id, ID{Boot: "b2", Space: "pid:[1]", Host: "other"}, about{}, Dead, Unknown},
		{"other namespace", id, ID{Boot: "b1", Space: "pid:[2]", Host: "h"}, about{}, Dead, Unknown},
		{"container of its own", id, ID{Boot: "b2", Space: "pid:[2]", Host: "h"}, about{}, Dead, Unknown},
		{"no boots, same host", ID{PID: 7, Start: "100", Host: "h"}, ID{Host: "h"}, about{}, Dead, Dead},
		{"no boots, other host", ID{PID: 7, Start: "100", Host: "h"}, ID{Host: "i"}, about{}, Dead, Unknown},
		{"no start", ID{PID: 7, Boot: "b1", Space: "pid:[1]", Host: "h"}, at, about{start: "100"}, Alive, Unknown},
		{"nothing", ID{}, ID{}, about{}, Dead, Unknown},
	} {
		got := c.id.state(c.at, func(int) (about, State) { return c.now, c.state })
		if got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// TestLine: this process is alive, and its line leads to the process that started it.
func TestLine(t *testing.T) {
	t.Parallel()
	self, ok := Self()
	if !ok {
		t.Skipf("processes cannot be seen here (%s)", runtime.GOOS)
	}
	if self.State() != Alive {
		t.Error("this process is not alive")
	}
	line := Line(os.Getpid())
	if len(line) < 2 || line[0].ID != self || line[1].PID != os.Getppid() {
		t.Errorf("%+v", line)
	}
	if line[0].Name == "" {
		t.Error("no name")
	}
	self.Start += "0"
	if self.State() != Dead {
		t.Error("another process with this number passes for it")
	}
}

// TestInstant: moments of different boots cannot be compared.
func TestInstant(t *testing.T) {
	t.Parallel()
	a, b := Instant{"b", time.Second}, Instant{"b", 3 * time.Second}
	if d, ok := b.Since(a); !ok || d != 2*time.Second {
		t.Error(d, ok)
	}
	for _, other := range []Instant{{}, {"c", 5 * time.Second}} {
		if _, ok := other.Since(a); ok {
			t.Errorf("%+v", other)
		}
	}
	if _, ok := (Instant{}).Since(Instant{}); ok {
		t.Error("no clock at all")
	}
}

// TestBound: a time that the clock had before it was set back is as far back as the other clock says.
func TestBound(t *testing.T) {
	t.Parallel()
	now := time.Now()
	present := Instant{Boot: "b", Up: time.Hour}
	for _, c := range []struct {
		i        Instant
		at, want time.Duration // from now
	}{
		{Instant{Boot: "b", Up: time.Hour - time.Minute}, time.Hour, -time.Minute},
		{Instant{Boot: "b", Up: time.Hour - time.Minute}, -time.Minute, -time.Minute},
		{Instant{Boot: "b", Up: time.Hour - time.Minute}, -59500 * time.Millisecond, -59500 * time.Millisecond},
		{Instant{Boot: "b", Up: time.Hour - time.Minute}, -time.Hour, -time.Hour}, // the machine slept
		{Instant{Boot: "other", Up: time.Hour}, time.Hour, time.Hour},
		{Instant{}, time.Hour, time.Hour},
	} {
		if got := c.i.Bound(now.Add(c.at), now, present); !got.Equal(now.Add(c.want)) {
			t.Errorf("%+v: %v, want %v", c, got.Sub(now), c.want)
		}
	}
}
