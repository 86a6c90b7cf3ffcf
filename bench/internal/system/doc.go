// Package system is what the benchmark needs of the machine: processes and what they took, a bare walk, and a
// description of the machine.
//
// A child gets no variable of the caller's environment but PATH, and those that name its home. Where a system does not
// tell something, the value is 0, and the tables leave it out.
package system
