package main

import "os"

// heldSignals: Ctrl-C and Ctrl-Break. Closing the console ends both processes.
var heldSignals = []os.Signal{os.Interrupt}

// fromTerminal: the console sends to everybody, and nobody else can send.
func fromTerminal(os.Signal) bool { return true }

func childStatusOf(state *os.ProcessState) int { return state.ExitCode() }
