//go:build !linux

package parallel

// processor is empty where threads spread by themselves.
type processor struct{}

func currentProcessor() (p processor) { return p }

func (processor) yield() {}

func (processor) leave() {}
