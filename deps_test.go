package cairn_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/seed-fb9cbc17/cairn"

// layers gives every package its level. A package imports only packages of lower
// levels, so that each can be understood, and tested, without those above it.
var layers = map[string]int{
	"internal/object":         0, // pure formats
	"internal/ignore":         0,
	"internal/linediff":       0,
	"internal/atomicfile":     0,
	"internal/pathtext":       0,
	"internal/realpath":       0,
	"internal/syntax":         0,
	"internal/known":          0,  // the coding agents, and where they keep their configuration
	"internal/toolnames":      0,  // tools of agents by name
	"internal/process":        0,  // which process a number meant, and whether it lives
	"internal/workdirs":       10, // where an agent works beside its project
	"internal/timewords":      0,  // points of time as people write them
	"internal/wording":        0,
	"internal/background":     0,  // programs started in the background
	"internal/config":         10, // what people set
	"internal/sealed":         9,  // streams that only holders of keys can read
	"internal/envelope":       5,  // lines sealed on a remote, and what a store remembers of them
	"internal/sshsig":         1,  // signatures by ssh-keygen
	"internal/signature":      5,  // signed statements about lines
	"internal/secrets":        1,  // credentials in texts
	"internal/manpage":        0,  // manual pages from the texts of help
	"internal/pager":          0,  // a program that stops after every page
	"internal/child":          1,  // a command in the place of this process
	"internal/parallel":       0,  // goroutines on different processors
	"integrations":            0,  // adapters in other languages
	"internal/worddiff":       1,  // changed words, for git's diffs, the terminal and the page
	"internal/hunk":           1,  // changed places of a file, named and taken back
	"internal/odb/pack":       1,  // one pack of git's; knows no store, so that its tests need none
	"internal/odb/redo":       1,  // the write-ahead log; sees the store through an interface
	"internal/odb/loan":       1,  // loose objects of another repository, linked; knows no store
	"internal/odb/keep":       2,  // objects of the user's repository, kept alive; knows no store
	"internal/odb":            2,  // the store
	"internal/odb/atrest":     3,  // a whole store, encrypted; odb does without
	"internal/odb/reach":      3,  // what roots lead to
	"internal/thinned":        3,  // the list of thinned checkpoints
	"internal/identity":       3,  // what a project is known by on every machine
	"internal/odb/collect":    4,  // garbage collection; odb does without
	"internal/odb/fsck":       4,  // verify and repair; odb does without
	"internal/usergit":        2,  // git in the user's repository, when asked
	"internal/gitcommit":      5,  // what a commit of turns contains
	"internal/takenback":      6,  // which parts of a change operations have taken back
	"internal/index":          1,
	"internal/git":            1,
	"internal/gitstate":       2, // HEAD, refs, index and stash of the user's repository, read and compared
	"internal/gitrestore":     3, // the user's repository, written when its owner asks
	"internal/worktree/dir":   2, // handles of directories; writes nothing
	"internal/worktree/scan":  3, // the user's directory, read
	"internal/worktree/apply": 3, // the user's directory, written
	"internal/watch":          3,
	"internal/settings":       1, // what a caller may set
	"internal/state":          3, // what a checkpoint says of a tree
	"internal/secretrules":    4, // credentials in files, by rules in the format of gitleaks
	"internal/history":        4, // states in a store
	"internal/statetest":      5, // test support: states from literal files
	"internal/diff":           5, // two states as git prints them
	"internal/blame":          5, // which state brought a line
	"internal/search":         5, // lines of states, and lines that are gone
	"internal/reviewed":       5, // decisions about hunks
	"internal/retention":      5, // which units of a store live
	"internal/transfer":       6, // checkpoints between stores
	"internal/capture":        5, // disk to state
	"internal/plan":           5, // what going back would do; writes nothing
	"internal/outside":        5, // files outside the root, saved and planned back
	"internal/operation":      6, // plans carried out
	"internal/copies":         6, // checkpoints in directories of their own
	"internal/purge":          6, // history without a path
	"internal/verify":         6, // whether the history says what it said
	"internal/repair":         7, // what is wrong with a store
	"internal/merge":          7, // what changed elsewhere, merged into a directory
	"internal/access":         7, // what packages of the module need of a Repo
	"":                        8, // package cairn
	"session":                 9,
	"snapshot":                9,
	"internal/dav":            9,  // checkpoints as read-only WebDAV
	"internal/trial":          9,  // a command on states of the past
	"internal/protocol":       9,  // what server and callers agree on
	"internal/console":        9,  // what a command says beside its answer
	"internal/diffstat":       9,  // the table of git diff --stat
	"internal/patchjson":      9,  // patches that people write
	"internal/best":           11, // a command in several forks, ranked
	"internal/sessiontext":    10, // sessions as lines for people
	"internal/conversation":   10, // the conversation of an agent, beside its files
	"internal/answers":        10, // what a checkpoint changed, lines found: for commands, server, tools
	"internal/lastdone":       10, // what an undo takes back: a turn or an operation
	"internal/recorder":       10, // the work of a command as a session
	"internal/service":        10, // hooks around the calls of sessions
	"internal/ticket":         10, // work that no caller waits for
	"internal/httpapi":        11,
	"internal/client":         11,
	"internal/webui":          10, // the server's page
	"internal/hooks":          11, // doors
	"internal/mcptools":       11,
	"internal/setup":          10,
	"internal/review":         10, // the terminal interface
	"internal/acp":            12, // between an editor and an agent of the Agent Client Protocol
	"internal/agents":         12, // how agents fare with cairn
	"internal/team":           11, // what machines pushed to a remote, ready to be shown
	"internal/listen":         12, // the ways into the server

	"cmd/cairn/internal/program": 12, // which program this process is: a lean one, a whole one
	"cmd/cairn/internal/relay":   13, // a hook's way to the server; imports so little that it begins before the others
	"cmd/cairn/internal/cli":     13, // one run of the program
	"cmd/cairn/internal/goback":  14, // plans, questions, results
	"cmd/cairn/internal/record":  15, // from here: commands
	"cmd/cairn/internal/look":    15,
	"cmd/cairn/internal/back":    15,
	"cmd/cairn/internal/copies":  15,
	"cmd/cairn/internal/remotes": 15,
	"cmd/cairn/internal/store":   15,
	"cmd/cairn/internal/agents":  15,

	"cmd/cairn/internal/interfaces": 16, // commands that offer another interface than the command line; a server carries out hooks
	"cmd/cairn":                     17, // the lists of commands, signals

	"internal/gittest": 14, // test support: may import nothing of ours, see below

	"internal/odb/odbtest":     15, // test support: stores for the tests above odb
	"internal/linediff/corpus": 13,
	"internal/programmodel":    14, // tests of the program

	"integrations/conformance":                   0,  // scenarios for every agent's undo; knows nothing of cairn, which it judges
	"integrations/conformance/cairn-conformance": 13, // a tool: plays them
}

