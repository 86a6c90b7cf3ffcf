package gitcommit

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// maxSubject is the number of characters of a subject.
const maxSubject = 72

// Message makes the message of a commit from a prompt: its first line is the subject. A line that is
// too long is cut, and the whole prompt follows. Without a prompt the subject tells the files.
func Message(prompt string, files []File) string {
	prompt = strings.TrimSpace(strings.Map(plain, strings.ReplaceAll(prompt, "\r\n", "\n")))
	if prompt == "" {
		return told(files) + "\n"
	}
	first, rest, _ := strings.Cut(prompt, "\n")
	if utf8.RuneCountInString(first) <= maxSubject {
		return strings.TrimRight(first+"\n\n"+strings.TrimSpace(rest), "\n") + "\n"
	}
	return cut(first) + "\n\n" + prompt + "\n"
}

func plain(r rune) rune {
	if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
		return -1
	}
	return r
}

// cut shortens a line to the length of a subject, at a blank if one is near.
func cut(line string) string {
	const dots = "..."
	runes := []rune(line)
	if len(runes) <= maxSubject {
		return line
	}
	text := string(runes[:maxSubject-len(dots)])
	if at := strings.LastIndexByte(text, ' '); at > len(text)/2 {
		text = text[:at]
	}
	return strings.TrimRight(text, " ,;:") + dots
}

// told is a subject that tells the files.
func told(files []File) string {
	if len(files) == 0 {
		return "Change nothing"
	}
	verb := "Change"
	switch {
	case every(files, func(f *File) bool { return f.Before.ID == "" }):
		verb = "Add"
	case every(files, func(f *File) bool { return f.After.ID == "" }):
		verb = "Remove"
	}
	text := verb + " " + pathtext.Quote(path.Base(files[0].Path))
	if len(files) > 1 {
		text += fmt.Sprintf(" and %d more", len(files)-1)
	}
	return cut(text)
}

func every(files []File, is func(*File) bool) bool {
	for i := range files {
		if !is(&files[i]) {
			return false
		}
	}
	return true
}
