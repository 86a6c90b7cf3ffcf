// Package system is what the benchmark needs of the machine: processes and what they took, a bare walk, and a
// description of the machine.
//
// A child gets no variable of git and nothing of the user's configuration. Where a system does not tell something, the
// value is 0 or "", and the tables leave it out.
package system
