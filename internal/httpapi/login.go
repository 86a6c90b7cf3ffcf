package httpapi

import (
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/protocol"
)

// LoginPath is where a browser trades a code for a cookie.
const LoginPath = "/login"

// loginLife is how long a code is good for, if nobody uses it.
const loginLife = 10 * time.Minute

// maxLogins bounds the codes that wait to be used.
const maxLogins = 100

// logins are codes that are good for one login each. Only their hashes are kept.
type logins struct {
	mu    sync.Mutex
	codes map[[sha256.Size]byte]time.Time // until when
}

// LoginCode makes a code that lets a browser in once: LoginPath + "?code=" + code.
func (d *Door) LoginCode() string {
	code := rand.Text()
	l := d.logins
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if len(l.codes) >= maxLogins {
		l.forgetOldest()
	}
	l.codes[sha256.Sum256([]byte(code))] = now.Add(loginLife)
	return code
}

func (l *logins) forgetOldest() {
	var oldest [sha256.Size]byte
	var first time.Time
	for code, until := range l.codes {
		if first.IsZero() || until.Before(first) {
			oldest, first = code, until
		}
	}
	delete(l.codes, oldest)
}

func (l *logins) use(code string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := sha256.Sum256([]byte(code))
	until, ok := l.codes[key]
	delete(l.codes, key)
	return ok && time.Now().Before(until)
}

// login sets the cookie and goes on to the page. The cookie is the token itself: it
// lives as long as the browser, is not shown to scripts and comes from this site only.
func (d *Door) login(w http.ResponseWriter, r *http.Request) error {
	if !d.logins.use(r.URL.Query().Get("code")) {
		return problem(http.StatusUnauthorized, protocol.Unauthorized, "this login code is not good any more: cairn serve --login makes another")
	}
	http.SetCookie(w, &http.Cookie{
		Name: d.cookie, Value: d.secret, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
}
