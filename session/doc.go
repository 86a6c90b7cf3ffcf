// Package session records what an agent does in a directory as sessions of messages
// and steps, and takes it back again.
package session
