//go:build linux

package e2e

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/integrations/conformance"
)

// TestConformanceTerminal plays the scenarios against the undo of agents that have it in their
// terminals alone. It only reports: a loss is the agent's.
func TestConformanceTerminal(t *testing.T) {
	t.Run("Gemini CLI", func(t *testing.T) {
		needTier(t, 3)
		needTmux(t)
		s, argv := geminiAgent(t)
		s.cairn("setup", "gemini", "--remove")
		s.geminiSettings(object{"checkpointing": object{"enabled": true}})
		argv[len(argv)-1] = "default" // without a question for a tool Gemini takes no checkpoint
		a := screenAgent{argv: argv, ready: `Type your message`, asks: `Apply this change\?|Allow execution`, undo: (*screenSession).geminiRestore, kept: ".gemini/tmp/*/checkpoints/*.json"}
		about := "Gemini CLI " + version(geminiPackage) + " with `general.checkpointing`, each tool allowed by hand; an undo is `/restore` of the first checkpoint of the turn. " +
			"It takes a checkpoint before it writes a file, none before a command, and carries the tool out again after a restore. It has no redo."
		reports(t, conformance.Report{Driver: "Gemini CLI", About: about}, func() conformance.Driver { return &screenDriver{sandbox: s, agent: a} })
	})
	t.Run("Qwen Code", func(t *testing.T) {
		needTier(t, 3)
		needTmux(t)
		s, argv := qwenAgent(t)
		s.cairn("setup", "qwen", "--remove")
		a := screenAgent{argv: argv, ready: `Type your message`, undo: (*screenSession).qwenRewind}
		about := "Qwen Code " + version(qwenPackage) + "; an undo is its rewind (Esc Esc) to the last turn, with its first choice: code and conversation, where its tools changed files. " +
			"It has no redo."
		reports(t, conformance.Report{Driver: "Qwen Code", About: about}, func() conformance.Driver { return &screenDriver{sandbox: s, agent: a} })
	})
}

// screenAgent is an agent whose undo is in its terminal.
type screenAgent struct {
	argv  []string
	ready string // what the screen shows when a line can be typed
	asks  string // a question that Enter answers with yes; "" if it asks none
	kept  string // pattern of the files in its home that an undo can name; "" if it names none
	undo  func(*screenSession) error
}

// screenDriver drives an agent in a terminal for each session.
type screenDriver struct {
	*sandbox
	agent    screenAgent
	dir      string
	sessions map[string]*screenSession
}

// screenSession is a session in a terminal.
type screenSession struct {
	*terminal
	agent screenAgent
	turns [][]string // of each turn in effect the files that it can be taken back with, oldest first
}

func (d *screenDriver) Start(dir string) error {
	d.dir, d.sessions = dir, make(map[string]*screenSession)
	return nil
}

func (d *screenDriver) session(name string) (*screenSession, error) {
	if s := d.sessions[name]; s != nil {
		return s, nil
	}
	here := &sandbox{t: d.t, project: d.dir, home: d.home, net: d.net, model: d.model, env: d.env}
	s := &screenSession{terminal: here.inTerminal(d.agent.argv...), agent: d.agent}
	d.sessions[name] = s
	if text, ok := s.looks(regexp.MustCompile(d.agent.ready), screenBound); !ok {
		return nil, fmt.Errorf("it never is ready: %s", last([]byte(text), 500))
	}
	return s, nil
}

func (d *screenDriver) Turn(session string, ops []conformance.Op) error {
	s, err := d.session(session)
	if err != nil {
		return err
	}
	play, end := turnScript(d.dir, ops), newID("OVER")
	play[len(play)-1] = end
	before := s.files()
	if err := s.enter(play.short(d.t), end); err != nil {
		return fmt.Errorf("turn: %w", err)
	}
	s.turns = append(s.turns, slices.Sorted(func(yield func(string) bool) {
		for name := range s.files() {
			if !before[name] && !yield(name) {
				return
			}
		}
	}))
	return nil
}

// files are what an undo can name.
func (s *screenSession) files() map[string]bool {
	list, _ := filepath.Glob(filepath.Join(s.home, s.agent.kept))
	return maps.Collect(func(yield func(string, bool) bool) {
		for _, path := range list {
			if s.agent.kept == "" || !yield(strings.TrimSuffix(filepath.Base(path), ".json"), true) {
				return
			}
		}
	})
}

func (d *screenDriver) Undo(session string) error {
	s := d.sessions[session]
	if s == nil || len(s.turns) == 0 {
		return errors.New("no turn")
	}
	err := d.agent.undo(s)
	if err != nil {
		d.t.Logf("undo: %v", err)
	}
	s.turns = s.turns[:len(s.turns)-1]
	return err
}

