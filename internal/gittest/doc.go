// Package gittest is the ground that tests stand on: directory trees written as
// literals and compared in full, the real git as oracle, random trees with random
// ignore files, and a way to kill a program at exactly its N-th system call.
//
// Only tests and benchmarks import it. Nothing in it sleeps, uses the network, or reads the
// configuration or home directory of the user who runs the tests.
package gittest
