package review

import (
	"context"
	"errors"
	"io"

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

// Run shows a review until it is left or the context ends. The library brings the screen back,
// also after a panic.
func Run(ctx context.Context, opt Options, t Terminal) error {
	options := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithInput(t.In), tea.WithOutput(t.Out), tea.WithEnvironment(t.Env), tea.WithoutSignalHandler(),
	}
	if t.Colours != nil {
		options = append(options, tea.WithColorProfile(profileOf(*t.Colours)))
	}
	ctx, cancel := context.WithCancel(ctx) // ends the work that is under way
	defer cancel()
	_, err := tea.NewProgram(New(ctx, opt), options...).Run()
	if errors.Is(err, tea.ErrInterrupted) {
		return context.Canceled
	}
	return err
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
