package answers

import (
	"fmt"

	"github.com/seed-fb9cbc17/cairn"
)

// ChooseGit chooses the parts of git that go back: head, refs and index. The error names one that is
// none of them.
func ChooseGit(opt *cairn.GitRestoreOptions, parts ...string) error {
	for _, part := range parts {
		switch part {
		case "head":
			opt.Head = true
		case "refs":
			opt.Refs = true
		case "index":
			opt.Index = true
		default:
			return fmt.Errorf("the parts of git are head, refs and index, not %q", part)
		}
	}
	return nil
}
