//go:build unix

package programmodel

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// namePool holds plain names and names that break careless programs.
var namePool = []string{
	"a", "b", "c", "d", "src", "lib", "build", "x.o", "y.o", "notes", ".env", "A", "a.b", "a-b", "a0",
	"new\nline", "tab\there", "\x01", `quote"d`, `back\slash`, `\303\251`, " lead", "trail ", "-dash", "--", ":(glob)x", "@", "HEAD",
	"*", "[ab]", "?q", "!bang", "#hash", "~tilde", "$(id)", "\xff", "a\xffb", "\xed\xa0\x80", "\u00e9", "e\u0301", "\u202egpj", "...", "..x", ".gitx", "x.git",
	"x.lock", ".cairn-tmp", ".gitattributes", "con", "日本語",
}

// chooseNames takes a few names, so that histories come back to the same paths.
func (w *world) chooseNames() {
	w.names = []string{"a", "b", "d"}
	for range 7 {
		w.names = append(w.names, pick(w.rng, namePool))
	}
	if w.rng.IntN(8) == 0 {
		w.names = append(w.names, strings.Repeat(pick(w.rng, []string{"x", "é"}), 255)[:254])
	}
}

func (w *world) at(path string) string { return w.root + "/" + path }

// newPath makes up a path, most of the time in a directory that is there.
func (w *world) newPath() string {
	dir := ""
	if dirs := w.dirs(); len(dirs) > 0 && w.rng.IntN(4) > 0 {
		dir = pick(w.rng, dirs) + "/"
	}
	path := dir + pick(w.rng, w.names)
	if w.rng.IntN(6) == 0 {
		path += "/" + pick(w.rng, w.names)
	}
	if strings.Count(path, "/") > 3 || len(path) > 700 {
		return pick(w.rng, w.names)
	}
	return path
}

func (w *world) dirs() []string {
	v, _ := w.look()
	var list []string
	for _, p := range paths(v) {
		if v[p].kind == 'd' {
			list = append(list, p)
		}
	}
	return list
}

// anyPath is a path that is there, "" in an empty project.
func (w *world) anyPath() string {
	v, _ := w.look()
	if len(v) == 0 {
		return ""
	}
	return pick(w.rng, paths(v))
}

// clear makes room for something at path.
func (w *world) clear(path string) {
	for at := dirOf(path); at != ""; at = dirOf(at) {
		if info, err := os.Lstat(w.at(at)); err == nil && !info.IsDir() {
			w.must(os.Remove(w.at(at)))
		}
	}
	w.must(os.RemoveAll(w.at(path)))
	w.makeDirs(dirOf(path))
}

func (w *world) makeDirs(dir string) {
	if dir == "" {
		return
	}
	w.makeDirs(dirOf(dir))
	err := os.Mkdir(w.at(dir), 0o755)
	if os.IsExist(err) {
		return
	}
	w.must(err)
	w.own(w.at(dir))
}

func (w *world) write(path, text string, perm fs.FileMode) {
	w.clear(path)
	w.must(os.WriteFile(w.at(path), []byte(text), 0o644))
	w.must(os.Chmod(w.at(path), perm))
	w.own(w.at(path))
	w.say("write %q %03o %.40q", path, perm, text)
}

// text is some lines, of which later versions share some.
func (w *world) text() string {
	w.written++
	var b strings.Builder
	for i := range w.rng.IntN(7) {
		fmt.Fprintf(&b, "line %d %d\n", i, w.rng.IntN(3))
	}
	switch w.rng.IntN(6) {
	case 0:
		return b.String()
	case 1:
		return fmt.Sprintf("\x00binary %d-%d", w.step, w.written)
	}
	return b.String() + fmt.Sprintf("%d-%d\n", w.step, w.written)
}

func (w *world) filePerm() fs.FileMode {
	perms := []fs.FileMode{0o644, 0o644, 0o644, 0o755, 0o600, 0o444, 0o640, 0o711}
	if w.closed {
		perms = append(perms, 0, 0o200)
	}
	return pick(w.rng, perms)
}

func (w *world) dirPerm() fs.FileMode {
	perms := []fs.FileMode{0o755, 0o755, 0o700, 0o711, 0o750, 0o555}
	if w.closed {
		perms = append(perms, 0, 0o400, 0o100, 0o300, 0o500)
	}
	return pick(w.rng, perms)
}

// edit makes one to three changes.
func (w *world) edit() {
	for range 1 + w.rng.IntN(3) {
		w.editOnce()
	}
}

func (w *world) editOnce() {
	switch n := w.rng.IntN(24); {
	case n < 5:
		w.createSome()
	case n < 9:
		w.changeLines()
	case n < 12:
		w.remove()
	case n < 15:
		w.rename()
	case n < 16:
		w.exchange()
	case n < 19:
		w.chmod()
	case n < 20:
		w.makeEmpty()
	case n < 21:
		w.link()
	case n < 22:
		w.special()
	default:
		w.write(w.newPath(), strings.Repeat(w.text()+"large\n", maxFileSize/6), w.filePerm())
	}
}

func (w *world) createSome() { w.write(w.newPath(), w.text(), w.filePerm()) }

