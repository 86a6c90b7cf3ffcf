package conformance

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// Scenario is a story in which work gets lost.
type Scenario struct {
	Name   string
	About  string            // what must not be lost
	Files  map[string]string // that the user has committed
	Before string            // command of the user before the agent begins
	NoGit  bool              // the directory is no repository

	NeedsRedo bool // nothing is known without a redo
	Play      func(p *play)
}

func write(path, text string) Op    { return Op{Write: path, Text: text} }
func edit(path, old, now string) Op { return Op{Edit: path, Old: old, New: now} }
func shell(command string) Op       { return Op{Shell: command} }

// backAndForth is a turn, its undo and its redo, each exact.
func backAndForth(ops ...Op) func(*play) {
	return func(p *play) {
		before := p.state()
		p.turn(ops...)
		after := p.state()
		p.undo()
		p.is("after the undo", before)
		p.redo()
		p.is("after the redo", after)
	}
}

// back is a turn and its undo.
func back(ops ...Op) func(*play) {
	return func(p *play) {
		before := p.state()
		p.turn(ops...)
		p.undo()
		p.is("after the undo", before)
	}
}

var someFiles = map[string]string{"a.txt": "old\n", "b.txt": "other\n", "dir/deep.txt": "deep\n", ".gitignore": "*.log\nbuild/\n"}

func with(more map[string]string) map[string]string {
	all := map[string]string{}
	for _, files := range []map[string]string{someFiles, more} {
		for path, text := range files {
			all[path] = text
		}
	}
	return all
}

var lines20 = strings.Repeat("line\n", 9) + "middle\n" + strings.Repeat("line\n", 9) + "last\n"

// Scenarios lists all scenarios.
func Scenarios() []Scenario {
	return append(append(append(exact(), owned()...), inside()...), repositories()...)
}

