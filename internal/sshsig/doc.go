// Package sshsig signs texts with SSH keys and checks such signatures, by way of ssh-keygen -Y.
//
// ssh-keygen gets nothing of the environment but PATH and the socket of the agent. It has no terminal and
// no program to ask for a passphrase, so a key with a passphrase works through the agent, or not at all:
// a call never waits for a person. Every call has a deadline.
package sshsig
