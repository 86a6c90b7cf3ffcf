//go:build !linux

package gittest

func freeInMemory(string) int64 { return 0 }