// changeLines edits a file in place.
func (w *world) changeLines() {
	path := w.anyPath()
	info, err := os.Lstat(w.at(path))
	if path == "" || err != nil || !info.Mode().IsRegular() {
		w.createSome()
		return
	}
	data, err := os.ReadFile(w.at(path))
	w.must(err)
	lines := strings.SplitAfter(string(data), "\n")
	w.written++
	lines[w.rng.IntN(len(lines))] = fmt.Sprintf("changed %d-%d\n", w.step, w.written)
	w.must(os.WriteFile(w.at(path), []byte(strings.Join(lines, "")), 0o644))
	w.say("change a line of %q", path)
}

func (w *world) remove() {
	if path := w.anyPath(); path != "" {
		w.must(os.RemoveAll(w.at(path)))
		w.say("remove %q", path)
	}
}

func (w *world) rename() {
	from, to := w.anyPath(), w.newPath()
	if from == "" || from == to || isBelow(to, from) || isBelow(from, to) {
		return
	}
	w.clear(to)
	if _, err := os.Lstat(w.at(from)); err != nil {
		return // it lay in what made room
	}
	w.must(os.Rename(w.at(from), w.at(to)))
	w.say("rename %q to %q", from, to)
}

// isRules reports whether a path is an ignore file. A pipe in its place would block git.
func isRules(path string) bool { return filepath.Base(path) == ".gitignore" }

// exchange lets two paths take each other's place.
func (w *world) exchange() {
	a, b := w.anyPath(), w.anyPath()
	if a == b || isBelow(a, b) || isBelow(b, a) || isRules(a) || isRules(b) {
		return
	}
	aside := w.base + "/aside"
	w.must(os.Rename(w.at(a), aside))
	w.must(os.Rename(w.at(b), w.at(a)))
	w.must(os.Rename(aside, w.at(b)))
	w.say("exchange %q and %q", a, b)
}

func (w *world) chmod() {
	path := w.anyPath()
	info, err := os.Lstat(w.at(path))
	if path == "" || err != nil || info.Mode().Type() == fs.ModeSymlink {
		return
	}
	perm := w.filePerm()
	if info.IsDir() {
		perm = w.dirPerm()
		if w.rng.IntN(4) == 0 {
			w.chmodAll(perm)
			return
		}
	}
	w.must(os.Chmod(w.at(path), perm))
	w.say("chmod %q %03o", path, perm)
}

// chmodAll gives all directories the same bits.
func (w *world) chmodAll(perm fs.FileMode) {
	for _, dir := range w.dirs() {
		w.must(os.Chmod(w.at(dir), perm))
	}
	w.say("chmod all directories %03o", perm)
}

func (w *world) makeEmpty() {
	path := w.newPath()
	w.clear(path)
	w.makeDirs(path)
	perm := w.dirPerm()
	w.must(os.Chmod(w.at(path), perm))
	w.say("mkdir %q %03o", path, perm)
}

func (w *world) link() {
	path := w.newPath()
	target := pick(w.rng, []string{"nowhere", ".", "..", "../outside", "/nonexistent", "a", "b\xff"})
	w.clear(path)
	w.must(os.Symlink(target, w.at(path)))
	w.own(w.at(path))
	w.say("link %q to %q", path, target)
}

func (w *world) special() {
	path := w.newPath()
	w.clear(path)
	w.must(syscall.Mkfifo(w.at(path), 0o644))
	w.own(w.at(path))
	w.say("fifo %q", path)
}

// editRules lets ignore rules come, go and change.
func (w *world) editRules() {
	switch n := w.rng.IntN(10); {
	case n < 6:
		path := ".gitignore"
		if dirs := w.dirs(); len(dirs) > 0 && w.rng.IntN(2) == 0 {
			path = pick(w.rng, dirs) + "/.gitignore"
		}
		w.write(path, w.rules(), 0o644)
	case n < 7:
		w.dropRules()
	case n < 9:
		if _, err := os.Stat(w.root + "/.git"); err == nil {
			w.private(w.root+"/.git/info/exclude", w.rules())
		}
	default:
		w.private(w.home+"/.gitconfig", "[core]\n\texcludesFile = "+w.home+"/ignore\n")
		w.private(w.home+"/ignore", w.rules())
	}
}

func (w *world) dropRules() {
	v, _ := w.look()
	for _, p := range paths(v) {
		if filepath.Base(p) == ".gitignore" {
			w.must(os.RemoveAll(w.at(p)))
			w.say("remove %q", p)
			return
		}
	}
}

// private writes a file that lies outside of what is captured.
func (w *world) private(path, text string) {
	w.must(os.MkdirAll(filepath.Dir(path), 0o755))
	w.own(filepath.Dir(path))
	w.must(os.WriteFile(path, []byte(text), 0o644))
	w.own(path)
	w.say("write %s: %q", strings.TrimPrefix(path, w.base), text)
}

// rules is an ignore file that matches some of what is there.
func (w *world) rules() string {
	var b strings.Builder
	for range w.rng.IntN(4) {
		name := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "\n", "?", " ", `\ `).Replace(pick(w.rng, w.names))
		if strings.HasPrefix(name, "#") || strings.HasPrefix(name, "!") {
			name = `\` + name
		}
		switch w.rng.IntN(8) {
		case 0:
			name = ".gitignore"
		case 1:
			name = "*"
		case 2:
			name = "/" + name
		case 3:
			name += "/"
		case 4:
			name = "!" + name
		case 5:
			name = "*.o"
		}
		b.WriteString(name + "\n")
	}
	return b.String()
}
