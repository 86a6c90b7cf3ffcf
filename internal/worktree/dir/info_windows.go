package dir

import (
	"io/fs"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// lstatAt returns the status of a name in an open directory. Package os reports neither the
// change time nor the file number. Without the change time, a file with its old size and
// modification time would count as unchanged.
func lstatAt(dir windows.Handle, name string) (st Info, reparse bool, err error) {
	text, err := windows.NewNTUnicodeString(name)
	if err != nil {
		return st, false, err
	}
	at := windows.OBJECT_ATTRIBUTES{RootDirectory: dir, ObjectName: text, Attributes: windows.OBJ_CASE_INSENSITIVE}
	at.Length = uint32(unsafe.Sizeof(at))
	var h windows.Handle
	err = windows.NtCreateFile(&h, windows.FILE_READ_ATTRIBUTES|windows.SYNCHRONIZE, &at, &windows.IO_STATUS_BLOCK{}, nil, 0,
		windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, windows.FILE_OPEN,
		windows.FILE_OPEN_REPARSE_POINT|windows.FILE_OPEN_FOR_BACKUP_INTENT|windows.FILE_SYNCHRONOUS_IO_NONALERT, 0, 0)
	if err == windows.STATUS_DELETE_PENDING {
		return st, false, fs.ErrNotExist // the name goes with its last open handle
	}
	if status, ok := err.(windows.NTStatus); ok {
		return st, false, status.Errno()
	}
	if err != nil {
		return st, false, err
	}
	defer windows.CloseHandle(h)
	return statHandle(h)
}

// basicInfo is FILE_BASIC_INFO, its times in 100 ns since 1601.
type basicInfo struct {
	created, accessed, written, changed int64
	attributes, _                       uint32
}

// statHandle returns the status of an open file. It reports a reparse point without its
// type; package os knows whether it is a link.
func statHandle(h windows.Handle) (st Info, reparse bool, err error) {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &info); err != nil {
		return st, false, err
	}
	var basic basicInfo
	if err := windows.GetFileInformationByHandleEx(h, windows.FileBasicInfo, (*byte)(unsafe.Pointer(&basic)), uint32(unsafe.Sizeof(basic))); err != nil {
		return st, false, err
	}
	st.Stat = index.Stat{
		Size:  int64(info.FileSizeHigh)<<32 | int64(info.FileSizeLow),
		MTime: unixNano(basic.written),
		CTime: unixNano(basic.changed),
		Ino:   uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow),
	}
	if basic.changed == 0 { // FAT has no change time
		st.Stat.CTime = unixNano(basic.created - basic.created%second)
	}
	st.Mode, st.Perm = object.Regular, permOf(info.FileAttributes) // Windows has no exec bit
	if info.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0 {
		st.Mode = object.Dir
	}
	return st, info.FileAttributes&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0, nil
}

// epoch is 1970 in 100 ns since 1601.
const epoch = 116_444_736_000_000_000

// second is in 100 ns. FAT keeps 2 seconds of the last write and 10 ms of the creation: whole seconds in
// all times say that they are coarse.
const second = 10_000_000

func unixNano(time int64) int64 { return (time - epoch) * 100 }

// permOf returns the usual bits of a new file or directory on Unix, without write permission
// for a read-only file. Windows knows no more, and a checkpoint may move to another system,
// where the bits of package os would let all users write.
func permOf(attributes uint32) uint16 {
	switch {
	case attributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0:
		return 0o755
	case attributes&windows.FILE_ATTRIBUTE_READONLY != 0:
		return 0o444
	}
	return 0o644
}

// InfoOf converts the result of package os.
func InfoOf(fi fs.FileInfo) Info { return fromInfo(fi) }

// Links returns 1: package os does not report the number of hard links. A write by
// rename keeps the contents of other links here too.
func Links(fs.FileInfo) int { return 1 }

// OwnerOf knows no owners here.
func OwnerOf(fs.FileInfo) (uid, gid int, ok bool) { return 0, 0, false }

// DeviceOf returns 0: package os does not report the volume.
func DeviceOf(fs.FileInfo) uint64 { return 0 }
