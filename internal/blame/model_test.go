package blame_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/blame"
)

// model is a file whose lines know who wrote them. Every text has a place in one order, so a
// comparison of two versions has one answer. A version is the set of the texts that are there.
type model struct {
	random   *rand.Rand
	order    []string // all texts that ever were
	versions []version
	dead     []identity // that are not there now, in the order of their deaths
}

// version is a content with the origin of each line, and what the step to it changed.
type version struct {
	gone           bool // the file is absent
	restored       bool
	lines          map[string]identity
	added, deleted []string
}

// identity is one life of a text. by is the version that deleted it.
type identity struct {
	text    string
	version int
	by      int
}

func newModel(random *rand.Rand) *model {
	m := &model{random: random}
	m.versions = []version{{lines: map[string]identity{}}}
	m.edit()
	m.versions = m.versions[1:]
	for text, id := range m.versions[0].lines {
		id.version = 0
		m.versions[0].lines[text] = id
	}
	return m
}

func (m *model) now() *version { return &m.versions[len(m.versions)-1] }

// step plays one change. The kinds are an edit, a retyped line, a step taken back by a merge, the
// return to a version by an operation or by other means, and the deletion of the file.
func (m *model) step() {
	switch n := m.random.IntN(20); {
	case n < 9:
		m.edit()
	case n < 12:
		m.retype()
	case n < 15:
		m.takeBack(m.random.IntN(len(m.versions)))
	case n < 19:
		m.goBack(m.random.IntN(len(m.versions)), n < 17)
	default:
		m.change(nil, m.present(), false)
		m.now().gone = true
	}
}

