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

// loginLife is the time after which an unused code is void.
const loginLife = 10 * time.Minute

// maxLogins bounds the codes that wait to be used.
const maxLogins = 100

// maxBrowsers bounds the cookies that are in force.
const maxBrowsers = 1000

// logins are the codes, each good for one login, and the cookies of past logins. Memory
// holds only their hashes. A cookie is valid until the server ends.
type logins struct {
	mu      sync.Mutex
	codes   map[[sha256.Size]byte]time.Time // until when
	cookies map[[sha256.Size]byte]time.Time // since when
}

func newLogins() *logins {
	return &logins{codes: make(map[[sha256.Size]byte]time.Time), cookies: make(map[[sha256.Size]byte]time.Time)}
}

// LoginCode makes a code that lets a browser in once: LoginPath + "?code=" + code.
func (d *Door) LoginCode() string {
	code := rand.Text()
	l := d.logins
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if len(l.codes) >= maxLogins {
		forgetOldest(l.codes)
	}
	l.codes[sha256.Sum256([]byte(code))] = now.Add(loginLife)
	return code
}

func forgetOldest(times map[[sha256.Size]byte]time.Time) {
	var oldest [sha256.Size]byte
	var first time.Time
	for key, at := range times {
		if first.IsZero() || at.Before(first) {
			oldest, first = key, at
		}
	}
	delete(times, oldest)
}

// cookie makes a value that lets one browser in. It is no bearer token.
func (l *logins) cookie() string {
	value := rand.Text()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.cookies) >= maxBrowsers {
		forgetOldest(l.cookies)
	}
	l.cookies[sha256.Sum256([]byte(value))] = time.Now()
	return value
}

// isValid reports whether a cookie is valid. The look-up goes by the hash, so that its time
// tells nothing about the value.
func (l *logins) isValid(cookie string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.cookies[sha256.Sum256([]byte(cookie))]
	return ok
}

func (l *logins) use(code string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := sha256.Sum256([]byte(code))
	until, ok := l.codes[key]
	delete(l.codes, key)
	return ok && time.Now().Before(until)
}

// login sets the cookie and goes on to the page. The cookie lives as long as the browser and is not
// shown to scripts. Of requests that another site causes only a link that a person follows brings it:
// such a request reads (see checkOrigin).
func (d *Door) login(w http.ResponseWriter, r *http.Request) error {
	if !d.logins.use(r.URL.Query().Get("code")) {
		return problem(http.StatusUnauthorized, protocol.Unauthorized, "this login code is not good any more: %s makes another", d.server.loginCommand())
	}
	http.SetCookie(w, &http.Cookie{
		Name: d.cookie, Value: d.logins.cookie(), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
}
