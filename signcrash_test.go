package cairn_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// signedRun is a crashRun whose heads are signed, once before the first crash.
type signedRun struct {
	*crashRun
	key, signers string
}

func newSignedRun(t *testing.T) *signedRun {
	t.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is needed")
	}
	s := &signedRun{crashRun: newCrashRun(t), key: filepath.Join(t.TempDir(), "key")}
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", s.key).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	public, err := os.ReadFile(s.key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	s.signers = filepath.Join(filepath.Dir(s.key), "signers")
	if err := os.WriteFile(s.signers, append([]byte("me "), public...), 0o600); err != nil {
		t.Fatal(err)
	}
	s.opt.Sign = s.key
	s.sign()
	s.track()
	gittest.CopyTree(t, s.data, filepath.Join(s.pristine, "data"))
	return s
}

func (s *signedRun) open(f func(*cairn.Repo) error) {
	s.Helper()
	r, err := cairn.Open(s.opt)
	if err != nil {
		s.Fatal(err)
	}
	defer r.Close()
	if err := f(r); err != nil {
		s.Fatal(err)
	}
}

func (s *signedRun) sign() {
	s.Helper()
	s.open(func(r *cairn.Repo) error { _, err := r.Sign(s.Context()); return err })
}

// sound fails if a verification with the list of signers has a finding. With unsigned it may find new ids
// that only an unsigned statement names.
func (s *signedRun) sound(when string, unsigned bool) {
	s.Helper()
	s.oracle.Fsck(cairn.StorePath(s.data, mustEval(s.T, s.root)))
	s.open(func(r *cairn.Repo) error {
		report, err := r.Verify(s.Context(), cairn.VerifyOptions{Signers: s.signers})
		if err != nil {
			return err
		}
		for _, finding := range report.Findings {
			if text := fmt.Sprint(finding); !unsigned || !strings.HasSuffix(text, "no signed statement says so") {
				s.Errorf("%s: %s", when, text)
			}
		}
		return nil
	})
}

// soundAndSigned fails unless the store is sound before its heads are signed and after it.
func (s *signedRun) soundAndSigned(when string, unsigned bool) {
	s.Helper()
	s.sound(when, unsigned)
	s.sign()
	s.sound("signed, "+when, unsigned)
}

func (s *signedRun) signEnv(command string) []string {
	return append(s.env(command), "CAIRN_TEST_KEY="+s.key)
}

// TestKilledWhileSigning kills a signing and a purge before their write-type system calls, and lets each of
// these calls fail. A head that was signed is on its line, or a signed statement names its new id.
// Where a call of ssh-keygen fails, a purge goes on, and its statement has no signature.
func TestKilledWhileSigning(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	for _, command := range []string{"sign", "purge"} {
		for _, fails := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s fails %v", command, fails), func(t *testing.T) {
				t.Parallel()
				s := newSignedRun(t)
				if fails {
					gittest.Failed(t, []syscall.Errno{syscall.ENOSPC}, gittest.First(), gittest.Stride(), func(n int, errno syscall.Errno) gittest.Crash {
						s.reset()
						return gittest.FailAt(t, []string{os.Args[0]}, s.signEnv(command), gittest.WriteCalls, n, errno)
					}, func(when string, crash gittest.Crash) { s.soundAndSigned(when, crash.ExitCode == 0) })
					return
				}
				gittest.Killed(t, gittest.Stride(), func(n int) gittest.Crash {
					s.reset()
					return gittest.KillAt(t, []string{os.Args[0]}, s.signEnv(command), gittest.WriteCalls, n)
				}, func(when string) { s.soundAndSigned(when, false) })
			})
		}
	}
}

// TestForkOfASignedStore: a fork has no signature of the first store, and signs its own heads.
func TestForkOfASignedStore(t *testing.T) {
	t.Parallel()
	s := newSignedRun(t)
	dir := filepath.Join(t.TempDir(), "fork")
	s.open(func(r *cairn.Repo) error { _, err := r.Fork(t.Context(), dir, cairn.ForkOptions{}); return err })
	opt := s.opt
	opt.Root = dir
	r, err := cairn.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, signed := range []int{0, 1} {
		report, err := r.Verify(t.Context(), cairn.VerifyOptions{Signers: s.signers})
		if err != nil || !report.Sound || len(report.Signatures) != signed {
			t.Errorf("%d heads are signed: %+v, %v", signed, report, err)
		}
		if _, err := r.Sign(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
