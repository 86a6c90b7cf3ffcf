package child

import "os"

// relayed are Ctrl-C and Ctrl-Break. Closing the console ends both processes.
var relayed = []os.Signal{os.Interrupt}

// fromTerminal is always true: Windows delivers Ctrl-C to every process of the console,
// and no other process can send one.
func (r *Relay) fromTerminal(os.Signal) bool { return true }

func statusOf(state *os.ProcessState) int { return state.ExitCode() }