// present lists the texts that are there, in order.
func (m *model) present() (texts []string) {
	for _, text := range m.order {
		if _, ok := m.now().lines[text]; ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// edit writes new lines and deletes some.
func (m *model) edit() {
	var added, deleted []string
	for range 1 + m.random.IntN(4) {
		text := fmt.Sprint("line ", len(m.order))
		added = append(added, text)
		m.order = slices.Insert(m.order, m.random.IntN(len(m.order)+1), text)
	}
	for _, text := range m.present() {
		if m.random.IntN(6) == 0 {
			deleted = append(deleted, text)
		}
	}
	m.change(added, deleted, false)
}

// retype writes a text again that was deleted, and one new line.
func (m *model) retype() {
	var added []string
	if len(m.dead) > 0 {
		text := m.dead[m.random.IntN(len(m.dead))].text
		if _, there := m.now().lines[text]; !there {
			added = append(added, text)
		}
	}
	if m.random.IntN(2) == 0 {
		text := fmt.Sprint("line ", len(m.order))
		m.order = slices.Insert(m.order, m.random.IntN(len(m.order)+1), text)
		added = append(added, text)
	}
	m.change(added, nil, false)
}

// takeBack merges the inverse of a step into the file.
func (m *model) takeBack(n int) {
	v := &m.versions[n]
	here := func(text string) bool { _, ok := m.now().lines[text]; return ok }
	added := slices.DeleteFunc(slices.Clone(v.deleted), here)
	deleted := slices.DeleteFunc(slices.Clone(v.added), func(text string) bool { return !here(text) })
	m.change(added, deleted, true)
}

func (m *model) goBack(n int, operation bool) {
	var added, deleted []string
	for _, text := range m.order {
		_, then := m.versions[n].lines[text]
		_, now := m.now().lines[text]
		switch {
		case then && !now:
			added = append(added, text)
		case now && !then:
			deleted = append(deleted, text)
		}
	}
	m.change(added, deleted, operation)
}

// change makes the next version. A line of it that comes back has the identity that it had in
// the newest version with the same content, or in a restored version that of its last life.
func (m *model) change(added, deleted []string, restored bool) {
	next := version{restored: restored, lines: make(map[string]identity), added: added, deleted: deleted}
	n := len(m.versions)
	for text, id := range m.now().lines {
		if !slices.Contains(deleted, text) {
			next.lines[text] = id
		}
	}
	for _, text := range m.order {
		if slices.Contains(deleted, text) {
			id := m.now().lines[text]
			id.by = n
			m.dead = append(m.dead, id)
		}
	}
	for _, text := range added {
		next.lines[text] = identity{text: text, version: n}
	}
	equal := slices.IndexFunc(reversed(m.versions), func(v version) bool { return !v.gone && sameTexts(v.lines, next.lines) })
	for _, text := range added {
		last := -1
		for i, d := range m.dead {
			if d.text == text && (equal >= 0 && d.version == reversed(m.versions)[equal].lines[text].version || equal < 0 && restored) {
				last = i
			}
		}
		if last >= 0 {
			next.lines[text] = identity{text: text, version: m.dead[last].version}
			m.dead = slices.Delete(m.dead, last, last+1)
		}
	}
	m.versions = append(m.versions, next)
}

func reversed(list []version) []version {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

func sameTexts(a, b map[string]identity) bool {
	for text := range a {
		if _, ok := b[text]; !ok {
			return false
		}
	}
	return len(a) == len(b)
}

// contents returns the versions as the algorithm sees them.
func (m *model) contents() (list []blame.Version, texts []string) {
	for _, v := range m.versions {
		var b strings.Builder
		for _, text := range m.order {
			if _, ok := v.lines[text]; ok {
				b.WriteString(text + "\n")
			}
		}
		key := "content " + b.String()
		if v.gone {
			key = ""
		}
		list, texts = append(list, blame.Version{Key: key, Restored: v.restored}), append(texts, b.String())
	}
	return list, texts
}

// check compares the algorithm with what the model knows.
func (m *model) check() error {
	list, texts := m.contents()
	got, err := blame.Of(list, func(i int) ([]byte, error) { return []byte(texts[i]), nil }, blame.Options{Deleted: true})
	if err != nil {
		return err
	}
	lines := m.present()
	if len(got.Lines) != len(lines) {
		return fmt.Errorf("%d lines instead of %d", len(got.Lines), len(lines))
	}
	for i, text := range lines {
		at := got.Lines[i]
		if want := m.now().lines[text].version; at.Version != want {
			return fmt.Errorf("%q is of version %d, not %d", text, want, at.Version)
		}
		if was := strings.Split(texts[at.Version], "\n")[at.Number-1]; was != text {
			return fmt.Errorf("%q is said to be line %d of version %d, which is %q", text, at.Number, at.Version, was)
		}
	}
	return m.checkDeleted(got.Deleted, len(lines))
}

func (m *model) checkDeleted(got []blame.Deleted, lines int) error {
	var have []identity
	before := 0
	for _, d := range got {
		if d.Before < before || d.Before > lines {
			return fmt.Errorf("deleted lines are out of order: %+v", got)
		}
		before = d.Before
		have = append(have, identity{strings.TrimSuffix(d.Text, "\n"), d.Version, d.By})
	}
	order := func(a, b identity) int {
		return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
	}
	want := slices.SortedFunc(slices.Values(m.dead), order)
	slices.SortFunc(have, order)
	if !slices.Equal(have, want) {
		return fmt.Errorf("deleted lines are\n%v, not\n%v", have, want)
	}
	return nil
}

// TestAgainstModel plays random histories and compares every line of their ends, deleted lines
// included, with what the model knows.
func TestAgainstModel(t *testing.T) {
	t.Parallel()
	cases := uint64(4000)
	if testing.Short() {
		cases = 400
	}
	for seed := range cases {
		m := newModel(rand.New(rand.NewPCG(seed, 22)))
		for range 1 + m.random.IntN(30) {
			m.step()
		}
		if err := m.check(); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, m)
		}
	}
}

// String prints the history of a finding.
func (m *model) String() string {
	var b strings.Builder
	_, texts := m.contents()
	for i, v := range m.versions {
		fmt.Fprintf(&b, "version %d: restored %v, gone %v, added %q, deleted %q\n%s", i, v.restored, v.gone, v.added, v.deleted, texts[i])
	}
	return b.String()
}

// source is a source of random numbers that a fuzzer chooses. Each byte begins a sequence, because
// a bounded number is drawn again and again from a source of zeros.
type source struct {
	data []byte
	then *rand.PCG
}

func (s *source) Uint64() uint64 {
	if s.then == nil || len(s.data) > 0 {
		s.then = rand.NewPCG(uint64(s.data[0]), 0)
		s.data = s.data[1:]
	}
	return s.then.Uint64()
}

// FuzzModel lets the fuzzer choose the history.
func FuzzModel(f *testing.F) {
	f.Add([]byte("an edit, another, and one taken back"))
	f.Add([]byte{10, 200, 130, 7, 180, 255, 90, 150, 210, 240, 60, 160, 3, 220})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 {
			return
		}
		from := &source{data: data[:min(len(data), 100)]}
		m := newModel(rand.New(from))
		for len(from.data) > 0 {
			m.step()
		}
		if err := m.check(); err != nil {
			t.Fatalf("%v\n%s", err, m)
		}
	})
}
