// Package process names processes, and tells whether one that was named is still alive.
//
// A process id alone names nothing for long: systems reuse the numbers, a restart begins them
// again, and every PID namespace has its own. An [ID] holds everything that a number depends on.
// Where one of these differs from the present value, nothing is known.
package process

import (
	"os"
	"sync"
	"time"
)

// ID names a process among all that have had its number.
type ID struct {
	PID   int    `json:"pid"`
	Start string `json:"start"`           // when it began, in a unit of the system
	Boot  string `json:"boot,omitempty"`  // of the machine, "" where a boot has no name
	Space string `json:"space,omitempty"` // the PID namespace in which PID counts, "" where there are none
	Host  string `json:"host,omitempty"`  // the machine's name
}

// State says whether a process lives, as far as this one can tell.
type State int

// The states of a process.
const (
	Unknown State = iota // it cannot be seen from here
	Alive
	Dead // for good
)

// BootID names the time since this machine was started, "" where that has no name.
// Containers on it share the name.
func BootID() string { return here().Boot }

// Host is the name of this machine.
func Host() string { return here().Host }

// Space names the PID namespace of this process, "" where there are none. Every container has its own.
func Space() string { return here().Space }

// here is what all processes that can be seen from this one have in common.
var here = sync.OnceValue(func() ID {
	host, _ := os.Hostname()
	return ID{Boot: bootID(), Space: space(), Host: host}
})

// Of names a running process. It fails where the process is not there, or where it
// cannot be seen from here.
func Of(pid int) (ID, bool) {
	about, state := inspect(pid)
	if state != Alive {
		return ID{}, false
	}
	id := here()
	id.PID, id.Start = pid, about.start
	return id, true
}

// Self names this process.
var Self = sync.OnceValues(func() (ID, bool) { return Of(os.Getpid()) })

// State tells whether a process is alive. A process of an earlier boot of this machine
// is dead. One of another machine or another PID namespace is unknown: the host's name
// alone does not tell this machine from others, so the namespace has to be the same too.
func (id ID) State() State { return id.state(here(), inspect) }

func (id ID) state(at ID, inspect func(int) (about, State)) State {
	if id.PID <= 0 || id.Start == "" || id.Space != at.Space {
		return Unknown
	}
	if id.Boot != at.Boot {
		if id.Boot != "" && at.Boot != "" && id.Host == at.Host {
			return Dead
		}
		return Unknown
	}
	if id.Boot == "" && id.Host != at.Host {
		return Unknown
	}
	now, state := inspect(id.PID)
	if state == Alive && now.start != id.Start {
		return Dead // the number has been given to another process
	}
	return state
}

// about is what the system tells about a process.
type about struct {
	parent int
	start  string
	name   string // of the program, as far as the system keeps it
}

// Line lists a process and those above it, the nearest first. It ends where nothing
// more can be seen.
func Line(pid int) []Relative {
	var line []Relative
	for len(line) < maxLine && pid > 0 {
		about, state := inspect(pid)
		if state != Alive {
			break
		}
		id := here()
		id.PID, id.Start = pid, about.start
		line = append(line, Relative{id, about.name})
		pid = about.parent
	}
	return line
}

// Relative is a process in the line of those above another.
type Relative struct {
	ID
	Name string // of the program
}

// maxLine bounds how far a line is followed. Where a number was used again it could be
// a circle.
const maxLine = 64

// Instant is a moment on a clock that stands still while the machine sleeps, and that cannot be
// set. It counts within one boot.
type Instant struct {
	Boot string        `json:"boot,omitempty"`
	Up   time.Duration `json:"up,omitempty"`
}

// Awake is the present moment, the zero Instant where the system has no such clock.
func Awake() Instant {
	up, ok := awake()
	if !ok || BootID() == "" {
		return Instant{}
	}
	return Instant{BootID(), up}
}

// Bound returns the time at of an event at i as the present clock has it. If the clock was set back since, at is later
// than that. now and present are those of the call.
func (i Instant) Bound(at, now time.Time, present Instant) time.Time {
	if d, ok := present.Since(i); ok && now.Add(-d).Before(at.Add(-setBack)) {
		return now.Add(-d)
	}
	return at
}

// setBack is what a clock is set back at least. Less may be the time between two readings of clocks.
const setBack = time.Second

// Since is the time that has passed since an earlier moment, as long as both are of one
// boot.
func (i Instant) Since(earlier Instant) (time.Duration, bool) {
	if i.Boot == "" || i.Boot != earlier.Boot {
		return 0, false
	}
	return i.Up - earlier.Up, true
}
