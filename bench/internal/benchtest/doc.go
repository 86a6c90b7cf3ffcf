// Package benchtest is test support: files that a test reads and writes, or fails.
package benchtest
