package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
)

// TestPointers: each points to commands that there are, with flags that they have, and is not one
// itself.
func TestPointers(t *testing.T) {
	t.Parallel()
	c := testCLI()
	names := []string{}
	for _, cmd := range c.Root.Commands() {
		names = append(names, cmd.Name())
	}
	session, _, err := c.Root.Find([]string{"session"})
	if err != nil {
		t.Fatal(err)
	}
	verbs, _ := session.ValidArgsFunction(session, nil, "")
	for _, p := range cli.Pointers {
		word, text := p.Word, p.Text
		if slices.Contains(names, word) {
			t.Errorf("%s is a command", word)
		}
		found := regexp.MustCompile(`cairn ([a-z]+)( [a-z]+)?`).FindAllStringSubmatch(text, -1)
		if len(found) == 0 || strings.HasSuffix(text, ".") {
			t.Errorf("%s: %s", word, text)
		}
		for _, f := range found {
			if !slices.Contains(names, f[1]) {
				t.Errorf("%s points to cairn %s", word, f[1])
			}
			if verb := strings.TrimSpace(f[2]); f[1] == "session" && !slices.Contains(verbs, verb) {
				t.Errorf("%s points to cairn session %s", word, verb)
			}
		}
		for _, f := range regexp.MustCompile(`cairn ([a-z]+)[^,]* --([a-z-]+)`).FindAllStringSubmatch(text, -1) {
			cmd, _, err := c.Root.Find([]string{f[1]})
			if err != nil || cmd.Flags().Lookup(f[2]) == nil {
				t.Errorf("%s: cairn %s has no --%s (%v)", word, f[1], f[2], err)
			}
		}
	}
}
