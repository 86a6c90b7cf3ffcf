// Package httpapi serves checkpoints, sessions and going back over HTTP.
//
// One [Server] has many projects. A project is the root of a directory that a client has
// registered. A request reaches its files, and through its sessions their further directories
// and what they changed outside. A [Door] decides which clients may enter: those that can open
// a Unix socket, or those with a token.
//
// A request goes through these stages:
//
//  1. the door: host, origin, token, number of requests, size of the body
//  2. the project: by ?directory=, by the prefix /project/{id}, or the default one
//  3. the operation, whose input is checked against its type: unknown fields, wrong
//     types and texts that are too long are 400 and name the field
//  4. the library; its errors become problem documents (RFC 9457)
//
// A call that writes goes on when its client hangs up: half a restore, and a step without
// a recorded end, would cost more than the time to finish. A call that only reads ends
// with its client.
//
// Below /opencode three of the operations speak OpenCode's JSON instead, with its
// status codes and its patch text.
package httpapi
