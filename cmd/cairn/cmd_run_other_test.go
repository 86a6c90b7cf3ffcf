//go:build !unix

package main

func countSignals() {}
