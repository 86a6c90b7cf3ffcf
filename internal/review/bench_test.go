package review

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// BenchmarkReviewOpen opens a store of a thousand turns, up to the screen with the newest turn, its
// files and its hunks.
func BenchmarkReviewOpen(b *testing.B) {
	for _, sessions := range []int{1, 100} {
		b.Run(fmt.Sprintf("sessions=%d", sessions), func(b *testing.B) {
			r := newRecorded(b)
			for i := range 1000 {
				r.turn(fmt.Sprint("s", i%sessions), fmt.Sprint("m", i), func() { r.write("f", lines(200, map[int]string{i % 200: fmt.Sprint("turn ", i)})) })
			}
			r.repo.Close()
			b.ResetTimer()
			for b.Loop() {
				r.open()
				if !r.firstScreen().Model.shows("Prompt m999") {
					b.Fatal("not shown")
				}
				r.repo.Close()
			}
		})
	}
}

func (m *Model) shows(text string) bool { return strings.Contains(stripped(m.screen()), text) }

// firstScreen runs commands until the newest turn has its hunks on the screen.
func (r *recorded) firstScreen() *driven {
	d := &driven{Model: New(context.Background(), Options{Source: NewSource(r.repo, r.all, ""), Now: time.Now}), t: r.TB}
	d.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	queue := []tea.Cmd{d.Init()}
	for len(queue) > 0 && d.view == nil {
		cmd := queue[0]
		queue = queue[1:]
		if cmd == nil {
			continue
		}
		switch msg := cmd().(type) {
		case tea.BatchMsg:
			queue = append(queue, msg...)
		default:
			_, next := d.Update(msg)
			queue = append(queue, next)
		}
	}
	return d
}
