//go:build unix && !darwin && !freebsd && !netbsd

package dir

import "syscall"

func changeTime(st *syscall.Stat_t) int64 { return st.Ctim.Nano() }
