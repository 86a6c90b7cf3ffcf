// Package client lets a command or a hook use the server that is running for its data
// directory, where there is one.
//
// The server has the store open and what it needs of it in memory, so that a step's
// end costs the caller one exchange over a socket. But nothing depends on it: when
// there is no socket, when it is not ours, when nobody answers within [Patience], when
// the server is another build or has other settings, or when it goes away in the
// middle, the error is [ErrNoServer] and the caller does the work itself. Tracking
// twice gives the same, and so does ending a step twice.
//
// One request is made by hand on one connection: the body is sent only after the
// server has said that it wants it, so that whoever loses patience before has not
// started anything.
package client