// thirdParty says which modules a package may use, and why.
var thirdParty = map[string][]string{
	"internal/odb":            {"github.com/gofrs/flock", "golang.org/x/sys"},                // locks, clocks
	"internal/odb/loan":       {"golang.org/x/sys"},                                          // linkat, syncfs
	"internal/odb/pack":       {"github.com/klauspost/compress", "golang.org/x/sys"},         // compression, sync_file_range
	"internal/odb/redo":       {"golang.org/x/sys"},                                          // names of mounts
	"internal/odb/collect":    {"github.com/gofrs/flock"},                                    // one collection at a time
	"internal/odb/atrest":     {"github.com/gofrs/flock"},                                    // work beside the lock of the store
	"internal/odb/fsck":       {"github.com/gofrs/flock"},                                    // whether the writer of a temporary file lives
	"internal/index":          {"golang.org/x/sys"},                                          // large pages
	"internal/git":            {"golang.org/x/sys"},                                          // stat of the user's index
	"internal/secretrules":    {"github.com/BurntSushi/toml"},                                // files of rules
	"internal/config":         {"github.com/BurntSushi/toml"},                                // the files that people write
	"internal/worktree/dir":   {"golang.org/x/sys"},                                          // system calls relative to an open directory
	"internal/worktree/apply": {"golang.org/x/sys"},                                          // writing a file's contents back, permission bits of unreadable files
	"internal/watch":          {"golang.org/x/sys"},                                          // inotify
	"internal/gittest":        {"golang.org/x/sys", "github.com/hanwen/go-fuse/v2"},          // tracing for crash tests; file systems of the tests
	"internal/hooks":          {"github.com/gofrs/flock"},                                    // one hook of a session at a time
	"internal/transfer":       {"github.com/gofrs/flock"},                                    // one push in the background at a time
	"internal/ticket":         {"github.com/gofrs/flock"},                                    // one at a time does the work
	"internal/setup":          {"github.com/tailscale/hujson", "github.com/BurntSushi/toml"}, // settings of agents
	"internal/workdirs":       {"github.com/tailscale/hujson"},                               // settings with comments
	"internal/sealed":         {"filippo.io/age", "golang.org/x/crypto/ssh"},                 // encryption, and the error of a key with a passphrase; only the program links it
	// OpenAPI from types; one server per data directory; PROPFIND, its XML and its properties, as clients of WebDAV know them
	"internal/httpapi":  {"github.com/danielgtaylor/huma/v2", "github.com/gofrs/flock", "golang.org/x/net/webdav"},
	"internal/dav":      {"golang.org/x/net/webdav"},                                                                      // the interfaces that it asks for
	"internal/mcptools": {"github.com/modelcontextprotocol/go-sdk/mcp", "github.com/modelcontextprotocol/go-sdk/jsonrpc"}, // the protocol

	"cmd/cairn/internal/cli":     {"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/term"}, // the command line; the terminal
	"cmd/cairn/internal/goback":  {"github.com/spf13/cobra", "github.com/spf13/pflag"},
	"cmd/cairn/internal/record":  {"github.com/spf13/cobra", "github.com/spf13/pflag"},
	"cmd/cairn/internal/look":    {"github.com/spf13/cobra"},
	"cmd/cairn/internal/back":    {"github.com/spf13/cobra"},
	"cmd/cairn/internal/copies":  {"github.com/spf13/cobra"},
	"cmd/cairn/internal/remotes": {"github.com/spf13/cobra"},
	"cmd/cairn/internal/store":   {"github.com/spf13/cobra"},
	"cmd/cairn/internal/agents":  {"github.com/spf13/cobra"},

	"cmd/cairn/internal/interfaces": {"github.com/spf13/cobra"},

	// The event loop, the keys and the renderer of a terminal; how wide a character is there; what colours it has.
	// They cost 0.3 ms at the start of every command. What they would cost beyond that (lipgloss, bubbles) is not used.
	"internal/review": {"charm.land/bubbletea/v2", "github.com/charmbracelet/x/ansi", "github.com/charmbracelet/colorprofile"},
	"internal/child":  {"golang.org/x/sys"}, // which process group the terminal serves

	"internal/process":    {"golang.org/x/sys"}, // when a process began, boot ids; its command line
	"internal/parallel":   {"golang.org/x/sys"}, // on which processor a thread runs
	"internal/atomicfile": {"golang.org/x/sys"}, // which file systems keep the order of changes
}