// exact are scenarios about what a turn did: all of it goes back, and comes back.
func exact() []Scenario {
	return []Scenario{
		{Name: "edits", About: "a file that a tool wrote, one that it edited", Files: someFiles,
			Play: backAndForth(write("new.txt", "hello\n"), edit("a.txt", "old", "NEW"))},
		{Name: "no-repository", About: "a turn in a directory without git", Files: someFiles, NoGit: true,
			Play: backAndForth(write("new.txt", "hello\n"), shell("rm b.txt"))},
		{Name: "shell-writes", About: "files that a shell command wrote", Files: someFiles,
			Play: backAndForth(shell("echo x > new.txt; echo y >> a.txt"))},
		{Name: "shell-deletes", About: "files that a shell command deleted", Files: someFiles,
			Play: backAndForth(shell("rm -r a.txt dir"))},
		{Name: "uncommitted-deleted", About: "a file that was never committed and that the shell deleted",
			Files: someFiles, Before: "echo precious > draft.txt",
			Play: backAndForth(shell("rm draft.txt"))},
		{Name: "rename", About: "a file that was moved", Files: someFiles,
			Play: backAndForth(shell("mv a.txt z.txt"))},
		{Name: "non-ascii", About: "two files with names that are not ASCII",
			Files: with(map[string]string{"é1.txt": "one\n", "é2.txt": "two\n"}),
			Play:  backAndForth(shell("echo 1 > é1.txt; echo 2 > é2.txt"))},
		{Name: "odd-names", About: "names with tabs, newlines, quotes, blanks at the ends",
			Files: with(map[string]string{"t\tab": "1\n", "new\nline": "2\n", "q\"uote": "3\n", " lead": "4\n", "trail ": "5\n", "[ab].txt": "6\n"}),
			Play:  backAndForth(shell(`for f in *t*ab new* q* ' lead' 'trail ' '[ab].txt'; do echo changed > "$f"; done`))},
		{Name: "crlf", About: "line ends and $Id$, whatever .gitattributes says",
			Files: map[string]string{".gitattributes": "* text=auto\nid.txt ident\n", "crlf.txt": "a\r\nb\r\n", "id.txt": "$Id$\n"},
			Play:  backAndForth(shell(`printf 'a\r\nB\r\n' > crlf.txt; printf '$Id$\nmore\n' > id.txt`))},
		{Name: "modes", About: "permission bits, the exec bit",
			Files:  with(map[string]string{"run.sh": "#!/bin/sh\n", "key": "secret\n"}),
			Before: "chmod 755 run.sh; chmod 600 key",
			Play:   backAndForth(shell("chmod 644 run.sh key; echo x >> key; chmod 700 a.txt"))},
		{Name: "empty-directories", About: "directories that are empty", Files: someFiles, Before: "mkdir empty",
			Play: backAndForth(shell("rmdir empty; mkdir made; mkdir -p deep/er; echo x > deep/er/f"))},
		{Name: "file-and-directory", About: "a file in the place of a directory, and the reverse", Files: someFiles,
			Play: backAndForth(shell("rm -r dir; echo file > dir; rm a.txt; mkdir a.txt; echo x > a.txt/in"))},
		{Name: "same-size", About: "two quick changes of the same size", Files: someFiles,
			Play: func(p *play) {
				p.turn(shell("echo aaa > a.txt"))
				one := p.state()
				p.turn(shell("echo bbb > a.txt"))
				p.undo()
				p.is("after the undo of the second turn", one)
			}},
		{Name: "levels", About: "three turns, one by one", Files: someFiles,
			Play: func(p *play) {
				states := []listing{p.state()}
				for i := range 3 {
					p.turn(shell(fmt.Sprintf("echo %d > a.txt; echo %d > new%d.txt; rm -f new%d.txt", i, i, i, i-1)))
					states = append(states, p.state())
				}
				for i := 2; i >= 0; i-- {
					p.undo()
					p.is(fmt.Sprintf("after undo %d", 3-i), states[i])
				}
				for i := 1; i <= 3; i++ {
					p.redo()
					p.is(fmt.Sprintf("after redo %d", i), states[i])
				}
			}},
		{Name: "large-3-MB", About: "an uncommitted file of 3 MB that the agent overwrote",
			Files: someFiles, Before: "head -c 3000000 /dev/zero > data.bin",
			Play: back(shell("echo small > data.bin"))},
		{Name: "large-33-MiB", About: "an uncommitted file of 33 MiB is never deleted",
			Files: someFiles, Before: "head -c 34603008 /dev/zero > data.bin",
			Play: func(p *play) {
				p.turn(shell("printf x >> data.bin; echo y > new.txt"))
				p.undo()
				if info, err := os.Stat(p.path("data.bin")); err != nil || info.Size() < 34603008 {
					p.loses("after the undo: data.bin is gone or cut")
				}
				if _, err := os.Stat(p.path("new.txt")); err == nil {
					p.loses("after the undo: new.txt is left")
				}
			}},
		{Name: "many-files", About: "1,000 files, and files that did not change keep their times",
			Files:  someFiles,
			Before: "for i in $(seq 1000); do echo $i > n$i; done; touch -d 2020-01-01 n* dir/deep.txt",
			Play: func(p *play) {
				before, times := p.state(), p.times()
				p.turn(shell("seq 500 | while read i; do echo changed > n$i; done; rm n700"))
				p.undo()
				p.is("after the undo", before)
				now := p.times()
				for _, path := range []string{"dir/deep.txt", "n501", "n1000"} {
					if !now[path].Equal(times[path]) {
						p.loses("after the undo: %s was written again", path)
					}
				}
			}},
		{Name: "killed-undo", About: "an undo that is killed in the middle can be finished",
			Files: someFiles, Before: "for i in $(seq 2000); do echo $i > n$i; done",
			Play: func(p *play) {
				before := p.state()
				p.turn(shell("seq 2000 | while read i; do echo changed > n$i; done; rm a.txt"))
				for _, after := range []time.Duration{5, 15, 30, 60} {
					p.killUndo(after * time.Millisecond)
				}
				if difference(before, p.state()) != "" {
					p.undo()
				}
				p.is("after the undo", before)
			}},
	}
}