func (d *screenDriver) Redo(string) error { return conformance.ErrUnsupported }

func (d *screenDriver) Stop() error {
	for _, s := range d.sessions {
		s.tmux("kill-server")
	}
	return nil
}

// enter empties the box, types a line and waits for a text that was not there. It answers the agent's
// questions meanwhile.
func (s *screenSession) enter(line, want string) error {
	if err := s.writes(line, regexp.QuoteMeta(line)); err != nil {
		return err
	}
	s.keys("Enter")
	return s.waits(want, true)
}

// writes writes a line into the empty box and waits for what that shows.
func (s *screenSession) writes(line, shows string) error {
	s.keys("C-u")
	s.tmux("send-keys", "-l", line)
	if text, ok := s.looks(regexp.MustCompile(shows), screenBound); !ok {
		return fmt.Errorf("it does not show what is typed: %s", last([]byte(text), 500))
	}
	return nil
}

// waits waits for a text. With again it presses Enter now and then: an agent may have taken the first
// one for a part of what was pasted, and one more is of no effect in an empty box.
func (s *screenSession) waits(want string, again bool) error {
	rx, asks := regexp.MustCompile(want), regexp.MustCompile(s.agent.asks)
	entered, answered := time.Now(), ""
	for end := time.Now().Add(screenBound); time.Now().Before(end); time.Sleep(lookPause) {
		text := words(s.screen())
		switch asked := s.agent.asks != "" && asks.MatchString(text); {
		case rx.MatchString(text):
			return nil
		case asked && text != answered, again && time.Since(entered) > enterAgain:
			s.keys("Enter")
			entered, answered = time.Now(), text
		}
	}
	return fmt.Errorf("the screen never shows %q: %s", want, last([]byte(s.screen()), 1000))
}

// geminiRestore restores the first checkpoint of the last turn. Enter chooses in the menu of what can
// complete the line: it is pressed once the name stands there, too.
func (s *screenSession) geminiRestore() error {
	names := s.turns[len(s.turns)-1]
	if len(names) == 0 {
		return errors.New("Gemini has taken no checkpoint in this turn")
	}
	s.keys("C-l") // the answer to an earlier restore
	name := regexp.QuoteMeta(names[0])
	err := s.writes("/restore "+names[0], name+".*"+name)
	if err == nil {
		s.keys("Enter")
		err = s.waits(`Restored project to the state`, false)
	}
	if err != nil {
		return err
	}
	return s.settles() // the tool is carried out again
}

// settles waits until the screen and the project stand still.
func (s *screenSession) settles() error {
	look := func() string { return s.screen() + fmt.Sprint(os.Stat(s.project)) }
	still, was := time.Now(), look()
	for end := time.Now().Add(screenBound); time.Now().Before(end); time.Sleep(lookPause) {
		if now := look(); now != was {
			still, was = time.Now(), now
		}
		if time.Since(still) > enterAgain {
			return nil
		}
	}
	return errors.New("the screen never stands still")
}

// escapesTo presses Esc twice until a menu opens. An agent takes two quick ones for another key.
func (s *screenSession) escapesTo(menu string) error {
	rx := regexp.MustCompile(menu)
	for end := time.Now().Add(screenBound); time.Now().Before(end); {
		s.keys("C-u", "Escape")
		if _, ok := s.looks(rx, 4*lookPause); !ok {
			s.keys("Escape")
		}
		if _, ok := s.looks(rx, enterAgain); ok {
			return nil
		}
	}
	return fmt.Errorf("the screen never shows %q: %s", menu, last([]byte(s.screen()), 1000))
}

// qwenRewind goes through the two menus of the rewind: the last turn and the first way are chosen in
// them. A typed /rewind opens no menu in this version.
func (s *screenSession) qwenRewind() error {
	err := s.settles() // a turn that is not quite over keeps the menu away
	if err == nil {
		err = s.escapesTo(`Rewind Conversation`)
	}
	if err == nil {
		s.keys("Enter")
		err = s.waits(`Never mind`, true)
	}
	for end := time.Now().Add(screenBound); err == nil && strings.Contains(words(s.screen()), "Never mind"); {
		if s.keys("Enter"); time.Now().After(end) { // the menu may not take keys yet
			return fmt.Errorf("the menu stays: %s", last([]byte(s.screen()), 1000))
		}
		s.goes("Never mind")
	}
	if err == nil {
		err = s.waits(`Conversation rewound|Restored \d+ file|Failed to restore|Cannot re`, false) // the box has the prompt again
	}
	return err
}
