package review

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// Terminal is where a review runs.
type Terminal struct {
	In      io.Reader
	Out     io.Writer
	Env     []string
	Colours *Colours // nil: what the environment says of the terminal
}

// Run shows a review until it is left, its input ends or the context does. The library brings the screen
// back, also after a panic. A review that ends in the midst of a change is interrupted.
func Run(ctx context.Context, opt Options, t Terminal) error {
	var program *tea.Program
	if f, ok := t.In.(*os.File); ok && runtime.GOOS != "windows" {
		t.In = &keyboard{f, func() { program.Quit() }}
	}
	options := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithInput(t.In), tea.WithOutput(t.Out), tea.WithEnvironment(t.Env), tea.WithoutSignalHandler(),
	}
	if t.Colours != nil {
		options = append(options, tea.WithColorProfile(profileOf(*t.Colours)))
	}
	ctx, cancel := context.WithCancel(ctx) // ends the work that is under way
	defer cancel()
	m := New(ctx, opt)
	program = tea.NewProgram(m, options...)
	_, err := program.Run()
	return outcome(m, err)
}

// outcome is the error of a review that has ended.
func outcome(m *Model, err error) error {
	if errors.Is(err, tea.ErrInterrupted) || err == nil && m.changes {
		return context.Canceled
	}
	return err
}

// keyboard is a terminal to read from, whose end ends the review. The library goes on without keys.
type keyboard struct {
	*os.File
	end func()
}

// Read implements io.Reader.
func (k *keyboard) Read(p []byte) (int, error) {
	n, err := k.File.Read(p)
	if errors.Is(err, io.EOF) {
		k.end()
	}
	return n, err
}

func profileOf(c Colours) colorprofile.Profile {
	switch c {
	case ManyColours:
		return colorprofile.ANSI256
	case SixteenColours:
		return colorprofile.ANSI
	}
	return colorprofile.ASCII
}
