package setup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestProjectFiles: all that setup makes in a project is listed. In a copy of the project the agent is set up, and
// nothing names the first directory.
func TestProjectFiles(t *testing.T) {
	t.Parallel()
	for _, a := range agents() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			p, _ := places(t)
			p.Project = t.TempDir()
			write(t, filepath.Join(p.Project, ".claude", "mine.json"), "{}")
			if list := ProjectFiles(p.Project); len(list) > 0 {
				t.Errorf("before: %v", list)
			}
			if path := a.settingsPath(p); path != "" {
				write(t, path, "{\n  \"mine\": true\n}\n")
				if list := ProjectFiles(p.Project); len(list) > 0 {
					t.Errorf("settings without cairn: %v", list)
				}
			}
			apply(t, a.Name, Options{Places: p, Program: program})
			list := ProjectFiles(p.Project)
			slices.Sort(list)
			if want := below(t, p.Project, ".claude/mine.json"); !slices.Equal(list, want) {
				t.Errorf("%v, want %v", list, want)
			}
			other := p
			other.Project = t.TempDir()
			for _, path := range list {
				text := contents(t, filepath.Join(p.Project, path))
				if strings.Contains(text, p.Project) {
					t.Errorf("%s names the project: %s", path, text)
				}
				copied := filepath.Join(other.Project, path)
				write(t, copied, text)
				info, err := os.Stat(filepath.Join(p.Project, path))
				if err == nil {
					err = os.Chmod(copied, info.Mode())
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if s := statusOf(t, other, a.Name); !s.SetUp || !s.Complete || s.Program[0] != program[0] {
				t.Errorf("in the copy: %+v", s)
			}
			apply(t, a.Name, Options{Places: other, Program: program, Remove: true})
			if path := a.settingsPath(other); path != "" && contents(t, path) != "{\n  \"mine\": true\n}\n" {
				t.Errorf("removed in the copy: %s", contents(t, path))
			}
		})
	}
}

// below lists the files of a directory but one, sorted, as paths from it with slashes.
func below(t *testing.T, root, but string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(root, path)
			if rel = filepath.ToSlash(rel); rel != but {
				paths = append(paths, rel)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(paths)
	return paths
}

// TestTwice: who sets up a project is told that the agent is connected for all projects.
func TestTwice(t *testing.T) {
	t.Parallel()
	for _, a := range agents() {
		p, home := places(t)
		project := p
		project.Project = filepath.Join(home, "project")
		told := func(plan *Plan) bool { return strings.Contains(strings.Join(plan.Notes, "\n"), "--project --remove") }
		if told(apply(t, a.Name, Options{Places: project, Program: program})) {
			t.Errorf("%s: told without a reason", a.Name)
		}
		apply(t, a.Name, Options{Places: project, Program: program, Remove: true})
		if told(apply(t, a.Name, Options{Places: p, Program: program})) {
			t.Errorf("%s: told of all projects", a.Name)
		}
		if told(apply(t, a.Name, Options{Places: project, Program: program})) == a.Tools {
			t.Errorf("%s: told is %t", a.Name, a.Tools)
		}
	}
}

// TestProjectFilesOfOthers: no file of other programs is listed, and what cannot be read is left out.
func TestProjectFilesOfOthers(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, filepath.Join(root, ".opencode", "plugins", "cairn.ts"), "// mine\n")
	write(t, filepath.Join(root, ".codex", "hooks.json"), "{ no JSON")
	if err := os.MkdirAll(filepath.Join(root, ".crush.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	if list := ProjectFiles(root); len(list) > 0 {
		t.Errorf("%v", list)
	}
}

// TestDeepSettings: a file with very many levels is refused. A parser that calls itself for each would end the
// process.
func TestDeepSettings(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("[", 1<<20), strings.Repeat(`{"a":`, 1<<18), strings.Repeat(`["]",`, 1<<18)} {
		if _, err := parseText([]byte(text)); !errors.Is(err, errForm) {
			t.Errorf("%.8s...: %v", text, err)
		}
	}
}
