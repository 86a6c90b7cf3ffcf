// Package protocol is the agreement between a server and its callers on the same
// machine: the place of the socket, the settings on which an answer depends, and the
// names of errors.
//
// The server listens on a Unix socket in a directory of its own below the data
// directory. A user who may open the socket owns the stores, so there is no further
// secret. The server refuses a caller that is another build or has other settings, and
// the caller does the work itself: the right answer matters more than a fast one.
package protocol
