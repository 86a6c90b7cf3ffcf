package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// Pointer says which commands do what a word means elsewhere.
type Pointer struct{ Word, Text string }

// Pointers say, for the words of git and of other programs with checkpoints, which commands do what
// is meant. None is carried out: what these words do elsewhere is not always the same.
var Pointers = []Pointer{
	{"add", "cairn track takes a checkpoint of everything"},
	{"annotate", "cairn blame PATH tells who wrote each line"},
	{"backup", "cairn track takes a checkpoint, cairn export or push copies it elsewhere"},
	{"branch", "cairn pin HASH NAME names a checkpoint, cairn session fork continues from an older turn"},
	{"bundle", "cairn export HASH writes a git bundle, cairn import reads it"},
	{"changes", "cairn diff shows them, cairn patch HASH lists the files"},
	{"checkpoint", "cairn track takes one, cairn log lists them, cairn restore HASH goes back to one"},
	{"clean", "cairn restore HASH --dry-run lists which newer files would go, cairn gc cleans the store"},
	{"clone", "cairn fetch REMOTE brings checkpoints, cairn import reads those of cairn export"},
	{"create", "cairn track takes a checkpoint"},
	{"delete", "cairn purge PATH takes a file out of the history, cairn unpin a name, cairn session delete a session"},
	{"fsck", "cairn doctor looks for faults and mends them"},
	{"history", "cairn log lists checkpoints, cairn operations what was restored, reverted and undone"},
	{"init", "cairn track makes the store with the first checkpoint"},
	{"install", "cairn setup AGENT connects a coding agent"},
	{"list", "cairn log lists checkpoints, cairn ls HASH files, cairn session list sessions"},
	{"prune", "cairn gc drops old checkpoints, cairn purge PATH takes a file out of all of them"},
	{"pull", "cairn fetch REMOTE brings checkpoints, and changes no file"},
	{"rebase", "cairn revert FROM..TO takes changes back from the middle and keeps later ones"},
	{"reflog", "cairn operations lists what was restored, reverted and undone, cairn log all checkpoints"},
	{"reset", "cairn restore HASH goes back to a checkpoint, cairn undo takes the last change back"},
	{"rewind", "cairn undo takes the last turn or operation back, cairn session undo a turn of an agent, cairn restore HASH goes back to a checkpoint"},
	{"rm", "cairn purge PATH takes a file out of the whole history"},
	{"rollback", "cairn undo takes the last turn or operation back, cairn restore HASH goes back to a checkpoint"},
	{"save", "cairn track takes a checkpoint"},
	{"search", "cairn grep PATTERN searches files, cairn log --grep REGEXP prompts and messages"},
	{"snapshot", "cairn track takes one, cairn log lists them, cairn restore HASH goes back to one"},
	{"stash", "cairn track keeps the state as it is, cairn restore HASH goes to another one and cairn undo comes back"},
	{"switch", "cairn restore HASH goes to a checkpoint and cairn undo comes back"},
	{"tag", "cairn pin HASH NAME gives a checkpoint a name"},
	{"ui", "cairn review is on the terminal, cairn serve has a page for the browser"},
}

// pointersTo returns the text for a word, "" for none.
func pointersTo(word string) string {
	for _, p := range Pointers {
		if p.Word == word {
			return p.Text
		}
	}
	return ""
}

// unknownCommand describes a command that does not exist, and what may have been meant.
func (c *Program) unknownCommand(name, text string) string {
	if elsewhere := pointersTo(name); elsewhere != "" {
		return text + ": " + elsewhere
	}
	if near := c.Root.SuggestionsFor(name); len(near) > 0 {
		return text + ", did you mean " + strings.Join(near, " or ") + "?"
	}
	words := make([]string, len(Pointers))
	for i, p := range Pointers {
		words[i] = p.Word
	}
	if word := wording.Nearest(name, words, 1); word != "" {
		return text + ", did you mean " + word + "? " + pointersTo(word)
	}
	return text
}

// unknownFlag adds to the error about a flag that does not exist which one may have been meant: one
// with the same beginning, or with few other letters.
func unknownFlag(cmd *cobra.Command, err error) string {
	text := flagFault(err)
	var missing *pflag.NotExistError
	if !errors.As(err, &missing) {
		return text
	}
	typed := missing.GetSpecifiedName()
	if group := missing.GetSpecifiedShortnames(); len(group) > 1 {
		typed = group // a long name after one hyphen
	}
	if name := nearestFlag(cmd, typed); name != "" {
		text += ", did you mean --" + name + "?"
	}
	return text
}

func nearestFlag(cmd *cobra.Command, typed string) string {
	var names, begun []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		names = append(names, f.Name)
		if len(typed) > 1 && strings.HasPrefix(f.Name, typed) {
			begun = append(begun, f.Name)
		}
	})
	switch {
	case len(typed) < 2:
		return ""
	case len(begun) == 1 || slices.Contains(begun, typed):
		return begun[0]
	}
	return wording.Nearest(typed, names, min(2, len(typed)/2))
}
