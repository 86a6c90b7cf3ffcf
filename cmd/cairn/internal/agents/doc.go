// Package agents has the commands that coding agents, editors and browsers call, and those that set them up and
// look after them.
//
// A hook never fails: its exit status is 0 and its output is what the agent's protocol wants. A server reads the
// settings of a root as a command in that root does.
package agents
