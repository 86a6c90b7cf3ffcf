package answers_test

import (
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
)

func TestChooseGit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		parts []string
		want  cairn.GitRestoreOptions
		err   string
	}{
		{parts: nil},
		{parts: []string{"head"}, want: cairn.GitRestoreOptions{Head: true}},
		{parts: []string{"index", "refs", "index"}, want: cairn.GitRestoreOptions{Index: true, Refs: true}},
		{parts: []string{"refs", ""}, want: cairn.GitRestoreOptions{Refs: true}, err: `the parts of git are head, refs and index, not ""`},
		{parts: []string{"HEAD"}, err: `the parts of git are head, refs and index, not "HEAD"`},
	} {
		var got cairn.GitRestoreOptions
		text := ""
		if err := answers.ChooseGit(&got, c.parts...); err != nil {
			text = err.Error()
		}
		if got != c.want || text != c.err {
			t.Errorf("%q chooses %+v, error %q", c.parts, got, text)
		}
	}
}
