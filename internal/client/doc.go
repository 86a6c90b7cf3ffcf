// Package client lets a command or a hook use the server of its data directory, if one
// is running.
//
// The server has the store open and its contents in memory, so the end of a step costs
// the caller one exchange over a socket. Nothing depends on the server. The error is
// [ErrNoServer], and the caller does the work itself, when there is no socket, when the
// socket is not this user's, when no answer comes within [Patience], when the server is
// another build or has other settings, and when it goes away during the request. The
// same work done twice is harmless: a second track finds no change, a second restore
// nothing to bring back, and a step that has ended stays ended. For what is not, the error
// tells apart what a server may have carried out: [ErrBegun] and [ErrLost].
//
// Each request has a connection of its own. The client sends the body only after the
// server has asked for it, so a request that was given up earlier has begun nothing.
package client
