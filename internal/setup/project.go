package setup

import (
	"os"
	"path/filepath"
)

// ProjectFiles lists what setup has written into a project, as paths from its root with slashes: settings with
// entries of cairn, files of cairn's own, and the copies beside them from before. They name the program and no
// directory, so that they work in a copy of the project as well. A file that cannot be read is left out.
func ProjectFiles(root string) (paths []string) {
	p := Places{Project: root}
	note := func(path string) {
		for _, path := range []string{path, path + backupSuffix} {
			rel, err := filepath.Rel(root, path)
			if info, lerr := os.Lstat(path); err == nil && lerr == nil && info.Mode().IsRegular() {
				paths = append(paths, filepath.ToSlash(rel))
			}
		}
	}
	for _, a := range agents() {
		if path := a.settingsPath(p); path != "" && a.inSettings(path) {
			note(path)
		}
		if a.files == nil {
			continue
		}
		for _, f := range a.files([]string{"cairn"}) {
			path := filepath.Join(a.home(p), filepath.FromSlash(f.path))
			if c, err := read(path); err == nil && c.Before != nil && f.isOurs(string(c.Before)) {
				note(path)
			}
		}
	}
	return paths
}

// inSettings reports whether a settings file has entries of cairn.
func (a *agent) inSettings(path string) bool {
	c, err := read(path)
	if err != nil || c.Before == nil {
		return false
	}
	return a.connected(c.Before)
}

// connected reports whether the text of a settings file has entries of cairn.
func (a *agent) connected(data []byte) bool {
	t, err := parseText(data)
	if err != nil {
		return false
	}
	program, _ := a.open(t).program()
	return program != nil
}