// only lists standard packages that few may import.
var only = []struct {
	imported string
	by       []string
	reason   string
}{
	{"os/exec", []string{"internal/git", "internal/usergit", "internal/gittest", "internal/linediff/corpus", "internal/child", "internal/background", "internal/pager", "internal/sshsig", "integrations/conformance"}, "only internal/git starts git, and internal/usergit for a commit or a linked work tree that the user asks for, internal/child the command of cairn run and the agent whose conversation goes back, internal/background cairn itself, internal/pager the pager, internal/sshsig ssh-keygen, and the conformance suite drivers and the commands of a turn"},
	{"flag", []string{"internal/linediff/corpus", "integrations/conformance/cairn-conformance"}, "only commands read flags"},
	{"log", []string{"internal/linediff/corpus"}, "the library logs through the logger that it is given"},
	{"testing", []string{"internal/gittest", "internal/statetest", "internal/odb/odbtest"}, "testing belongs into tests"},
	{"net/http", []string{"internal/httpapi", "internal/client", "internal/webui", "internal/listen"}, "the engine is no server"},
}

// forbidden lists imports that the levels alone would not forbid for good.
var forbidden = []struct{ pkg, imported, reason string }{
	{"internal/worktree/scan", "internal/worktree/apply", "reading the user's directory needs nothing of what writes to it"},
	{"internal/worktree/apply", "internal/worktree/scan", "a plan names what must be on disk; what a scan does is none of its concern"},
	{"internal/worktree/dir", "internal/worktree/scan", "handles serve both and know neither"},
	{"internal/worktree/dir", "internal/worktree/apply", "handles serve both and know neither"},
}

// reading lists packages that see the user's directory and never change it: of the tree
// below internal/worktree only apply writes.
var reading = []string{"internal/worktree/dir", "internal/worktree/scan", "internal/watch", "internal/git", "internal/gitstate"}

