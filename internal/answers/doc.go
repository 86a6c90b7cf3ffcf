// Package answers makes the answers about the past that the commands, the server and the tools of a
// model share: what a checkpoint or a turn changed, lines that match, and the lines of a blame. It reads
// what callers choose, and tells of the remote of a project.
// Answers for programs have limits.
package answers
