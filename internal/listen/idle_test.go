package listen

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// TestIdle: a server ends after the time without a request, and never during one. The clock is that
// of a bubble.
func TestIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began, ended := time.Now(), make(chan time.Duration, 1)
		idle := NewIdle(time.Hour, func() { ended <- time.Since(began) })
		ways := []Way{{handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(3 * time.Hour) })}}
		idle.Count(ways)
		call := func() { ways[0].handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)) }
		time.Sleep(30 * time.Minute)
		go call() // 0:30 to 3:30
		time.Sleep(2 * time.Hour)
		call() // 2:30 to 5:30
		if got := <-ended; got != 6*time.Hour+30*time.Minute {
			t.Errorf("ended after %v", got)
		}
	})
}

// TestIdleFromTheStart: a server that is never asked ends, too.
func TestIdleFromTheStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began, ended := time.Now(), make(chan struct{})
		NewIdle(time.Hour, func() { close(ended) })
		<-ended
		if got := time.Since(began); got != time.Hour {
			t.Errorf("ended after %v", got)
		}
	})
}
