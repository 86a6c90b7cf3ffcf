package sshsig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Namespace is that of all signatures: one that was made for another purpose does not count.
const Namespace = "cairn"

// The errors that callers distinguish.
var (
	ErrNoProgram = errors.New("ssh-keygen not found")
	ErrBad       = errors.New("bad signature")    // it is not of this text, or no signature
	ErrSigner    = errors.New("signer not known") // the list of signers has no such key, or not for that time
)

// limit is how long a call of ssh-keygen may take.
const limit = 20 * time.Second

// Program is an ssh-keygen program.
type Program struct {
	path, searchPath, agent string
}

// Look finds ssh-keygen in PATH, or returns ErrNoProgram. Look is the only function of the package that
// reads the environment.
func Look() (*Program, error) {
	path, err := exec.LookPath("ssh-keygen")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoProgram, err)
	}
	return &Program{path: path, searchPath: os.Getenv("PATH"), agent: os.Getenv("SSH_AUTH_SOCK")}, nil
}

// run runs ssh-keygen with a text as input, and returns what it prints.
func (p *Program) run(ctx context.Context, input string, args ...string) (out, complaint string, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.path, args...)
	cmd.Env = []string{"PATH=" + p.searchPath, "LC_ALL=C", "SSH_ASKPASS_REQUIRE=never", "SSH_ASKPASS="}
	if p.agent != "" {
		cmd.Env = append(cmd.Env, "SSH_AUTH_SOCK="+p.agent)
	}
	cmd.Stdin = strings.NewReader(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second
	alone(cmd)
	err = cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("ssh-keygen: %w", ctx.Err())
	}
	return stdout.String(), strings.Join(strings.FieldsFunc(stderr.String(), func(r rune) bool { return r == '\n' || r == '\r' }), "; "), err
}

// Sign signs a text with a key: the path of a private key, or of a public one whose private key the
// agent has.
func (p *Program) Sign(ctx context.Context, key, text string) (signature string, err error) {
	if _, err := os.Stat(key); err != nil {
		return "", fmt.Errorf("key: %w", err)
	}
	out, complaint, err := p.run(ctx, text, "-Y", "sign", "-q", "-n", Namespace, "-f", key)
	switch {
	case err != nil && strings.Contains(complaint, "passphrase"):
		return "", fmt.Errorf("key %s has a passphrase, and the agent does not have it (ssh-add %[1]s)", key)
	case err != nil:
		return "", fmt.Errorf("sign with %s: %w: %s", key, err, complaint)
	case !strings.HasPrefix(out, header):
		return "", fmt.Errorf("sign with %s: ssh-keygen printed no signature", key)
	}
	return out, nil
}

const header = "-----BEGIN SSH SIGNATURE-----"

// Check checks a signature of a text and returns the name of the signer. signers is the path of a list
// of allowed signers, see ssh-keygen(1), and file that of a file with the signature. A key counts if the
// list allows it at the time at. The error wraps ErrBad or ErrSigner where the signature does not count.
func (p *Program) Check(ctx context.Context, signers, file, text string, at time.Time) (signer string, err error) {
	if _, err := os.Stat(signers); err != nil {
		return "", fmt.Errorf("list of signers: %w", err)
	}
	when := "-Overify-time=" + at.UTC().Format("20060102150405Z")
	names, _, err := p.run(ctx, "", "-Y", "find-principals", when, "-f", signers, "-s", file)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err == nil {
		for name := range strings.Lines(names) {
			name = strings.TrimSpace(name)
			_, _, err := p.run(ctx, text, "-Y", "verify", when, "-n", Namespace, "-f", signers, "-I", name, "-s", file)
			if ctx.Err() != nil {
				return "", ctx.Err()
			}
			if err == nil {
				return name, nil
			}
		}
	}
	out, complaint, err := p.run(ctx, text, "-Y", "check-novalidate", "-n", Namespace, "-s", file)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", fmt.Errorf("%w: %s", ErrBad, strings.TrimSpace(complaint+" "+out))
	}
	return "", fmt.Errorf("%w: %s does not allow it for %s: %s", ErrSigner, signers, at.UTC().Format(time.DateTime), strings.TrimSpace(out))
}