// writing lists functions that change names, bits or contents.
var writing = map[string]bool{
	"Create": true, "CreateTemp": true, "WriteFile": true, "Mkdir": true, "MkdirAll": true, "MkdirTemp": true, "Remove": true, "RemoveAll": true,
	"Rename": true, "Symlink": true, "Link": true, "Chmod": true, "Chown": true, "Chtimes": true, "Truncate": true,
	"Mkdirat": true, "Renameat": true, "Renameat2": true, "Unlink": true, "Unlinkat": true, "Symlinkat": true, "Linkat": true, "Fchmod": true, "Fchmodat": true,
}

// environment lists what reads the surroundings of the process. Only commands may.
var environment = map[string]bool{"Getenv": true, "LookupEnv": true, "Environ": true, "UserHomeDir": true, "UserConfigDir": true, "UserCacheDir": true}

func TestDependencies(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && file != ".") {
			return fs.SkipDir
		}
		if d.IsDir() && file != "." && isModule(file) {
			return fs.SkipDir
		}
		if strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") {
			pkg := strings.TrimPrefix(path.Dir(filepath.ToSlash(file)), ".")
			seen[pkg] = true
			checkFile(t, pkg, file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range seen {
		if _, ok := layers[pkg]; !ok {
			t.Errorf("package %q has no level: give it one in layers, and docs/design/packages.md a row", pkg)
		}
	}
}

// isModule reports whether a directory is a module of its own. No package of this module
// imports one, and its dependencies reach no user: its go.mod is all that there is to say.
func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func checkFile(t *testing.T, pkg, file string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Error(err)
		return
	}
	for _, spec := range parsed.Imports {
		checkImport(t, pkg, file, strings.Trim(spec.Path.Value, `"`))
	}
	if slices.Contains(reading, pkg) {
		checkReads(t, parsed, file)
	}
	// git and ssh-keygen need a PATH and the agent; nothing else of the environment reaches them.
	if !strings.HasPrefix(pkg, "cmd/") && layers[pkg] < layers["cmd/cairn/internal/cli"] && file != filepath.Join("internal", "git", "binary.go") && file != filepath.Join("internal", "sshsig", "program.go") {
		ast.Inspect(parsed, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && environment[sel.Sel.Name] {
				if id, ok := sel.X.(*ast.Ident); ok && id.Name == "os" {
					t.Errorf("%s uses os.%s: only commands know environment and home", file, sel.Sel.Name)
				}
			}
			return true
		})
	}
}

func checkReads(t *testing.T, parsed *ast.File, file string) {
	t.Helper()
	ast.Inspect(parsed, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && writing[sel.Sel.Name] {
			if id, ok := sel.X.(*ast.Ident); ok && slices.Contains([]string{"os", "unix", "syscall", "windows"}, id.Name) {
				t.Errorf("%s uses %s.%s: only internal/worktree/apply writes to the user's directory", file, id.Name, sel.Sel.Name)
			}
		}
		return true
	})
}

func checkImport(t *testing.T, pkg, file, imported string) {
	t.Helper()
	if own, ok := strings.CutPrefix(imported, module); ok {
		own = strings.TrimPrefix(own, "/")
		for _, rule := range forbidden {
			if rule.pkg == pkg && rule.imported == own {
				t.Errorf("%s imports %s: %s", file, imported, rule.reason)
			}
		}
		if layers[own] >= layers[pkg] {
			t.Errorf("%s imports %s: level %d must not know level %d", file, imported, layers[pkg], layers[own])
		}
		if pkg == "internal/gittest" {
			t.Errorf("%s imports %s: an oracle that shares code with what it judges proves nothing", file, imported)
		}
		return
	}
	if strings.Contains(strings.Split(imported, "/")[0], ".") {
		for _, allowed := range thirdParty[pkg] {
			if imported == allowed || strings.HasPrefix(imported, allowed+"/") {
				return
			}
		}
		t.Errorf("%s imports %s: the module is not allowed in %q, see thirdParty", file, imported, pkg)
		return
	}
	for _, rule := range only {
		allowed := false
		for _, by := range rule.by {
			allowed = allowed || by == pkg
		}
		if rule.imported == imported && !allowed {
			t.Errorf("%s imports %s: %s", file, imported, rule.reason)
		}
	}
}
