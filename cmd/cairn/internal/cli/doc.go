// Package cli is one run of the program: its streams, the flags of every command, the root that it
// works on, and the form of its answers and errors.
//
// The packages of commands embed a Program. What holds for each of them:
//
//   - The answer goes to Out. Remarks, progress and errors go to Console, which is stderr.
//   - WithRepo opens the root for a command, closes it, and notes whether a cleaning is due.
//   - An error of usage means that nothing was tried. Usage makes it, with the name of the command.
//   - The status of the process follows from the error that a command returns, in exit.go. That of
//     cairn hook is always 0.
//   - A cleaning and a push in the background begin after the answer, and only if settings and
//     environment allow it.
package cli
