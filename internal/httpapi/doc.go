// Package httpapi serves checkpoints, sessions and going back over HTTP.
//
// One [Server] looks after many projects. A project is a root that somebody who was
// let in has registered; no request reaches a path outside one. The server is entered
// through a [Door], which says who is let in: whoever may open a Unix socket, or
// whoever brings a token.
//
// A request goes through these stages:
//
//  1. the door: host, origin, token, number of requests, size of the body
//  2. the project: by ?directory=, by the prefix /project/{id}, or the default one
//  3. the operation, whose input is checked against its type: unknown fields, wrong
//     types and texts that are too long are 400 and name the field
//  4. the library; its errors become problem documents (RFC 9457)
//
// Whatever writes goes on when its client hangs up: a step whose end is not recorded
// and a restore that stops midway are worth less than the time that they take.
// Reading ends with its client.
//
// Below /opencode three of the operations speak OpenCode's JSON instead, with its
// status codes and its patch text.
package httpapi