// owned are scenarios about work that is not the turn's: it stays.
func owned() []Scenario {
	return []Scenario{
		{Name: "users-other-files", About: "what the user wrote, changed and deleted after the turn", Files: someFiles,
			Play: func(p *play) {
				p.turn(write("agent.txt", "x\n"), shell("rm a.txt"))
				p.user("echo mine > users.txt; echo mine >> b.txt; rm dir/deep.txt")
				p.undo()
				p.has("after the undo", "users.txt", "mine")
				p.has("after the undo", "b.txt", "mine")
				p.has("after the undo", "a.txt", "old")
				if _, err := os.Stat(p.path("dir/deep.txt")); err == nil {
					p.loses("after the undo: dir/deep.txt, which the user deleted, is back")
				}
			}},
		{Name: "users-same-file", About: "the user's lines in a file that the agent changed",
			Files: with(map[string]string{"code.txt": lines20}),
			Play: func(p *play) {
				p.turn(edit("code.txt", "middle", "AGENT"))
				p.user("sed -i 's/last/USER/' code.txt")
				p.undo()
				p.has("after the undo", "code.txt", "USER")
			}},
		{Name: "users-uncommitted", About: "the user's uncommitted changes from before the turn",
			Files: someFiles, Before: "echo mine >> b.txt; echo draft > draft.txt; git add b.txt",
			Play: back(shell("echo x > a.txt; echo agent >> draft.txt"))},
		{Name: "redo-over-user", About: "what the user wrote between undo and redo", Files: someFiles, NeedsRedo: true,
			Play: func(p *play) {
				p.turn(shell("echo x > a.txt; echo y > new.txt"))
				p.undo()
				p.user("echo mine > users.txt; echo mine > b.txt")
				p.redo()
				p.has("after the redo", "users.txt", "mine")
				p.has("after the redo", "b.txt", "mine")
				p.has("after the redo", "new.txt", "y")
			}},
		{Name: "nothing-changed", About: "the undo of a turn that changed nothing changes nothing of the user's",
			Files: someFiles,
			Play: func(p *play) {
				p.turn()
				p.user("echo mine >> a.txt; echo mine > users.txt")
				want := p.state()
				p.undo()
				p.is("after the undo", want)
			}},
		{Name: "two-sessions", About: "the work of another session in the same directory", Files: someFiles,
			Play: func(p *play) {
				p.turn(write("one.txt", "1\n"), shell("echo 1 >> a.txt"))
				p.turnOf("two", write("two.txt", "2\n"), shell("echo 2 >> b.txt"))
				want := p.state()
				p.undo()
				p.has("after the undo of the first", "two.txt", "2")
				p.has("after the undo of the first", "b.txt", "2")
				delete(want, "one.txt")
				if now := p.state(); now["a.txt"] == want["a.txt"] || now["one.txt"] != "" {
					p.loses("after the undo of the first: its own work is left")
				}
			}},
		{Name: "ignored-stay", About: "ignored files that no turn changed",
			Files: someFiles, Before: "mkdir build; echo out > build/out.o; echo log > run.log",
			Play: back(shell("echo x > a.txt; echo y > new.txt"))},
		{Name: "ignored-outputs", About: "ignored outputs of a command of the turn do no harm",
			Files: someFiles, Before: "mkdir build; echo out > build/out.o",
			Play: func(p *play) {
				p.turn(shell("echo more > build/more.o; echo x > a.txt"))
				p.undo()
				p.has("after the undo", "build/out.o", "out")
				p.has("after the undo", "a.txt", "old")
			}},
		{Name: "ignored-edited", About: "an ignored file that a tool of the agent overwrote",
			Files: with(map[string]string{".gitignore": ".env\n"}), Before: "echo KEY=1 > .env",
			Play: back(edit(".env", "KEY=1", "KEY=lost"))},
		{Name: "rule-added", About: "files below a rule that the agent added",
			Files: with(map[string]string{"src/a": "code\n"}),
			Play:  back(shell("echo src/ >> .gitignore; echo broken > src/a"))},
		{Name: "tracked-though-ignored", About: "a tracked file that a rule ignores",
			Files: someFiles, Before: "echo keep > x.log; git add -f x.log; git commit -qm x",
			Play: back(shell("echo lost > x.log"))},
		{Name: "special-file", About: "a FIFO in the directory disturbs nothing",
			Files: someFiles, Before: "mkfifo pipe",
			Play: back(shell("echo x > a.txt; echo y > new.txt"))},
	}
}

