package main

import "os"

// heldSignals: Ctrl-C and Ctrl-Break. Closing the console ends both processes.
var heldSignals = []os.Signal{os.Interrupt}

// fromTerminal is always true: Windows delivers Ctrl-C to every process of the console,
// and no other process can send one.
func fromTerminal(os.Signal) bool { return true }

func childStatusOf(state *os.ProcessState) int { return state.ExitCode() }
