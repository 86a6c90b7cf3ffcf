//go:build linux

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// terminal is an agent's own interface: a person types, and reads the screen.
type terminal struct {
	*sandbox
	socket string
}

const (
	screenWidth, screenHeight = "120", "50"

	screenBound = 2 * time.Minute // nothing on a screen takes longer, on a busy machine either
	lookPause   = 50 * time.Millisecond
	enterAgain  = 3 * time.Second // an agent may take a quick Enter for a part of what was pasted
)

// needTmux skips a test where nothing can play a terminal.
func needTmux(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("NOT TESTED: tmux is missing, so no terminal interface can be driven")
	}
}

// inTerminal starts an agent in a terminal, in the sandbox's network.
func (s *sandbox) inTerminal(argv ...string) *terminal {
	s.t.Helper()
	dir, err := os.MkdirTemp("", "tm") // the path of a socket has to be short
	if err != nil {
		s.t.Fatal(err)
	}
	term := &terminal{s, filepath.Join(dir, "s")}
	s.t.Cleanup(func() { term.tmux("kill-server"); s.endAll(); os.RemoveAll(dir) })
	env := slices.DeleteFunc(slices.Clone(s.env), func(v string) bool { return strings.HasPrefix(v, "TERM=") })
	conf := filepath.Join(dir, "conf") // an agent that ends leaves its last words on the screen
	if err := os.WriteFile(conf, []byte("set-option -g remain-on-exit on\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	line := []string{"exec", "env", "-i"}
	for _, word := range append(append(env, "TERM=xterm-256color"), argv...) {
		line = append(line, "'"+strings.ReplaceAll(word, "'", `'\''`)+"'")
	}
	start := term.command("tmux", "-S", term.socket, "-f", conf, "new-session", "-d", "-x", screenWidth, "-y", screenHeight,
		"-c", s.project, strings.Join(line, " "))
	if err := s.net.start(start); err != nil {
		s.t.Fatal(err)
	}
	if err := start.Wait(); err != nil {
		s.t.Fatalf("tmux: %v", err)
	}
	return term
}

// endAll kills what lives on in the sandbox: agents leave servers and commands behind. A
// process belongs to the sandbox if it has its home.
func (s *sandbox) endAll() {
	list, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range list {
		env, err := os.ReadFile(path)
		if pid, perr := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && perr == nil && slices.Contains(strings.Split(string(env), "\x00"), "HOME="+s.home) {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

func (s *terminal) tmux(args ...string) string {
	out, _ := exec.Command("tmux", append([]string{"-S", s.socket}, args...)...).Output()
	return string(out)
}

// screen is what can be read now.
func (s *terminal) screen() string {
	return strings.TrimRight(s.tmux("capture-pane", "-p", "-J"), "\n ")
}

// is shows the screen where the project is not as wanted.
func (s *terminal) is(what string, want gittest.Listing) {
	s.t.Helper()
	if gittest.Diff(want, s.state()) != "" {
		s.t.Log(s.screen())
	}
	s.sandbox.is(what, want)
}

// words are a screen's words without its frames: agents wrap lines where they like.
func words(screen string) string { return strings.Join(strings.Fields(frames.Replace(screen)), " ") }

var frames = strings.NewReplacer("│", " ", "┃", " ", "─", " ", "╭", " ", "╰", " ", "╮", " ", "╯", " ", "█", " ", "\u00a0", " ")

// sees waits until the screen shows a text, a regular expression.
func (s *terminal) sees(want string) string {
	s.t.Helper()
	text, ok := s.looks(regexp.MustCompile(want), screenBound)
	if !ok {
		s.t.Fatalf("the screen never shows %q:\n%s\nhooks: %s", want, text, s.hooksLog())
	}
	return text
}

func (s *terminal) looks(want *regexp.Regexp, bound time.Duration) (text string, ok bool) {
	for end := time.Now().Add(bound); ; time.Sleep(lookPause) {
		if text = s.screen(); want.MatchString(words(text)) {
			return text, true
		}
		if time.Now().After(end) {
			return text, false
		}
	}
}

// opens answers what an agent asks when it starts, until a line can be typed. asked has the option to
// choose for each question.
func (s *terminal) opens(ready string, asked map[string]string) {
	s.t.Helper()
	rx := regexp.MustCompile(ready)
	for end := time.Now().Add(screenBound); time.Now().Before(end) && !s.ended(); time.Sleep(lookPause) {
		text := words(s.screen())
		answered := false
		for question, option := range asked {
			if answered = strings.Contains(text, question); answered {
				s.chooses(question, option)
				break
			}
		}
		if !answered && rx.MatchString(text) {
			return
		}
	}
	s.t.Fatalf("it never is ready:\n%s", s.screen())
}

// ended reports whether the agent has ended. Its last words stay on the screen.
func (s *terminal) ended() bool {
	return strings.TrimSpace(s.tmux("display-message", "-p", "#{pane_dead}")) != "0"
}

// chooses answers a question. It confirms the option once the screen shows that it is chosen: a
// question that has just come up may not take the first key. It goes on until the question is gone: an
// agent that draws one again forgets what was chosen.
func (s *terminal) chooses(question, option string) {
	for end := time.Now().Add(screenBound); time.Now().Before(end); {
		text := words(s.screen())
		switch {
		case !strings.Contains(text, question):
			return
		case strings.Contains(text, "› "+option), strings.Contains(text, "❯ "+option):
			s.keys("Enter")
			s.goes(question) // a list that takes the answer shows no mark, and a key would bring it back
			continue
		default:
			s.keys("Down")
		}
		for again := time.Now().Add(enterAgain); time.Now().Before(again) && words(s.screen()) == text; {
			time.Sleep(lookPause)
		}
	}
}

// picks chooses an option of a list that the agent shows.
func (s *terminal) picks(option string) {
	s.t.Helper()
	s.sees("(?s)❯.*" + regexp.QuoteMeta(option))
	s.chooses(option, option)
}

// goes waits until a text is gone.
func (s *terminal) goes(text string) {
	for end := time.Now().Add(enterAgain); time.Now().Before(end) && strings.Contains(words(s.screen()), text); {
		time.Sleep(lookPause)
	}
}

func (s *terminal) keys(names ...string) {
	for _, name := range names {
		s.tmux("send-keys", name)
	}
}

// types types a line, and Enter once the line can be read.
func (s *terminal) types(line string) {
	s.t.Helper()
	s.tmux("send-keys", "-l", line)
	s.sees(regexp.QuoteMeta(line))
	s.keys("Enter")
}

// says types a line and waits for an answer that was not on the screen before.
func (s *terminal) says(line, want string) string {
	s.t.Helper()
	rx := regexp.MustCompile(want)
	if old := s.screen(); rx.MatchString(words(old)) {
		s.t.Fatalf("%s: the screen shows %q already:\n%s", line, want, old)
	}
	s.until(line, want, func() bool { return rx.MatchString(words(s.screen())) })
	return s.screen()
}

// until types a line and waits for what it brings about. An agent may have taken the first
// Enter for a part of what was pasted; one more is of no effect where the box is empty.
func (s *terminal) until(line, what string, done func() bool) {
	s.t.Helper()
	s.types(line)
	entered := time.Now()
	for end := time.Now().Add(screenBound); time.Now().Before(end); time.Sleep(lookPause) {
		if done() {
			return
		}
		if time.Since(entered) > enterAgain {
			s.keys("Enter")
			entered = time.Now()
		}
	}
	s.t.Fatalf("%s: never comes: %s\n%s\nhooks: %s", line, what, s.screen(), s.hooksLog())
}

// makes types a line and waits for a file that a tool then makes, with its contents.
func (s *terminal) makes(line, name string) {
	s.t.Helper()
	s.until(line, name, func() bool {
		info, err := os.Lstat(filepath.Join(s.project, name))
		return err == nil && info.Size() > 0
	})
}

// appears waits for a file.
func (s *terminal) appears(name string) {
	s.t.Helper()
	path := filepath.Join(s.project, name)
	for end := time.Now().Add(screenBound); time.Now().Before(end); time.Sleep(lookPause) {
		if _, err := os.Lstat(path); err == nil {
			return
		}
	}
	s.t.Fatalf("%s never appears:\n%s", name, s.screen())
}

// plays has the model play a script and waits for its last words.
func (s *terminal) plays(what script) {
	s.t.Helper()
	end, _ := what[len(what)-1].(string)
	s.says(what.short(s.t), regexp.QuoteMeta(end))
}
