// Package protocol is what a running server and its callers on the same machine agree
// on: where the socket lies, which settings an answer depends on, and how errors are
// named.
//
// The server listens on a Unix socket in a directory of its own below the data
// directory. Whoever may open it owns the stores, so there is no further secret. A
// caller that would work with other settings than the server, or that is another
// build, is turned away by the server and does the work itself: that the answer is
// the same is more important than that it comes from the server.
package protocol
