package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Quantity is what a curve tells. Values are in seconds, bytes or a number.
type Quantity int

const (
	// Seconds is a time.
	Seconds Quantity = iota
	// Octets is a number of bytes.
	Octets
	// Count is a number of things.
	Count
)

// Short is a number with k for thousands and M for millions.
func Short(n int) string {
	switch {
	case n >= 1_000_000 && n%100_000 == 0:
		return strconv.FormatFloat(float64(n)/1e6, 'f', -1, 64) + "M"
	case n >= 1000 && n%100 == 0:
		return strconv.FormatFloat(float64(n)/1e3, 'f', -1, 64) + "k"
	}
	return strconv.Itoa(n)
}

// unit is a factor with its name.
type unit struct {
	size float64
	name string
}

var units = map[Quantity][]unit{
	Seconds: {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}},
	Octets:  {{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}},
	Count:   {{1, ""}},
}

// Text is a value with three digits and its unit. A value below the smallest unit has
// that unit.
func (q Quantity) Text(v float64) string {
	if q == Count && v >= 1000 {
		return Short(int(math.Round(v)))
	}
	list := units[q]
	u := list[len(list)-1]
	for _, larger := range list {
		if math.Abs(v) >= larger.size*0.9995 {
			u = larger
			break
		}
	}
	return strings.TrimSpace(threeDigits(v/u.size) + " " + u.name)
}

func threeDigits(x float64) string {
	digits := 2
	for limit := 9.995; digits > 0 && math.Abs(x) >= limit; limit *= 10 {
		digits--
	}
	text := fmt.Sprintf("%.*f", digits, x)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
