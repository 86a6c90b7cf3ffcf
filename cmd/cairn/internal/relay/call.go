package relay

import (
	"errors"
	"os"
	"strconv"
)

// Path is where a server takes calls, by POST, on its socket alone.
const Path = "/hook"

// Call is a call of a hook as another process sees it.
type Call struct {
	Program string   // identity of the program's file, "" if it is not known
	Space   string   // namespaces of the process, "" where there are none
	Agent   string   // argument of cairn hook
	DataDir string   // value of --data-dir, "" for none
	Dir     string   // current directory
	Parent  int      // number of the process above
	Env     []string // NAME=value
	Payload []byte   // stdin
}

// form is the first field of a call.
const form = "cairn hook 1"

// head is everything but the payload: texts that end with NUL.
func (c *Call) head() []byte {
	fields := []string{form, c.Program, c.Space, c.Agent, c.DataDir, c.Dir, strconv.Itoa(c.Parent), strconv.Itoa(len(c.Env))}
	var out []byte
	for _, list := range [][]string{fields, c.Env} {
		for _, text := range list {
			out = append(append(out, text...), 0)
		}
	}
	return out
}

var errForm = errors.New("no call of a hook")

// Decode reads a call. The payload is a part of data.
func Decode(data []byte) (*Call, error) {
	next := func() string {
		for i, b := range data {
			if b == 0 {
				text := string(data[:i])
				data = data[i+1:]
				return text
			}
		}
		data = nil
		return ""
	}
	if next() != form {
		return nil, errForm
	}
	c := &Call{Program: next(), Space: next(), Agent: next(), DataDir: next(), Dir: next()}
	parent, bad := strconv.Atoi(next())
	n, worse := strconv.Atoi(next())
	if bad != nil || worse != nil || n < 0 || n > len(data) {
		return nil, errForm
	}
	for range n {
		c.Env = append(c.Env, next())
	}
	if data == nil {
		return nil, errForm
	}
	c.Parent, c.Payload = parent, data
	return c, nil
}

// Getenv returns the value of a variable, "" if it is not set. The last one of a name counts.
func (c *Call) Getenv(name string) string {
	for i := len(c.Env) - 1; i >= 0; i-- {
		if begins(c.Env[i], name+"=") {
			return c.Env[i][len(name)+1:]
		}
	}
	return ""
}

// begins reports whether a text begins with another. Package strings would make this one begin later.
func begins[T string | []byte](text T, with string) bool {
	return len(text) >= len(with) && string(text[:len(with)]) == with
}

// Space names the namespaces on which numbers of processes and paths depend, "" where a system has none.
func Space() string {
	pid, _ := os.Readlink("/proc/self/ns/pid")
	mnt, _ := os.Readlink("/proc/self/ns/mnt")
	return pid + mnt
}

// wanted reads a command line: cairn [-C DIR] [--data-dir DIR] hook AGENT. Any other one is not for a server.
func wanted(args []string) (dataDir, agent string, ok bool) {
	for len(args) > 2 && (args[0] == "-C" || args[0] == "--data-dir") {
		if args[0] == "--data-dir" {
			dataDir = args[1]
		}
		args = args[2:]
	}
	if len(args) != 2 || args[0] != "hook" || args[1] == "" || args[1][0] == '-' {
		return "", "", false
	}
	return dataDir, args[1], true
}

// socket is the path of the socket of the server that may serve a call, "" if that is not known. The server
// itself compares the data directory, which settings may place elsewhere. A caller that limits the time of a call
// keeps to that without a server. CAIRN_NO_SERVER=0 forbids no server, and is left to the rest of the program.
func socket(goos, dataDir string, env func(string) string) string {
	if env("CAIRN_NO_SERVER") != "" || env("CAIRN_HOOK_DEADLINE") != "" {
		return ""
	}
	switch home := env("HOME"); {
	case dataDir != "":
	case env("CAIRN_DATA_DIR") != "":
		dataDir = env("CAIRN_DATA_DIR")
	case begins(env("XDG_DATA_HOME"), "/"):
		dataDir = env("XDG_DATA_HOME") + "/cairn"
	case goos == "darwin" && home != "":
		dataDir = home + "/Library/Application Support/cairn"
	case home != "":
		dataDir = home + "/.local/share/cairn"
	}
	if !begins(dataDir, "/") {
		return ""
	}
	return dataDir + "/serve/sock"
}
