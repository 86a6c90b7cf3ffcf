package gittest

// Noise returns size bytes that do not compress, the same for the same seed.
func Noise(seed, size int) string {
	state := uint64(seed)*2654435761 + 1
	data := make([]byte, size)
	for i := range data {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		data[i] = byte(state >> 32)
	}
	return string(data)
}
