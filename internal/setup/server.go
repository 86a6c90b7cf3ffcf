package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/protocol"
)

// ServerOptions says how a server is to run for the hooks of all agents of a user.
type ServerOptions struct {
	Program []string      // how to start cairn
	DataDir string        // whose server it is
	Idle    time.Duration // without a request, after which the server ends
	System  string        // as runtime.GOOS has it
	Systemd bool          // the system is run by systemd
	Home    string        // of the user
	Config  string        // the user's directory of configuration
	Remove  bool
}

// ErrNoServer: hooks use no server on this system.
var ErrNoServer = errors.New("hooks use no server on Windows: they open the store themselves")

// The names under which the managers of services know the server.
const (
	unitName = "cairn.service"
	label    = "cairn.serve"
)

// Server works out what lets a server run: the setting that makes hooks start one, and what
// starts one at login. Hooks start it again whenever it has ended.
func Server(opt ServerOptions) (*Plan, error) {
	if opt.System == "windows" {
		return nil, ErrNoServer
	}
	setting, err := json.Marshal(protocol.OnDemand{Origin: marker, Idle: opt.Idle.String()})
	if err != nil {
		return nil, err
	}
	p := new(Plan)
	if err := p.addWhole(protocol.OnDemandFile(opt.DataDir), string(setting)+"\n", opt.Remove); err != nil {
		return nil, err
	}
	path, text, start, stop := opt.atLogin()
	if path == "" {
		return p, nil
	}
	had := len(p.Changes)
	if err := p.addWhole(path, text, opt.Remove); err != nil {
		return nil, err
	}
	if len(p.Changes) > had {
		p.Notes = []string{start}
		if opt.Remove {
			p.Notes = []string{stop}
		}
	}
	return p, nil
}

// addWhole makes or removes a file that belongs to no agent.
func (p *Plan) addWhole(path, text string, remove bool) error {
	asMade := func(now string) bool { return now == text }
	return p.addFile(path, file{text: text}, Options{Remove: remove}, asMade)
}

// atLogin is the file that starts the server at login, and the commands that make the manager of
// services know it and forget it. An empty path means that there is no manager.
func (o *ServerOptions) atLogin() (path, text, start, stop string) {
	switch {
	case o.System == "darwin" && o.Home != "":
		path = filepath.Join(o.Home, "Library", "LaunchAgents", label+".plist")
		return path, o.plist(), "launchctl bootstrap gui/$UID " + quoteWord(path) + " (optional: the server starts at login; hooks start it, too)",
			"launchctl bootout gui/$UID/" + label
	case o.System != "darwin" && o.Config != "" && (o.Systemd || o.Remove):
		path = filepath.Join(o.Config, "systemd", "user", unitName)
		return path, o.unit(), "systemctl --user enable " + unitName + " (optional: the server starts at login; hooks start it, too)",
			"systemctl --user disable " + unitName
	}
	return "", "", "", ""
}

// command is the command line of the server.
func (o *ServerOptions) command() []string {
	program := o.Program
	if len(program) == 1 {
		program = append(program[:1:1], "--data-dir", o.DataDir)
	}
	return append(program[:len(program):len(program)], "serve", "--on-demand", "--idle", o.Idle.String())
}

// unit is a service of systemd. It is not started again when it ends: it ends by itself.
func (o *ServerOptions) unit() string {
	var words []string
	for _, word := range o.command() {
		words = append(words, unitWord(word))
	}
	return fmt.Sprintf(`# %s --serve; cairn setup AGENT --serve --remove takes it away
[Unit]
Description=cairn: checkpoints for coding agents

[Service]
Type=exec
ExecStart=%s
Restart=no

[Install]
WantedBy=default.target
`, marker, strings.Join(words, " "))
}

// unitWord quotes a word for a command line of systemd, see systemd.service(5) and
// systemd.syntax(7).
func unitWord(word string) string {
	if word != "" && strings.Trim(word, unquoted) == "" {
		return word
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$", "\n", `\n`).Replace(word) + `"`
}

const unquoted = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./"

// plist is a job of launchd.
func (o *ServerOptions) plist() string {
	var words strings.Builder
	for _, word := range o.command() {
		fmt.Fprintf(&words, "\t\t<string>%s</string>\n", html.EscapeString(word))
	}
	return fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<!-- %s -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>%s</string>
	<key>ProgramArguments</key>
	<array>
%s	</array>
	<key>RunAtLoad</key>
	<true/>
	<key>ProcessType</key>
	<string>Background</string>
</dict>
</plist>
`, marker, label, words.String())
}
