package linediff

const (
	costFloor = 256 // searches that need no more than so many edits are never cut short
	longSnake = 20  // so many equal lines in a row are no accident
	farFactor = 2   // lines passed on both sides per edit that make a path worth following
)

// box is a part of the edit graph: lines [x0,x1) of the one text against lines
// [y0,y1) of the other. In a minimal box no effort is spared; it is known to need
// only a bounded number of edits.
type box struct {
	x0, x1, y0, y1 int32
	minimal        bool
}

// search finds which lines of two sequences have no partner. For diagonal
// k = x-y, forward[k+shift] is the furthest x that the present number of edits
// reaches from the upper left corner, and backward likewise from the lower right.
type search struct {
	a, b              []int32
	atA, atB          []int32 // position of each line in the changed slices
	changedA          []bool
	changedB          []bool
	forward, backward []int32
	shift             int32
	limit             int32
}

// run marks the unpartnered lines. It works on a stack of boxes, the smaller half
// first, so that the stack stays logarithmic.
func (s *search) run() {
	diagonals := len(s.a) + len(s.b) + 3
	vectors := make([]int32, 2*diagonals)
	s.forward, s.backward = vectors[:diagonals], vectors[diagonals:]
	s.shift = int32(len(s.b) + 1)
	s.limit = int32(max(roughRoot(diagonals), costFloor))

	stack := []box{{x1: int32(len(s.a)), y1: int32(len(s.b))}}
	for len(stack) > 0 {
		q := s.shrink(stack[len(stack)-1])
		stack = stack[:len(stack)-1]
		if q.x0 == q.x1 || q.y0 == q.y1 {
			s.mark(q)
			continue
		}
		low, high := s.split(q)
		if low.size() > high.size() {
			low, high = high, low
		}
		stack = append(stack, high, low)
	}
}

func (q box) size() int { return int(q.x1-q.x0) + int(q.y1-q.y0) }

// shrink cuts off what both sides of the box share at its ends.
func (s *search) shrink(q box) box {
	for q.x0 < q.x1 && q.y0 < q.y1 && s.a[q.x0] == s.b[q.y0] {
		q.x0++
		q.y0++
	}
	for q.x0 < q.x1 && q.y0 < q.y1 && s.a[q.x1-1] == s.b[q.y1-1] {
		q.x1--
		q.y1--
	}
	return q
}

// mark takes all lines of the box for changed.
func (s *search) mark(q box) {
	for _, i := range s.atA[q.x0:q.x1] {
		s.changedA[i] = true
	}
	for _, i := range s.atB[q.y0:q.y1] {
		s.changedB[i] = true
	}
}

// cut makes two boxes of one.
func (q box) cut(x, y int32, lowMinimal, highMinimal bool) (low, high box) {
	return box{q.x0, x, q.y0, y, lowMinimal}, box{x, q.x1, y, q.y1, highMinimal}
}

// front is the state of the search from one corner: it has reached every second
// diagonal from lo to hi.
type front struct{ lo, hi int32 }

// widen makes room for one more edit. Outside of the box there is nothing to
// reach; there the front shrinks instead, to keep the parity. beyond is the value
// for a diagonal that was never reached.
func (f *front) widen(kMin, kMax int32, reached []int32, shift, beyond int32) {
	if f.lo > kMin {
		f.lo--
		reached[f.lo-1+shift] = beyond
	} else {
		f.lo++
	}
	if f.hi < kMax {
		f.hi++
		reached[f.hi+1+shift] = beyond
	} else {
		f.hi--
	}
}

func (f front) has(k int32) bool { return f.lo <= k && k <= f.hi }

const infinite = 1<<31 - 1

// split finds a point on a good path through the box by searching from both
// corners at once, one edit at a time, until the two meet (section 4b of Myers's
// paper) or the search becomes too expensive.
func (s *search) split(q box) (low, high box) {
	kMin, kMax := q.x0-q.y1, q.x1-q.y0
	f := front{q.x0 - q.y0, q.x0 - q.y0}
	g := front{q.x1 - q.y1, q.x1 - q.y1}
	s.forward[f.lo+s.shift] = q.x0
	s.backward[g.lo+s.shift] = q.x1
	odd := (f.lo-g.lo)&1 != 0

	for cost := int32(1); ; cost++ {
		f.widen(kMin, kMax, s.forward, s.shift, -1)
		x, k, met, snakeF := s.advance(q, f, g, odd)
		if met {
			return q.cut(x, x-k, true, true)
		}
		g.widen(kMin, kMax, s.backward, s.shift, infinite)
		x, k, met, snakeG := s.retreat(q, f, g, !odd)
		if met {
			return q.cut(x, x-k, true, true)
		}
		if q.minimal {
			continue
		}
		if (snakeF || snakeG) && cost > costFloor {
			if x, k, ok := s.farForward(q, f, cost); ok {
				return q.cut(x, x-k, true, false)
			}
			if x, k, ok := s.farBackward(q, g, cost); ok {
				return q.cut(x, x-k, false, true)
			}
		}
		if cost >= s.limit {
			return s.giveUp(q, f, g)
		}
	}
}

