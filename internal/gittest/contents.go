package gittest

import (
	"bytes"
	"math/rand/v2"
	"strings"
)

// Noise returns n bytes that do not compress. They depend on seed only.
func Noise(seed uint64, n int) []byte {
	data := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16)})
	r.Read(data)
	return data
}

// Prose returns n bytes of words, which compress. They depend on seed only.
func Prose(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	words := strings.Fields("a cairn is a stack of stones left along a trail so that you can find the way back")
	var out bytes.Buffer
	for out.Len() < n {
		out.WriteString(words[r.IntN(len(words))])
		out.WriteByte(" \n"[r.IntN(8)/7])
	}
	return out.Bytes()[:n]
}
