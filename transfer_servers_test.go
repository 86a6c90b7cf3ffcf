package cairn_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// needProgram returns the path of a program, and skips the test where it is not installed.
func needProgram(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skipf("%s is not installed", names[0])
	return ""
}

func runOrSkip(t *testing.T, program string, args ...string) {
	t.Helper()
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		t.Skipf("%s: %v: %s", program, err, out)
	}
}

// TestPushFetchSSH: the ssh program and an sshd of the test, with keys of the test. The way to it is a
// program ssh in PATH that names them, because ssh looks for its files in the home directory of the
// account.
func TestPushFetchSSH(t *testing.T) {
	o := gittest.NewOracle(t)
	sshd, keygen := needProgram(t, "sshd", "/usr/sbin/sshd"), needProgram(t, "ssh-keygen")
	ssh := needProgram(t, "ssh")
	me, err := user.Current()
	if err != nil {
		t.Skip(err)
	}
	if _, err := os.Stat("/run/sshd"); err != nil && me.Uid == "0" {
		t.Skip("sshd wants the directory /run/sshd of its installation")
	}
	dir, at := bareRepository(t, o), t.TempDir()
	for _, key := range []string{"host", "user"} {
		runOrSkip(t, keygen, "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(at, key))
	}
	public, err := os.ReadFile(filepath.Join(at, "host.pub"))
	if err != nil {
		t.Fatal(err)
	}
	gittest.Create(t, at, gittest.Tree{
		"sshd_config": gittest.File(fmt.Sprintf("HostKey %[1]s/host\nAuthorizedKeysFile %[1]s/user.pub\nStrictModes no\nPermitRootLogin yes\n"+
			"PasswordAuthentication no\nKbdInteractiveAuthentication no\nPidFile none\n", at)),
		"known_hosts": gittest.File("* " + string(public)),
		"ssh_config": gittest.File(fmt.Sprintf("IdentityFile %[1]s/user\nIdentitiesOnly yes\nIdentityAgent none\nUserKnownHostsFile %[1]s/known_hosts\n"+
			"GlobalKnownHostsFile none\nStrictHostKeyChecking yes\n", at)),
		"bin/ssh": gittest.Exec(fmt.Sprintf("#!/bin/sh\nexec %s -F %s/ssh_config \"$@\"\n", ssh, at)),
	})
	runOrSkip(t, sshd, "-t", "-f", filepath.Join(at, "sshd_config"))
	l := loopback(t)
	go serveEach(l, func() *exec.Cmd {
		return exec.Command(sshd, "-i", "-e", "-f", filepath.Join(at, "sshd_config"))
	})
	t.Setenv("PATH", filepath.Join(at, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
	exchange(t, o, dir, fmt.Sprintf("ssh://%s@%s%s", me.Username, l.Addr(), dir))
}

func loopback(t *testing.T) *net.TCPListener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skipf("no loopback: %v", err)
	}
	t.Cleanup(func() { l.Close() })
	return l.(*net.TCPListener)
}

// serveEach lets a program answer each connection on its stdin and stdout.
func serveEach(l *net.TCPListener, program func() *exec.Cmd) {
	for {
		conn, err := l.AcceptTCP()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			file, err := conn.File()
			if err != nil {
				return
			}
			defer file.Close()
			cmd := program()
			cmd.Stdin, cmd.Stdout = file, file
			_ = cmd.Run() // the client says what went wrong
		}()
	}
}

// TestPushFetchLighttpd: git http-backend behind a web server that people run.
func TestPushFetchLighttpd(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	lighttpd := needProgram(t, "lighttpd", "/usr/sbin/lighttpd")
	gitProgram(t, o, "git-remote-http")
	backend := gitProgram(t, o, "git-http-backend")
	dir, at := bareRepository(t, o), t.TempDir()
	l := loopback(t)
	config := filepath.Join(at, "lighttpd.conf")
	gittest.Create(t, at, gittest.Tree{"lighttpd.conf": gittest.File(fmt.Sprintf(`
server.modules = ("mod_alias", "mod_setenv", "mod_cgi")
server.document-root = %[1]q
server.bind = "127.0.0.1"
server.port = %[2]d
server.systemd-socket-activation = "enable"
server.errorlog = "%[1]s/error.log"
server.upload-dirs = (%[1]q)
alias.url = ("/git" => %[3]q)
$HTTP["url"] =~ "^/git" {
	cgi.assign = ("" => "")
	setenv.set-environment = ("GIT_PROJECT_ROOT" => %[4]q, "GIT_HTTP_EXPORT_ALL" => "1", "GIT_CONFIG_NOSYSTEM" => "1")
}
`, at, l.Addr().(*net.TCPAddr).Port, backend, filepath.Dir(dir)))})
	runOrSkip(t, lighttpd, "-tt", "-f", config)
	socket, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	// The socket listens already, so no request comes too early.
	cmd := exec.Command("sh", "-c", `LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" -D -f "$1"`, lighttpd, config)
	cmd.ExtraFiles = []*os.File{socket}
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	exchange(t, o, dir, "http://"+l.Addr().String()+"/git/fleet.git")
}

// TestFetchAcrossFileSystems: store and remote on different file systems.
func TestFetchAcrossFileSystems(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	f := newFixture(t, manyKinds())
	first := f.track()
	f.push(dir)
	for _, place := range []string{"/dev/shm", "/var/tmp"} {
		elsewhere, err := os.MkdirTemp(place, "cairn-test-")
		if err != nil {
			t.Logf("%s left out: %v", place, err)
			continue
		}
		defer os.RemoveAll(elsewhere)
		g := *f
		g.data = filepath.Join(elsewhere, "data")
		g.opt.DataDir = g.data
		g.fetch(dir)
		g.restoreAll(first.Checkpoint)
		noQuarantine(t, g.repo().StoreDir())
	}
}