// advance takes one more edit from the upper left. It reports where the path
// meets the other front, if it may, and whether it ran through a long snake.
func (s *search) advance(q box, f, g front, mayMeet bool) (x, k int32, met, snake bool) {
	a, b := s.a[:q.x1], s.b[:q.y1]
	reach := s.forward[s.shift+f.lo-1 : s.shift+f.hi+2]
	other := s.backward[s.shift+f.lo-1 : s.shift+f.hi+2]
	i := len(reach) - 2
	above := reach[i+1] // one line of b more; left is one line of a more
	for k = f.hi; k >= f.lo; k -= 2 {
		left := reach[i-1]
		x = max(left+1, above)
		above = left
		if y := x - k; uint(x) < uint(len(a)) && uint(y) < uint(len(b)) && a[x] == b[y] {
			n := equalHead(a[x:], b[y:])
			x += n
			snake = snake || n > longSnake
		}
		reach[i] = x
		if mayMeet && g.has(k) && other[i] <= x {
			return x, k, true, snake
		}
		i -= 2
	}
	return 0, 0, false, snake
}

// retreat is advance from the lower right.
func (s *search) retreat(q box, f, g front, mayMeet bool) (x, k int32, met, snake bool) {
	a, b := s.a[q.x0:], s.b[q.y0:]
	reach := s.backward[s.shift+g.lo-1 : s.shift+g.hi+2]
	other := s.forward[s.shift+g.lo-1 : s.shift+g.hi+2]
	i := len(reach) - 2
	right := reach[i+1]
	for k = g.hi; k >= g.lo; k -= 2 {
		below := reach[i-1]
		x = min(right-1, below)
		right = below
		ax, by := x-q.x0-1, x-k-q.y0-1
		if uint(ax) < uint(len(a)) && uint(by) < uint(len(b)) && a[ax] == b[by] {
			n := equalTail(a[:ax+1], b[:by+1])
			x -= n
			snake = snake || n > longSnake
		}
		reach[i] = x
		if mayMeet && f.has(k) && x <= other[i] {
			return x, k, true, snake
		}
		i -= 2
	}
	return 0, 0, false, snake
}

// equalHead returns how many lines a and b have in common at their beginning.
func equalHead(a, b []int32) (n int32) {
	for i, id := range a[:min(len(a), len(b))] {
		if id != b[i] {
			return int32(i)
		}
	}
	return int32(min(len(a), len(b)))
}

// equalTail is equalHead for the other end.
func equalTail(a, b []int32) (n int32) {
	shorter := min(len(a), len(b))
	a, b = a[len(a)-shorter:], b[len(b)-shorter:]
	for i := shorter - 1; i >= 0; i-- {
		if a[i] != b[i] {
			return int32(shorter - 1 - i)
		}
	}
	return int32(shorter)
}

// farForward looks for a path that ends in a long snake and has passed many lines
// for its edits. What counts is the side on which it has passed fewer, so that
// it cannot be a path along an edge of the box.
func (s *search) farForward(q box, f front, cost int32) (bx, bk int32, ok bool) {
	best := farFactor * cost
	for k := f.hi; k >= f.lo; k -= 2 {
		x := s.forward[k+s.shift]
		y := x - k
		passed := min(x-q.x0, y-q.y0)
		if passed > best && x < q.x1 && y < q.y1 && s.equalRun(x-longSnake, y-longSnake) {
			best, bx, bk, ok = passed, x, k, true
		}
	}
	return bx, bk, ok
}

// farBackward is farForward from the lower right.
func (s *search) farBackward(q box, g front, cost int32) (bx, bk int32, ok bool) {
	best := farFactor * cost
	for k := g.hi; k >= g.lo; k -= 2 {
		x := s.backward[k+s.shift]
		y := x - k
		passed := min(q.x1-x, q.y1-y)
		if passed > best && x > q.x0 && y > q.y0 && s.equalRun(x, y) {
			best, bx, bk, ok = passed, x, k, true
		}
	}
	return bx, bk, ok
}

// equalRun reports whether longSnake lines from there on are equal.
func (s *search) equalRun(x, y int32) bool {
	for i := range int32(longSnake) {
		if s.a[x+i] != s.b[y+i] {
			return false
		}
	}
	return true
}

// giveUp cuts the box where one of the fronts has come furthest.
func (s *search) giveUp(q box, f, g front) (low, high box) {
	fx, fy, fSum := int32(0), int32(0), int32(-1)
	for k := f.hi; k >= f.lo; k -= 2 {
		x := min(s.forward[k+s.shift], q.x1)
		y := x - k
		if y > q.y1 {
			x, y = q.y1+k, q.y1
		}
		if x+y > fSum {
			fx, fy, fSum = x, y, x+y
		}
	}
	gx, gy, gSum := int32(0), int32(0), int32(infinite)
	for k := g.hi; k >= g.lo; k -= 2 {
		x := max(s.backward[k+s.shift], q.x0)
		y := x - k
		if y < q.y0 {
			x, y = q.y0+k, q.y0
		}
		if x+y < gSum {
			gx, gy, gSum = x, y, x+y
		}
	}
	if (q.x1+q.y1)-gSum < fSum-(q.x0+q.y0) {
		return q.cut(fx, fy, true, false)
	}
	return q.cut(gx, gy, false, true)
}