// inside are scenarios about links: nothing outside the directory changes.
func inside() []Scenario {
	return []Scenario{
		{Name: "link-kept", About: "a symbolic link that was replaced",
			Files: someFiles, Before: "ln -s a.txt link; ln -s dir ldir",
			Play: backAndForth(shell("rm link; echo file > link; ln -sfn nowhere ldir"))},
		{Name: "link-escape", About: "a file outside, behind a link that the agent replaced by a directory",
			Files: someFiles, Before: `echo keep > "$OUTSIDE/keep.txt"; ln -s "$OUTSIDE" link`,
			Play: func(p *play) {
				before := p.state()
				p.turn(shell("rm link; mkdir link; echo x > link/keep.txt"))
				p.undo()
				p.is("after the undo", before)
				p.has("after the undo", "link/keep.txt", "keep")
			}},
		{Name: "link-made", About: "a file outside, behind a link that stands in the place of a directory",
			Files: someFiles, Before: `mkdir "$OUTSIDE/dir"; echo keep > "$OUTSIDE/dir/deep.txt"`,
			Play: func(p *play) {
				before := p.state()
				p.turn(shell("rm -r dir; ln -s ../outside/dir dir"))
				p.undo()
				p.is("after the undo", before)
				if out := p.user(`cat "$OUTSIDE/dir/deep.txt"`); out != "keep\n" {
					p.loses("after the undo: the file outside has %q", out)
				}
			}},
		{Name: "hard-links", About: "both names of a file that was changed in place",
			Files: someFiles, Before: "ln a.txt second.txt",
			Play: back(shell("echo changed >> a.txt"))},
	}
}

// repositories are scenarios about git.
func repositories() []Scenario {
	return []Scenario{
		{Name: "users-git", About: "HEAD, branches, index and stash of the user",
			Files: someFiles, Before: "echo staged > staged.txt; git add staged.txt",
			Play: func(p *play) {
				look := "git rev-parse HEAD; git symbolic-ref HEAD; git for-each-ref; git ls-files -s"
				p.turn(shell("echo x > a.txt; rm b.txt"))
				before := p.user(look)
				p.undo()
				if p.user(look) != before {
					p.loses("after the undo: git's index, HEAD or refs are different")
				}
			}},
		{Name: "agent-commits", About: "files of a turn that the agent committed", Files: someFiles,
			Play: back(shell("echo x > a.txt; rm b.txt; git add -A; git -c user.name=agent -c user.email=agent@example.com commit -qm agent"))},
		{Name: "assume-unchanged", About: "a file that the user's index calls unchanged",
			Files: someFiles, Before: "git update-index --assume-unchanged a.txt",
			Play: back(shell("echo x > a.txt"))},
		{Name: "nested-new", About: "files in a nested repository without a commit",
			Files: someFiles, Before: "mkdir in; echo 1 > in/f; git init -q in",
			Play: back(shell("echo 2 > in/f; echo x > a.txt"))},
		{Name: "nested-committed", About: "files in a nested repository with commits",
			Files:  someFiles,
			Before: "mkdir in; echo 1 > in/f; git init -q in; git -C in add -A; git -C in commit -qm in",
			Play:   back(shell("echo 2 > in/f; rm a.txt"))},
	}
}
