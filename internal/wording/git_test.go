package wording

import "testing"

func TestGitStanding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		on     bool
		reason string
		moved  []string
		want   string
	}{
		{true, "", nil, "HEAD, refs, index and stash are recorded, and commits kept"},
		{true, "2 files of git not kept: no room", []string{"1 stash dropped", "1 branch deleted"}, "HEAD, refs, index and stash are recorded, but 2 files of git not kept: no room; since then: 1 stash dropped, 1 branch deleted"},
		{false, "switched off", nil, "not recorded: switched off"},
	} {
		if got := GitStanding(c.on, c.reason, c.moved); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
