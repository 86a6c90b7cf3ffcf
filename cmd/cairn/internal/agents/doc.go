// Package agents has the commands that coding agents and editors call, and those that set them up and look after them.
//
// A hook never fails: its exit status is 0 and its output is what the agent's protocol wants.
package agents
